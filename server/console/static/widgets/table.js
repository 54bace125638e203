// Tables that sort by their heads, and lists of choices; of many rows, those in view are made.

import { h, show, styles, uid } from "../dom.js";

await styles("widgets/table.css");

const FEW = 80;
const MARGIN = 8;

/**
 * A column: `{id, label, value(row), cell?(row), numeric?, sortable?, size?, wide?, tone?(row)}`.
 * `value` is what it sorts by, `cell` what it shows (a text or a node; else the value). `size` is
 * one of xs, s, m, l; `wide` leaves the column out where the page is narrow.
 *
 * `rows` beyond a few are drawn as they are scrolled to, `rowHeight` pixels each. Returns
 * `{element, update(rows)}`.
 */
export function dataTable({
  caption,
  columns,
  rows = [],
  rowHeight = 44,
  sort = null,
  empty = "",
  onRow = null,
  tall = false,
}) {
  let order = sort ?? { id: null, down: false };
  let listed = rows;
  let drawn = null;

  const head = h("tr");
  const body = h("tbody");
  const table = h(
    "table",
    { class: "table data-table" },
    h("caption", { class: "visually-hidden" }, caption),
    h(
      "colgroup",
      null,
      columns.map((c) => h("col", { class: classesOf(c) })),
    ),
    h("thead", null, head),
    body,
  );
  const view = h(
    "div",
    { class: `table-view${tall ? " tall" : ""}`, role: "region", "aria-label": caption, tabindex: "0" },
    table,
  );
  const nothing = h("p", { class: "empty" }, empty);
  const element = h("div", { class: "table-box" }, view, nothing);
  view.style.setProperty("--row-height", `${rowHeight}px`);

  const heads = columns.map((column) => {
    const name =
      column.sortable === false
        ? h("span", null, column.label)
        : h(
            "button",
            { type: "button", class: "table-sort", onClick: () => sortBy(column) },
            column.label,
            h("span", { class: "table-arrow", "aria-hidden": "true" }),
          );
    const cell = h("th", { scope: "col", class: classesOf(column) }, name);
    head.append(cell);
    return cell;
  });

  function sortBy(column) {
    const first = order.id !== column.id;
    order = { id: column.id, down: first ? Boolean(column.numeric) : !order.down };
    arrange();
  }

  function arrange() {
    const column = columns.find((each) => each.id === order.id);
    listed = column ? sorted(rows, column.value, order.down) : rows;
    columns.forEach((each, index) => {
      const direction = order.down ? "descending" : "ascending";
      heads[index].setAttribute("aria-sort", each === column ? direction : "none");
    });
    table.setAttribute("aria-rowcount", String(listed.length + 1));
    view.hidden = listed.length === 0;
    nothing.hidden = listed.length > 0 || !empty;
    drawn = null;
    draw();
  }

  function draw() {
    const many = listed.length > FEW;
    view.classList.toggle("fixed-rows", many);
    const shown = view.clientHeight || 600;
    const top = Math.max(0, view.scrollTop);
    const from = many ? Math.max(0, Math.floor(top / rowHeight) - MARGIN) : 0;
    const to = many ? Math.min(listed.length, Math.ceil((top + shown) / rowHeight) + MARGIN) : listed.length;
    if (drawn !== null && drawn.from === from && drawn.to === to) return;
    drawn = { from, to };
    const part = listed.slice(from, to).map((row, index) => rowOf(row, from + index));
    show(
      body,
      from > 0 && space(from, columns.length, rowHeight),
      part,
      to < listed.length && space(listed.length - to, columns.length, rowHeight),
    );
  }

  function rowOf(row, index) {
    const cells = columns.map((column) => {
      const shown = column.cell ? column.cell(row) : column.value(row);
      const inner = h("div", { class: "table-cell" }, shown === null ? "" : shown);
      return h("td", { class: classesOf(column), "data-label": column.label }, inner);
    });
    const made = h("tr", { "aria-rowindex": String(index + 2) }, cells);
    if (onRow) {
      made.classList.add("openable");
      made.addEventListener("click", (event) => {
        if (event.target.closest("button, a, input, select") === null) onRow(row);
      });
    }
    return made;
  }

  let waiting = false;
  view.addEventListener(
    "scroll",
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        draw();
      });
    },
    { passive: true },
  );

  arrange();
  return {
    element,
    update(changed) {
      rows = changed;
      arrange();
    },
  };
}

