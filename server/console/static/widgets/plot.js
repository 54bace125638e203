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
    if (diagonal) parts.push(frame.line([[0, 0], [1, 1]], "plot-diagonal"));
    current.forEach((each, index) => {
      parts.push(frame.line(each.points, `plot-line tone-${each.tone} dash-${index % 4}`));
      if (each.points.length <= 40) {
        for (const [px, py] of each.points) {
          const place = frame.at(px, py);
          parts.push(s("path", { d: markPath(SHAPES[index], ...place, 3), class: `plot-mark tone-${each.tone}` }));
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
      rows: places.sort((a, b) => a - b).map((px) => [
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
      parts.push(s("rect", {
        x: left + 0.5, y: top, width: Math.max(1, right - left - 1), height: bottom - top,
        class: "plot-bar tone-accent",
      }));
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
        s("text", {
          x: place + (late ? -4 : 4), y: top + 10, class: "plot-label strong",
          "text-anchor": late ? "end" : "start",
        }, mark.name),
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
          ...inner, y: Math.min(top, due), height: Math.abs(due - top),
          class: `plot-gap ${bin.right < bin.confidence ? "tone-bad" : "tone-ok"}`,
        }),
      );
      readings.push({
        at: (left + right) / 2,
        head: `${percent(bin.from)} – ${percent(bin.to)}`,
        rows: [
          [x.label, percent(bin.confidence)], [y.label, percent(bin.right)], [counts, n(bin.count)],
        ],
      });
    }
    parts.push(frame.line([[0, 0], [1, 1]], "plot-diagonal"));
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
        `${percent(bin.from)} – ${percent(bin.to)}`, percent(bin.right), n(bin.count),
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
            count, h("span", { class: "shares-name" }, part.name), percent,
          ];
          const key = onChoose
            ? h("button", { type: "button", class: "shares-key", onClick: () => onChoose(part) }, inside)
            : h("span", { class: "shares-key" }, inside);
          return { count, percent, key, piece: h("span", { class: `shares-piece tone-${part.tone}` }) };
        });
        show(bar, made.map((each) => each.piece));
        show(keys, made.map((each) => h("li", null, each.key)));
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
  title, description = "", corner, rows, columns, cells, onCell = null, below = null,
}) {
  const most = Math.max(1, ...cells.map((cell) => cell.count));
  const found = new Map(cells.map((cell) => [`${cell.row}\u0000${cell.column}`, cell]));
  const table = h(
    "table",
    { class: "matrix" },
    h("caption", { class: "visually-hidden" }, `${title}. ${description}`),
    h("thead", null, h(
      "tr", null, h("td", { class: "matrix-corner" }, corner),
      columns.map((column) => h(
        "th", { scope: "col", title: column.label },
        h("span", { class: "matrix-column", dir: "auto" }, column.label),
      )),
    )),
    h("tbody", null, rows.map((row) => h(
      "tr", null,
      h("th", { scope: "row", title: row.label }, h("bdi", null, row.label)),
      columns.map((column) => cellOf(found.get(`${row.id}\u0000${column.id}`), row, column)),
    ))),
  );

  function cellOf(cell, row, column) {
    const tone = row.id === column.id ? "tone-ok" : "tone-bad";
    if (!cell) return h("td", { class: row.id === column.id ? "matrix-same" : "" });
    const name = `${row.label} → ${column.label}: ${n(cell.count)}`;
    const inner = onCell
      ? h("button", { type: "button", title: name, "aria-label": name, onClick: () => onCell(cell) }, n(cell.count))
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

/**
 * Points in a plane, on a canvas: `points` are `{x, y, group, text}` with the number of a group.
 *
 * Arrow keys go to the nearest point that way, Enter opens it, plus, minus and 0 zoom. `onPoint`
 * hears what is opened, `onFocus` what is under the pointer or the keyboard, or null.
 * Returns `{element, show({group, mark, near})}`.
 */
export function scatter({ title, description, points, names, labels = true, onPoint, onFocus }) {
  const base = h("canvas", { class: "map-canvas", role: "img", "aria-label": `${title}. ${description}` });
  const over = h("canvas", { // which takes the arrow keys
    class: "map-canvas over", tabindex: "0", role: "application",
    "aria-roledescription": t("plot.map"), "aria-label": `${title}. ${description}`,
  });
  const tip = h("div", { class: "plot-tip placed", hidden: true });
  const inks = Array.from({ length: COLOURS }, (_, i) => h("i", { class: `ink ink-${i}` }));
  const [muted, text, panel] = ["muted", "text", "panel"].map((name) => h("i", { class: `ink ink-${name}` }));
  const stage = h("div", { class: "map-stage" }, base, over, tip);
  const tool = (name, label, act) => h(
    "button", { type: "button", class: "button quiet", "aria-label": label, title: label, onClick: act }, name,
  );
  const tools = h(
    "div", { class: "map-tools" },
    tool("+", t("plot.zoom_in"), () => zoom(1.5)),
    tool("−", t("plot.zoom_out"), () => zoom(1 / 1.5)),
    tool("⤢", t("plot.whole"), () => whole()),
  );
  stage.append(tools);
  const element = h(
    "figure", { class: "plot map" },
    h("div", { class: "inks", "aria-hidden": "true" }, inks, muted, text, panel),
    stage,
  );

  const bounds = boundsOf(points);
  const centres = centresOf(points);
  let size = { width: 0, height: 0, ratio: 1 };
  let place = { zoom: 1, x: 0, y: 0 };
  let shown = { group: null, mark: null, near: [] };
  let focused = null;
  const radius = points.length > 1500 ? 2.8 : points.length > 300 ? 3.5 : 4.5;
  let stamps = new Map();
  let palette = [];

  const plane = ({ x, y }) => {
    const side = Math.min(size.width, size.height) - 48;
    const wide = (size.width - 48) / side;
    const tall = (size.height - 48) / side;
    const px = ((x - bounds.x) / bounds.width - 0.5) * side * wide;
    const py = (0.5 - (y - bounds.y) / bounds.height) * side * tall;
    return [
      size.width / 2 + (px + place.x) * place.zoom,
      size.height / 2 + (py + place.y) * place.zoom,
    ];
  };

  function stamp(group) {
    const key = `${group % COLOURS}/${group % SHAPES.length}`;
    const kept = stamps.get(key);
    if (kept) return kept;
    const edge = Math.ceil(14 * size.ratio);
    const canvas = new OffscreenCanvas(edge, edge);
    const brush = canvas.getContext("2d");
    brush.scale(size.ratio, size.ratio);
    brush.globalAlpha = 0.9;
    paintMark(brush, SHAPES[group % SHAPES.length], 7, 7, radius, palette[group % COLOURS], palette.panel);
    const made = canvas.transferToImageBitmap(); // quick to draw thousands of times
    stamps.set(key, made);
    return made;
  }

  function paint() {
    if (!size.width) return;
    const brush = base.getContext("2d");
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, base.width, base.height);
    paintPoints(brush, points);
    brush.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    if (labels) paintNames(brush, centres);
    paintOver();
  }

  function paintPoints(brush, some) {
    const half = 7 * size.ratio;
    for (const point of some) {
      const [px, py] = plane(point);
      if (px < -9 || py < -9 || px > size.width + 9 || py > size.height + 9) continue;
      brush.drawImage(stamp(point.group), px * size.ratio - half, py * size.ratio - half);
    }
  }

  function paintNames(brush, some) {
    const taken = [];
    brush.font = "600 12px system-ui, sans-serif";
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.lineJoin = "round";
    for (const centre of some) {
      const name = names[centre.group];
      const wide = brush.measureText(name).width / 2 + 4;
      const [middle, top] = plane(centre);
      if (middle < 0 || middle > size.width || top < 0 || top > size.height) continue;
      const px = Math.max(wide, Math.min(size.width - wide, middle));
      const py = Math.max(22, top);
      const box = [px - wide, py - 20, px + wide, py - 4];
      if (taken.some((other) => overlap(other, box))) continue;
      taken.push(box);
      brush.lineWidth = 4;
      brush.strokeStyle = palette.panel;
      brush.strokeText(name, px, py - 12);
      brush.fillStyle = palette.text;
      brush.fillText(name, px, py - 12);
    }
  }

  function paintOver() {
    const brush = over.getContext("2d");
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, over.width, over.height);
    if (shown.group !== null) paintPoints(brush, points.filter((point) => point.group === shown.group));
    brush.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    if (shown.group !== null) paintNames(brush, centres.filter((point) => point.group === shown.group));
    if (shown.mark) {
      const [px, py] = plane(shown.mark);
      brush.strokeStyle = palette.muted;
      brush.lineWidth = 1;
      brush.globalAlpha = 0.5;
      for (const index of shown.near) {
        brush.beginPath();
        brush.moveTo(px, py);
        brush.lineTo(...plane(points[index]));
        brush.stroke();
      }
      brush.globalAlpha = 1;
      paintStar(brush, px, py, 11, palette.text, palette.panel);
    }
    if (focused !== null) {
      const [px, py] = plane(points[focused]);
      brush.beginPath();
      brush.arc(px, py, 9, 0, 2 * Math.PI);
      brush.lineWidth = 2;
      brush.strokeStyle = palette.text;
      brush.stroke();
    }
  }

  function focus(index, { tell = false } = {}) {
    if (index === focused) return;
    focused = index;
    paintOver();
    tip.hidden = index === null;
    over.classList.toggle("on-point", index !== null);
    if (index !== null) {
      const point = points[index];
      const [px, py] = plane(point);
      show(
        tip,
        h("span", { class: "plot-tip-text", dir: "auto" }, point.text),
        h("span", { class: "plot-tip-name" }, h("bdi", null, names[point.group])),
      );
      const [wide, tall] = [tip.offsetWidth, tip.offsetHeight];
      const left = Math.max(6, Math.min(size.width - wide - 6, px - wide / 2));
      tip.style.setProperty("--at", `${left}px`);
      tip.style.setProperty("--top", `${py < tall + 20 ? py + 14 : py - tall - 14}px`);
    }
    onFocus?.(index === null ? null : points[index], tell);
  }

  function nearest(px, py, within) {
    let best = null;
    let least = within * within;
    points.forEach((point, index) => {
      const [x, y] = plane(point);
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) [best, least] = [index, far];
    });
    return best;
  }

  function step(dx, dy) {
    if (focused === null) return nearest(size.width / 2, size.height / 2, Infinity);
    const [fx, fy] = plane(points[focused]);
    let best = focused;
    let least = Infinity;
    points.forEach((point, index) => {
      const [x, y] = plane(point);
      const ahead = (x - fx) * dx + (y - fy) * dy;
      const aside = Math.abs((x - fx) * dy) + Math.abs((y - fy) * dx);
      if (index === focused || ahead <= 0.5) return;
      const cost = ahead + 2.5 * aside;
      if (cost < least) [best, least] = [index, cost];
    });
    return best;
  }

  function zoom(by, at = [size.width / 2, size.height / 2]) {
    const next = Math.min(40, Math.max(1, place.zoom * by));
    const shift = (1 / next - 1 / place.zoom);
    place = {
      zoom: next,
      x: place.x + (at[0] - size.width / 2) * shift,
      y: place.y + (at[1] - size.height / 2) * shift,
    };
    if (next === 1) place = { zoom: 1, x: 0, y: 0 };
    moved();
  }

  function whole() {
    place = { zoom: 1, x: 0, y: 0 };
    moved();
  }

  let waiting = false;
  function moved() {
    if (focused !== null) focus(null);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }

  const spot = (event) => {
    const box = over.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let grip = null;
  over.addEventListener("pointerdown", (event) => {
    grip = { from: spot(event), place, far: false };
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => {
    const at = spot(event);
    if (grip === null) {
      focus(nearest(...at, 14));
      return;
    }
    const [dx, dy] = [at[0] - grip.from[0], at[1] - grip.from[1]];
    if (!grip.far && Math.hypot(dx, dy) < 5) return;
    grip.far = true;
    if (place.zoom > 1) {
      place = { ...place, x: grip.place.x + dx / place.zoom, y: grip.place.y + dy / place.zoom };
      moved();
    }
  });
  over.addEventListener("pointerup", (event) => {
    const open = grip !== null && !grip.far;
    grip = null;
    if (!open) return;
    const found = nearest(...spot(event), 16);
    focus(found);
    onPoint?.(found === null ? null : points[found]);
  });
  over.addEventListener("pointercancel", () => { grip = null; });
  over.addEventListener("pointerleave", () => { if (grip === null) focus(null); });
  over.addEventListener("blur", () => focus(null));
  over.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== over) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, spot(event));
  }, { passive: false });
  over.addEventListener("keydown", (event) => {
    const act = {
      ArrowRight: () => focus(step(1, 0), { tell: true }),
      ArrowLeft: () => focus(step(-1, 0), { tell: true }),
      ArrowDown: () => focus(step(0, 1), { tell: true }),
      ArrowUp: () => focus(step(0, -1), { tell: true }),
      Enter: () => focused !== null && onPoint?.(points[focused]),
      Escape: () => { focus(null); onPoint?.(null); },
      "+": () => zoom(1.5),
      "=": () => zoom(1.5),
      "-": () => zoom(1 / 1.5),
      "0": whole,
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  function readInks() {
    const ink = (probe) => getComputedStyle(probe).color;
    palette = Object.assign(inks.map(ink), {
      muted: ink(muted), text: ink(text), panel: ink(panel),
    });
    stamps = new Map();
    paint();
  }

  const sized = new ResizeObserver(() => {
    const box = stage.getBoundingClientRect();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (box.width === size.width && box.height === size.height && ratio === size.ratio) return;
    size = { width: box.width, height: box.height, ratio };
    for (const canvas of [base, over]) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    if (palette.length > 0) readInks();
    else setTimeout(readInks); // what is around the map shows first
  });
  sized.observe(stage);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", readInks);
  const themed = new MutationObserver(readInks);
  themed.observe(document.documentElement, { attributes: true });

  return {
    element,
    /** Let one group stand out, put the question's mark, join it with the points of `near`. */
    show(changes) {
      shown = { ...shown, ...changes };
      base.classList.toggle("faint", shown.group !== null);
      if (size.width) paintOver();
    },
    close() {
      sized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", readInks);
    },
  };
}

/** A share from 0 to 1 as a short bar with its percentage; `label` says what of. */
export function meter(share, { label = "", tone = "accent", wide = false } = {}) {
  return h(
    "span", { class: wide ? "share-meter wide" : "share-meter", vars: { "--share": String(Math.max(0, Math.min(1, share))) } },
    h("span", { class: `share-meter-bar tone-${tone}`, "aria-hidden": "true" }),
    h("span", { class: "share-meter-value" }, label && h("span", { class: "visually-hidden" }, `${label} `), percent(share)),
  );
}

/** The mark of a group as a small picture, for legends. */
export function swatch(group) {
  const shape = SHAPES[group % SHAPES.length];
  return s(
    "svg", { viewBox: "0 0 14 14", class: `swatch ink-${group % COLOURS}`, "aria-hidden": "true" },
    s("path", { d: markPath(shape, 7, 7, 5), class: OPEN.has(shape) ? "open" : "" }),
  );
}

const OPEN = new Set(["plus", "cross"]);

/** A frame of a title, the plot, which is drawn anew as wide as there is room, and its table. */
function figure({ title, description, height, draw, table, legend = null }) {
  const picture = s("svg", { class: "plot-picture", role: "img", "aria-label": label() });
  const tip = h("div", { class: "plot-tip", hidden: true });
  const stage = h("div", { class: "plot-stage" }, picture, tip);
  const keys = h("div", { class: "plot-legend" });
  const rows = h("div", { class: "plot-table" });
  const element = h(
    "figure", { class: "plot" },
    h("figcaption", { class: "plot-title" }, title, description && h("p", { class: "muted" }, description)),
    keys, stage,
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
    show(rows, h(
      "table", { class: "table" },
      h("caption", { class: "visually-hidden" }, title),
      h("thead", null, h("tr", null, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, listed.map((row) => h("tr", null, row.map((value) => h("td", null, value))))),
    ));
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
      reading.rows.map(([name, value]) => h("span", { class: "plot-tip-row" }, h("span", null, name), h("b", null, value))),
    );
    tip.hidden = false;
    tip.style.setProperty("--at", `${reading.at}px`);
    tip.style.setProperty("--top", `${drawn.top + 8}px`);
    tip.classList.add("under");
    tip.classList.toggle("before", reading.at > wide / 2);
  });
  stage.addEventListener("pointerleave", () => { tip.hidden = true; });
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
  return series.map((each, index) => h(
    "span", { class: "plot-key" },
    s(
      "svg", { viewBox: "0 0 28 10", "aria-hidden": "true" },
      s("path", { d: "M1 5H27", class: `plot-line tone-${each.tone} dash-${index % 4}` }),
      s("path", { d: markPath(SHAPES[index % SHAPES.length], 14, 5, 3), class: `plot-mark tone-${each.tone}` }),
    ),
    each.name,
  ));
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
    "g", { class: "plot-axes" },
    yTicks.map((value, index) => {
      const [, place] = at(0, value);
      return [
        s("path", { d: `M${left} ${place}H${right}`, class: "plot-grid" }),
        s("text", { x: left - 6, y: place + 4, "text-anchor": "end", class: "plot-label" }, yNames[index]),
      ];
    }).flat(),
    xTicks.map((value) => {
      const [place] = at(value, 0);
      return [
        s("path", { d: `M${place} ${bottom}v4`, class: "plot-tick" }),
        s("text", { x: place, y: bottom + 17, "text-anchor": "middle", class: "plot-label" }, formatted(x, value)),
      ];
    }).flat(),
    s("path", { d: `M${left} ${bottom}H${right}`, class: "plot-axis" }),
    s("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle", class: "plot-name" }, x.label),
    s("text", {
      transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle",
      class: "plot-name",
    }, y.label),
  );
  const line = (points, classes) => s("path", {
    d: points.map(([px, py], index) => `${index ? "L" : "M"}${at(px, py).map((v) => v.toFixed(1)).join(" ")}`).join(""),
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

function markPath(shape, x, y, r) {
  const w = r * 1.15;
  switch (shape) {
    case "square": return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
    case "triangle": return `M${x} ${y - w}L${x + w} ${y + r}H${x - w}Z`;
    case "wedge": return `M${x} ${y + w}L${x + w} ${y - r}H${x - w}Z`;
    case "diamond": return `M${x} ${y - w}L${x + w} ${y}L${x} ${y + w}L${x - w} ${y}Z`;
    case "plus": return `M${x - w} ${y}h${2 * w}M${x} ${y - w}v${2 * w}`;
    case "cross": return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
}

function paintMark(brush, shape, x, y, r, colour, edge) {
  const path = new Path2D(markPath(shape, x, y, r));
  if (OPEN.has(shape)) {
    brush.strokeStyle = colour;
    brush.lineWidth = 2.2;
    brush.stroke(path);
    return;
  }
  brush.fillStyle = colour;
  brush.fill(path);
  brush.strokeStyle = edge;
  brush.lineWidth = 1;
  brush.stroke(path);
}

function paintStar(brush, x, y, r, colour, edge) {
  brush.beginPath();
  for (let point = 0; point < 10; point += 1) {
    const far = point % 2 ? r * 0.45 : r;
    const turn = (Math.PI * point) / 5 - Math.PI / 2;
    brush.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  brush.closePath();
  brush.fillStyle = colour;
  brush.fill();
  brush.strokeStyle = edge;
  brush.lineWidth = 2;
  brush.stroke();
}

function boundsOf(points) {
  const box = { x: Infinity, y: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    box.x = Math.min(box.x, x);
    box.y = Math.min(box.y, y);
    box.right = Math.max(box.right, x);
    box.bottom = Math.max(box.bottom, y);
  }
  return { x: box.x, y: box.y, width: box.right - box.x || 1, height: box.bottom - box.y || 1 };
}

/** Of each group the point that is nearest to its middle, those with most points first. */
function centresOf(points) {
  const groups = new Map();
  for (const point of points) {
    const group = groups.get(point.group);
    if (group) group.push(point);
    else groups.set(point.group, [point]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length).map((some) => {
    const mean = (axis) => some.reduce((sum, point) => sum + point[axis], 0) / some.length;
    const [x, y] = [mean("x"), mean("y")];
    const far = (point) => (point.x - x) ** 2 + (point.y - y) ** 2;
    return some.reduce((best, point) => (far(point) < far(best) ? point : best));
  });
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}
