// All examples of a library in two dimensions, with a question among them.

import { api } from "../../api.js";
import { clear, debounce, h, live, show } from "../../dom.js";
import { n, percent, t } from "../../i18n.js";
import { scatter } from "../../widgets/map.js";
import { errorBox } from "../../widgets/notice.js";
import { meter, swatch } from "../../widgets/plot.js";
import { choiceList, dataTable } from "../../widgets/table.js";
import { sessionsOf } from "../ask/sessions.js";
import { PAUSE_MS, lazily, leftOut, skeleton } from "./parts.js";

const LABELLED = 60;

/** The tab of the map. */
export class ExampleMap {
  constructor(page) {
    this.page = page;
    this.map = null;
    this.wanted = null; // the template to let stand out once the map is there
  }

  make() {
    const box = h("div", { class: "library-map" }, skeleton());
    this.page.fill(
      box,
      () => api.get(`${this.page.path}/map`),
      (plane) => this.draw(plane),
    );
    return box;
  }

  close() {
    this.map?.close();
  }

  /** Let one template stand out, or none. */
  choose(id) {
    this.wanted = id;
    this.showGroup?.(this.page.groups.get(id) ?? null);
  }

  draw(plane) {
    const { library, groups } = this.page;
    this.points = plane.points
      .filter((each) => groups.has(each.template))
      .map(({ x, y, template, example }) => ({ x, y, group: groups.get(template), text: example }));
    if (this.points.length === 0) return h("p", { class: "empty" }, t("library.map_empty"));
    this.names = library.templates.map((each) => each.id);
    const { points, names } = this;
    const title = t("library.map_title");
    const templates = new Set(points.map((point) => point.group)).size;
    this.close();
    this.map = scatter({
      title,
      description: `${t("library.map_about", { count: points.length, templates })} ${t("library.map_keys")}`,
      points,
      names,
      labels: names.length <= LABELLED,
      onPoint: (point) => this.showGroup(point === null ? null : point.group),
      onFocus: (point, byKey) => {
        if (point !== null && byKey) live(`${point.text}. ${names[point.group]}`);
      },
    });
    const { form, near, place } = this.question();
    const { legend, card } = this.legend();
    requestAnimationFrame(() => {
      this.showGroup(groups.get(this.wanted) ?? null);
      place();
    });
    return [
      h("h2", { class: "visually-hidden" }, title),
      form,
      h(
        "div",
        { class: "map-split" },
        h(
          "div",
          null,
          this.map.element,
          h("p", { class: "muted map-note" }, this.notes(plane)),
          leftOut(plane.left_out),
          h(
            "details",
            { class: "plot-data" },
            h("summary", null, t("plot.table")),
            lazily(() => pointTable(title, points, names)),
          ),
        ),
        h("div", { class: "map-aside" }, near, card, legend),
      ),
    ];
  }

  notes({ explained }) {
    const count = this.points.length;
    const all = this.page.library.templates.reduce((sum, each) => sum + each.examples.length, 0);
    const share = explained?.reduce((sum, each) => sum + each, 0);
    return [
      count < all && t("library.map_part", { count, all }),
      share && t("library.map_share", { share: percent(share) }),
      t("library.map_help"),
    ]
      .filter(Boolean)
      .join(" ");
  }

