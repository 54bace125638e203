// What two texts have in common, line by line, and a table of it.

import { h } from "../dom.js";

const MOST_EDITS = 600;

/** Return rows {kind: "same" | "add" | "remove", text, before?, after?} with numbers of lines. */
export function diffLines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const rows = [];
  const same = (i, j) => rows.push({ kind: "same", text: a[i], before: i + 1, after: j + 1 });
  for (let i = 0; i < start; i += 1) same(i, i);
  for (const step of edits(a.slice(start, endA), b.slice(start, endB))) {
    if (step.kind === "same") same(start + step.a, start + step.b);
    else if (step.kind === "remove") {
      rows.push({ kind: "remove", text: a[start + step.a], before: start + step.a + 1 });
    } else rows.push({ kind: "add", text: b[start + step.b], after: start + step.b + 1 });
  }
  for (let i = endA, j = endB; i < a.length; i += 1, j += 1) same(i, j);
  return rows;
}

/** The shortest way from one list to another (Myers, 1986); all of it anew when that is far. */
function edits(a, b) {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const reach = new Map([[1, 0]]);
  const trace = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a, b);
    }
  }
  return [
    ...a.map((_, at) => ({ kind: "remove", a: at })),
    ...b.map((_, at) => ({ kind: "add", b: at })),
  ];
}

function wayBack(trace, a, b) {
  const steps = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach.get(from);
    const fromY = fromX - from;
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0) && x - 1 >= 0 && a[x - 1] === b[y - 1]) {
      x -= 1;
      y -= 1;
      steps.push({ kind: "same", a: x, b: y });
    }
    if (d === 0) break;
    steps.push(down ? { kind: "add", b: fromY } : { kind: "remove", a: fromX });
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

/** Return the rows of a unified diff, as `diff -u` and servers write it. */
export function parseUnified(text) {
  const rows = [];
  let before = 0;
  let after = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      if (rows.length) rows.push({ kind: "gap" });
      before = Number(hunk[1]);
      after = Number(hunk[2]);
    } else if (!before && !after) continue; // the names of the files
    else if (line.startsWith("+")) rows.push({ kind: "add", text: line.slice(1), after: after++ });
    else if (line.startsWith("-")) {
      rows.push({ kind: "remove", text: line.slice(1), before: before++ });
    } else if (!line.startsWith("\\")) {
      rows.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return rows;
}

/** Leave out what is the same, but for a few lines around each change. */
export function withContext(rows, lines = 3) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, at) => {
    if (row.kind === "same") return;
    near.fill(1, Math.max(0, at - lines), Math.min(rows.length, at + lines + 1));
  });
  const kept = [];
  rows.forEach((row, at) => {
    if (near[at]) kept.push(row);
    else if (kept.length && kept.at(-1).kind !== "gap") kept.push({ kind: "gap" });
  });
  if (kept.at(-1)?.kind === "gap") kept.pop();
  return kept;
}

/** The same rows, a narrow place's way: without the indentation that all of them share. */
export function withoutIndent(rows) {
  const texts = rows.map((row) => row.text).filter((text) => text?.trim());
  const indent = Math.min(...texts.map((text) => text.length - text.trimStart().length));
  return rows.map((row) => (row.text === undefined ? row : { ...row, text: row.text.slice(indent) }));
}

const SIGNS = { add: "+", remove: "−", same: "" };

/** A table of rows; `labels` are {caption, added, removed} for those who do not see colours. */
export function diffTable(rows, labels) {
  const line = (row) => row.kind === "gap"
    ? h("tr", { class: "diff-gap" }, h("td", { colspan: "4" }, "⋯"))
    : h("tr", { class: `diff-${row.kind}` },
      h("td", { class: "diff-number" }, row.before ? String(row.before) : ""),
      h("td", { class: "diff-number" }, row.after ? String(row.after) : ""),
      h("td", { class: "diff-sign" }, mark(row, labels)),
      h("td", { class: "diff-text", dir: "auto" }, row.text));
  return h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": labels.caption },
    h("table", {}, h("tbody", {}, rows.map(line))));
}

function mark(row, labels) {
  const name = { add: labels.added, remove: labels.removed }[row.kind];
  return name
    ? [h("span", { "aria-hidden": "true" }, SIGNS[row.kind]), h("span", { class: "visually-hidden" }, name)]
    : null;
}
