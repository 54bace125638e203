// What an adapter's library says: its templates, how they lie to each other, and its words.

import { api } from "../api.js";
import { clear, debounce, h, live, show } from "../dom.js";
import { currentLanguage, n, percent, t } from "../i18n.js";
import { errorBox } from "../widgets/notice.js";
import { matrix, meter, scatter, swatch } from "../widgets/plot.js";
import { choiceList, dataTable } from "../widgets/table.js";
import { sessionsOf } from "./ask/sessions.js";

const PAUSE_MS = 120;
const FIRST_EXAMPLES = 12;
const LABELLED = 60;

export const view = {
  id: "library",
  title: () => t("library.title"),
  admin: false,
  mount(root, ctx) {
    const stop = new AbortController();
    const page = new LibraryPage(root, ctx, stop.signal);
    page.load();
    return () => {
      stop.abort();
      page.close();
    };
  },
};

class LibraryPage {
  constructor(root, ctx, signal) {
    this.root = root;
    this.ctx = ctx;
    this.signal = signal;
    this.path = `/adapters/${encodeURIComponent(ctx.adapter)}/library`;
    this.params = ctx.params ?? {};
    this.opened = new Map();
    this.map = null;
    this.note = debounce(() => this.writePlace(), 300);
  }

  async load() {
    show(this.root, skeleton());
    try {
      this.library = await api.get(this.path);
    } catch (failed) {
      if (!this.signal.aborted) show(this.root, errorBox(failed, { retry: () => this.load() }));
      return;
    }
    if (this.signal.aborted) return;
    this.groups = new Map(this.library.templates.map((each, index) => [each.id, index]));
    this.show();
  }

  close() {
    this.note.cancel();
    this.map?.close();
  }

  show() {
    const { library, ctx, params } = this;
    const pages = [
      ["templates", () => this.templates()],
      ["map", () => this.mapPage()],
      ["collisions", () => this.collisions()],
      ["words", () => this.words()],
      ...(ctx.me?.admin ? [["problems", () => this.problems()]] : []),
    ];
    const examples = library.templates.reduce((sum, each) => sum + each.examples.length, 0);
    const languages = new Intl.DisplayNames([currentLanguage()], { type: "language" });
    this.tabs = tabs(t("library.title"), pages.map(([id, make]) => ({
      id, label: t(`library.tab.${id}`), make,
    })), (tab) => this.remember({ tab }));
    show(this.root, 
      h(
        "header", { class: "view-head" },
        h("h1", null, t("library.title")),
        h("p", { class: "library-about" },
          h("strong", { dir: "auto" }, library.name || library.adapter),
          " ",
          library.description && h("span", { class: "muted", dir: "auto" }, library.description)),
        h("p", { class: "library-sums muted" },
          h("span", null, t("library.templates", { count: library.templates.length })),
          h("span", null, t("library.examples", { count: examples })),
          library.languages?.length > 0
            && h("span", null, library.languages.map((code) => languages.of(code)).join(", "))),
      ),
      this.tabs.element,
    );
    this.tabs.open(params.tab ?? (params.word ? "words" : "templates"));
  }

  /** Put where one is into the address, so that the browser's Back returns there. */
  remember(changes) {
    this.params = { ...this.params, ...changes };
    this.note();
  }

  writePlace() {
    this.note.cancel(); // browsers allow few changes a second
    history.replaceState(null, "", `#/library?${new URLSearchParams(this.params)}`);
  }

  ask(question) {
    this.writePlace();
    this.ctx.ask(question);
  }

