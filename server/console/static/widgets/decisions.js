// Decisions in a few words, and which of them change.

import { h } from "../dom.js";

/** What a question comes to, on one line; `words` translates the few words that it needs. */
export function decisionText(decision, words) {
  if (!decision) return "–";
  const given = Object.entries(decision.arguments ?? {})
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
  const call = decision.template ? `${decision.template}(${given})` : "";
  const more = (decision.more ?? []).map((one) => decisionText(one, words));
  switch (decision.decision) {
    case "call":
      return [call, ...more].join(" + ");
    case "asks":
      return words("asks", { call, names: (decision.asks ?? []).join(", ") });
    case "unclear":
      return words("unclear", {
        what: decision.options?.length ? decision.options.join(" / ") : (decision.why ?? ""),
      });
    case "declined": {
      const unread = decision.unread?.length ? ` (${decision.unread.join(", ")})` : "";
      return words("declined", {}) + unread;
    }
    default:
      return [decision.decision, decision.why].filter(Boolean).join(": ") || call || "–";
  }
}

const AGAIN_MS = 1000;
const MOST_TRIES = 30;

/** Make a call that waits for its turn: a server tries one draft at a time. */
export async function inTurn(call) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (failure) {
      if (failure.code !== "draft_busy" || tries >= MOST_TRIES) throw failure;
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}

/** The kind of a change under either of its names. */
export const kindOf = (change) => change.kind ?? change.how;

const TONES = { fixed: "ok", broken: "bad", changed: "warn", same: "quiet" };

/** A list of changed decisions: the question, what came of it, and what would. */
export function changeList(changes, words, { onask } = {}) {
  return h("ul", { class: "changes" }, changes.map((change) => h("li", { class: "change" },
    h("div", { class: "row" },
      h("span", { class: `badge ${TONES[kindOf(change)] ?? ""}` }, words(kindOf(change), {})),
      h("strong", { class: "change-ask" }, h("span", { dir: "auto" }, change.ask)),
      onask && h("button", {
        type: "button", class: "button quiet small", onclick: () => onask(change.ask),
      }, words("ask", {}))),
    h("div", { class: "change-from" },
      h("span", { class: "muted" }, words("before", {})),
      h("code", { dir: "auto" }, decisionText(change.before ?? change.old, words))),
    kindOf(change) === "same" ? null : h("div", { class: "change-to" },
      h("span", { class: "muted" }, words("after", {})),
      h("code", { dir: "auto" }, decisionText(change.after ?? change.new, words))))));
}
