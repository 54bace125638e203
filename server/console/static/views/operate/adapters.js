// Adapters: whether each serves, why not, and reading its files again.

import { busy, h } from "../../dom.js";
import { ApiError, api } from "../../api.js";
import { t } from "../../i18n.js";
import { errorBox, toast } from "../../widgets/notice.js";
import { fill } from "./shared.js";

const TONES = { ready: "ok", opening: "warn", unavailable: "bad", closed: "" };

export function mount(root) {
  const list = h("div", { class: "stack" });
  const all = h("button", {
    type: "button", class: "button",
    onclick: () => busy(all, async () => {
      try {
        const { adapters } = await api.send("POST", "admin/reload");
        const failed = adapters.filter((row) => row.error);
        toast(failed.length
          ? t("operate.adapters.some", { count: failed.length }) : t("operate.adapters.all_reloaded"),
        failed.length ? "bad" : "ok");
        show(new Map(failed.map((row) => [row.name, row.error])));
      } catch (failure) {
        list.prepend(errorBox(failure));
      }
    }),
  }, t("operate.adapters.reload_all"));
  root.append(
    h("div", { class: "row wrap" }, h("p", { class: "muted grow" }, t("operate.adapters.about")), all),
    list);

  const show = (failures = new Map()) => fill(list, async () => {
    const { adapters } = await api.get("admin/adapters");
    return adapters.map((row) => card(row, failures.get(row.name)));
  });
  show();
  const timer = setInterval(() => {
    if (!document.hidden && !list.contains(document.activeElement) && !list.querySelector(".error")) show();
  }, 10_000);
  return () => clearInterval(timer);
}

function card(row, failure) {
  const result = h("div", { class: "stack", "aria-live": "polite" }, failure
    ? errorBox(new ApiError({ status: 409, ...failure })) : null);
  const node = h("section", { class: "card stack adapter-card", "aria-label": row.name });
  const reload = h("button", {
    type: "button", class: "button",
    onclick: () => busy(reload, async () => {
      try {
        const status = await api.send("POST", `admin/adapters/${encodeURIComponent(row.name)}/reload`);
        toast(t("operate.adapters.reloaded", { name: row.name }), "ok");
        node.replaceWith(card(status, null));
      } catch (refused) {
        result.replaceChildren(
          h("p", { class: "muted" }, t("operate.adapters.as_before")), errorBox(refused));
      }
    }),
  }, t("operate.adapters.reload"));
  const { details = {} } = row;
  node.append(
    h("div", { class: "row wrap" },
      h("h2", { class: "grow", dir: "auto" }, row.name),
      h("span", { class: `badge ${TONES[row.state] ?? ""}` }, t(`state.${row.state}`)),
      reload),
    ...[
      facts(details),
      row.why && h("p", { class: "notice bad", dir: "auto" }, row.why),
      notice(details.left_out, t("operate.adapters.left_out"), (one) =>
        [h("code", { dir: "ltr" }, one.template ?? "?"), " ", one.why]),
      notice(details.earlier, t("operate.adapters.earlier"), (one) =>
        [h("code", { dir: "ltr" }, one.file), " ", one.why]),
      details.not_reloaded && h("p", { class: "notice warn", dir: "auto" },
        t("operate.adapters.not_reloaded"), " ", details.not_reloaded.why),
      details.lock && h("p", { class: details.lock.fits ? "muted" : "notice warn" },
        t(details.lock.fits ? "operate.adapters.locked" : "operate.adapters.lock_broken")),
    ].filter(Boolean),
    result);
  return node;
}

/** What is known of an adapter that serves, on one line. */
function facts(details) {
  const counted = ["templates", "vectors"].filter((name) => typeof details[name] === "number")
    .map((name) => t(`operate.adapters.${name}`, { count: details[name] }));
  const version = details.domain_version && t("operate.adapters.version", { version: details.domain_version });
  const known = [...counted, details.embedder, version].filter(Boolean);
  return known.length > 0 && h("p", { class: "muted small", dir: "auto" }, known.join(" · "));
}

function notice(rows, title, line) {
  if (!rows?.length) return null;
  return h("div", { class: "notice warn" }, h("p", {}, title),
    h("ul", {}, rows.map((row) => h("li", { dir: "auto" }, line(row)))));
}
