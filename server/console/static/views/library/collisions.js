// Pairs of templates that may be taken for each other, with the sentences between them.

import { api } from "../../api.js";
import { h } from "../../dom.js";
import { t } from "../../i18n.js";
import { matrix, meter, swatch } from "../../widgets/plot.js";
import { lazily, leftOut, skeleton } from "./parts.js";

const FIRST_OPEN = 3;
const MOST_IN_TABLE = 16;

/** The tab of collisions. */
export class Collisions {
  constructor(page) {
    this.page = page;
    this.opened = new Map();
  }

  make() {
    const box = h("div", { class: "library-collisions" }, skeleton());
    this.page.fill(
      box,
      () => api.get(`${this.page.path}/collisions`),
      ({ pairs, left_out: others }) => {
        if (pairs.length === 0)
          return [h("p", { class: "empty" }, t("library.no_collisions")), leftOut(others)];
        return [
          h("p", { class: "muted" }, t("library.collisions_about")),
          leftOut(others),
          ...this.pairMatrix(pairs),
          ...pairs.map((pair, index) => this.pairOf(pair, index < FIRST_OPEN)),
        ];
      },
    );
    return box;
  }

  pairMatrix(pairs) {
    const ids = [...new Set(pairs.flatMap((pair) => pair.templates))].slice(0, MOST_IN_TABLE);
    if (ids.length < 3) return [];
    const cells = pairs
      .filter((pair) => pair.templates.every((id) => ids.includes(id)))
      .flatMap((pair) =>
        [
          [0, 1],
          [1, 0],
        ].map(([from, to]) => ({
          row: pair.templates[from],
          column: pair.templates[to],
          pair,
          count: pair.sentences.filter((each) => each.template === pair.templates[from]).length,
        })),
      )
      .filter((cell) => cell.count > 0);
    const heads = ids.map((id) => ({ id, label: id }));
    return [
      h(
        "details",
        { class: "card" },
        h("summary", null, t("library.as_table")),
        matrix({
          title: t("library.collision_counts"),
          description: t("library.collision_counts_about"),
          corner: "",
          rows: heads,
          columns: heads,
          cells,
          onCell: ({ pair }) => {
            const found = this.opened.get(pair);
            found.open = true;
            found.scrollIntoView({ block: "center" });
            found.querySelector("summary").focus();
          },
        }).element,
      ),
    ];
  }

  pairOf(pair, open) {
    const [a, b] = pair.templates;
    const most = Math.max(0, ...pair.sentences.map((each) => each.similarity));
    const name = (id) =>
      h("span", { class: "pair-name" }, swatch(this.page.groups.get(id) ?? 0), h("bdi", null, id));
    const made = h(
      "details",
      { class: "card pair", open },
      h(
        "summary",
        null,
        name(a),
        h("span", { class: "muted", "aria-hidden": "true" }, "↔"),
        name(b),
        h("span", { class: "muted pair-count" }, t("library.sentences", { count: pair.sentences.length })),
        meter(most, { label: t("library.similarity") }),
      ),
      lazily(() => [
        h(
          "ul",
          { class: "pair-list" },
          pair.sentences.map((each) =>
            h(
              "li",
              null,
              h(
                "span",
                { class: "pair-sides" },
                h(
                  "span",
                  { class: "pair-sentence" },
                  swatch(this.page.groups.get(each.template) ?? 0),
                  h("span", { dir: "auto" }, each.example),
                ),
                h(
                  "span",
                  { class: "pair-sentence" },
                  swatch(this.page.groups.get(each.template === a ? b : a) ?? 0),
                  h("span", { dir: "auto" }, each.near),
                ),
              ),
              meter(each.similarity, { label: t("library.similarity") }),
              h(
                "button",
                { type: "button", class: "button quiet", onClick: () => this.page.ask(each.example) },
                t("library.ask"),
              ),
            ),
          ),
        ),
        h(
          "div",
          { class: "row" },
          [a, b].map((id) =>
            h(
              "button",
              {
                type: "button",
                class: "button",
                onClick: () => this.page.goTemplate(id),
              },
              t("library.open_named", { name: id }),
            ),
          ),
        ),
      ]),
    );
    this.opened.set(pair, made);
    return made;
  }
}
