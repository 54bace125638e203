// Plots: lines, bars and reliability as SVG, shares and counts as elements, points on a canvas.

import { h, s, show, styles } from "../dom.js";
import { loadTexts, n, percent, t } from "../i18n.js";

await Promise.all([loadTexts("plot"), styles("widgets/plot.css")]);

export const COLOURS = 10;
export const SHAPES = ["circle", "square", "triangle", "diamond", "plus", "cross", "wedge"];

/**
 * Lines over numbers.
 *
 * `x` and `y` are axes: `{label, domain?, format?}`. A series is `{name, points: [[x, y], …], tone}`;
 * `tone` is ok, warn, bad, muted or accent, and the order gives its dashes and its mark too.
 * Returns `{element, update(series)}`.
 */
export function lines({ title, description = "", x, y, series, height = 240, diagonal = false }) {
  const made = figure({ title, description, height, draw, table, legend: () => legendOf(current) });
  let current = series;

  function draw(width) {
    const points = current.flatMap((each) => each.points);
    const frame = axes({ width, height, x: axisOf(x, points, 0), y: axisOf(y, points, 1) });
    const parts = [frame.drawing];
    if (diagonal)
      parts.push(
        frame.line(
          [
            [0, 0],
            [1, 1],
          ],
          "plot-diagonal",
        ),
      );
    current.forEach((each, index) => {
      parts.push(frame.line(each.points, `plot-line tone-${each.tone} dash-${index % 4}`));
      if (each.points.length <= 40) {
        for (const [px, py] of each.points) {
          const place = frame.at(px, py);
          parts.push(
            s("path", { d: markPath(SHAPES[index], ...place, 3), class: `plot-mark tone-${each.tone}` }),
          );
        }
      }
    });
    const places = [...new Set(points.map(([px]) => px))].sort((a, b) => a - b);
    const readings = places.map((px) => ({
      at: frame.at(px, 0)[0],
      head: `${x.label} ${formatted(x, px)}`,
      rows: current.flatMap((each) => {
        const found = each.points.find(([other]) => other === px);
        return found ? [[each.name, formatted(y, found[1])]] : [];
      }),
    }));
    return { parts, readings, top: frame.top, bottom: frame.bottom };
  }

  function table() {
    const places = [...new Set(current.flatMap((each) => each.points.map(([px]) => px)))];
    return {
      head: [x.label, ...current.map((each) => each.name)],
      rows: places
        .sort((a, b) => a - b)
        .map((px) => [
          formatted(x, px),
          ...current.map((each) => {
            const found = each.points.find(([other]) => other === px);
            return found ? formatted(y, found[1]) : "–";
          }),
        ]),
    };
  }

  made.redraw();
  return {
    element: made.element,
    update(changed) {
      current = changed;
      made.redraw();
    },
  };
}

/** Counts in ranges of a number: `bins` are `{from, to, count}`; `marks` are `{at, name}`. */
export function histogram({ title, description = "", x, y, bins, marks = [], height = 240 }) {
  const made = figure({ title, description, height, draw, table });

  function draw(width) {
    const most = Math.max(1, ...bins.map((bin) => bin.count));
    const domain = bins.length ? [bins[0].from, bins.at(-1).to] : [0, 1];
    const frame = axes({
      width,
      height,
      x: { ...x, domain },
      y: { ...y, domain: [0, most * 1.15], whole: true },
    });
    const parts = [frame.drawing];
    const readings = [];
    for (const bin of bins) {
      const [left, top] = frame.at(bin.from, bin.count);
      const [right, bottom] = frame.at(bin.to, 0);
      parts.push(
        s("rect", {
          x: left + 0.5,
          y: top,
          width: Math.max(1, right - left - 1),
          height: bottom - top,
          class: "plot-bar tone-accent",
        }),
      );
      readings.push({
        at: (left + right) / 2,
        head: `${formatted(x, bin.from)} – ${formatted(x, bin.to)}`,
        rows: [[y.label, n(bin.count)]],
      });
    }
    for (const mark of marks) {
      const [place, top] = frame.at(mark.at, most * 1.15);
      const late = place > width - 60;
      parts.push(
        s("path", { d: `M${place} ${top}V${frame.bottom}`, class: "plot-rule" }),
        s(
          "text",
          {
            x: place + (late ? -4 : 4),
            y: top + 10,
            class: "plot-label strong",
            "text-anchor": late ? "end" : "start",
          },
          mark.name,
        ),
      );
    }
    return { parts, readings, top: frame.top, bottom: frame.bottom };
  }

  function table() {
    return {
      head: [x.label, y.label],
      rows: bins.map((bin) => [`${formatted(x, bin.from)} – ${formatted(x, bin.to)}`, n(bin.count)]),
    };
  }

  made.redraw();
  return { element: made.element };
}

