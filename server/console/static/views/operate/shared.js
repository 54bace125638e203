// What the panels have in common.

import { clear, h } from "../../dom.js";
import { t, when } from "../../i18n.js";
import { errorBox } from "../../widgets/notice.js";

/** Fill `root` with what `read` returns nodes for; a failure stands there with a way to try again. */
export async function fill(root, read) {
  root.setAttribute("aria-busy", "true");
  try {
    const nodes = await read();
    if (root.isConnected) clear(root).append(...[nodes].flat(Infinity).filter(Boolean));
  } catch (failure) {
    if (!root.isConnected) return;
    clear(root).append(refusal(failure, () => fill(root, read)));
  } finally {
    root.removeAttribute("aria-busy");
  }
}

/** A failure, and where a setting would change it, which. */
export function refusal(failure, retry) {
  const key = `operate.setting.${failure.code}`;
  const how = t(key);
  return h("div", { class: "stack" },
    errorBox(failure, retry ? { retry } : {}),
    how === key ? null : h("p", { class: "muted" }, how));
}

export const badge = (tone, text) => h("span", { class: `badge ${tone}` }, text);

export const waiting = () => [1, 2, 3].map(() => h("div", { class: "skeleton block" }));

/** A table of columns `[title, row => content, class?]`. */
export function table(caption, columns, rows) {
  const of = (column) => column[2] ?? null;
  return h("div", { class: "table-scroll", role: "region", tabindex: "0", "aria-label": caption },
    h("table", { class: "table" },
      h("caption", { class: "visually-hidden" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) =>
        h("th", { scope: "col", class: of(column) }, column[0] || h("span", { class: "visually-hidden" }, t("operate.actions")))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) =>
        h("td", { class: of(column), "data-label": column[0] }, h("div", {}, column[1](row)))))))));
}

/** A control with its label; `hint` says more. */
export function field(label, control, hint) {
  control.id ||= `field-${Math.random().toString(36).slice(2, 9)}`;
  const note = hint && h("p", { class: "muted small", id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

export const option = (value, label = value, selected = false) =>
  h("option", { value, selected }, label);

/** A moment, to the second where it was today. */
export function moment(at) {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  return h("time", { class: "moment", datetime: at, title: when(at) }, when(at, today ? "time" : "both"));
}