  /** The list of templates with its search, and the one that is open. */
  templates() {
    const { library } = this;
    const texts = library.templates.map((template) => ({ template, ...searchable(template) }));
    const field = h("input", {
      type: "search", "aria-label": t("library.search"), placeholder: t("library.search"),
      spellcheck: "false", autocomplete: "off", dir: "auto",
    });
    const count = h("p", { class: "muted library-found", "aria-live": "polite" });
    const effects = [...new Set(library.templates.map((each) => each.effect))];
    const groups = [...new Set(library.templates.flatMap(groupsOf))].sort();
    const effect = select(t("library.effect"), [
      ["", t("library.any_effect")], ...effects.map((each) => [each, effectName(each)]),
    ]);
    const group = select(t("library.group"), [["", t("library.any_group")], ...groups.map((each) => [each, each])]);
    const list = choiceList({
      label: t("library.tab.templates"),
      rowHeight: 60,
      optionOf: (found) => this.optionOf(found),
      onChoose: (found) => this.openTemplate(found.template.id),
      empty: t("library.none_found"),
    });
    this.detail = h("section", { class: "library-detail card", "aria-label": t("library.template"), tabindex: "-1" });
    this.split = h(
      "div", { class: "library-split" },
      h(
        "div", { class: "library-list" },
        h("div", { class: "library-filters" }, field, effects.length > 1 && effect, groups.length > 1 && group),
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

    const named = this.params.template;
    this.chosen = this.groups.has(named) ? named : null;
    if (this.chosen === null && !matchMedia("(max-width: 760px)").matches) {
      this.chosen = library.templates[0]?.id ?? null;
    }
    if (this.chosen) this.openTemplate(this.chosen, { focus: false });
    else show(this.detail, h("p", { class: "empty" }, t("library.choose")));
    find();
    this.afterShow = () => find();
    return this.split;
  }

  optionOf({ template, snippet, words }) {
    return [
      h("span", { class: "library-option-head" },
        swatch(this.groups.get(template.id)),
        h("bdi", { class: "library-id" }, marked(template.id, words)),
        template.effect !== "read" && h("span", { class: `badge ${effectTone(template.effect)}` }, effectName(template.effect))),
      h("span", { class: "library-option-text muted", dir: "auto" }, marked(snippet, words)),
    ];
  }

  openTemplate(id, { focus = true } = {}) {
    const template = this.library.templates[this.groups.get(id)];
    if (!template) return;
    this.chosen = id;
    if (focus) this.remember({ template: id });
    this.split?.classList.toggle("open", focus);
    show(this.detail, ...this.detailOf(template));
    this.detail.scrollTop = 0;
    if (focus && matchMedia("(max-width: 760px)").matches) {
      this.detail.focus();
      this.detail.scrollIntoView({ block: "start" });
    }
  }

  detailOf(template) {
    const { ctx } = this;
    const back = h("button", {
      type: "button", class: "button quiet library-back",
      onClick: () => {
        this.split.classList.remove("open");
        this.split.querySelector("[role=listbox]").focus();
      },
    }, t("library.back"));
    const tags = [template.topic, ...(template.tags ?? [])].filter(Boolean);
    return [
      back,
      h("header", { class: "library-head" },
        h("h2", null, swatch(this.groups.get(template.id)), h("bdi", null, template.id)),
        h("div", { class: "row library-badges" },
          h("span", { class: `badge ${effectTone(template.effect)}` }, effectName(template.effect)),
          template.requires_confirmation && h("span", { class: "badge warn" }, t("library.confirms")),
          [...new Set(tags)].map((tag) => h("span", { class: "badge" }, tag)))),
      template.description && h("p", { dir: "auto" }, template.description),
      h("dl", { class: "library-facts" },
        h("dt", null, t("library.tool")),
        h("dd", null, h("code", null, [template.tool, template.operation].filter(Boolean).join(" · "))),
        template.roles?.length > 0 && [h("dt", null, t("library.roles")), h("dd", null, template.roles.join(", "))]),
      h("div", { class: "row" },
        h("button", { type: "button", class: "button", onClick: () => this.showOnMap(template.id) }, t("library.on_map")),
        ctx.me?.may?.author && h("button", {
          type: "button", class: "button", onClick: () => {
            this.writePlace();
            ctx.go("author", { template: template.id });
          },
        }, t("library.edit"))),
      this.sentences(t("library.examples_title"), template.examples, t("library.no_examples")),
      template.counter_examples?.length > 0
        && this.sentences(t("library.counter_examples"), template.counter_examples),
      h("h3", null, t("library.parameters")),
      template.parameters.length === 0
        ? h("p", { class: "muted" }, t("library.no_parameters"))
        : h("ul", { class: "library-parameters" }, template.parameters.map(parameterOf)),
    ];
  }

  sentences(title, all, none = "") {
    const list = h("ul", { class: "library-sentences" });
    const row = (text) => h("li", null,
      h("button", {
        type: "button", class: "library-sentence", dir: "auto", title: t("library.ask_this"),
        onClick: () => this.ask(text),
      }, h("span", null, text), h("span", { class: "library-ask", "aria-hidden": "true" }, t("library.ask"))));
    list.append(...all.slice(0, FIRST_EXAMPLES).map(row));
    const rest = all.length - FIRST_EXAMPLES;
    const more = rest > 0 && h("button", {
      type: "button", class: "button quiet",
      onClick: (event) => {
        list.append(...all.slice(FIRST_EXAMPLES).map(row));
        event.currentTarget.remove();
      },
    }, t("library.more", { count: rest }));
    return [
      h("h3", null, title, h("span", { class: "muted library-count" }, n(all.length))),
      all.length ? [list, more] : h("p", { class: "muted" }, none),
    ];
  }

  showOnMap(id) {
    this.onMap = id;
    this.tabs.open("map");
  }

  goTemplate(id) {
    this.tabs.open("templates");
    this.openTemplate(id);
    this.afterShow?.();
  }

  /** All examples in two dimensions, with a question among them. */
  mapPage() {
    const box = h("div", { class: "library-map" }, skeleton());
    this.fill(box, () => api.get(`${this.path}/map`), (plane) => this.drawMap(plane));
    return box;
  }

  drawMap(plane) {
    const { library, ctx } = this;
    const points = plane.points
      .filter((each) => this.groups.has(each.template))
      .map((each) => ({ x: each.x, y: each.y, group: this.groups.get(each.template), text: each.example }));
    if (points.length === 0) return h("p", { class: "empty" }, t("library.map_empty"));
    const names = library.templates.map((each) => each.id);
    const title = t("library.map_title");
    const all = library.templates.reduce((sum, each) => sum + each.examples.length, 0);
    const share = plane.explained?.reduce((sum, each) => sum + each, 0) ?? null;
    const description = [
      t("library.map_about", { count: points.length, templates: new Set(points.map((p) => p.group)).size }),
      t("library.map_keys"),
    ].join(" ");
    const aside = h("div", { class: "map-aside" });
    const map = scatter({
      title, description, points, names,
      labels: names.length <= LABELLED,
      onPoint: (point) => choose(point === null ? null : point.group),
      onFocus: (point, tell) => {
        if (point !== null && tell) live(`${point.text}. ${names[point.group]}`);
      },
    });
    this.map?.close();
    this.map = map;
    const sizes = new Map();
    for (const point of points) sizes.set(point.group, (sizes.get(point.group) ?? 0) + 1);
    const legend = choiceList({
      label: t("library.legend"),
      rowHeight: 36,
      optionOf: (group) => [
        swatch(group), h("bdi", { class: "library-id" }, names[group]),
        h("span", { class: "muted" }, n(sizes.get(group) ?? 0)),
      ],
      onChoose: (group) => choose(group, { fromList: true }),
      empty: t("library.none_found"),
    });
    const listed = [...sizes.keys()].sort((a, b) => a - b);
    const narrow = h("input", {
      type: "search", "aria-label": t("library.find_template"),
      placeholder: t("library.find_template"), autocomplete: "off", spellcheck: "false",
    });
    narrow.addEventListener("input", debounce(() => {
      const wanted = narrow.value.toLowerCase().trim();
      legend.update(listed.filter((group) => names[group].toLowerCase().includes(wanted)), (g) => g === chosen);
    }, PAUSE_MS));
    const card = h("div", { class: "map-chosen", "aria-live": "polite" });
    let chosen = null;

    const choose = (group, { fromList = false } = {}) => {
      chosen = group;
      map.show({ group });
      if (!fromList) legend.update(listed, (each) => each === group);
      clear(card);
      if (group === null) return;
      const template = library.templates[group];
      card.append(
        h("div", { class: "row" },
          h("h3", null, swatch(group), h("bdi", null, template.id)),
          h("button", { type: "button", class: "button quiet", onClick: () => choose(null) }, t("library.show_all"))),
        h("p", { class: "muted", dir: "auto" }, template.description),
        h("button", { type: "button", class: "button", onClick: () => this.goTemplate(template.id) }, t("library.open_template")),
      );
    };

    const question = h("input", {
      type: "text", dir: "auto", "aria-label": t("library.place_label"),
      placeholder: t("library.place_label"), autocomplete: "off",
      value: lastQuestion(ctx.adapter),
    });
    const near = h("div", { class: "map-near", "aria-live": "polite" });
    const byText = new Map(points.map((p, index) => [`${p.group}\u0000${p.text}`, index]));
    const place = async () => {
      const message = question.value.trim();
      if (!message) {
        map.show({ mark: null, near: [] });
        clear(near);
        return;
      }
      try {
        const found = await api.send("POST", `${this.path}/map`, { message });
        if (this.signal.aborted) return;
        const indices = found.nearest
          .map((each) => byText.get(`${this.groups.get(each.template)}\u0000${each.example}`))
          .filter((index) => index !== undefined);
        map.show({ mark: found, near: indices });
        show(near, 
          h("h3", null, t("library.nearest")),
          h("ol", { class: "near-list" }, found.nearest.map((each) => h("li", null,
            h("span", { class: "near-text", dir: "auto" }, each.example),
            h("span", { class: "near-name" }, swatch(this.groups.get(each.template) ?? 0),
              h("bdi", { class: "muted" }, each.template), meter(each.similarity, { label: t("library.similarity") }))))),
        );
      } catch (failed) {
        if (!this.signal.aborted) show(near, errorBox(failed));
      }
    };
    const form = h("form", { class: "map-question" }, question,
      h("button", { type: "submit", class: "button primary" }, t("library.place")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      place();
    });
    aside.append(
      near, card,
      h("div", { class: "map-legend" }, listed.length > 12 && narrow, legend.element),
    );
    this.showGroup = choose;
    requestAnimationFrame(() => {
      legend.update(listed);
      if (this.onMap !== undefined) choose(this.groups.get(this.onMap) ?? null);
      if (question.value) place();
    });
    return [
      h("h2", { class: "visually-hidden" }, title),
      form,
      h("div", { class: "map-split" },
        h("div", null, map.element,
          h("p", { class: "muted map-note" },
            points.length < all ? `${t("library.map_part", { count: points.length, all })} ` : "",
            share === null ? "" : `${t("library.map_share", { share: percent(share) })} `,
            t("library.map_help")),
          leftOut(plane.left_out),
          h("details", { class: "plot-data" },
            h("summary", null, t("plot.table")),
            lazily(() => pointTable(title, points, names)))),
        aside),
    ];
  }

  /** Pairs of templates that may be taken for each other. */
  collisions() {
    const box = h("div", { class: "library-collisions" }, skeleton());
    this.fill(box, () => api.get(`${this.path}/collisions`), ({ pairs, left_out: others }) => {
      if (pairs.length === 0) return [h("p", { class: "empty" }, t("library.no_collisions")), leftOut(others)];
      return [
        h("p", { class: "muted" }, t("library.collisions_about")),
        leftOut(others),
        ...this.pairMatrix(pairs),
        ...pairs.map((pair, index) => this.pairOf(pair, index < 3)),
      ];
    });
    return box;
  }

  pairMatrix(pairs) {
    const ids = [...new Set(pairs.flatMap((pair) => pair.templates))].slice(0, 16);
    if (ids.length < 3) return [];
    const cells = pairs
      .filter((pair) => pair.templates.every((id) => ids.includes(id)))
      .flatMap((pair) => [[0, 1], [1, 0]].map(([from, to]) => ({
        row: pair.templates[from],
        column: pair.templates[to],
        pair,
        count: pair.sentences.filter((each) => each.template === pair.templates[from]).length,
      })))
      .filter((cell) => cell.count > 0);
    const heads = ids.map((id) => ({ id, label: id }));
    return [h("details", { class: "card" }, h("summary", null, t("library.as_table")), matrix({
      title: t("library.collision_counts"),
      description: t("library.collision_counts_about"),
      corner: "", rows: heads, columns: heads, cells,
      onCell: ({ pair }) => {
        const found = this.opened.get(pair);
        found.open = true;
        found.scrollIntoView({ block: "center" });
        found.querySelector("summary").focus();
      },
    }).element)];
  }

  pairOf(pair, open) {
    const [a, b] = pair.templates;
    const most = Math.max(0, ...pair.sentences.map((each) => each.similarity));
    const name = (id) => h("span", { class: "pair-name" }, swatch(this.groups.get(id) ?? 0), h("bdi", null, id));
    const made = h(
      "details", { class: "card pair", open },
      h("summary", null, name(a), h("span", { class: "muted", "aria-hidden": "true" }, "↔"), name(b),
        h("span", { class: "muted pair-count" }, t("library.sentences", { count: pair.sentences.length })), meter(most, { label: t("library.similarity") })),
      lazily(() => [
        h("ul", { class: "pair-list" }, pair.sentences.map((each) => h("li", null,
          h("span", { class: "pair-sides" },
            h("span", { class: "pair-sentence" }, swatch(this.groups.get(each.template) ?? 0), h("span", { dir: "auto" }, each.example)),
            h("span", { class: "pair-sentence" }, swatch(this.groups.get(each.template === a ? b : a) ?? 0), h("span", { dir: "auto" }, each.near))),
          meter(each.similarity, { label: t("library.similarity") }),
          h("button", { type: "button", class: "button quiet", onClick: () => this.ask(each.example) }, t("library.ask"))))),
        h("div", { class: "row" }, [a, b].map((id) => h("button", {
          type: "button", class: "button", onClick: () => this.goTemplate(id),
        }, t("library.open_named", { name: id })))),
      ]),
    );
    this.opened.set(pair, made);
    return made;
  }

  /** Where a word is used, in all its forms. */
  words() {
    const field = h("input", {
      type: "search", dir: "auto", "aria-label": t("library.word"),
      placeholder: t("library.word"), autocomplete: "off", spellcheck: "false",
      value: this.params.word ?? "",
    });
    const found = h("div", { class: "library-uses", "aria-live": "polite" });
    let asked = 0;
    const look = async () => {
      const word = field.value.trim();
      if (word) this.remember({ word });
      asked += 1;
      const turn = asked;
      if (!word) {
        show(found, h("p", { class: "empty" }, t("library.word_about")));
        return;
      }
      try {
        const answer = await api.get(`${this.path}/words?q=${encodeURIComponent(word)}`);
        if (turn !== asked || this.signal.aborted) return;
        show(found, ...this.usesOf(answer));
      } catch (failed) {
        if (turn === asked && !this.signal.aborted) show(found, errorBox(failed, { retry: look }));
      }
    };
    field.addEventListener("input", debounce(look, 250));
    look();
    const synonyms = Object.entries(this.library.synonyms ?? {});
    return h("div", { class: "library-words" },
      h("div", { class: "library-word" }, field),
      found,
      synonyms.length > 0 && h("details", { class: "card" },
        h("summary", null, t("library.synonyms", { count: synonyms.length })),
        lazily(() => h("dl", { class: "library-synonyms" }, synonyms.map(([word, others]) => [
          h("dt", { dir: "auto" }, word), h("dd", { dir: "auto" }, others.join(", ")),
        ])))));
  }

  usesOf({ word, stem, uses }) {
    if (uses.length === 0) return [h("p", { class: "empty" }, t("library.word_unused", { word }))];
    const byTemplate = new Map();
    for (const use of uses) {
      const id = use.template ?? "";
      byTemplate.set(id, [...(byTemplate.get(id) ?? []), use]);
    }
    const groups = [...byTemplate].sort((a, b) => b[1].length - a[1].length);
    const card = ([id, some]) => h("section", { class: "card use" },
      h("h2", null, this.groups.has(id) && swatch(this.groups.get(id)), h("bdi", null, id || t("library.everywhere")),
        h("span", { class: "muted library-count" }, n(some.length)),
        this.groups.has(id) && h("button", {
          type: "button", class: "button quiet", onClick: () => this.goTemplate(id),
        }, t("library.open_template"))),
      h("ul", { class: "use-list" }, some.slice(0, 20).map((use) => h("li", null,
        h("span", { class: "badge" }, t(`library.where.${use.where}`)),
        h("span", { dir: "auto" }, spanned(use.text, use.span)))),
      some.length > 20 && h("li", { class: "muted" }, t("library.and_more", { count: some.length - 20 }))));
    const rest = groups.slice(30);
    const more = rest.length > 0 && h("button", {
      type: "button", class: "button",
      onClick: (event) => event.currentTarget.replaceWith(...rest.map(card)),
    }, t("library.more_templates", { count: rest.length }));
    return [
      h("p", null, t("library.used", {
        count: uses.length, templates: t("library.templates", { count: groups.length }),
      }),
        stem && stem !== word.toLowerCase() && h("span", { class: "muted" }, ` ${t("library.stem", { stem })}`)),
      ...groups.slice(0, 30).map(card),
      more,
    ].filter(Boolean);
  }

  /** What `check` says of the adapter's files now. */
  problems() {
    const box = h("div", null, skeleton());
    const path = `/admin/adapters/${encodeURIComponent(this.ctx.adapter)}/problems`;
    const look = () => this.fill(box, () => api.get(path), ({ problems }) => {
      const again = h("button", { type: "button", class: "button", onClick: look }, t("library.check_again"));
      if (problems.length === 0) {
        return h("div", { class: "empty stack" }, h("p", null, t("library.no_problems")), h("div", null, again));
      }
      const made = dataTable({
        caption: t("library.tab.problems"),
        rows: problems,
        columns: [
          {
            id: "kind", label: t("library.problem_kind"), size: "s", value: (row) => row.kind ?? "error",
            cell: (row) => h("span", { class: `badge ${row.kind === "warning" ? "warn" : "bad"}` }, kindName(row.kind)),
          },
          { id: "what", label: t("library.problem_what"), value: (row) => row.what, cell: (row) => h("span", { dir: "auto" }, row.what) },
          { id: "where", label: t("library.problem_where"), size: "l", value: (row) => row.where ?? "", cell: (row) => h("code", null, row.where ?? "") },
        ],
      });
      return [h("div", { class: "row library-problems" }, h("p", null, t("library.problems", { count: problems.length })), again), made.element];
    });
    look();
    return box;
  }

  async fill(box, ask, draw) {
    show(box, skeleton());
    let made;
    try {
      made = draw(await ask());
    } catch (failed) {
      made = errorBox(failed, { retry: () => this.fill(box, ask, draw) });
    }
    if (!this.signal.aborted) show(box, made);
  }
}

/** Tabs whose pages are made when they are first opened. */
function tabs(label, pages, onOpen) {
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panels = new Map();
  const element = h("div", { class: "library-tabs" }, bar);
  const buttons = pages.map((page) => h("button", {
    type: "button", role: "tab", id: `tab-${page.id}`, "aria-controls": `panel-${page.id}`,
    onClick: () => open(page.id),
  }, page.label));
  bar.append(...buttons);
  bar.addEventListener("keydown", (event) => {
    const forward = getComputedStyle(bar).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const at = buttons.indexOf(document.activeElement);
    const to = { [forward]: at + 1, [backward]: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const index = (to + buttons.length) % buttons.length;
    open(pages[index].id);
    buttons[index].focus();
  });

  function open(id) {
    const page = pages.find((each) => each.id === id) ?? pages[0];
    pages.forEach((each, index) => {
      const own = each === page;
      buttons[index].setAttribute("aria-selected", String(own));
      buttons[index].tabIndex = own ? 0 : -1;
    });
    if (!panels.has(page.id)) {
      const panel = h("div", {
        role: "tabpanel", id: `panel-${page.id}`, "aria-labelledby": `tab-${page.id}`, class: "library-panel",
      });
      panels.set(page.id, panel);
      element.append(panel);
      panel.append(page.make());
    }
    for (const [each, panel] of panels) panel.hidden = each !== page.id;
    onOpen(page.id);
  }

  return { element, open };
}

/** What was asked last in this page. */
function lastQuestion(adapter) {
  const turns = sessionsOf(adapter).find((each) => each.turns.length > 0)?.turns ?? [];
  return turns.findLast((turn) => turn.message)?.message ?? "";
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

function spanned(text, span) {
  if (!span) return text;
  const [from, to] = span;
  return [text.slice(0, from), h("mark", null, text.slice(from, to)), text.slice(to)];
}

function parameterOf(parameter) {
  const notes = [
    parameter.unit && [t("library.unit"), parameter.unit],
    parameter.default !== undefined && [t("library.default"), shown(parameter.default)],
    parameter.aliases?.length > 0 && [t("library.aliases"), parameter.aliases.join(", ")],
  ].filter(Boolean);
  const choices = parameter.choices ?? [];
  const many = choices.length > 12;
  const chips = (some) => some.map((choice) => {
    const others = parameter.synonyms?.[String(choice)] ?? [];
    return h("span", { class: "badge choice", dir: "auto", title: others.join(", ") || null }, shown(choice));
  });
  return h("li", null,
    h("div", { class: "parameter-head" },
      h("code", null, parameter.name),
      h("span", { class: "muted" }, parameter.type),
      parameter.required && h("span", { class: "badge" }, t("library.required")),
      parameter.sensitive && h("span", { class: "badge warn" }, t("library.sensitive"))),
    parameter.description && h("p", { dir: "auto" }, parameter.description),
    notes.length > 0 && h("p", { class: "muted parameter-notes" },
      notes.map(([name, value]) => h("span", null, `${name}: `, h("bdi", null, value)))),
    choices.length > 0 && h("div", { class: "parameter-choices" },
      chips(choices.slice(0, 12)),
      many && h("button", {
        type: "button", class: "button quiet",
        onClick: (event) => event.currentTarget.replaceWith(...chips(choices.slice(12))),
      }, t("library.more", { count: choices.length - 12 }))));
}

function pointTable(title, points, names) {
  return dataTable({
    caption: title,
    rows: points,
    rowHeight: 36,
    columns: [
      { id: "text", label: t("library.example"), value: (p) => p.text, cell: (p) => h("span", { dir: "auto", title: p.text }, p.text) },
      { id: "group", label: t("library.template"), size: "l", value: (p) => names[p.group], cell: (p) => h("bdi", null, names[p.group]) },
      { id: "x", label: "x", size: "xs", numeric: true, value: (p) => p.x, cell: (p) => n(p.x, { maximumFractionDigits: 2 }) },
      { id: "y", label: "y", size: "xs", numeric: true, value: (p) => p.y, cell: (p) => n(p.y, { maximumFractionDigits: 2 }) },
    ],
  }).element;
}

/** Content that is made when the details around it open. */
function lazily(make) {
  const box = h("div", { class: "lazily" });
  const fill = () => {
    if (box.childNodes.length === 0) show(box, make());
  };
  queueMicrotask(() => {
    const around = box.closest("details");
    if (!around || around.open) fill();
    around?.addEventListener("toggle", () => around.open && fill());
  });
  return box;
}

/** Adapters whose examples were read otherwise, so that they cannot be compared with the rest. */
function leftOut(names) {
  return names?.length > 0 && h("p", { class: "muted" }, t("library.left_out", { names: names.join(", ") }));
}

function select(label, options) {
  return h("select", { "aria-label": label },
    options.map(([value, name]) => h("option", { value }, name)));
}

function groupsOf(template) {
  return [template.topic, ...(template.tags ?? [])].filter(Boolean);
}

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const EFFECTS = { read: "ok", write: "warn", destructive: "bad", delete: "bad" };

function effectTone(effect) {
  return EFFECTS[effect] ?? "warn";
}

function effectName(effect) {
  return t(`library.effects.${effect}`);
}

function kindName(kind) {
  return t(kind === "warning" ? "library.warning" : "library.error");
}

function skeleton() {
  return h("div", { class: "skeleton-lines", "aria-hidden": "true" },
    [0, 1, 2, 3].map(() => h("div", { class: "skeleton" })));
}
