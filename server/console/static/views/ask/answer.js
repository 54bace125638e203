// One turn: the question, the answer as it comes, and how it came about.

import { addressOf, api } from "../../api.js";
import { busy, h, show } from "../../dom.js";
import { hasText, percent, t, when } from "../../i18n.js";
import { chartOf } from "../../widgets/chart.js";
import { copyButton } from "../../widgets/copy.js";
import { errorBox, toast } from "../../widgets/notice.js";
import { icon } from "../../widgets/icons.js";
import { markdown } from "../../widgets/markdown.js";
import { argumentTable, confidence, consideredTable, markedMessage, timeBar } from "./reading.js";
import { feedback, missingForm, nearestButtons, optionButtons, proposalCard } from "./replies.js";
import { outcomeOf } from "./sessions.js";

const TONES = { answered: "ok", proposed: "accent", confirmed: "ok", cancelled: "", asked: "accent", said: "", declined: "warn", refused: "warn", blocked: "warn", failed: "bad" };

/**
 * A turn as an element: `{element, draw()}`; `draw` shows what the turn has become. `ctx` has what
 * its parts do: `send`, `fill`, `settle`, `retry`, `templates`, `library`, `client`, `isLast`, `mend`.
 */
export function turnView(turn, ctx) {
  const body = h("div", { class: "turn-body" });
  const element = h(
    "article",
    { class: "turn card", "aria-label": turn.shown },
    h("header", { class: "turn-head" }, h("h2", { class: "asked", dir: "auto" }, turn.shown), h("time", { class: "small muted", datetime: turn.at.toISOString() }, when(turn.at, "time"))),
    body,
  );

  function draw() {
    const isPending = outcomeOf(turn) === "pending";
    element.setAttribute("aria-busy", String(isPending));
    if (isPending) drawPending(body, turn, ctx);
    else if (turn.error) show(body, errorBox(turn.error, { retry: ctx.retry && (() => ctx.retry(turn)) }));
    else show(body, answerOf(turn, ctx), detailsOf(turn, ctx));
  }
  draw();
  return { element, draw };
}

function drawPending(body, turn, ctx) {
  show(
    body,
    h("div", { class: "answer" }, turn.content ? markdown(turn.content) : h("div", { class: "waiting", "aria-label": t("common.loading") }, h("div", { class: "skeleton" }), h("div", { class: "skeleton short" }))),
    h("div", { class: "row small muted" }, turn.early && h("code", null, turn.early), ctx.stop && h("button", { class: "button small", type: "button", onClick: ctx.stop }, icon("stop"), t("ask.stop"))),
  );
}

function answerOf(turn, ctx) {
  const { metadata } = turn;
  const charts = (metadata.calls ?? [metadata]).map((call) => chartOf(call.chart, call));
  return h(
    "div",
    { class: "answer", dataset: { testid: "answer" } },
    markdown(turn.content, resultsOf(metadata)),
    charts,
    downloadsOf(metadata, ctx),
    (metadata.notes ?? []).filter((note) => !turn.content.includes(note)).map((note) => h("p", { class: "note", dir: "auto" }, icon("info"), note)),
    metadata.proposal?.status === "held" && proposalCard(metadata.proposal, (accept) => ctx.settle(turn, accept)),
    ctx.isLast() && repliesOf(turn, ctx),
  );
}

/** The rows behind the tables of an answer, by which those are sorted. */
function resultsOf(metadata) {
  const results = (metadata.calls ?? [metadata]).map((call) => call.tool_execution?.result);
  return results.filter((result) => Array.isArray(result?.columns) && Array.isArray(result.rows));
}

function repliesOf(turn, ctx) {
  const { metadata } = turn;
  if (metadata.options?.length) return optionButtons(metadata.options, ctx.send);
  if (metadata.missing?.length) return missingForm(metadata.missing, ctx.send);
  if (metadata.nearest?.length) return nearestButtons(metadata.nearest, ctx.fill);
  return null;
}

