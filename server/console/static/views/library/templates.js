// The templates of a library: a list to search, and the one that is open.

import { debounce, h, show } from "../../dom.js";
import { n, t } from "../../i18n.js";
import { swatch } from "../../widgets/plot.js";
import { choiceList } from "../../widgets/table.js";
import { PAUSE_MS } from "./parts.js";

const FIRST_EXAMPLES = 12;
const FIRST_CHOICES = 12;
const NARROW = "(max-width: 760px)";

/** The tab of templates. */
export class Templates {
  constructor(page) {
    this.page = page;
    this.chosen = null;
    this.find = () => {};
  }

  make() {
    const { library } = this.page;
    const texts = library.templates.map((template) => ({ template, ...searchable(template) }));
    const field = h("input", {
      type: "search",
      "aria-label": t("library.search"),
      placeholder: t("library.search"),
      spellcheck: "false",
      autocomplete: "off",
      dir: "auto",
    });
    const count = h("p", { class: "muted library-found", "aria-live": "polite" });
    const effects = [...new Set(library.templates.map((each) => each.effect))];
    const groups = [...new Set(library.templates.flatMap(groupsOf))].sort();
    const effect = select(t("library.effect"), [
      ["", t("library.any_effect")],
      ...effects.map((each) => [each, effectName(each)]),
    ]);
    const group = select(t("library.group"), [
      ["", t("library.any_group")],
      ...groups.map((each) => [each, each]),
    ]);
    const list = choiceList({
      label: t("library.tab.templates"),
      rowHeight: 60,
      optionOf: (found) => this.optionOf(found),
      onChoose: (found) => this.choose(found.template.id),
      empty: t("library.none_found"),
    });
    this.detail = h("section", {
      class: "library-detail card",
      "aria-label": t("library.template"),
      tabindex: "-1",
    });
    this.split = h(
      "div",
      { class: "library-split" },
      h(
        "div",
        { class: "library-list" },
        h(
          "div",
          { class: "library-filters" },
          field,
          effects.length > 1 && effect,
          groups.length > 1 && group,
        ),
        count,
        list.element,
      ),
      this.detail,
    );

    const find = () => {
      const wanted = field.value.toLowerCase().trim();
      const found = texts
        .filter(({ template }) => !effect.value || template.effect === effect.value)
        .filter(({ template }) => !group.value || groupsOf(template).includes(group.value))
        .map((each) => match(each, wanted))
        .filter(Boolean)
        .sort((a, b) => a.rank - b.rank);
      count.textContent = t("library.found", { count: found.length });
      list.update(found, (each) => each.template.id === this.chosen);
    };
    field.addEventListener("input", debounce(find, PAUSE_MS));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      list.element.querySelector("[role=listbox]").focus();
    });
    effect.addEventListener("change", find);
    group.addEventListener("change", find);

    const named = this.page.params.template;
    this.chosen = this.page.groups.has(named) ? named : null;
    if (this.chosen === null && !matchMedia(NARROW).matches) {
      this.chosen = library.templates[0]?.id ?? null;
    }
    if (this.chosen) this.choose(this.chosen, { focus: false });
    else show(this.detail, h("p", { class: "empty" }, t("library.choose")));
    find();
    this.find = find;
    return this.split;
  }

  optionOf({ template, snippet, words }) {
    return [
      h(
        "span",
        { class: "library-option-head" },
        swatch(this.page.groups.get(template.id)),
        h("bdi", { class: "library-id" }, marked(template.id, words)),
        template.effect !== "read" &&
          h("span", { class: `badge ${effectTone(template.effect)}` }, effectName(template.effect)),
      ),
      h("span", { class: "library-option-text muted", dir: "auto" }, marked(snippet, words)),
    ];
  }

  /** Show a template and choose it in the list. */
  open(id) {
    this.choose(id);
    this.find();
  }

  choose(id, { focus = true } = {}) {
    const template = this.page.library.templates[this.page.groups.get(id)];
    if (!template) return;
    this.chosen = id;
    if (focus) this.page.remember({ template: id });
    this.split.classList.toggle("open", focus);
    show(this.detail, this.detailOf(template));
    this.detail.scrollTop = 0;
    if (focus && matchMedia(NARROW).matches) {
      this.detail.focus();
      this.detail.scrollIntoView({ block: "start" });
    }
  }

  detailOf(template) {
    const { ctx } = this.page;
    const back = h(
      "button",
      {
        type: "button",
        class: "button quiet library-back",
        onClick: () => {
          this.split.classList.remove("open");
          this.split.querySelector("[role=listbox]").focus();
        },
      },
      t("library.back"),
    );
    const tags = [template.topic, ...(template.tags ?? [])].filter(Boolean);
    return [
      back,
      h(
        "header",
        { class: "library-head" },
        h("h2", null, swatch(this.page.groups.get(template.id)), h("bdi", null, template.id)),
        h(
          "div",
          { class: "row library-badges" },
          h("span", { class: `badge ${effectTone(template.effect)}` }, effectName(template.effect)),
          template.requires_confirmation && h("span", { class: "badge warn" }, t("library.confirms")),
          [...new Set(tags)].map((tag) => h("span", { class: "badge" }, tag)),
        ),
      ),
      template.description && h("p", { dir: "auto" }, template.description),
      h(
        "dl",
        { class: "library-facts" },
        h("dt", null, t("library.tool")),
        h("dd", null, h("code", null, [template.tool, template.operation].filter(Boolean).join(" · "))),
        template.roles?.length > 0 && [
          h("dt", null, t("library.roles")),
          h("dd", null, template.roles.join(", ")),
        ],
      ),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "button", onClick: () => this.page.showOnMap(template.id) },
          t("library.on_map"),
        ),
        ctx.me.may?.author &&
          h(
            "button",
            {
              type: "button",
              class: "button",
              onClick: () => {
                this.page.writePlace();
                ctx.go("author", { template: template.id });
              },
            },
            t("library.edit"),
          ),
      ),
      this.sentences(t("library.examples_title"), template.examples, t("library.no_examples")),
      template.counter_examples?.length > 0 &&
        this.sentences(t("library.counter_examples"), template.counter_examples),
      h("h3", null, t("library.parameters")),
      template.parameters.length === 0
        ? h("p", { class: "muted" }, t("library.no_parameters"))
        : h("ul", { class: "library-parameters" }, template.parameters.map(parameterOf)),
    ];
  }

  sentences(title, all, none = "") {
    const list = h("ul", { class: "library-sentences" });
    const row = (text) =>
      h(
        "li",
        null,
        h(
          "button",
          {
            type: "button",
            class: "library-sentence",
            dir: "auto",
            title: t("library.ask_this"),
            onClick: () => this.page.ask(text),
          },
          h("span", null, text),
          h("span", { class: "library-ask", "aria-hidden": "true" }, t("library.ask")),
        ),
      );
    list.append(...all.slice(0, FIRST_EXAMPLES).map(row));
    const rest = all.length - FIRST_EXAMPLES;
    const more =
      rest > 0 &&
      h(
        "button",
        {
          type: "button",
          class: "button quiet",
          onClick: (event) => {
            list.append(...all.slice(FIRST_EXAMPLES).map(row));
            event.currentTarget.remove();
          },
        },
        t("library.more", { count: rest }),
      );
    return [
      h("h3", null, title, h("span", { class: "muted library-count" }, n(all.length))),
      all.length ? [list, more] : h("p", { class: "muted" }, none),
    ];
  }
}

