// How a message was read: its words marked by what took them, the arguments and where they came
// from, how sure the choice is, and where the time went.

import { h, s, show } from "../../dom.js";
import { duration, hasText, percent, t } from "../../i18n.js";

const ROLES = ["value", "frame", "operator", "filler", "unread"];
const REDACTED = "[REDACTED]";

/**
 * The message with each word marked. One child element a word, with `data-as`; the rest is text.
 * The line below says of a word what took it, when it is pointed at or focused.
 */
export function markedMessage(message, entries, { onWord, point }) {
  const chars = Array.from(message); // spans count code points
  const isMasked = entries.some((entry) => entry.text === REDACTED);
  const line = h("p", { class: "marked", dir: "auto", role: "group", "aria-label": t("ask.coverage"), dataset: { testid: "coverage" } });
  const note = h("p", { class: "word-note small muted", "aria-live": "off" });
  const words = [];
  let end = 0;

  const say = (entry) => {
    show(note, entry ? sayWord(entry) : legend(entries));
    note.classList.toggle("said", Boolean(entry));
    point(entry?.as === "value" ? entry.of : null);
  };
  entries.forEach((entry, index) => {
    const [from, to] = entry.span;
    line.append(isMasked ? (index ? " " : "") : chars.slice(end, from).join(""));
    const word = h(
      "button",
      {
        type: "button",
        class: "word",
        tabindex: index === 0 ? "0" : "-1",
        dataset: { as: entry.as, of: entry.of, caption: isRunOn(entries[index - 1], entry) ? null : captionOf(entry) },
        "aria-label": `${entry.text}: ${sayRole(entry)}`,
        onMouseenter: () => say(entry),
        onMouseleave: () => say(null),
        onFocus: () => say(entry),
        onBlur: () => say(null),
        onClick: () => onWord(entry.text),
        onKeydown: (event) => walk(event, index),
      },
      h("span", null, isMasked ? entry.text : chars.slice(from, to).join("")),
    );
    words.push(word);
    line.append(word);
    end = to;
  });
  if (!isMasked) line.append(chars.slice(end).join(""));

  function walk(event, index) {
    const isRtl = getComputedStyle(line).direction === "rtl";
    const steps = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1, Home: -index, End: words.length };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = words[Math.max(0, Math.min(words.length - 1, index + step))];
    words.forEach((word) => word.setAttribute("tabindex", word === next ? "0" : "-1"));
    next.focus();
  }

  say(null);
  const element = h("div", { class: "reading" }, line, note);
  const light = (name) => words.forEach((word) => word.classList.toggle("lit", name !== null && word.dataset.of === name));
  return { element, light };
}

/** Whether a word goes on with what the one before it was taken for. */
function isRunOn(before, entry) {
  return before?.as === entry.as && before.of === entry.of;
}

function captionOf(entry) {
  if (entry.as === "value") return entry.of ?? t("ask.as.value");
  return entry.as === "unread" || entry.as === "operator" ? t(`ask.as.${entry.as}`) : null;
}

function sayRole(entry) {
  const key = `ask.took.${entry.as}${entry.of ? "_of" : ""}`;
  return t(hasText(key) ? key : `ask.took.${entry.as}`, { of: entry.of ?? "" });
}

function sayWord(entry) {
  return [h("strong", { dir: "auto" }, entry.text), " ", sayRole(entry)];
}

function legend(entries) {
  const found = ROLES.filter((role) => entries.some((entry) => entry.as === role));
  return found.map((role) =>
    h("span", { class: "legend-item" }, h("span", { class: "legend-mark", dataset: { as: role }, "aria-hidden": "true" }, t("ask.legend_sample")), t(`ask.as.${role}`)),
  );
}

/** A table of the arguments: value, the words it came from, and how it was found. */
export function argumentTable(values, sources, { light }) {
  const names = [...new Set([...Object.keys(sources ?? {}), ...Object.keys(values ?? {})])];
  if (names.length === 0) return null;
  const rows = new Map();
  const element = h(
    "div",
    { class: "scroll-x" },
    h(
      "table",
      { class: "table arguments" },
      h("caption", { class: "visually-hidden" }, t("ask.arguments")),
      h("thead", null, h("tr", null, ["argument", "value", "words", "found"].map((each) => h("th", { scope: "col" }, t(`ask.column.${each}`))))),
      h(
        "tbody",
        null,
        names.map((name) => {
          const source = sources?.[name] ?? {};
          const row = h(
            "tr",
            { onMouseenter: () => light(name), onMouseleave: () => light(null) },
            h("th", { scope: "row" }, h("code", null, name)),
            h("td", { class: "argument-value", dir: "auto" }, name in (values ?? {}) ? showValue(values[name]) : "—"),
            h("td", { dir: "auto" }, source.text ? h("q", null, source.text) : h("span", { class: "muted" }, "—")),
            h("td", { class: "muted" }, sayKind(source.kind), source.note && h("span", { class: "small", dir: "auto" }, ` (${source.note})`)),
          );
          rows.set(name, row);
          return row;
        }),
      ),
    ),
  );
  const point = (name) => rows.forEach((row, each) => row.classList.toggle("lit", each === name));
  return { element, point };
}

