// What an answer asks of its reader: a choice, missing arguments, a yes or a no, an opinion.

import { busy, h, live, show, uid } from "../../dom.js";
import { t } from "../../i18n.js";
import { errorBox, toast } from "../../widgets/notice.js";
import { icon } from "../../widgets/icons.js";
import { showValue } from "./reading.js";

const FEW = 5;
const INPUTS = {
  integer: { type: "number", step: "1", inputmode: "numeric" },
  number: { type: "number", step: "any", inputmode: "decimal" },
  percentage: { type: "number", step: "any", inputmode: "decimal" },
  date: { type: "date" },
  datetime: { type: "datetime-local" },
  time: { type: "time" },
  email: { type: "email", autocomplete: "off" },
  url: { type: "url" },
};
const NUMBERS = new Set(["integer", "number", "percentage"]);

/** Buttons for templates that were offered; each sends its place in the list. */
export function optionButtons(options, send) {
  return h(
    "ol",
    { class: "choices" },
    options.map((option, index) =>
      h(
        "li",
        null,
        h(
          "button",
          {
            class: "choice",
            type: "button",
            dataset: { choice: option.template_id },
            onClick: () => send({ message: String(index + 1), shown: option.description || option.template_id }),
          },
          h("span", { class: "choice-number number", "aria-hidden": "true" }, index + 1),
          h(
            "span",
            { class: "stack none" },
            h("span", { dir: "auto" }, option.description || option.template_id),
            option.example && h("span", { class: "muted small", dir: "auto" }, "“", option.example, "”"),
          ),
        ),
      ),
    ),
  );
}

/** Examples that came nearest, to be asked instead. */
export function nearestButtons(nearest, fill) {
  const shown = nearest.filter((each) => each.example);
  if (shown.length === 0) return null;
  return h(
    "div",
    { class: "stack tight" },
    h("p", { class: "small-caps" }, t("ask.nearest")),
    h("div", { class: "row" }, shown.map((each) => h("button", { class: "chip", type: "button", dir: "auto", title: each.description, onClick: () => fill(each.example) }, each.example))),
  );
}

/** A form for the arguments that are missing, each by its type. */
export function missingForm(missing, send) {
  const fields = missing.map(fieldFor);
  const form = h(
    "form",
    {
      class: "missing stack",
      onSubmit: (event) => {
        event.preventDefault();
        const given = {};
        const said = [];
        for (const { name, read } of fields) {
          const value = read();
          if (value === null) continue;
          given[name] = value;
          said.push(Array.isArray(value) ? value.join(", ") : String(value));
        }
        if (said.length > 0) send({ message: "", arguments: given, shown: said.join(", ") });
      },
    },
    fields.map((field) => field.element),
    h("div", null, h("button", { class: "button primary", type: "submit" }, t("ask.give"))),
  );
  return form;
}

function fieldFor(row) {
  const { name, type = "string", description, example } = row;
  const choices = type === "boolean" ? [true, false] : row.choices ?? [];
  const label = name.replaceAll("_", " ");
  const id = uid("argument");
  const hintId = uid("hint");
  const hint = description && h("span", { class: "hint", id: hintId, dir: "auto" }, description);
  const described = hint ? { "aria-describedby": hintId } : {};
  const sayChoice = (choice) => (typeof choice === "boolean" ? t(choice ? "common.yes" : "common.no") : String(choice));

  if (choices.length > 0 && choices.length <= FEW) {
    const inputs = choices.map((choice, index) => h("input", { type: "radio", name: id, value: String(index), required: true }));
    return {
      name,
      read: () => choices[inputs.findIndex((input) => input.checked)] ?? null,
      element: h(
        "fieldset",
        { class: "field", ...described },
        h("legend", { dir: "auto" }, label),
        hint,
        h("div", { class: "row radios" }, choices.map((choice, index) => h("label", { class: "check", dir: "auto" }, inputs[index], sayChoice(choice)))),
      ),
    };
  }
  let control;
  if (choices.length > 0) {
    control = h("select", { id, required: true, ...described }, h("option", { value: "" }, "…"), choices.map((choice, index) => h("option", { value: String(index) }, sayChoice(choice))));
  } else if (type === "array" || type === "object" || type === "rows_query") {
    control = h("textarea", { id, rows: "2", required: true, dir: "auto", placeholder: type === "array" ? t("ask.list_hint") : "", ...described });
  } else {
    control = h("input", { id, type: "text", required: true, dir: "auto", autocomplete: "off", placeholder: example ?? "", ...described, ...INPUTS[type] });
  }
  const read = () => {
    const text = control.value.trim();
    if (text === "") return null;
    if (choices.length > 0) return choices[Number(text)];
    if (NUMBERS.has(type)) return Number(text);
    if (type === "array") return text.split(/[\n,،]/).map((each) => each.trim()).filter(Boolean);
    return text;
  };
  return { name, read, element: h("div", { class: "field" }, h("label", { for: id, dir: "auto" }, label), hint, control) };
}

