// Where a library uses a word, in all its forms.

import { api } from "../../api.js";
import { debounce, h, show } from "../../dom.js";
import { n, t } from "../../i18n.js";
import { errorBox } from "../../widgets/notice.js";
import { swatch } from "../../widgets/plot.js";
import { lazily } from "./parts.js";

const PAUSE_MS = 250;
const FIRST_TEMPLATES = 30;
const FIRST_USES = 20;

/** The tab of words. */
export class Words {
  constructor(page) {
    this.page = page;
  }

  make() {
    const field = h("input", {
      type: "search",
      dir: "auto",
      "aria-label": t("library.word"),
      placeholder: t("library.word"),
      autocomplete: "off",
      spellcheck: "false",
      value: this.page.params.word ?? "",
    });
    const found = h("div", { class: "library-uses", "aria-live": "polite" });
    let asked = 0;
    const look = async () => {
      const word = field.value.trim();
      if (word) this.page.remember({ word });
      asked += 1;
      const turn = asked;
      if (!word) {
        show(found, h("p", { class: "empty" }, t("library.word_about")));
        return;
      }
      try {
        const answer = await api.get(`${this.page.path}/words?q=${encodeURIComponent(word)}`);
        if (turn !== asked || this.page.signal.aborted) return;
        show(found, this.usesOf(answer));
      } catch (failed) {
        if (turn === asked && !this.page.signal.aborted) show(found, errorBox(failed, { retry: look }));
      }
    };
    field.addEventListener("input", debounce(look, PAUSE_MS));
    look();
    const synonyms = Object.entries(this.page.library.synonyms ?? {});
    return h(
      "div",
      { class: "library-words" },
      h("div", { class: "library-word" }, field),
      found,
      synonyms.length > 0 &&
        h(
          "details",
          { class: "card" },
          h("summary", null, t("library.synonyms", { count: synonyms.length })),
          lazily(() =>
            h(
              "dl",
              { class: "library-synonyms" },
              synonyms.map(([word, others]) => [
                h("dt", { dir: "auto" }, word),
                h("dd", { dir: "auto" }, others.join(", ")),
              ]),
            ),
          ),
        ),
    );
  }

  usesOf({ word, stem, uses }) {
    if (uses.length === 0) return [h("p", { class: "empty" }, t("library.word_unused", { word }))];
    const byTemplate = new Map();
    for (const use of uses) {
      const id = use.template ?? "";
      byTemplate.set(id, [...(byTemplate.get(id) ?? []), use]);
    }
    const groups = [...byTemplate].sort((a, b) => b[1].length - a[1].length);
    const card = ([id, some]) =>
      h(
        "section",
        { class: "card use" },
        h(
          "h2",
          null,
          this.page.groups.has(id) && swatch(this.page.groups.get(id)),
          h("bdi", null, id || t("library.everywhere")),
          h("span", { class: "muted library-count" }, n(some.length)),
          this.page.groups.has(id) &&
            h(
              "button",
              {
                type: "button",
                class: "button quiet",
                onClick: () => this.page.goTemplate(id),
              },
              t("library.open_template"),
            ),
        ),
        h(
          "ul",
          { class: "use-list" },
          some
            .slice(0, FIRST_USES)
            .map((use) =>
              h(
                "li",
                null,
                h("span", { class: "badge" }, t(`library.where.${use.where}`)),
                h("span", { dir: "auto" }, spanned(use.text, use.span)),
              ),
            ),
          some.length > FIRST_USES &&
            h("li", { class: "muted" }, t("library.and_more", { count: some.length - FIRST_USES })),
        ),
      );
    const rest = groups.slice(FIRST_TEMPLATES);
    const more =
      rest.length > 0 &&
      h(
        "button",
        {
          type: "button",
          class: "button",
          onClick: (event) => event.currentTarget.replaceWith(...rest.map(card)),
        },
        t("library.more_templates", { count: rest.length }),
      );
    return [
      h(
        "p",
        null,
        t("library.used", {
          count: uses.length,
          templates: t("library.templates", { count: groups.length }),
        }),
        stem &&
          stem !== word.toLowerCase() &&
          h("span", { class: "muted" }, ` ${t("library.stem", { stem })}`),
      ),
      ...groups.slice(0, FIRST_TEMPLATES).map(card),
      more,
    ];
  }
}

function spanned(text, span) {
  if (!span) return text;
  const [from, to] = span;
  return [text.slice(0, from), h("mark", null, text.slice(from, to)), text.slice(to)];
}