function sayKind(kind) {
  if (!kind) return "—";
  return hasText(`ask.kind.${kind}`) ? t(`ask.kind.${kind}`) : kind.replaceAll("_", " ");
}

/** A value of an argument as people write it. */
export function showValue(value) {
  if (value === null || value === undefined) return "—";
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (typeof value === "object") return h("code", null, JSON.stringify(value));
  return String(value);
}

/** How sure a choice is: a figure, its bar, and a word. */
export function confidence(share) {
  const word = share >= 0.9 ? "very" : share >= 0.7 ? "fairly" : share >= 0.4 ? "hardly" : "not";
  return h(
    "span",
    { class: ["confidence", word], dataset: { testid: "confidence" }, title: t(`ask.sure.${word}`) },
    s("svg", { class: "meter", viewBox: "0 0 48 6", "aria-hidden": "true" }, s("rect", { class: "meter-all", width: 48, height: 6, rx: 3 }), s("rect", { class: "meter-part", width: Math.max(3, 48 * share), height: 6, rx: 3 })),
    h("span", { class: "number" }, t("ask.sure", { share: percent(share) })),
  );
}

/** Where the time went, stage by stage, as a bar and as a list. */
export function timeBar(trace, wholeMs) {
  const stages = (trace ?? []).filter((each) => each.ms > 0);
  if (stages.length === 0) return null;
  const total = stages.reduce((sum, each) => sum + each.ms, 0) || 1;
  let from = 0;
  const parts = stages.map((each, index) => {
    const width = (each.ms / total) * 600;
    const rect = s("rect", { class: `stage stage-${index % 6}`, x: from.toFixed(2), y: 0, width: Math.max(0.5, width - 1).toFixed(2), height: 14 }, s("title", null, `${nameStage(each.stage)}: ${duration(each.ms)}`));
    from += width;
    return rect;
  });
  return h(
    "div",
    { class: "stack tight", dataset: { testid: "trace" } },
    h(
      "p",
      { class: "row apart" },
      h("span", { class: "small-caps" }, t("ask.time")),
      h("span", { class: "small muted number" }, t("ask.time_of", { server: duration(total), all: duration(wholeMs ?? total) })),
    ),
    s("svg", { class: "time-bar", viewBox: "0 0 600 14", preserveAspectRatio: "none", role: "img", "aria-label": t("ask.time") }, parts),
    h(
      "ul",
      { class: "stages" },
      stages.map((each, index) =>
        h("li", null, h("span", { class: `swatch stage-${index % 6}` }), h("span", null, nameStage(each.stage)), h("span", { class: "muted number" }, duration(each.ms))),
      ),
    ),
  );
}

/** The templates that were considered, where the stages say so: how alike, how sure, what spoke against. */
export function consideredTable(trace, { onTemplate }) {
  const candidates = trace?.find((each) => each.stage === "match")?.candidates ?? [];
  if (candidates.length < 2) return null;
  const judged = new Map((trace.find((each) => each.stage === "verify")?.judged ?? []).map((each) => [each.template_id, each]));
  const heads = ["template", "likely", "sure", "nearest", "against"];
  return h(
    "details",
    { class: "considered" },
    h("summary", { class: "small-caps" }, t("ask.considered", { count: candidates.length })),
    h(
      "div",
      { class: "scroll-x", tabindex: "0", role: "region", "aria-label": t("ask.considered", { count: candidates.length }) },
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, heads.map((each, index) => h("th", { scope: "col", class: index === 1 || index === 2 ? "number" : null }, t(`ask.considered.${each}`))))),
        h(
          "tbody",
          null,
          candidates.map((each) =>
            h(
              "tr",
              null,
              h("td", null, h("button", { class: "link", type: "button", onClick: () => onTemplate(each.template_id) }, each.template_id)),
              h("td", { class: "number" }, percent(each.probability, 1)),
              h("td", { class: "number" }, judged.has(each.template_id) ? percent(judged.get(each.template_id).confidence, 1) : "—"),
              h("td", { dir: "auto" }, each.nearest_example),
              h("td", { dir: "auto" }, judged.get(each.template_id)?.against || "—"),
            ),
          ),
        ),
      ),
    ),
  );
}

function nameStage(stage) {
  return hasText(`ask.stage.${stage}`) ? t(`ask.stage.${stage}`) : String(stage).replaceAll("_", " ");
}