/**
 * How often calls of a confidence are right: `bins` are `{from, to, count, confidence, right}`,
 * all but `count` from 0 to 1. On the diagonal a confidence says what it should.
 */
export function reliability({ title, description = "", x, y, counts, bins, height = 240 }) {
  const made = figure({ title, description, height, draw, table });

  function draw(width) {
    const frame = axes({
      width,
      height,
      x: { ...x, domain: [0, 1], format: percent },
      y: { ...y, domain: [0, 1], format: percent },
    });
    const most = Math.max(1, ...bins.map((bin) => bin.count));
    const parts = [frame.drawing];
    const readings = [];
    for (const bin of bins) {
      const [left, top] = frame.at(bin.from, bin.right);
      const [right, bottom] = frame.at(bin.to, 0);
      const [, due] = frame.at(0, bin.confidence);
      const inner = { x: left + 1.5, width: Math.max(1, right - left - 3) };
      parts.push(
        s("rect", { ...inner, y: top, height: bottom - top, class: "plot-bar tone-accent soft" }),
        s("rect", {
          ...inner,
          y: Math.min(top, due),
          height: Math.abs(due - top),
          class: `plot-gap ${bin.right < bin.confidence ? "tone-bad" : "tone-ok"}`,
        }),
      );
      readings.push({
        at: (left + right) / 2,
        head: `${percent(bin.from)} – ${percent(bin.to)}`,
        rows: [
          [x.label, percent(bin.confidence)],
          [y.label, percent(bin.right)],
          [counts, n(bin.count)],
        ],
      });
    }
    parts.push(
      frame.line(
        [
          [0, 0],
          [1, 1],
        ],
        "plot-diagonal",
      ),
    );
    for (const bin of bins) {
      const [px, py] = frame.at(bin.confidence, bin.right);
      const size = 3 + 4 * Math.sqrt(bin.count / most);
      parts.push(s("circle", { cx: px, cy: py, r: size, class: "plot-mark tone-accent" }));
    }
    return { parts, readings, top: frame.top, bottom: frame.bottom };
  }

  function table() {
    return {
      head: [x.label, y.label, counts],
      rows: bins.map((bin) => [
        `${percent(bin.from)} – ${percent(bin.to)}`,
        percent(bin.right),
        n(bin.count),
      ]),
    };
  }

  made.redraw();
  return { element: made.element };
}

/** One bar of shares, and its legend with the counts: `parts` are `{name, count, tone}`. */
export function shares({ label, onChoose = null }) {
  const bar = h("div", { class: "shares-bar", role: "img", "aria-label": label });
  const keys = h("ul", { class: "shares-keys" });
  const element = h("div", { class: "shares" }, bar, keys);
  let made = [];
  return {
    element,
    /** `whole` is what the full width stands for. */
    update(parts, whole) {
      if (made.length !== parts.length) {
        made = parts.map((part) => {
          const count = h("span", { class: "shares-count" });
          const percent = h("span", { class: "shares-percent" });
          const inside = [
            h("span", { class: `shares-swatch tone-${part.tone}`, "aria-hidden": "true" }),
            count,
            h("span", { class: "shares-name" }, part.name),
            percent,
          ];
          const key = onChoose
            ? h("button", { type: "button", class: "shares-key", onClick: () => onChoose(part) }, inside)
            : h("span", { class: "shares-key" }, inside);
          return { count, percent, key, piece: h("span", { class: `shares-piece tone-${part.tone}` }) };
        });
        show(
          bar,
          made.map((each) => each.piece),
        );
        show(
          keys,
          made.map((each) => h("li", null, each.key)),
        );
      }
      const total = Math.max(1, whole);
      parts.forEach((part, index) => {
        made[index].count.textContent = n(part.count);
        made[index].percent.textContent = percent(part.count / total);
        made[index].piece.style.setProperty("--share", String(part.count / total));
        if (onChoose) made[index].key.setAttribute("aria-pressed", String(Boolean(part.chosen)));
      });
      bar.setAttribute(
        "aria-label",
        `${label}: ${parts.map((part) => `${part.name} ${n(part.count)}`).join(", ")}`,
      );
    },
  };
}

/**
 * Counts of pairs, as a table: `cells` are `{row, column, count, wrong}` by the ids of `rows` and
 * `columns`, which are `{id, label}`. `onCell(cell)` opens one; `below` stands under the table.
 */