/** A proposal: what would run, until when, and the yes or the no. */
export function proposalCard(proposal, settle) {
  const left = h("span", { class: "number" });
  const yes = h("button", { class: "button primary", type: "button", dataset: { testid: "confirm" } }, icon("check"), t("ask.yes"));
  const no = h("button", { class: "button", type: "button", dataset: { testid: "cancel" } }, t("ask.no"));
  const problem = h("div");
  const state = h("p", { class: "row small muted" }, icon("clock"), left);
  const card = h(
    "section",
    { class: "proposal stack", "aria-label": t("ask.proposal"), dataset: { testid: "proposal" } },
    h(
      "div",
      { class: "row apart" },
      h("h3", null, t("ask.proposal")),
      h("span", { class: ["badge", proposal.effect === "read" ? "ok" : "warn"] }, t(`ask.effect.${proposal.effect === "read" ? "read" : "write"}`)),
    ),
    h(
      "dl",
      { class: "facts" },
      h("dt", null, t("ask.template")), h("dd", null, h("code", null, proposal.template_id)),
      h("dt", null, t("ask.runs")), h("dd", null, h("code", null, [proposal.tool, proposal.operation].filter(Boolean).join(" · "))),
      Object.entries(proposal.arguments ?? {}).map(([name, value]) => [h("dt", null, name.replaceAll("_", " ")), h("dd", { dir: "auto" }, h("strong", null, showValue(value)))]),
    ),
    problem,
    h("div", { class: "row apart" }, h("div", { class: "row" }, yes, no), state),
  );
  const ends = Date.parse(proposal.expires_at);
  let timer = null;

  function close(words) {
    clearInterval(timer);
    yes.remove();
    no.remove();
    card.classList.add("settled");
    show(state, words);
  }
  function tick() {
    if (!card.isConnected && timer !== null) {
      clearInterval(timer);
      return;
    }
    const seconds = Math.max(0, Math.round((ends - Date.now()) / 1000));
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    left.textContent = t("ask.expires_in", { clock });
    if (seconds === 0) {
      close(t("ask.expired"));
      live(t("ask.expired"));
    }
  }
  const answer = (accept) => async (event) => {
    show(problem);
    try {
      yes.disabled = no.disabled = true;
      await busy(event.currentTarget, () => settle(accept));
      close(sayReply(accept ? "yes" : "no"));
    } catch (failed) {
      show(problem, errorBox(failed));
      const isOver = [404, 409, 410].includes(failed.status);
      yes.disabled = no.disabled = isOver;
      if (isOver) close(t("ask.settled"));
    }
  };
  yes.addEventListener("click", answer(true));
  no.addEventListener("click", answer(false));
  if (proposal.settled) {
    close(sayReply(proposal.settled));
  } else if (Number.isNaN(ends)) {
    state.remove();
  } else {
    tick();
    if (ends > Date.now()) timer = setInterval(tick, 1000);
  }
  return card;
}

function sayReply(reply) {
  return t(reply === "yes" ? "ask.outcome.confirmed" : "ask.outcome.cancelled");
}

/** Whether the answer was right; where it was wrong, what was meant. */
export function feedback(turn, templates, send) {
  const place = h("span", { class: "row nowrap feedback" });
  const more = h("div");
  const right = button("up", t("ask.right"), () => mark("right"));
  const wrong = button("thumbdown", t("ask.wrong"), openForm);

  function button(name, label, onClick) {
    return h("button", { class: "button quiet small", type: "button", "aria-pressed": String(false), title: label, "aria-label": label, onClick }, icon(name));
  }
  function drawMark() {
    right.setAttribute("aria-pressed", String(turn.verdict === "right"));
    wrong.setAttribute("aria-pressed", String(turn.verdict === "wrong"));
  }
  async function mark(verdict, said = {}) {
    try {
      await send({ verdict, ...said });
      turn.verdict = verdict;
      show(more);
      toast(t("ask.thanks"), "ok");
      drawMark();
    } catch (failed) {
      show(more, errorBox(failed));
    }
  }
  function openForm() {
    const expected = h("select", { id: uid("expected") }, h("option", { value: "" }, t("ask.expected_none")), templates().map((each) => h("option", { value: each.id }, each.id)));
    const comment = h("textarea", { id: uid("comment"), rows: "2", maxlength: "2000", dir: "auto" });
    const form = h(
      "form",
      {
        class: "card stack",
        onSubmit: (event) => {
          event.preventDefault();
          const said = { comment: comment.value.trim() };
          if (expected.value) said.expected = expected.value;
          mark("wrong", said);
        },
      },
      h("div", { class: "field" }, h("label", { for: expected.id }, t("ask.expected")), expected),
      h("div", { class: "field" }, h("label", { for: comment.id }, t("ask.comment")), comment),
      h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, t("ask.send_opinion")), h("button", { class: "button", type: "button", onClick: () => show(more) }, t("common.cancel"))),
    );
    show(more, form);
    expected.focus();
  }
  drawMark();
  place.append(right, wrong);
  return { buttons: place, more };
}
