// Keys: who may ask which adapter. A new key is shown once, here, and kept nowhere.

import { h } from "../../dom.js";
import { api } from "../../api.js";
import { t, when } from "../../i18n.js";
import { openDialog } from "../../widgets/dialog.js";
import { copyButton } from "../../widgets/copy.js";
import { toast } from "../../widgets/notice.js";
import { badge, field, fill, option, table } from "./shared.js";

const TONES = { active: "ok", expired: "warn", revoked: "" };

export function mount(root, ctx) {
  const list = h("div", { class: "stack" });
  const search = h("input", {
    type: "search", placeholder: t("operate.keys.search"), "aria-label": t("operate.keys.search"),
    dir: "auto", oninput: () => draw(),
  });
  const ended = h("input", { type: "checkbox", onchange: () => draw() });
  const make = h("button", {
    type: "button", class: "button primary", "data-testid": "make-key", onclick: () => create(),
  }, t("operate.keys.make"));
  let keys = null;
  root.append(
    h("div", { class: "row wrap" }, h("div", { class: "grow keys-search" }, search), h("span", { class: "grow" }),
      h("label", { class: "check" }, ended, t("operate.keys.ended")), make),
    list);

  const read = () => fill(list, async () => {
    ({ keys } = await api.get("admin/keys"));
    return rows();
  });
  const draw = () => keys && list.replaceChildren(rows());

  function rows() {
    const wanted = search.value.trim().toLowerCase();
    const shown = keys.filter((key) =>
      (ended.checked || key.state === "active") && (!wanted || [
        key.key_id, key.adapter, key.user_id, key.role, key.label,
      ].some((text) => text?.toLowerCase().includes(wanted)))).reverse();
    if (!shown.length) {
      return h("p", { class: "empty" }, t(keys.length ? "operate.keys.no_match" : "operate.keys.none"));
    }
    return table(t("operate.tab.keys"), [
      [t("operate.keys.key"), (key) => h("div", { class: "stack none" },
        h("code", { class: "key-id", dir: "ltr" }, key.key_id),
        key.label ? h("span", { class: "muted small", dir: "auto" }, key.label) : null)],
      [t("operate.keys.adapter"), (key) => h("span", { dir: "auto" }, key.adapter)],
      [t("operate.keys.user"), (key) => h("span", { dir: "auto" }, key.user_id ?? "–")],
      [t("operate.keys.role"), (key) => badge(key.role === "admin" ? "accent" : "", key.role)],
      [t("operate.keys.state"), (key) => [badge(TONES[key.state] ?? "", t(`operate.keys.${key.state}`)),
        key.sample ? [" ", badge("", t("operate.keys.sample"))] : null,
        key.key_id === ctx.me.key_id ? [" ", badge("accent", t("operate.keys.yours"))] : null]],
      [t("operate.keys.expires"), (key) => (key.expires_at ? when(key.expires_at) : t("operate.keys.never")), "hide-narrow"],
      [t("operate.keys.used"), (key) => (key.last_used_at ? when(key.last_used_at) : "–"), "hide-narrow"],
      ["", (key) => (key.state === "active" ? actions(key) : null), "cell-actions"],
    ], shown);
  }

  function actions(key) {
    return h("div", { class: "row end" },
      key.sample ? null : h("button", {
        type: "button", class: "button small",
        "aria-label": t("operate.keys.rotate_one", { id: key.key_id }), onclick: () => rotate(key),
      }, t("operate.keys.rotate")),
      h("button", {
        type: "button", class: "button small danger",
        "aria-label": t("operate.keys.revoke_one", { id: key.key_id }), onclick: () => revoke(key),
      }, t("operate.keys.revoke")));
  }

  async function create() {
    const adapter = h("select", {}, ctx.adapters.map(({ name }) =>
      option(name, name, name === ctx.adapter)));
    const role = h("input", { type: "text", value: "user", list: "key-roles", dir: "ltr", autocomplete: "off" });
    const roles = h("datalist", { id: "key-roles" },
      [...new Set(["user", "admin", ...(keys ?? []).map((key) => key.role)])].map((each) => option(each)));
    const user = h("input", { type: "text", dir: "auto", autocomplete: "off" });
    const label = h("input", { type: "text", dir: "auto", autocomplete: "off" });
    const expires = h("select", {}, [
      option("12h", t("operate.keys.hours", { count: 12 })),
      option("30d", t("operate.keys.days", { count: 30 }), true),
      option("1y", t("operate.keys.year")),
      option("", t("operate.keys.never")),
    ]);
    const limits = h("input", { type: "text", dir: "ltr", placeholder: "60/minute, 5000/day", autocomplete: "off" });
    const made = await openDialog({
      title: t("operate.keys.make"),
      body: h("div", { class: "form-grid" },
        field(t("operate.keys.adapter"), adapter),
        [field(t("operate.keys.role"), role, t("operate.keys.role_hint")), roles],
        field(t("operate.keys.user"), user, t("operate.keys.user_hint")),
        field(t("operate.keys.label"), label),
        field(t("operate.keys.lifetime"), expires),
        field(t("operate.keys.limits"), limits, t("operate.keys.limits_hint"))),
      cancel: t("common.cancel"),
      actions: [{
        label: t("operate.keys.make"), kind: "primary", testid: "make-key-now",
        run: () => {
          const body = { adapter: adapter.value, role: role.value.trim() || "user" };
          if (user.value.trim()) body.user_id = user.value.trim();
          if (label.value.trim()) body.label = label.value.trim();
          if (expires.value) body.expires = expires.value;
          const asked = limits.value.split(",").map((each) => each.trim()).filter(Boolean);
          if (asked.length) body.limits = asked;
          return api.send("POST", "admin/keys", body);
        },
      }],
    });
    if (made) {
      await showOnce(made);
      read();
    }
  }

  async function rotate(key) {
    const grace = h("select", {}, [
      option("", t("operate.keys.at_once")),
      option("1h", t("operate.keys.hours", { count: 1 }), true),
      option("24h", t("operate.keys.hours", { count: 24 })),
      option("7d", t("operate.keys.days", { count: 7 })),
    ]);
    const made = await openDialog({
      title: t("operate.keys.rotate_one", { id: key.key_id }),
      body: [h("p", {}, t("operate.keys.rotate_what")), field(t("operate.keys.grace"), grace)],
      cancel: t("common.cancel"),
      actions: [{
        label: t("operate.keys.rotate"), kind: "primary",
        run: () => api.send("POST", `admin/keys/${encodeURIComponent(key.key_id)}/rotate`,
          grace.value ? { grace: grace.value } : {}),
      }],
    });
    if (made) {
      await showOnce(made);
      read();
    }
  }

  async function revoke(key) {
    const own = key.key_id === ctx.me.key_id;
    const done = await openDialog({
      title: t("operate.keys.revoke_one", { id: key.key_id }),
      body: [
        h("p", {}, t("operate.keys.revoke_what", { adapter: key.adapter })),
        own ? h("p", { class: "notice bad" }, t("operate.keys.revoke_own")) : null,
      ].filter(Boolean),
      cancel: t("common.cancel"),
      actions: [{
        label: t("operate.keys.revoke"), kind: "danger",
        run: () => api.send("POST", `admin/keys/${encodeURIComponent(key.key_id)}/revoke`,
          own ? { myself: true } : {}),
      }],
    });
    if (!done) return;
    toast(t("operate.keys.was_revoked"), "ok");
    read();
  }

  read();
  return undefined;
}

/** The key itself, this once: it leaves the page with the dialog. */
async function showOnce(made) {
  await openDialog({
    title: t("operate.keys.once"),
    body: [
      h("p", {}, t("operate.keys.once_what")),
      h("div", { class: "key-once row" },
        h("code", { class: "grow", dir: "ltr", tabindex: "0", "data-testid": "new-key" }, made.key),
        copyButton(() => made.key, t("common.copy"), { kind: "primary" })),
      h("p", { class: "muted" }, t("operate.keys.for", { adapter: made.adapter, role: made.role })),
    ],
    actions: [{ label: t("operate.keys.have_it"), value: true }],
    sticky: true,
  });
}
