// What went wrong, in plain words; short messages that go away.

import { ApiError } from "../api.js";
import { h, live } from "../dom.js";
import { hasText, t } from "../i18n.js";
import { icon } from "./icons.js";

/** What happened, in a sentence. */
export function sayError(failed) {
  if (!(failed instanceof ApiError)) return t("error.page", { why: failed?.message ?? failed });
  if (hasText(`error.${failed.code}`)) return t(`error.${failed.code}`, { why: failed.message });
  return failed.message;
}

/** A box for a failure: what was wrong, the server's details, the id that its log knows. */
export function errorBox(failed, { retry } = {}) {
  const details = Array.isArray(failed?.details) ? failed.details : [];
  return h(
    "div",
    { class: "error", role: "alert" },
    icon("warn"),
    h(
      "div",
      { class: "stack tight" },
      h("p", { dir: "auto" }, sayError(failed)),
      details.length > 0 &&
        h("ul", null, details.slice(0, 20).map((row) => h("li", { dir: "auto" }, sayDetail(row)))),
      failed?.requestId && h("p", { class: "muted small" }, t("error.request"), " ", h("code", null, failed.requestId)),
      retry && h("div", null, h("button", { class: "button", onClick: retry }, t("common.retry"))),
    ),
  );
}

function sayDetail(row) {
  if (typeof row === "string") return row;
  const place = row.where ?? row.field ?? row.id ?? "";
  const what = row.what ?? row.problem ?? row.why ?? JSON.stringify(row);
  return place ? `${what} (${place})` : what;
}

/** A line that goes away by itself; `kind` is `ok`, `bad` or nothing. */
export function toast(message, kind = "") {
  let shelf = document.querySelector(".toasts");
  if (!shelf) {
    shelf = h("div", { class: "toasts" });
    document.body.append(shelf);
  }
  const line = h("div", { class: ["toast", kind], dir: "auto" }, message);
  shelf.append(line);
  live(message);
  setTimeout(() => line.remove(), 5000);
}
