// A change of one sentence, with its lines and the decisions that it changes before it is saved.

import { clear, h, live } from "../../dom.js";
import { api } from "../../api.js";
import { t } from "../../i18n.js";
import { changeList, inTurn, kindOf } from "../../widgets/decisions.js";
import { diffTable, parseUnified, withoutIndent } from "../../widgets/diff.js";
import { errorBox } from "../../widgets/notice.js";
import { diffLabels, field, words } from "./shared.js";

const KINDS = ["add_example", "add_counter_example", "add_synonym", "remove_example"];

/** The form that adds or removes one example, counter-example or synonym. */
export class QuickChange {
  constructor(page) {
    this.page = page;
    this.question = "";
    this.kind = h("select", { id: "quick-kind", onchange: () => this.arrange() },
      KINDS.map((kind) => h("option", { value: kind }, t(`author.quick.${kind}`))));
    this.template = h("select", {
      id: "quick-template", onchange: () => this.arrange(),
    });
    this.text = h("textarea", {
      id: "quick-text", rows: "2", dir: "auto", "data-testid": "quick-text",
      placeholder: t("author.quick.text_hint"), oninput: () => this.stale(),
    });
    this.existing = h("select", { id: "quick-existing", dir: "auto", onchange: () => this.stale() });
    this.known = h("input", {
      id: "quick-known", type: "text", dir: "auto", oninput: () => this.stale(),
    });
    this.word = h("input", {
      id: "quick-word", type: "text", dir: "auto", oninput: () => this.stale(),
    });
    this.previewButton = h("button", {
      type: "button", class: "button", "data-testid": "quick-preview", onclick: () => this.preview(),
    }, t("author.quick.preview"));
    this.saveButton = h("button", {
      type: "button", class: "button primary", hidden: true, "data-testid": "quick-save",
      onclick: () => this.save(),
    }, t("author.quick.save"));
    this.result = h("div", { class: "quick-result stack", "aria-live": "polite" });
    this.fields = {
      template: field("quick-template", t("author.quick.template"), this.template),
      text: field("quick-text", t("author.quick.text"), this.text),
      existing: field("quick-existing", t("author.quick.existing"), this.existing),
      known: field("quick-known", t("author.quick.known"), this.known),
      word: field("quick-word", t("author.quick.word"), this.word),
    };
    this.node = h("section", { class: "card stack author-quick" },
      h("h2", {}, t("author.quick.title")),
      h("p", { class: "muted" }, t("author.quick.about")),
      field("quick-kind", t("author.quick.kind"), this.kind),
      ...Object.values(this.fields),
      h("div", { class: "row" }, this.previewButton, this.saveButton),
      this.result);
    this.showFields();
  }

  show({ question, template, kind }) {
    this.showTemplates();
    if (kind && KINDS.includes(kind)) this.kind.value = kind;
    if (question) {
      this.question = question;
      this.text.value = question;
      this.page.trial.propose(question);
    }
    if (template && this.page.templates.some((one) => one.id === template)) {
      this.template.value = template;
    }
    this.showFields();
    if (question) {
      this.node.classList.add("is-carried");
      this.node.scrollIntoView({ block: "nearest" });
      this.template.focus();
    }
  }

  showTemplates() {
    const chosen = this.template.value;
    clear(this.template).append(
      h("option", { value: "" }, t("author.quick.choose")),
      ...this.page.templates.map((one) => h("option", { value: one.id }, one.id)));
    this.template.value = this.page.templates.some((one) => one.id === chosen) ? chosen : "";
    this.showFields();
  }

  showFields() {
    const kind = this.kind.value;
    const template = this.page.templates.find((one) => one.id === this.template.value);
    const examples = template?.examples ?? [];
    const chosen = this.existing.value;
    clear(this.existing).append(...examples.map((one) => h("option", { value: one }, one)));
    if (examples.includes(chosen)) this.existing.value = chosen;
    this.fields.template.hidden = kind === "add_synonym";
    this.fields.text.hidden = !kind.startsWith("add_") || kind === "add_synonym";
    this.fields.existing.hidden = kind !== "remove_example";
    this.fields.known.hidden = kind !== "add_synonym";
    this.fields.word.hidden = kind !== "add_synonym";
    this.previewButton.disabled = this.change() === null;
  }

