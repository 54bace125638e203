// Where the questions of an evaluation come from, and the button that asks them.

import { debounce, h, show } from "../../dom.js";
import { t } from "../../i18n.js";
import { errorBox } from "../../widgets/notice.js";
import { readQuestions, writeQuestion } from "../../widgets/questions.js";
import { sayProblem } from "./words.js";

const MOST_PROBLEMS = 5;
const MOST_LISTED = 50;
const HOW = [
  "How much is the coffee grinder? → product_price",
  'Cancel order #004 → cancel_order order="#004"',
  "Cancel my order → cancel_order ?order",
  "What is the meaning of life? → nothing",
  '- {ask: "Where is #006?", template: order_status, arguments: {order: "#006"}}',
].join("\n");

/** The card of the questions: `ask(questions)` asks them, null for those of the library's file. */
export class Source {
  constructor(history, { admin, ask }) {
    this.history = history;
    this.admin = admin;
    this.ask = ask;
    this.file = null; // what the library's questions.yaml holds, once it is known
    this.text = null;
    this.button = null;
    this.element = h("section", { class: "card evaluate-source", "aria-labelledby": "evaluate-source" });
    this.draw();
  }

  /** Say what questions.yaml holds: `{questions, problems}`, or `{failed}`. */
  fill(file) {
    this.file = { questions: [], problems: [], ...file };
    if (this.text) this.history.text = this.text.value;
    this.draw();
  }

  draw() {
    const { history, file } = this;
    const none = file !== null && file.questions.length === 0;
    if (none) history.own = true;
    const tools = h("input", {
      type: "checkbox",
      checked: history.tools,
      onChange: () => {
        history.tools = tools.checked;
      },
    });
    const disabled = this.button?.disabled ?? false;
    this.button = h(
      "button",
      {
        type: "button",
        class: "button primary",
        disabled,
        dataset: { testid: "run" },
        onClick: () => this.begin(),
      },
      t("evaluate.run"),
    );
    const title =
      file === null ? t("evaluate.file") : t("evaluate.file_count", { count: file.questions.length });
    this.text = null;
    show(
      this.element,
      h("h2", { id: "evaluate-source" }, t("evaluate.questions")),
      h(
        "div",
        { class: "row evaluate-choices", role: "radiogroup", "aria-labelledby": "evaluate-source" },
        this.choice(false, title, none),
        this.choice(true, t("evaluate.paste")),
      ),
      file?.failed && errorBox(file.failed),
      none && !file.failed && h("p", { class: "muted" }, t("evaluate.no_file")),
      !history.own && unusable(file?.problems ?? []),
      history.own && this.editor(),
      h(
        "div",
        { class: "row" },
        this.button,
        this.admin && h("label", { class: "check" }, tools, t("evaluate.tools")),
      ),
    );
  }

  choice(own, label, disabled = false) {
    const choose = () => {
      if (this.text) this.history.text = this.text.value;
      this.history.own = own;
      this.draw();
      this.element.querySelectorAll("[name=evaluate-source]")[Number(own)].focus();
    };
    return h(
      "label",
      { class: "check" },
      h("input", {
        type: "radio",
        name: "evaluate-source",
        checked: this.history.own === own,
        disabled,
        onChange: choose,
      }),
      h("span", null, label),
    );
  }

  /** Questions of one's own, and what is wrong with them. */
  editor() {
    const { history, file } = this;
    this.text = h("textarea", {
      rows: "8",
      wrap: "off",
      class: "evaluate-text",
      dir: "auto",
      spellcheck: "false",
      id: "evaluate-text",
      "aria-describedby": "evaluate-how",
      placeholder: t("evaluate.placeholder"),
      value: history.text,
    });
    this.said = h("div", { "aria-live": "polite" });
    this.text.addEventListener(
      "input",
      debounce(() => this.read(), 200),
    );
    if (history.text) this.read();
    const fill = () => {
      this.text.value = file.questions.map(writeQuestion).join("\n");
      setTimeout(() => this.read());
    };
    return h(
      "div",
      { class: "stack tight" },
      h("label", { for: "evaluate-text", class: "visually-hidden" }, t("evaluate.paste")),
      this.text,
      this.said,
      h(
        "details",
        { class: "muted small evaluate-how", open: !history.text },
        h("summary", null, t("evaluate.how_title")),
        h("p", { id: "evaluate-how" }, t("evaluate.how")),
        h("pre", { class: "code" }, HOW),
      ),
      file?.questions.length > 0 &&
        h(
          "div",
          null,
          h("button", { type: "button", class: "button small", onClick: fill }, t("evaluate.fill")),
        ),
    );
  }

  /** The questions that were typed; what cannot be read is shown. */
  read() {
    if (!this.text) return [];
    this.history.text = this.text.value;
    const { questions, problems } = readQuestions(this.text.value);
    const more = problems.length - MOST_PROBLEMS;
    show(
      this.said,
      problems.length > 0 &&
        h(
          "ul",
          { class: "evaluate-problems" },
          problems
            .slice(0, MOST_PROBLEMS)
            .map(({ line, what, value = "" }) =>
              h("li", null, t("evaluate.line", { line }), " ", t(`evaluate.problem.${what}`, { value })),
            ),
        ),
      h(
        "p",
        { class: "muted" },
        t("evaluate.read", { count: questions.length }),
        more > 0 && ` ${t("evaluate.more_problems", { count: more })}`,
      ),
    );
    return questions;
  }

  begin() {
    const own = this.history.own ? this.read() : null;
    if (own?.length === 0) this.text.focus();
    else this.ask(own);
  }
}

/** Questions that a run leaves out, and why. */
export function unusable(problems, { open = false } = {}) {
  if (problems.length === 0) return null;
  return h(
    "details",
    { class: "evaluate-file-problems", open },
    h("summary", null, t("evaluate.unusable", { count: problems.length })),
    h(
      "ul",
      null,
      problems.slice(0, MOST_LISTED).map((each) => h("li", { dir: "auto" }, sayProblem(each))),
    ),
  );
}