export function matrix({
  title,
  description = "",
  corner,
  rows,
  columns,
  cells,
  onCell = null,
  below = null,
}) {
  const most = Math.max(1, ...cells.map((cell) => cell.count));
  const found = new Map(cells.map((cell) => [`${cell.row}\u0000${cell.column}`, cell]));
  const table = h(
    "table",
    { class: "matrix" },
    h("caption", { class: "visually-hidden" }, `${title}. ${description}`),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("td", { class: "matrix-corner" }, corner),
        columns.map((column) =>
          h(
            "th",
            { scope: "col", title: column.label },
            h("span", { class: "matrix-column", dir: "auto" }, column.label),
          ),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map((row) =>
        h(
          "tr",
          null,
          h("th", { scope: "row", title: row.label }, h("bdi", null, row.label)),
          columns.map((column) => cellOf(found.get(`${row.id}\u0000${column.id}`), row, column)),
        ),
      ),
    ),
  );

  function cellOf(cell, row, column) {
    const tone = row.id === column.id ? "tone-ok" : "tone-bad";
    if (!cell) return h("td", { class: row.id === column.id ? "matrix-same" : "" });
    const name = `${row.label} → ${column.label}: ${n(cell.count)}`;
    const inner = onCell
      ? h(
          "button",
          { type: "button", title: name, "aria-label": name, onClick: () => onCell(cell) },
          n(cell.count),
        )
      : h("span", { title: name }, n(cell.count));
    const made = h("td", { class: `matrix-cell ${tone}` }, inner);
    made.style.setProperty("--heat", String(0.15 + 0.85 * Math.sqrt(cell.count / most)));
    return made;
  }

  return {
    element: h(
      "figure",
      { class: "plot" },
      h("figcaption", { class: "plot-title" }, title, description && h("p", { class: "muted" }, description)),
      h("div", { class: "matrix-view", tabindex: "0", role: "region", "aria-label": title }, table),
      below,
    ),
  };
}

/** A share from 0 to 1 as a short bar with its percentage; `label` says what of. */
export function meter(share, { label = "", tone = "accent", wide = false } = {}) {
  return h(
    "span",
    {
      class: wide ? "share-meter wide" : "share-meter",
      vars: { "--share": String(Math.max(0, Math.min(1, share))) },
    },
    h("span", { class: `share-meter-bar tone-${tone}`, "aria-hidden": "true" }),
    h(
      "span",
      { class: "share-meter-value" },
      label && h("span", { class: "visually-hidden" }, `${label} `),
      percent(share),
    ),
  );
}

/** The mark of a group as a small picture, for legends. */
export function swatch(group) {
  const shape = SHAPES[group % SHAPES.length];
  return s(
    "svg",
    { viewBox: "0 0 14 14", class: `swatch ink-${group % COLOURS}`, "aria-hidden": "true" },
    s("path", { d: markPath(shape, 7, 7, 5), class: OPEN.has(shape) ? "open" : "" }),
  );
}

export const OPEN = new Set(["plus", "cross"]);

/** A frame of a title, the plot, which is drawn anew as wide as there is room, and its table. */
function figure({ title, description, height, draw, table, legend = null }) {
  const picture = s("svg", { class: "plot-picture", role: "img", "aria-label": label() });
  const tip = h("div", { class: "plot-tip", hidden: true });
  const stage = h("div", { class: "plot-stage" }, picture, tip);
  const keys = h("div", { class: "plot-legend" });
  const rows = h("div", { class: "plot-table" });
  const element = h(
    "figure",
    { class: "plot" },
    h("figcaption", { class: "plot-title" }, title, description && h("p", { class: "muted" }, description)),
    keys,
    stage,
    h("details", { class: "plot-data" }, h("summary", null, t("plot.table")), rows),
  );
  stage.style.setProperty("--height", `${height}px`);
  let drawn = { readings: [] };
  let wide = 0;

  function label() {
    return description ? `${title}. ${description}` : title;
  }

  function redraw() {
    if (legend) show(keys, legend());
    const { head, rows: listed } = table();
    show(
      rows,
      h(
        "table",
        { class: "table" },
        h("caption", { class: "visually-hidden" }, title),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            head.map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          listed.map((row) =>
            h(
              "tr",
              null,
              row.map((value) => h("td", null, value)),
            ),
          ),
        ),
      ),
    );
    if (wide) paint();
  }

  function paint() {
    drawn = draw(wide);
    picture.setAttribute("viewBox", `0 0 ${wide} ${height}`);
    show(picture, drawn.parts);
    tip.hidden = true;
  }

  stage.addEventListener("pointermove", (event) => {
    if (drawn.readings.length === 0) return;
    const box = stage.getBoundingClientRect();
    const at = event.clientX - box.left;
    const reading = drawn.readings.reduce((a, b) => (Math.abs(b.at - at) < Math.abs(a.at - at) ? b : a));
    show(
      tip,
      h("span", { class: "plot-tip-head" }, reading.head),
      reading.rows.map(([name, value]) =>
        h("span", { class: "plot-tip-row" }, h("span", null, name), h("b", null, value)),
      ),
    );
    tip.hidden = false;
    tip.style.setProperty("--at", `${reading.at}px`);
    tip.style.setProperty("--top", `${drawn.top + 8}px`);
    tip.classList.add("under");
    tip.classList.toggle("before", reading.at > wide / 2);
  });
  stage.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
  new ResizeObserver(() => {
    const now = Math.round(stage.clientWidth);
    if (!now || now === wide) return;
    wide = now;
    paint();
  }).observe(stage);
  return { element, redraw };
}