function downloadsOf(metadata, ctx) {
  const found = (metadata.calls ?? [metadata]).map((call) => call.download).filter(Boolean);
  return found.map(({ url, expires_at: until }) => {
    const button = h("button", { class: "button", type: "button", onClick: () => busy(button, () => save(url, ctx)) }, icon("download"), t("ask.download"));
    return h("p", { class: "row" }, button, until && h("span", { class: "small muted" }, t("ask.download_until", { when: when(until) })));
  });
}

async function save(url, ctx) {
  try {
    const { blob, name } = await ctx.client().file(url);
    const href = URL.createObjectURL(blob);
    h("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  } catch (failed) {
    toast(failed.message, "bad");
  }
}

// Why it is this answer

function detailsOf(turn, ctx) {
  const { metadata } = turn;
  const outcome = outcomeOf(turn);
  const json = h("pre", { class: "code json", tabindex: "0", hidden: true, "aria-label": t("ask.json") });
  const toggle = h(
    "button",
    {
      class: "button quiet small",
      type: "button",
      "aria-expanded": String(false),
      onClick: () => {
        if (json.hidden) json.textContent = JSON.stringify(turn.raw, null, 2);
        json.hidden = !json.hidden;
        toggle.setAttribute("aria-expanded", String(!json.hidden));
      },
    },
    icon("braces"),
    t("ask.json"),
  );
  const opinion = ctx.feedback && turn.requestId && outcome !== "blocked" ? feedback(turn, ctx.templates, (said) => ctx.feedback(turn, said)) : null;
  const calls = metadata.calls ?? [{ ...metadata, confidence: turn.confidence }];
  // What only answers a proposal was not read by any template.
  const wasRead = outcome !== "said" || metadata.template_id || metadata.coverage;
  const readings = (wasRead ? calls : []).map((call, index) => readingOf(turn, call, ctx, { number: calls.length > 1 ? index + 1 : null }));
  const details = h(
    "details",
    { class: "why", open: turn.isOpen ?? ctx.isLast() },
    h(
      "summary",
      null,
      h("span", { class: ["badge", TONES[outcome]] }, t(`ask.outcome.${outcome}`)),
      calls.length > 1
        ? h("span", null, t("ask.calls", { count: calls.length }))
        : h("span", { class: "small" }, metadata.template_id ? h("code", null, metadata.template_id) : h("span", { class: "muted" }, t("ask.no_template"))),
      h("span", { class: "grow" }),
      turn.confidence !== undefined && h("span", { class: "small muted number" }, percent(turn.confidence)),
      icon("down"),
    ),
    h("div", { class: "why-body stack" }, readings, skippedOf(metadata), consideredTable(turn.trace, { onTemplate: ctx.library.template }), timeBar(turn.trace, turn.ms), factsOf(turn)),
  );
  details.addEventListener("toggle", () => {
    turn.isOpen = details.open;
  });
  return [
    details,
    h(
      "footer",
      { class: "turn-foot row" },
      copyButton(() => curlOf(turn), t("ask.curl"), { kind: "quiet small" }),
      toggle,
      h("span", { class: "grow" }),
      mendButton(turn, outcome, ctx),
      opinion?.buttons,
    ),
    opinion?.more,
    json,
  ];
}

/** Takes the question to Author, with the template that answered it or comes nearest. */
function mendButton(turn, outcome, { mend }) {
  if (!mend || !turn.message || ["blocked", "confirmed", "cancelled"].includes(outcome)) return null;
  const template = turn.metadata.template_id ?? turn.metadata.nearest?.[0]?.template_id;
  const loud = outcome === "declined" || outcome === "asked";
  return h(
    "button",
    {
      class: ["button small", !loud && "quiet"],
      type: "button",
      dataset: { testid: "mend" },
      onClick: () => mend(turn.message, template),
    },
    icon("author"),
    t("ask.mend"),
  );
}

function readingOf(turn, call, ctx, { number }) {
  const { match, arguments: sources, tool_execution: ran, proposal, template_id: template } = call;
  const values = ran?.parameters ?? proposal?.arguments ?? {};
  let marks = null;
  const table = argumentTable(values, sources, { light: (name) => marks?.light(name) });
  if (call.coverage?.length && turn.message) {
    marks = markedMessage(turn.message, call.coverage, { onWord: ctx.library.word, point: (name) => table?.point(name) });
  }
  const runnerUp = match?.runner_up;
  const likeliest = template ? null : call.nearest?.[0]?.template_id;
  return h(
    "section",
    { class: "call stack" },
    number !== null && h("h3", null, t("ask.call", { number })),
    marks?.element,
    h(
      "dl",
      { class: "facts choice-facts" },
      h("dt", null, t("ask.template")),
      h(
        "dd",
        { class: "row", dataset: { testid: "template" } },
        template ? h("button", { class: "link", type: "button", title: t("ask.in_library"), onClick: () => ctx.library.template(template) }, template) : h("span", { class: "muted" }, t("ask.no_template")),
        ran && h("span", { class: "muted small" }, [ran.tool_name, ran.operation].filter(Boolean).join(" · ")),
      ),
      call.confidence !== undefined && [h("dt", null, t("ask.how_sure")), h("dd", { class: "row" }, confidence(call.confidence), likeliest && h("span", { class: "muted small" }, t("ask.likeliest"), " ", h("code", null, likeliest)), runnerUp && h("span", { class: "muted small" }, t("ask.runner_up"), " ", h("code", null, runnerUp.template_id), " ", h("span", { class: "number" }, percent(runnerUp.confidence, runnerUp.confidence < 0.01 ? 2 : 0))))],
      (call.why ?? match?.why) && [h("dt", null, t("ask.why")), h("dd", { dir: "auto" }, call.why ?? match.why)],
      call.objection && [h("dt", null, t("ask.objection")), h("dd", null, sayObjection(call.objection))],
      call.policy && [h("dt", null, t("ask.policy")), h("dd", null, h("code", null, call.policy.outcome))],
    ),
    table?.element,
  );
}

function sayObjection(kind) {
  return hasText(`ask.objection.${kind}`) ? t(`ask.objection.${kind}`) : kind.replaceAll("_", " ");
}

function skippedOf(metadata) {
  if (!metadata.skipped?.length) return null;
  return h("p", { class: "note", dir: "auto" }, icon("info"), t("ask.skipped"), " ", metadata.skipped.map((each) => `“${typeof each === "string" ? each : each.text}”`).join(", "));
}

function factsOf(turn) {
  const { metadata } = turn;
  const rows = [
    [t("ask.fact.rules"), metadata.intent && `${metadata.intent.intent ?? metadata.intent.intent_type ?? ""} (${metadata.intent.method})`],
    [t("ask.fact.guard"), metadata.blocked ? `${metadata.blocked.category} (${metadata.blocked.method})` : metadata.guard && `${metadata.guard.outcome}: ${metadata.guard.category}`],
    [t("ask.fact.follow_up"), metadata.conversation?.as],
    [t("ask.fact.answered_by"), metadata.answered_by?.adapter ?? metadata.answered_by?.name],
    [t("ask.fact.model"), metadata.synthesized && (metadata.synthesis?.model ?? t("common.yes"))],
    [t("ask.fact.request"), turn.requestId],
  ].filter(([, value]) => value);
  if (rows.length === 0) return null;
  return h("dl", { class: "facts small" }, rows.map(([name, value]) => [h("dt", null, name), h("dd", { dir: "auto" }, h("code", null, value))]));
}

/** The same question as a command; the key comes from a variable, so that it may be shown around. */
function curlOf(turn) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl -X POST ${quoted(addressOf(turn.path))}`,
    '-H "Authorization: Bearer $ORBIT_API_KEY"',
    "-H 'Content-Type: application/json'",
    ...(api.language ? [`-H ${quoted(`Accept-Language: ${api.language}`)}`] : []),
    `-d ${quoted(JSON.stringify({ ...turn.body, ...(turn.path === "chat" ? { stream: false } : {}) }))}`,
  ].join(" \\\n  ");
}
