// Small tables of texts that sort by their heads.

import { h, live, show } from "../dom.js";
import { currentLanguage, t } from "../i18n.js";

const NUMBER = /^[^\d.,]*?([-−]?(?:\d{1,3}(?:[.,\u00a0\u202f'’ ]\d{3})+|\d+)(?:[.,]\d+)?)[^\d]*$/;

/**
 * A table of texts; `render` makes nodes of a cell. It sorts by `keys`, the values behind the texts
 * row by row, and without them by the texts; columns of numbers by their numbers.
 */
export function sortableTable(head, rows, { render = (text) => text, keys = null } = {}) {
  const numeric = head.map((_, column) => {
    const behind = keys?.map((row) => row[column]).filter((key) => !isNothing(key));
    if (behind?.length) return behind.every((key) => typeof key === "number");
    const filled = rows.map((row) => row[column]).filter((cell) => cell !== "" && cell !== "—");
    return filled.length > 0 && filled.every((cell) => numberOf(cell) !== null);
  });
  const body = h("tbody");
  const heads = head.map((name, column) =>
    h(
      "th",
      { scope: "col", class: numeric[column] ? "number" : null, dir: "auto" },
      h("button", { type: "button", title: t("ask.sort"), onClick: () => sortBy(column) }, render(name), h("span", { class: "sort-sign", "aria-hidden": "true" })),
    ),
  );
  let sorted = { column: null, down: false };

  function draw(shown) {
    show(
      body,
      shown.map((row) =>
        h("tr", null, row.map((cell, column) => h("td", { class: numeric[column] ? "number" : null, dir: "auto" }, render(cell)))),
      ),
    );
  }

  function sortBy(column) {
    const down = sorted.column === column && !sorted.down;
    sorted = { column, down };
    const compare = new Intl.Collator(currentLanguage(), { numeric: true }).compare;
    const keyOf = (index) => keys?.[index][column] ?? (numeric[column] ? numberOf(rows[index][column]) : rows[index][column]);
    const ordered = rows.map((_, index) => index).sort((a, b) => {
      const [left, right] = [keyOf(a), keyOf(b)];
      if (isNothing(left) || isNothing(right)) return isNothing(left) - isNothing(right);
      const areNumbers = typeof left === "number" && typeof right === "number";
      const by = areNumbers ? left - right : compare(String(left), String(right));
      return down ? -by : by;
    });
    heads.forEach((each, index) => {
      if (index === column) each.setAttribute("aria-sort", down ? "descending" : "ascending");
      else each.removeAttribute("aria-sort");
    });
    draw(ordered.map((index) => rows[index]));
    live(t(down ? "ask.sorted_down" : "ask.sorted_up", { name: head[column] }));
  }

  draw(rows);
  return h(
    "div",
    { class: "scroll-x table-frame", tabindex: "0", role: "region", "aria-label": t("ask.table") },
    h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), body),
  );
}

function isNothing(key) {
  return key === null || key === undefined || key === "";
}

/** The number that a text is, with its currency or unit; null where it is none. */
export function numberOf(text) {
  const found = NUMBER.exec(text.trim());
  if (!found) return null;
  let digits = found[1].replace(/[\u00a0\u202f'’ ]/g, "").replace("−", "-").replace(/[.,]$/, "");
  const signs = [...digits.matchAll(/[.,]/g)].map((each) => each[0]);
  const last = signs.at(-1);
  if (new Set(signs).size === 2) {
    digits = digits.replaceAll(last === "." ? "," : ".", "").replace(last, ".");
  } else if (signs.length > 1 || (signs.length === 1 && /^-?[1-9]\d{0,2},\d{3}$/.test(digits))) {
    digits = digits.replaceAll(last, "");
  } else if (last === ",") {
    digits = digits.replace(",", ".");
  }
  const value = Number(digits);
  return Number.isNaN(value) ? null : value;
}
