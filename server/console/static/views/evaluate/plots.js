// The plots of an evaluation, and its table by template.

import { h, show } from "../../dom.js";
import { duration, n, percent, t } from "../../i18n.js";
import { histogram, lines, matrix, meter, reliability } from "../../widgets/plot.js";
import { dataTable } from "../../widgets/table.js";
import { TONES } from "./run.js";
import { named } from "./words.js";

const MOST_CONFUSED = 14;
const MOST_LISTED = 20;

export function reliabilityOf({ reliability: bins, calibration_error: error }) {
  return reliability({
    title: t("evaluate.reliability"),
    description: [
      t("evaluate.reliability_about"),
      typeof error === "number" && t("evaluate.reliability_error", { share: percent(error, 1) }),
    ]
      .filter(Boolean)
      .join(" "),
    x: { label: t("evaluate.confidence_axis") },
    y: { label: t("evaluate.right_axis") },
    counts: t("evaluate.calls"),
    bins: bins.map((bin) => ({
      from: bin.from,
      to: bin.to,
      count: bin.count,
      confidence: bin.mean_confidence,
      right: bin.share_right,
    })),
  }).element;
}

export function thresholdsOf({ thresholds }) {
  const series = ["right", "silent", "wrong"].map((id) => ({
    name: t(`evaluate.judged.${id}`),
    tone: TONES[id],
    points: thresholds.map((each) => [each.threshold, each[id]]),
  }));
  return lines({
    title: t("evaluate.thresholds"),
    description: t("evaluate.thresholds_about"),
    x: { label: t("evaluate.threshold_axis"), domain: [0, 1] },
    y: { label: t("evaluate.share_axis"), domain: [0, 1], format: (value) => percent(value) },
    series,
  }).element;
}

export function latenciesOf(results) {
  const all = results.map((row) => row.latency_ms).sort((a, b) => a - b);
  const at = (share) => all[Math.min(all.length - 1, Math.max(0, Math.ceil(all.length * share) - 1))];
  const most = at(0.99);
  const step = niceStep(most / 20);
  const many = Math.max(1, Math.ceil(all.at(-1) > most * 2 ? most / step : all.at(-1) / step));
  const bins = Array.from({ length: many }, (_, index) => ({
    from: index * step,
    to: (index + 1) * step,
    count: 0,
  }));
  for (const each of all) bins[Math.min(many - 1, Math.floor(each / step))].count += 1;
  const beyond = all.filter((each) => each > many * step).length;
  return histogram({
    title: t("evaluate.latencies"),
    description: [
      t("evaluate.latencies_about", { p50: duration(at(0.5)), p99: duration(at(0.99)) }),
      beyond > 0 && t("evaluate.latencies_beyond", { count: beyond, most: duration(all.at(-1)) }),
    ]
      .filter(Boolean)
      .join(" "),
    x: { label: t("evaluate.latency_axis") },
    y: { label: t("evaluate.count_axis") },
    bins,
    marks: [
      { at: Math.min(at(0.5), many * step), name: "p50" },
      { at: Math.min(at(0.99), many * step), name: "p99" },
    ],
  }).element;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 0.01)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
}

/** Which template was meant and which answered, of the questions where they differ. */
export function confusionsOf(failed, ask) {
  const counts = new Map();
  for (const row of failed) {
    const key = `${row.expected ?? ""}\u0000${row.got ?? ""}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const cells = [...counts]
    .map(([key, count]) => {
      const [row, column] = key.split("\u0000");
      return { row, column, count };
    })
    .sort((a, b) => b.count - a.count);
  const most = (side) => [...new Set(cells.map((cell) => cell[side]))].slice(0, MOST_CONFUSED);
  const heads = (ids) => ids.map((id) => ({ id, label: id || t("evaluate.nothing_called") }));
  const [rows, columns] = [most("row"), most("column")];
  const shown = cells.filter((cell) => rows.includes(cell.row) && columns.includes(cell.column));
  const left = cells.length - shown.length;
  const pairs = h(
    "div",
    { class: "evaluate-pair", "aria-live": "polite" },
    h("p", { class: "muted" }, t("evaluate.pairs_hint")),
  );
  return matrix({
    title: t("evaluate.confusion"),
    description: [t("evaluate.confusion_about"), left > 0 && t("evaluate.confusion_left", { count: left })]
      .filter(Boolean)
      .join(" "),
    corner: t("evaluate.confusion_corner"),
    rows: heads(rows),
    columns: heads(columns),
    cells: shown,
    onCell: ({ row, column }) => {
      const same = failed.filter((each) => (each.expected ?? "") === row && (each.got ?? "") === column);
      show(
        pairs,
        h("h3", null, named(row), " → ", named(column)),
        h(
          "ul",
          { class: "evaluate-pairs" },
          same.slice(0, MOST_LISTED).map((each) =>
            h(
              "li",
              null,
              h(
                "button",
                {
                  type: "button",
                  class: "evaluate-ask",
                  dir: "auto",
                  onClick: () => ask(each.ask),
                },
                each.ask,
              ),
            ),
          ),
        ),
      );
    },
    below: pairs,
  }).element;
}

/** How the questions of each template fared. */
export function templateTable(rows, open) {
  if (!rows?.length) return null;
  const count = (id, extra = {}) => ({
    id,
    label: t(`evaluate.row.${id}`),
    size: "s",
    numeric: true,
    value: (row) => row[id],
    cell: (row) => (row[id] ? n(row[id]) : h("span", { class: "muted" }, "0")),
    ...extra,
  });
  const table = dataTable({
    caption: t("evaluate.per_template"),
    rows,
    rowHeight: 40,
    sort: { id: "share", down: false },
    columns: [
      {
        id: "template",
        label: t("evaluate.template"),
        size: "l",
        value: (row) => row.template,
        cell: (row) =>
          h(
            "button",
            {
              type: "button",
              class: "evaluate-ask",
              onClick: () => open(row.template),
            },
            h("bdi", null, row.template),
          ),
      },
      {
        id: "share",
        label: t("evaluate.row.share"),
        numeric: true,
        value: (row) => (row.questions ? row.right / row.questions : null),
        cell: shareBar,
      },
      count("questions"),
      count("right_arguments", { wide: true }),
      count("asked_back", { wide: true }),
      count("silent", { wide: true }),
      count("taken_from_others", { wide: true }),
    ],
  });
  return h("div", { class: "card stack" }, h("h2", null, t("evaluate.per_template")), table.element);
}

function shareBar(row) {
  if (!row.questions) return h("span", { class: "muted" }, "–");
  const share = row.right / row.questions;
  return meter(share, { wide: true, tone: share === 1 ? "ok" : share < 0.7 ? "bad" : "warn" });
}
