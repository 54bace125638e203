// A draft beside the version that runs.

import { clear, h } from "../../dom.js";
import { api } from "../../api.js";
import { n, t } from "../../i18n.js";
import { changeList, inTurn } from "../../widgets/decisions.js";
import { errorBox } from "../../widgets/notice.js";
import { field, words } from "./shared.js";

const MOST_LISTED = 200;

/** Questions to the running version and to the draft, side by side. */
export class Trial {
  constructor(page) {
    this.page = page;
    this.questions = h("textarea", {
      id: "try-questions", rows: "3", dir: "auto", placeholder: t("author.try.hint"),
    });
    this.button = h("button", {
      type: "button", class: "button", "data-testid": "try", onclick: () => this.run(),
    }, t("author.try.run"));
    this.note = h("p", { class: "muted" });
    this.result = h("div", { class: "stack", "aria-live": "polite" });
    this.node = h("section", { class: "card stack author-try" },
      h("h2", {}, t("author.try.title")),
      this.note,
      field("try-questions", t("author.try.questions"), this.questions),
      h("div", { class: "row" }, this.button),
      this.result);
  }

  propose(question) {
    if (!this.questions.value.trim()) this.questions.value = question;
  }

  showHint() {
    const count = this.page.edited.length;
    this.note.textContent = count
      ? t("author.try.about", { count }) : t("author.try.nothing");
  }

  async run() {
    const questions = this.questions.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const body = { changes: this.page.changes };
    if (questions.length) body.questions = questions.map((ask) => ({ ask }));
    this.button.disabled = true;
    clear(this.result).append(...Array.from({ length: 3 }, () => h("div", { class: "skeleton block" })));
    try {
      this.found = await inTurn(() => api.send("POST", `${this.page.base}/files/try`, body));
      this.show();
    } catch (failure) {
      this.found = null;
      clear(this.result).append(errorBox(failure));
    }
    this.button.disabled = false;
  }

  show() {
    if (!this.found) return;
    const rows = this.found.changed ?? [];
    const tally = (kind) => this.found.counts?.[kind] ?? 0;
    const badges = [["fixed", "ok"], ["broken", "bad"], ["changed", "warn"], ["same", ""]]
      .filter(([kind]) => tally(kind))
      .map(([kind, tone]) => h("span", { class: `badge ${tone}` }, `${n(tally(kind))} ${words(kind)}`));
    const errors = (this.found.problems ?? []).filter((one) => one.kind !== "warning");
    clear(this.result).append(
      errors.length
        ? h("ul", { class: "notice bad" }, errors.map((one) => h("li", { dir: "auto" }, one.what)))
        : "",
      h("div", { class: "row wrap", "data-testid": "try-counts" }, badges),
      this.found.tried && rows.every((row) => row.kind === "same")
        ? h("p", { class: "muted" }, t("author.try.same")) : "",
      rows.length
        ? changeList(rows.slice(0, MOST_LISTED), words, { onask: (ask) => this.page.ctx.ask(ask) })
        : "");
  }
}