  arrange() {
    this.showFields();
    this.stale();
  }

  stale() {
    clear(this.result);
    this.saveButton.hidden = true;
    this.previewButton.hidden = false;
    this.previewButton.disabled = this.change() === null;
  }

  change() {
    const kind = this.kind.value;
    if (kind === "add_synonym") {
      const [known, word] = [this.known.value.trim(), this.word.value.trim()];
      return known && word ? { kind, word: known, text: word } : null;
    }
    const template = this.template.value;
    const text = (kind === "remove_example" ? this.existing.value : this.text.value).trim();
    return template && text ? { kind, template, text } : null;
  }

  send(preview) {
    const changes = [this.change()];
    return api.send("POST", `${this.page.base}/library/changes`, { changes, preview });
  }

  async preview() {
    if (this.page.edited.length) {
      clear(this.result).append(h("p", { class: "notice warn" }, t("author.quick.edited")));
      return;
    }
    this.previewButton.disabled = true;
    clear(this.result).append(h("div", { class: "skeleton block" }), h("div", { class: "skeleton block" }));
    try {
      const found = await inTurn(() => this.send(true));
      clear(this.result).append(previewOf(found, { onask: null }));
      this.previewButton.hidden = true;
      this.saveButton.hidden = false;
      this.saveButton.focus();
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
    }
    this.previewButton.disabled = false;
  }

  async save() {
    if (this.page.edited.length) {
      clear(this.result).append(h("p", { class: "notice warn" }, t("author.quick.edited")));
      return;
    }
    this.saveButton.disabled = true;
    try {
      const text = this.change().text;
      const saved = await this.send(false);
      const asked = this.question || (this.kind.value === "add_example" ? text : "");
      clear(this.result).append(h("div", { class: "notice ok" },
        h("p", {}, t("author.saved", { adapter: this.page.adapter }), saved.backup
          ? [" ", h("span", { class: "muted" }, t("author.backup", { place: saved.backup }))] : null),
        asked ? h("button", {
          type: "button", class: "button", "data-testid": "ask-again",
          onclick: () => this.page.ctx.ask(asked),
        }, t("author.ask_again", { question: asked })) : null));
      this.saveButton.hidden = true;
      this.previewButton.hidden = false;
      live(t("author.saved", { adapter: this.page.adapter }));
      this.result.querySelector("button")?.focus();
      await this.page.reread();
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
    }
    this.saveButton.disabled = false;
  }
}

/** The lines that a change writes, and the decisions that it changes. */
function previewOf(found) {
  const parts = (found.files ?? []).map((file) => h("div", { class: "stack" },
    h("div", { class: "muted small", dir: "ltr" }, file.id),
    diffTable(withoutIndent(parseUnified(file.diff)), diffLabels())));
  const { would_change: would } = found;
  const errors = (would?.problems ?? []).filter((one) => one.kind !== "warning");
  if (errors.length) {
    parts.push(h("ul", { class: "notice bad" }, errors.map((one) => h("li", { dir: "auto" }, one.what))));
  }
  if (would?.tried) parts.push(wouldChange(would));
  return h("div", { class: "stack" }, parts);
}

function wouldChange(diff) {
  const changes = diff.changed ?? [];
  const asked = diff.counts?.asked ?? 0;
  const broken = changes.filter((one) => kindOf(one) === "broken").length;
  return h("div", { class: "stack" },
    h("p", { class: broken ? "notice bad" : "muted" }, changes.length
      ? t("author.would.count", { changed: changes.length, asked })
      : t("author.would.none", { asked })),
    changes.length ? changeList(changes, words) : null);
}
