// What `check` says of the files of an adapter now.

import { api } from "../../api.js";
import { h } from "../../dom.js";
import { t } from "../../i18n.js";
import { dataTable } from "../../widgets/table.js";
import { skeleton } from "./parts.js";

function placeOf({ id, line, where }) {
  if (!id) return where ?? "";
  return line ? `${id}:${line}` : id;
}

/** The tab of problems, for admins. */
export class Problems {
  constructor(page) {
    this.page = page;
  }

  make() {
    const box = h("div", null, skeleton());
    const path = `/admin/adapters/${encodeURIComponent(this.page.ctx.adapter)}/problems`;
    const look = () =>
      this.page.fill(
        box,
        () => api.get(path),
        ({ problems }) => {
          const again = h(
            "button",
            { type: "button", class: "button", onClick: look },
            t("library.check_again"),
          );
          if (problems.length === 0) {
            return h(
              "div",
              { class: "empty stack" },
              h("p", null, t("library.no_problems")),
              h("div", null, again),
            );
          }
          const made = dataTable({
            caption: t("library.tab.problems"),
            rows: problems,
            columns: [
              {
                id: "kind",
                label: t("library.problem_kind"),
                size: "s",
                value: (row) => row.kind,
                cell: ({ kind, rule }) => {
                  const isWarning = kind === "warning";
                  const name = t(isWarning ? "library.warning" : "library.error");
                  return h("span", { class: `badge ${isWarning ? "warn" : "bad"}`, title: rule }, name);
                },
              },
              {
                id: "what",
                label: t("library.problem_what"),
                value: (row) => row.what,
                cell: (row) => h(
                  "span",
                  { dir: "auto" },
                  row.what,
                  row.hint && h("span", { class: "muted" }, ` ${row.hint}`),
                ),
              },
              {
                id: "where",
                label: t("library.problem_where"),
                size: "l",
                value: placeOf,
                cell: (row) => h("code", null, placeOf(row)),
              },
            ],
          });
          return [
            h(
              "div",
              { class: "row library-problems" },
              h("p", null, t("library.problems", { count: problems.length })),
              again,
            ),
            made.element,
          ];
        },
      );
    look();
    return box;
  }
}