  /** The list of templates beside the map, and the card of the one that stands out. */
  legend() {
    const { names, page } = this;
    const sizes = new Map();
    for (const { group } of this.points) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    const listed = [...sizes.keys()].sort((a, b) => a - b);
    const card = h("div", { class: "map-chosen", "aria-live": "polite" });
    const list = choiceList({
      label: t("library.legend"),
      rowHeight: 36,
      optionOf: (group) => [
        swatch(group),
        h("bdi", { class: "library-id" }, names[group]),
        h("span", { class: "muted" }, n(sizes.get(group))),
      ],
      onChoose: (group) => stand(group),
      empty: t("library.none_found"),
    });
    const narrow = h("input", {
      type: "search",
      "aria-label": t("library.find_template"),
      placeholder: t("library.find_template"),
      autocomplete: "off",
      spellcheck: "false",
    });
    let chosen = null;
    const narrowed = () => {
      const wanted = narrow.value.toLowerCase().trim();
      const found = listed.filter((group) => names[group].toLowerCase().includes(wanted));
      list.update(found, (group) => group === chosen);
    };
    narrow.addEventListener("input", debounce(narrowed, PAUSE_MS));

    const stand = (group) => {
      chosen = group;
      this.map.show({ group });
      clear(card);
      if (group === null) return;
      const template = page.library.templates[group];
      show(
        card,
        h(
          "div",
          { class: "row" },
          h("h3", null, swatch(group), h("bdi", null, template.id)),
          h(
            "button",
            { type: "button", class: "button quiet", onClick: () => this.showGroup(null) },
            t("library.show_all"),
          ),
        ),
        h("p", { class: "muted", dir: "auto" }, template.description),
        h(
          "button",
          { type: "button", class: "button", onClick: () => page.goTemplate(template.id) },
          t("library.open_template"),
        ),
      );
    };
    this.showGroup = (group) => {
      stand(group);
      narrow.value = "";
      narrowed();
    };
    return { card, legend: h("div", { class: "map-legend" }, listed.length > 12 && narrow, list.element) };
  }

  /** The form that puts a question among the examples, and those that are nearest to it. */
  question() {
    const { page, points } = this;
    const input = h("input", {
      type: "text",
      dir: "auto",
      autocomplete: "off",
      "aria-label": t("library.place_label"),
      placeholder: t("library.place_label"),
      value: lastQuestion(page.ctx.adapter),
    });
    const near = h("div", { class: "map-near", "aria-live": "polite" });
    const key = (group, text) => `${group}\u0000${text}`;
    const places = new Map(points.map(({ group, text }, index) => [key(group, text), index]));
    const place = async () => {
      const message = input.value.trim();
      if (!message) {
        this.map.show({ mark: null, near: [] });
        clear(near);
        return;
      }
      try {
        const found = await api.send("POST", `${page.path}/map`, { message });
        if (page.signal.aborted) return;
        const indices = found.nearest
          .map(({ template, example }) => places.get(key(page.groups.get(template), example)))
          .filter((index) => index !== undefined);
        this.map.show({ mark: found, near: indices });
        show(
          near,
          h("h3", null, t("library.nearest")),
          h(
            "ol",
            { class: "near-list" },
            found.nearest.map((each) => this.nearOf(each)),
          ),
        );
      } catch (failed) {
        if (!page.signal.aborted) show(near, errorBox(failed));
      }
    };
    const submit = (event) => {
      event.preventDefault();
      place();
    };
    const form = h(
      "form",
      { class: "map-question", onSubmit: submit },
      input,
      h("button", { type: "submit", class: "button primary" }, t("library.place")),
    );
    return { form, near, place };
  }

  nearOf({ template, example, similarity }) {
    return h(
      "li",
      null,
      h("span", { class: "near-text", dir: "auto" }, example),
      h(
        "span",
        { class: "near-name" },
        swatch(this.page.groups.get(template) ?? 0),
        h("bdi", { class: "muted" }, template),
        meter(similarity, { label: t("library.similarity") }),
      ),
    );
  }
}

/** What was asked last in this page. */
function lastQuestion(adapter) {
  const turns = sessionsOf(adapter).find((each) => each.turns.length > 0)?.turns ?? [];
  return turns.findLast((turn) => turn.message)?.message ?? "";
}

function pointTable(title, points, names) {
  return dataTable({
    caption: title,
    rows: points,
    rowHeight: 36,
    columns: [
      {
        id: "text",
        label: t("library.example"),
        value: (p) => p.text,
        cell: (p) => h("span", { dir: "auto", title: p.text }, p.text),
      },
      {
        id: "group",
        label: t("library.template"),
        size: "l",
        value: (p) => names[p.group],
        cell: (p) => h("bdi", null, names[p.group]),
      },
      {
        id: "x",
        label: "x",
        size: "xs",
        numeric: true,
        value: (p) => p.x,
        cell: (p) => n(p.x, { maximumFractionDigits: 2 }),
      },
      {
        id: "y",
        label: "y",
        size: "xs",
        numeric: true,
        value: (p) => p.y,
        cell: (p) => n(p.y, { maximumFractionDigits: 2 }),
      },
    ],
  }).element;
}