function searchable(template) {
  const parts = [
    template.id,
    template.description ?? "",
    ...template.examples,
    ...template.parameters.flatMap((each) => [each.name, each.description ?? "", ...(each.aliases ?? [])]),
    ...(template.tags ?? []),
    template.topic ?? "",
    template.tool ?? "",
  ].filter(Boolean);
  const low = parts.map((part) => part.toLowerCase());
  return { parts, low, whole: low.join("\n") };
}

/** What a search finds of a template: how well, and the text to show for it; null for nothing. */
function match({ template, parts, low, whole }, wanted) {
  const snippet = template.description || template.examples[0] || "";
  if (!wanted) return { template, snippet, words: [], rank: 0 };
  const words = wanted.split(/\s+/u);
  if (!words.every((word) => whole.includes(word))) return null;
  if (low[0].includes(wanted)) return { template, snippet, words, rank: low[0].startsWith(wanted) ? 0 : 1 };
  const exact = low.findIndex((part) => part.includes(wanted));
  if (exact > 0) return { template, snippet: parts[exact], words, rank: 2 };
  const found = low.findIndex((part, index) => index > 0 && words.some((word) => part.includes(word)));
  return { template, snippet: found > 0 ? parts[found] : snippet, words, rank: 3 };
}

function marked(text, words) {
  if (words.length === 0) return text;
  const low = text.toLowerCase();
  if (low.length !== text.length) return text;
  const spans = [];
  for (const word of words) {
    const at = word ? low.indexOf(word) : -1;
    if (at >= 0) spans.push([at, at + word.length]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  const made = [];
  let end = 0;
  for (const [from, to] of spans) {
    if (from < end) continue;
    made.push(text.slice(end, from), h("mark", null, text.slice(from, to)));
    end = to;
  }
  return [...made, text.slice(end)];
}

function parameterOf(parameter) {
  const notes = [
    parameter.unit && [t("library.unit"), parameter.unit],
    parameter.default !== undefined && [t("library.default"), shown(parameter.default)],
    parameter.aliases?.length > 0 && [t("library.aliases"), parameter.aliases.join(", ")],
  ].filter(Boolean);
  const choices = parameter.choices ?? [];
  const many = choices.length > FIRST_CHOICES;
  const chips = (some) =>
    some.map((choice) => {
      const others = parameter.synonyms?.[String(choice)] ?? [];
      return h(
        "span",
        { class: "badge choice", dir: "auto", title: others.join(", ") || null },
        shown(choice),
      );
    });
  return h(
    "li",
    null,
    h(
      "div",
      { class: "parameter-head" },
      h("code", null, parameter.name),
      h("span", { class: "muted" }, parameter.type),
      parameter.required && h("span", { class: "badge" }, t("library.required")),
      parameter.sensitive && h("span", { class: "badge warn" }, t("library.sensitive")),
    ),
    parameter.description && h("p", { dir: "auto" }, parameter.description),
    notes.length > 0 &&
      h(
        "p",
        { class: "muted parameter-notes" },
        notes.map(([name, value]) => h("span", null, `${name}: `, h("bdi", null, value))),
      ),
    choices.length > 0 &&
      h(
        "div",
        { class: "parameter-choices" },
        chips(choices.slice(0, FIRST_CHOICES)),
        many &&
          h(
            "button",
            {
              type: "button",
              class: "button quiet",
              onClick: (event) => event.currentTarget.replaceWith(...chips(choices.slice(FIRST_CHOICES))),
            },
            t("library.more", { count: choices.length - FIRST_CHOICES }),
          ),
      ),
  );
}

function select(label, options) {
  return h(
    "select",
    { "aria-label": label },
    options.map(([value, name]) => h("option", { value }, name)),
  );
}

function groupsOf(template) {
  return [template.topic, ...(template.tags ?? [])].filter(Boolean);
}

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const EFFECTS = { read: "ok", write: "warn" };

function effectTone(effect) {
  return EFFECTS[effect] ?? "warn";
}

function effectName(effect) {
  return t(`library.effects.${effect}`);
}
