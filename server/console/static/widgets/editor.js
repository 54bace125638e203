// A plain editor of YAML: a textarea, and behind it a layer that draws only the lines in sight.
//
// The text itself is the textarea's: selection, undo, input methods and screen readers are the
// browser's. Tab indents; after Escape the next Tab leaves, so that the keyboard is never caught.

import { h, clear } from "../dom.js";

const LINE = 20; // px, as in author.css
const PADDING = 8;
const INDENT = "  ";
const MOST_MATCHES = 5000;

export function createEditor({ label, labels, onInput = () => {}, onSave, onPlace = () => {} }) {
  let lines = [""];
  let scalars = [false];
  let problems = new Map();
  let matches = [];
  let match = -1;
  let leaving = false;

  const gutter = h("div", { class: "editor-gutter", "aria-hidden": "true" });
  const layer = h("div", { class: "editor-layer", "aria-hidden": "true" });
  const hint = h("span", { class: "editor-hint", dir: "auto" }, labels.hint);
  hint.id = `editor-hint-${Math.random().toString(36).slice(2, 8)}`;
  const place = h("span", { class: "editor-place", dir: "auto" });
  const area = h("textarea", {
    class: "editor-text",
    "aria-label": label,
    "aria-describedby": hint.id,
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    dir: "ltr",
    "data-testid": "editor",
  });
  const find = h("input", {
    type: "search", class: "editor-find", "aria-label": labels.search, placeholder: labels.search,
  });
  const found = h("span", { class: "muted editor-found", dir: "auto", "aria-live": "polite" });
  const step = (by, text, name) => h("button", {
    type: "button", class: "button quiet small", "aria-label": name, title: name,
    onclick: () => showMatch(match + by),
  }, text);
  const bar = h("div", { class: "editor-search row", role: "search", hidden: true },
    find, found, step(-1, "↑", labels.previous), step(1, "↓", labels.next),
    h("button", {
      type: "button", class: "button quiet small", "aria-label": labels.close,
      title: labels.close, onclick: () => closeSearch(),
    }, "✕"));
  const node = h("div", { class: "editor", dir: "ltr" },
    bar,
    h("div", { class: "editor-body" }, gutter, h("div", { class: "editor-pane" }, layer, area)),
    h("div", { class: "editor-foot row" }, place, hint));

  let drawing = 0;
  const draw = () => {
    drawing ||= requestAnimationFrame(() => {
      drawing = 0;
      drawNow();
    });
  };

  function drawNow() {
    const top = area.scrollTop;
    const first = Math.max(0, Math.floor((top - PADDING) / LINE) - 2);
    const last = Math.min(lines.length, first + Math.ceil(area.clientHeight / LINE) + 5);
    const current = lineAt(area.selectionStart);
    const numbers = [];
    const texts = [];
    for (let at = first; at < last; at += 1) {
      const here = problems.get(at + 1);
      const tone = here && (here.some((p) => p.kind !== "warning") ? "bad" : "warn");
      const classes = [tone && `is-${tone}`, at === current && "is-current"].filter(Boolean);
      numbers.push(h("div", {
        class: ["editor-number", ...classes].join(" "),
        title: here ? here.map((p) => p.what).join("\n") : null,
      }, String(at + 1)));
      texts.push(h("div", { class: ["editor-line", ...classes].join(" ") },
        marks(at),
        h("span", { class: "editor-tokens" }, tokens(lines[at], scalars[at])),
        here && h("span", { class: "editor-note" }, here.map((p) => p.what).join(" · "))));
    }
    clear(gutter).append(h("div", { class: "editor-slice" }, numbers));
    clear(layer).append(h("div", { class: "editor-slice" }, texts));
    const offset = `${PADDING + first * LINE - top}px`;
    gutter.style.setProperty("--offset", offset);
    layer.style.setProperty("--offset", offset);
    layer.style.setProperty("--shift", `${-area.scrollLeft}px`);
    gutter.style.setProperty("--digits", String(Math.max(3, String(lines.length).length)));
  }

  function marks(at) {
    const here = matches.filter((one) => one.line === at);
    if (!here.length) return null;
    const parts = [];
    let end = 0;
    for (const one of here) {
      parts.push(lines[at].slice(end, one.start));
      parts.push(h("mark", { class: one === matches[match] ? "is-chosen" : "" },
        lines[at].slice(one.start, one.end)));
      end = one.end;
    }
    return h("span", { class: "editor-marks" }, parts);
  }

  function lineAt(offset) {
    let line = 0;
    for (let at = area.value.indexOf("\n"); at !== -1 && at < offset; line += 1) {
      at = area.value.indexOf("\n", at + 1);
    }
    return line;
  }

  function read() {
    lines = area.value.split("\n");
    scalars = blockScalars(lines);
    if (!bar.hidden) search(false);
  }

  function showPlace() {
    const line = lineAt(area.selectionStart);
    const column = area.selectionStart - (area.value.lastIndexOf("\n", area.selectionStart - 1) + 1);
    place.textContent = labels.place(line + 1, column + 1);
    onPlace(line + 1);
    draw();
  }

  function changed() {
    read();
    showPlace();
    onInput(area.value);
  }

  /** Write over the selection so that the browser's undo knows of it. */
  function write(text) {
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      changed();
    }
  }

  function selectedLines() {
    const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const last = area.selectionEnd > area.selectionStart && area.value[area.selectionEnd - 1] === "\n"
      ? area.selectionEnd - 1 : area.selectionEnd;
    const end = area.value.indexOf("\n", last);
    return [start, end === -1 ? area.value.length : end];
  }

  function changeLines(change) {
    const [start, end] = selectedLines();
    const before = area.value.slice(start, end);
    const after = before.split("\n").map(change).join("\n");
    if (after === before) return;
    const many = before.includes("\n");
    const caret = area.selectionStart + after.length - before.length;
    area.setSelectionRange(start, end);
    write(after);
    if (many) area.setSelectionRange(start, start + after.length);
    else area.setSelectionRange(Math.max(start, caret), Math.max(start, caret));
  }

  function newLine() {
    const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const before = area.value.slice(start, area.selectionStart);
    const indent = /^ */.exec(before)[0];
    const item = /^ *- /.exec(before);
    const opens = /(:|[|>][+-]?)\s*$/.test(before);
    if (item && !before.slice(item[0].length).includes(": ")) {
      write(opens ? `\n${" ".repeat(item[0].length)}${INDENT}` : `\n${item[0]}`);
    } else write(`\n${indent}${opens ? INDENT : ""}`);
  }

  area.addEventListener("input", changed);
  area.addEventListener("scroll", draw, { passive: true });
  area.addEventListener("focus", () => { leaving = false; });
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === "Escape") {
      leaving = true;
    } else if (event.key === "Tab" && !command && !event.altKey && !area.readOnly) {
      if (leaving) return;
      event.preventDefault();
      if (event.shiftKey) changeLines((line) => line.replace(/^ {1,2}/, ""));
      else if (area.selectionStart !== area.selectionEnd) {
        changeLines((line) => (line ? INDENT + line : line));
      } else write(INDENT);
    } else if (event.key === "Enter" && !command && !event.shiftKey && !area.readOnly) {
      event.preventDefault();
      newLine();
    } else if (command && event.key === "/") {
      event.preventDefault();
      const [start, end] = selectedLines();
      const all = area.value.slice(start, end).split("\n").filter((line) => line.trim());
      const off = all.every((line) => /^\s*#/.test(line));
      changeLines((line) => {
        if (!line.trim()) return line;
        return off ? line.replace(/^(\s*)# ?/, "$1") : line.replace(/^(\s*)/, "$1# ");
      });
    } else if (command && event.key.toLowerCase() === "f") {
      event.preventDefault();
      openSearch();
    } else if (command && event.key.toLowerCase() === "s") {
      event.preventDefault();
      onSave?.();
    } else if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) {
      leaving = false;
    }
  });
  const moved = () => {
    if (document.activeElement === area) showPlace();
  };
  document.addEventListener("selectionchange", moved);
  area.addEventListener("selectionchange", moved);

  function openSearch() {
    bar.hidden = false;
    const chosen = area.value.slice(area.selectionStart, area.selectionEnd);
    if (chosen && !chosen.includes("\n")) find.value = chosen;
    find.focus();
    find.select();
    search(false);
  }

  function closeSearch() {
    bar.hidden = true;
    matches = [];
    area.focus();
    draw();
  }

  function search(jump) {
    const wanted = find.value.toLowerCase();
    matches = [];
    if (wanted) {
      for (let line = 0; line < lines.length && matches.length < MOST_MATCHES; line += 1) {
        const text = lines[line].toLowerCase();
        for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
          matches.push({ line, start: at, end: at + wanted.length });
        }
      }
    }
    const from = lineAt(area.selectionStart);
    match = Math.max(0, matches.findIndex((one) => one.line >= from));
    if (jump && matches.length) showMatch(match);
    else tellFound();
  }

  function showMatch(at) {
    if (!matches.length) return;
    match = (at + matches.length) % matches.length;
    const one = matches[match];
    const start = offsetOf(one.line);
    area.setSelectionRange(start + one.start, start + one.end);
    reveal(one.line, one.start);
    tellFound();
  }

  function tellFound() {
    found.textContent = find.value ? labels.found(matches.length ? match + 1 : 0, matches.length) : "";
    draw();
  }

  find.addEventListener("input", () => search(true));
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      closeSearch();
    } else if (event.key === "Enter") {
      event.preventDefault();
      showMatch(match + (event.shiftKey ? -1 : 1));
    }
  });

  const offsetOf = (line) => {
    let offset = 0;
    for (let at = 0; at < line; at += 1) offset += lines[at].length + 1;
    return offset;
  };

  function reveal(line, column = 0) {
    const top = PADDING + line * LINE;
    const high = area.clientHeight;
    if (top < area.scrollTop || top > area.scrollTop + high - 2 * LINE) {
      area.scrollTop = Math.max(0, top - high / 3);
    }
    const wide = 8 * column;
    if (wide < area.scrollLeft || wide > area.scrollLeft + area.clientWidth - 40) {
      area.scrollLeft = Math.max(0, wide - area.clientWidth / 2);
    }
    draw();
  }

  const resized = new ResizeObserver(draw);
  resized.observe(area);

  return {
    node,
    get value() {
      return area.value;
    },
    /** Another text; the place in it stays when it is the same file. */
    setValue(text, { keepPlace = false } = {}) {
      const { selectionStart, scrollTop, scrollLeft } = area;
      area.value = text;
      read();
      area.setSelectionRange(keepPlace ? selectionStart : 0, keepPlace ? selectionStart : 0);
      area.scrollTop = keepPlace ? scrollTop : 0;
      area.scrollLeft = keepPlace ? scrollLeft : 0;
      showPlace();
    },
    /** `list` are {line, what, kind}; those without a line are not the editor's to show. */
    setProblems(list) {
      problems = new Map();
      for (const problem of list) {
        if (!problem.line) continue;
        problems.set(problem.line, [...(problems.get(problem.line) ?? []), problem]);
      }
      if (list.some((problem) => problem.kind === "error")) area.setAttribute("aria-invalid", "true");
      else area.removeAttribute("aria-invalid");
      draw();
    },
    setReadOnly(is) {
      area.readOnly = is;
    },
    goTo(line, column = 1, { focus = true } = {}) {
      const at = Math.min(Math.max(line, 1), lines.length) - 1;
      const offset = offsetOf(at) + Math.min(Math.max(column, 1) - 1, lines[at].length);
      if (focus) area.focus({ preventScroll: true });
      area.setSelectionRange(offset, offset);
      reveal(at, column - 1);
      showPlace();
    },
    focus: () => area.focus(),
    openSearch,
    destroy() {
      resized.disconnect();
      document.removeEventListener("selectionchange", moved);
    },
  };
}