/** Show `rows` of one height, with a keyboard to move in them: a listbox of choices. */
export function choiceList({ label, rowHeight = 56, optionOf, onChoose, empty = "" }) {
  let rows = [];
  let chosen = -1;
  let drawn = null;
  const prefix = uid("list");
  const space = h("div", { class: "list-space", role: "presentation" });
  const view = h("div", { class: "list-view", role: "listbox", tabindex: "0", "aria-label": label }, space);
  const nothing = h("p", { class: "empty", hidden: true }, empty);
  const element = h("div", { class: "list-box" }, view, nothing);
  view.style.setProperty("--row-height", `${rowHeight}px`);

  function draw(force = false) {
    const from = Math.max(0, Math.floor(view.scrollTop / rowHeight) - MARGIN);
    const shown = view.clientHeight || 600;
    const to = Math.min(rows.length, Math.ceil((view.scrollTop + shown) / rowHeight) + MARGIN);
    if (!force && drawn !== null && drawn.from === from && drawn.to === to) return;
    drawn = { from, to };
    show(
      space,
      rows.slice(from, to).map((row, index) => option(row, from + index)),
    );
  }

  function option(row, index) {
    const made = h(
      "div",
      {
        class: "list-option",
        role: "option",
        id: `${prefix}-${index}`,
        "aria-selected": String(index === chosen),
        "aria-setsize": String(rows.length),
        "aria-posinset": String(index + 1),
        onClick: () => choose(index),
      },
      optionOf(row),
    );
    made.style.setProperty("--row", String(index));
    return made;
  }

  function choose(index, { tell = true } = {}) {
    chosen = index;
    if (index >= 0) reveal(index);
    draw(true);
    if (index >= 0) view.setAttribute("aria-activedescendant", `${prefix}-${index}`);
    else view.removeAttribute("aria-activedescendant");
    if (tell && index >= 0) onChoose(rows[index]);
  }

  function reveal(index) {
    const top = index * rowHeight;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + rowHeight > view.scrollTop + view.clientHeight) {
      view.scrollTop = top + rowHeight - view.clientHeight;
    }
  }

  view.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(view.clientHeight / rowHeight) - 1);
    const to = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: chosen + page,
      PageUp: chosen - page,
    }[event.key];
    if (to === undefined || rows.length === 0) return;
    event.preventDefault();
    choose(Math.min(rows.length - 1, Math.max(0, to)));
  });
  view.addEventListener("scroll", () => requestAnimationFrame(() => draw()), { passive: true });

  return {
    element,
    /** Show other rows; `same(row)` says which of them is the chosen one. */
    update(changed, same = () => false) {
      rows = changed;
      space.style.setProperty("--rows", String(rows.length));
      view.hidden = rows.length === 0;
      nothing.hidden = rows.length > 0;
      view.scrollTop = 0;
      choose(rows.findIndex(same), { tell: false });
    },
    redraw: () => draw(true),
  };
}

function space(rows, columns, rowHeight) {
  const cell = h("td", { colspan: String(columns) });
  cell.style.setProperty("height", `${rows * rowHeight}px`);
  return h("tr", { class: "table-space", "aria-hidden": "true" }, cell);
}

function classesOf(column) {
  const size = column.size ? `size-${column.size}` : "";
  return [size, column.numeric ? "numeric" : "", column.wide ? "wide-only" : ""].filter(Boolean).join(" ");
}

/** `rows` in the order of their values; those without one come last, either way. */
function sorted(rows, value, down) {
  const keyed = rows.map((row, index) => ({ row, index, key: value(row) ?? null }));
  const turn = down ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return turn * compare(a.key, b.key) || a.index - b.index;
  });
  return keyed.map((each) => each.row);
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
}