function legendOf(series) {
  if (series.length < 2) return [];
  return series.map((each, index) =>
    h(
      "span",
      { class: "plot-key" },
      s(
        "svg",
        { viewBox: "0 0 28 10", "aria-hidden": "true" },
        s("path", { d: "M1 5H27", class: `plot-line tone-${each.tone} dash-${index % 4}` }),
        s("path", {
          d: markPath(SHAPES[index % SHAPES.length], 14, 5, 3),
          class: `plot-mark tone-${each.tone}`,
        }),
      ),
      each.name,
    ),
  );
}

/** Axes with lines and labels, and the places of numbers between them. */
function axes({ width, height, x, y }) {
  const yTicks = ticks(y.domain, 4, y.whole);
  const yNames = yTicks.map((value) => formatted(y, value));
  const left = 30 + 6 * Math.max(...yNames.map((name) => name.length));
  const [right, top, bottom] = [width - 10, 10, height - 38];
  const xTicks = ticks(x.domain, Math.max(2, Math.floor((right - left) / 70)), x.whole);
  const at = (px, py) => [
    left + ((px - x.domain[0]) / (x.domain[1] - x.domain[0] || 1)) * (right - left),
    bottom - ((py - y.domain[0]) / (y.domain[1] - y.domain[0] || 1)) * (bottom - top),
  ];
  const drawing = s(
    "g",
    { class: "plot-axes" },
    yTicks
      .map((value, index) => {
        const [, place] = at(0, value);
        return [
          s("path", { d: `M${left} ${place}H${right}`, class: "plot-grid" }),
          s("text", { x: left - 6, y: place + 4, "text-anchor": "end", class: "plot-label" }, yNames[index]),
        ];
      })
      .flat(),
    xTicks
      .map((value) => {
        const [place] = at(value, 0);
        return [
          s("path", { d: `M${place} ${bottom}v4`, class: "plot-tick" }),
          s(
            "text",
            { x: place, y: bottom + 17, "text-anchor": "middle", class: "plot-label" },
            formatted(x, value),
          ),
        ];
      })
      .flat(),
    s("path", { d: `M${left} ${bottom}H${right}`, class: "plot-axis" }),
    s("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle", class: "plot-name" }, x.label),
    s(
      "text",
      {
        transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle",
        class: "plot-name",
      },
      y.label,
    ),
  );
  const line = (points, classes) =>
    s("path", {
      d: points
        .map(
          ([px, py], index) =>
            `${index ? "L" : "M"}${at(px, py)
              .map((v) => v.toFixed(1))
              .join(" ")}`,
        )
        .join(""),
      class: classes,
    });
  return { at, top, bottom, drawing, line };
}

function axisOf(axis, points, index) {
  if (axis.domain) return axis;
  const values = points.map((point) => point[index]);
  const least = axis.zero === false ? Math.min(...values) : Math.min(0, ...values);
  const most = Math.max(...values, least);
  const domain = values.length ? [least, most === least ? least + 1 : most] : [0, 1];
  return { ...axis, domain };
}

function formatted(axis, value) {
  return axis.format ? axis.format(value) : n(value);
}

/** Round numbers within a domain, about as many as asked for. */
export function ticks([from, to], many, whole = false) {
  const span = to - from || 1;
  const rough = span / Math.max(1, many);
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  if (whole) step = Math.max(1, Math.ceil(step));
  const found = [];
  for (let value = Math.ceil(from / step - 1e-9) * step; value <= to + step * 1e-6; value += step) {
    found.push(Number(value.toPrecision(12)));
  }
  return found;
}

export function markPath(shape, x, y, r) {
  const w = r * 1.15;
  switch (shape) {
    case "square":
      return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
    case "triangle":
      return `M${x} ${y - w}L${x + w} ${y + r}H${x - w}Z`;
    case "wedge":
      return `M${x} ${y + w}L${x + w} ${y - r}H${x - w}Z`;
    case "diamond":
      return `M${x} ${y - w}L${x + w} ${y}L${x} ${y + w}L${x - w} ${y}Z`;
    case "plus":
      return `M${x - w} ${y}h${2 * w}M${x} ${y - w}v${2 * w}`;
    case "cross":
      return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
    default:
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
}
