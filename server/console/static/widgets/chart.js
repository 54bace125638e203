// The charts that an answer describes (`metadata.chart`): bars over categories and lines over
// dates, of one figure or several. The rows are those of the answer.

import { h, s } from "../dom.js";
import { n, t, when } from "../i18n.js";

const HEIGHT = 240;
const MARGIN = { top: 12, bottom: 34, start: 56, end: 12 };
const LABEL = 12; // characters of a category under its bar

/** Return a figure for a description in Vega-Lite as the server makes it; null for any other. */
export function chartOf(chart, metadata) {
  const plot = read(chart, metadata);
  if (!plot || plot.points.length < 2) return null;
  const drawing = h("div", { class: "chart-drawing" });
  const figure = h(
    "figure",
    { class: "chart" },
    h("figcaption", { class: "row apart" }, h("span", { class: "small-caps", dir: "auto" }, titleOf(plot)), plot.names.length > 1 && legend(plot)),
    drawing,
  );
  let width = 0;
  new ResizeObserver(([entry]) => {
    const next = Math.round(entry.contentRect.width);
    if (next > 0 && next !== width) {
      width = next;
      drawing.replaceChildren(draw(plot, width));
    }
  }).observe(drawing);
  return figure;
}

function read(chart, metadata) {
  const rows = (chart?.usermeta?.rows ?? "").split(".").reduce((node, name) => node?.[name], metadata);
  const { x, y } = chart?.encoding ?? {};
  if (!Array.isArray(rows) || !x || !y) return null;
  const label = plainName(x.field);
  const fold = chart.transform?.find((each) => each.fold)?.fold;
  const names = (fold ?? [y.field]).map(plainName);
  const isDated = x.type === "temporal";
  const points = rows.map((row) => ({
    label: row[label],
    at: isDated ? Date.parse(row[label]) : null,
    values: names.map((name) => (row[name] === null || row[name] === undefined ? null : Number(row[name]))),
  }));
  if (isDated) points.sort((a, b) => a.at - b.at);
  return {
    points,
    names,
    isDated,
    isLine: (chart.mark?.type ?? chart.mark) === "line",
    xTitle: x.title ?? label,
    yTitle: y.title ?? (names.length === 1 ? names[0] : ""),
  };
}

/** The name of a column without the escapes that Vega-Lite needs. */
function plainName(field) {
  return field.replace(/\\(.)/g, "$1");
}

function shown(name) {
  return name.replaceAll("_", " ");
}

function titleOf(plot) {
  const figures = plot.names.length === 1 ? plot.yTitle : plot.names.map(shown).join(", ");
  return t("ask.chart_title", { figures, by: plot.xTitle });
}

function legend(plot) {
  return h(
    "span",
    { class: "row chart-legend" },
    plot.names.map((name, index) =>
      h("span", { class: "row", dir: "auto" }, h("span", { class: `swatch series-${index + 1}` }), shown(name)),
    ),
  );
}

function labelOf(point, isDated) {
  return isDated && !Number.isNaN(point.at) ? when(point.at, "date") : String(point.label);
}

function draw(plot, width) {
  const { points, names } = plot;
  const values = points.flatMap((point) => point.values).filter((value) => value !== null);
  const ticks = ticksOf(Math.min(0, ...values), Math.max(0, ...values));
  const [low, high] = [ticks[0], ticks.at(-1)];
  const inner = { width: width - MARGIN.start - MARGIN.end, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const up = (value) => MARGIN.top + inner.height * (1 - (value - low) / (high - low || 1));
  const band = inner.width / points.length;
  const [first, last] = [points[0].at, points.at(-1).at];
  const across = (point, index) =>
    plot.isLine
      ? MARGIN.start + inner.width * (plot.isDated ? (point.at - first) / (last - first || 1) : index / (points.length - 1))
      : MARGIN.start + band * (index + 0.5);

  const grid = ticks.map((tick) => [
    s("line", { class: tick === 0 ? "axis" : "grid", x1: MARGIN.start, x2: width - MARGIN.end, y1: up(tick), y2: up(tick) }),
    s("text", { class: "tick", x: MARGIN.start - 8, y: up(tick) + 4, "text-anchor": "end" }, short(tick)),
  ]);
  const every = Math.ceil(points.length / Math.max(1, Math.floor(inner.width / 64)));
  const below = points.map((point, index) => {
    if (index % every !== 0) return null;
    const label = labelOf(point, plot.isDated);
    const cut = label.length > LABEL && band * every < label.length * 7 ? `${label.slice(0, LABEL - 1)}…` : label;
    const anchor = plot.isLine && index === 0 ? "start" : plot.isLine && index === points.length - 1 ? "end" : "middle";
    return s("text", { class: "tick", x: across(point, index), y: HEIGHT - MARGIN.bottom + 18, "text-anchor": anchor }, cut);
  });
  const say = (point, index) => {
    const figure = n(point.values[index]);
    const label = labelOf(point, plot.isDated);
    return names.length > 1 ? `${label}, ${shown(names[index])}: ${figure}` : `${label}: ${figure}`;
  };
  const marks = plot.isLine
    ? names.map((_, series) => lineOf(points, series, across, up, say))
    : points.map((point, index) => barsOf(point, across(point, index), band, names.length, up, say));
  const description = t("ask.chart_says", { title: titleOf(plot), count: points.length });
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": description, direction: "ltr" },
    grid, below, marks,
  );
}

function lineOf(points, series, across, up, say) {
  const whole = points.map((point, index) => ({ point, x: across(point, index) })).filter(({ point }) => point.values[series] !== null);
  const path = whole.map(({ point, x }, index) => `${index ? "L" : "M"}${x.toFixed(1)} ${up(point.values[series]).toFixed(1)}`).join("");
  return [
    s("path", { class: `line series-${series + 1}`, d: path }),
    whole.length <= 120 &&
      whole.map(({ point, x }) =>
        s("circle", { class: `dot series-${series + 1}`, cx: x, cy: up(point.values[series]), r: 3 }, s("title", null, say(point, series))),
      ),
  ];
}

function barsOf(point, middle, band, count, up, say) {
  const width = Math.min(46, (band * 0.72) / count);
  return point.values.map((value, index) => {
    if (value === null) return null;
    const top = Math.min(up(value), up(0));
    return s(
      "rect",
      { class: `bar series-${index + 1}`, x: middle + (index - count / 2) * width + 0.5, y: top, width: Math.max(1, width - 1), height: Math.max(1, Math.abs(up(value) - up(0))), rx: 2 },
      s("title", null, say(point, index)),
    );
  });
}

/** Round figures that reach from `low` to `high`. */
function ticksOf(low, high) {
  const span = high - low || 1;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const ticks = [];
  for (let at = Math.floor(low / step); at <= Math.ceil(high / step - 1e-9); at += 1) ticks.push(at * step);
  return ticks.length > 1 ? ticks : [0, 1];
}

function short(value) {
  return n(value, { notation: Math.abs(value) >= 10000 ? "compact" : "standard", maximumFractionDigits: 2 });
}
