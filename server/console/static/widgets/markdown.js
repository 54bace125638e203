// Markdown as nodes: what a server, a tool or a model wrote is never taken as HTML.

import { h, isSafeLink } from "../dom.js";
import { sortableTable } from "./sortable.js";

const ESCAPABLE = /\\([\\`*_{}[\]()#+\-.!|<>~])/;
const MAX_DEPTH = 8;
const MAX_CHARS = 200_000;
// Each is bounded, so that a hostile text costs no more than its length.
const RULES = [
  [/^(`{1,3})([\s\S]{0,1000}?[^`])\1(?!`)/, (found) => h("code", null, found[2].replace(/^ (.*) $/, "$1"))],
  [ESCAPABLE, (found) => found[1], true],
  [/^\*\*(?=\S)([\s\S]{0,400}?\S)\*\*/, (found) => h("strong", null, inline(found[1]))],
  [/^\*(?=\S)([^*\n]{0,400}?\S)\*(?!\*)/, (found) => h("em", null, inline(found[1]))],
  [/^_(?=\S)([^_\n]{0,400}?\S)_(?!\w)/, (found) => h("em", null, inline(found[1])), false, true],
  [/^~~(?=\S)([\s\S]{0,400}?\S)~~/, (found) => h("del", null, inline(found[1]))],
  [/^!?\[([^\]\n]{0,400})\]\(\s{0,4}<?([^)\s>]{0,2000})>?(?:\s{1,4}"[^"]{0,200}")?\s{0,4}\)/, (found) => link(found[2], inline(found[1]))],
  [/^<(https?:\/\/[^\s>]{1,2000})>/, (found) => link(found[1], found[1])],
  [/^https?:\/\/[^\s<>()"'`|\\]{0,2000}[^\s<>()"'`|\\.,;:!?*_]/, (found) => link(found[0], found[0]), false, true],
];

/**
 * Return nodes for a Markdown text. `results` are `{columns, rows}` as tools gave them: a table of
 * the same columns is sorted by their values, whatever its texts look like.
 */
export function markdown(text, results = []) {
  const whole = text.replace(/\r\n?/g, "\n");
  const made = blocks(whole.slice(0, MAX_CHARS).split("\n"), { depth: 0, results });
  if (whole.length > MAX_CHARS) made.push(h("pre", { class: "code" }, whole.slice(MAX_CHARS)));
  return made;
}

function link(target, content) {
  const isWeb = /^https?:\/\//i.test(target) && isSafeLink(target);
  if (!isWeb) return h("span", null, content);
  return h("a", { href: target, title: target, rel: "noopener noreferrer", target: "_blank" }, content);
}

function inline(text) {
  const made = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain) made.push(plain);
    plain = "";
  };
  while (at < text.length) {
    const char = text[at];
    if (char === "\n") {
      flush();
      made.push(h("br"));
      at += 1;
      continue;
    }
    const next = "`\\*_~[!<h".includes(char) ? taken(text, at) : null;
    if (next) {
      flush();
      made.push(next.node);
      at += next.length;
    } else {
      plain += char;
      at += 1;
    }
  }
  flush();
  return made;
}

function taken(text, at) {
  const rest = text.slice(at);
  for (const [pattern, make, isAnywhere, isAfterNoWord] of RULES) {
    if (isAfterNoWord && at > 0 && /\w/.test(text[at - 1])) continue;
    const found = pattern.exec(rest);
    if (found && (!isAnywhere || found.index === 0)) return { node: make(found), length: found[0].length };
  }
  return null;
}

function blocks(lines, state) {
  if (state.depth > MAX_DEPTH) return [h("p", { dir: "auto" }, lines.join("\n"))];
  const made = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^\s*(```+|~~~+)/.exec(line);
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      const end = lines.findIndex((each, index) => index > at && each.trim().startsWith(fence[1]));
      const last = end < 0 ? lines.length : end;
      const body = lines.slice(at + 1, last).join("\n");
      made.push(h("pre", { class: "code", tabindex: "0" }, h("code", null, body)));
      at = last + 1;
    } else if (heading) {
      const level = Math.min(6, heading[1].length + 2);
      made.push(h(`h${level}`, { dir: "auto" }, inline(heading[2])));
      at += 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      made.push(h("hr"));
      at += 1;
    } else if (line.includes("|") && isRuler(lines[at + 1])) {
      const [table, next] = tableFrom(lines, at, state.results);
      made.push(table);
      at = next;
    } else if (/^\s*>/.test(line)) {
      const [own, next] = run(lines, at, (each) => /^\s*>/.test(each));
      made.push(h("blockquote", { dir: "auto" }, blocks(own.map((each) => each.replace(/^\s*> ?/, "")), deeper(state))));
      at = next;
    } else if (ITEM.test(line)) {
      const [own, next] = run(lines, at, (each) => ITEM.test(each) || /^\s{2,}\S/.test(each));
      made.push(listFrom(own, state));
      at = next;
    } else {
      const [own, next] = run(lines, at, (each, index) => isPlain(each, lines[index + 1]) || index === at);
      made.push(h("p", { dir: "auto" }, inline(own.join("\n").trim())));
      at = next;
    }
  }
  return made;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

function isPlain(line, next) {
  const begins = /^\s*(```|~~~|>|#{1,6}\s)/.test(line) || ITEM.test(line);
  return line.trim() !== "" && !begins && !(line.includes("|") && isRuler(next));
}

function run(lines, from, goesOn) {
  let to = from;
  while (to < lines.length && goesOn(lines[to], to)) to += 1;
  return [lines.slice(from, to), to];
}

function listFrom(lines, state) {
  const first = ITEM.exec(lines[0]);
  const indent = first[1].length;
  const items = [];
  lines.forEach((line) => {
    const found = ITEM.exec(line);
    if (found && found[1].length <= indent) items.push([found[3]]);
    else items.at(-1).push(line.slice(indent + 2));
  });
  const isOrdered = /\d/.test(first[2]);
  const props = { dir: "auto", ...(isOrdered ? { start: parseInt(first[2], 10) } : {}) };
  const content = ([own, ...inner]) => [inline(own), inner.length > 0 && blocks(inner, deeper(state))];
  return h(isOrdered ? "ol" : "ul", props, items.map((item) => h("li", { dir: "auto" }, content(item))));
}

function isRuler(line) {
  return line !== undefined && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line) && line.includes("-");
}

function cellsOf(line) {
  const cells = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function deeper(state) {
  return { ...state, depth: state.depth + 1 };
}

function tableFrom(lines, at, results) {
  const head = cellsOf(lines[at]);
  const [rows, next] = run(lines, at + 2, (line) => line.trim() !== "" && line.includes("|"));
  const cells = rows.map((row) => {
    const own = cellsOf(row);
    return head.map((_, column) => own[column] ?? "");
  });
  const names = head.map((name) => name.replaceAll("\\", ""));
  const found = results.find(({ columns, rows: behind }) => behind.length >= cells.length && isSame(columns, names));
  const keys = found?.rows.map((row) => found.columns.map((name) => row[name]));
  return [sortableTable(head, cells, { render: inline, keys }), next];
}

function isSame(columns, names) {
  const plain = (name) => String(name).replaceAll("_", " ").toLowerCase();
  return columns.length === names.length && columns.every((name, index) => plain(name) === plain(names[index]));
}