/** Which lines are inside of a block of text (`|` or `>`), where nothing is YAML. */
function blockScalars(lines) {
  const inside = new Array(lines.length).fill(false);
  let indent = -1;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (indent >= 0) {
      if (line.trim() === "" || indentOf(line) > indent) {
        inside[at] = true;
        continue;
      }
      indent = -1;
    }
    if (!line.includes("|") && !line.includes(">")) continue;
    if (/(^|[\s:-])[|>][+-]?\d?\s*(#.*)?$/.test(line) && !/^\s*#/.test(line)) indent = indentOf(line);
  }
  return inside;
}

const indentOf = (line) => line.length - line.trimStart().length;

const START = /^(\s*(?:- +)*)(?:("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},:][^#:]*?)(\s*:)(?=\s|$))?/;
const PART = /("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|((?:^|\s)#.*$)|(\{\{.*?\}\}|\{%.*?%\})|(?<![\w.])(-?\d+(?:\.\d+)?|true|false|null)(?![\w.])|([[\]{},])/g;
const CLASSES = [null, "tok-string", "tok-comment", "tok-jinja", "tok-number", "tok-mark"];
const MOST_COLOURED = 2000;

/** The parts of a line, coloured; a very long one stays plain. */
function tokens(line, scalar) {
  if (line.length > MOST_COLOURED) return [line];
  if (scalar) return split(line, /()()(\{\{.*?\}\}|\{%.*?%\})/g, "tok-text");
  const [start, lead, key, colon] = START.exec(line);
  const parts = [];
  if (lead) parts.push(h("span", { class: "tok-mark" }, lead));
  if (key) parts.push(h("span", { class: "tok-key" }, key), h("span", { class: "tok-mark" }, colon));
  return [...parts, ...split(line.slice(start.length), PART, null)];
}

function split(text, pattern, plain) {
  const parts = [];
  let end = 0;
  const rest = (piece) => (plain && piece ? h("span", { class: plain }, piece) : piece);
  for (const found of text.matchAll(pattern)) {
    parts.push(rest(text.slice(end, found.index)));
    const kind = found.findIndex((part, at) => at > 0 && part);
    parts.push(h("span", { class: CLASSES[kind] ?? "" }, found[0]));
    end = found.index + found[0].length;
  }
  parts.push(rest(text.slice(end)));
  return parts.filter((part) => part !== "");
}
