// The audit: its end as it grows, a search in it, and whether all of it is as it was written.

import { busy, clear, debounce, h } from "../../dom.js";
import { api } from "../../api.js";
import { duration, n, t } from "../../i18n.js";
import { errorBox } from "../../widgets/notice.js";
import { badge, field, moment, option, refusal, table, waiting } from "./shared.js";

const PAGE = 100;
const EVERY_MS = 3000;
const TONES = {
  success: "ok", started: "", error: "bad", timeout: "bad", interrupted: "bad", denied: "bad",
  refused: "bad", rate_limited: "warn", confirmation_required: "warn", declined: "", expired: "warn",
};
const FIELDS = ["adapter", "user_id", "key_id", "template_id", "outcome", "request_id"];

export function mount(root, ctx) {
  let entries = [];
  let next = null;
  let opened = null;
  let gone = false;
  let asked = 0;
  const controls = Object.fromEntries(FIELDS.map((name) => [name, name === "adapter"
    ? h("select", {}, option("", t("operate.audit.all")), ctx.adapters.map((each) => option(each.name)))
    : h("input", { type: "search", dir: "ltr", autocomplete: "off" })]));
  controls.kind = h("select", {}, option("", t("operate.audit.all")),
    option("call", t("operate.audit.call")), option("change", t("operate.audit.change")));
  controls.since = h("input", { type: "datetime-local" });
  controls.until = h("input", { type: "datetime-local" });
  const follow = h("input", { type: "checkbox", checked: true });
  const verdict = h("div", { "aria-live": "polite" });
  const list = h("div", { class: "stack" }, waiting());
  const more = h("button", {
    type: "button", class: "button", hidden: true, onclick: () => busy(more, () => older()),
  }, t("operate.audit.older"));
  const verify = h("button", {
    type: "button", class: "button", "data-testid": "verify",
    onclick: () => busy(verify, async () => {
      clear(verdict).append(h("p", { class: "muted" }, t("operate.audit.verifying")));
      try {
        const found = await api.send("POST", "admin/audit/verify");
        clear(verdict).append(found.whole
          ? h("p", { class: "notice ok" }, t("operate.audit.whole", { count: found.entries }))
          : h("div", { class: "notice bad" }, h("p", {}, t("operate.audit.broken")),
            h("ul", {}, found.problems.map((each) => h("li", {}, each)))));
      } catch (failure) {
        clear(verdict).append(errorBox(failure));
      }
    }),
  }, t("operate.audit.verify"));

  const search = debounce(() => read(), 300);
  for (const control of Object.values(controls)) control.addEventListener("input", search);
  root.append(
    h("div", { class: "row wrap" },
      h("p", { class: "muted grow" }, t("operate.audit.about")),
      h("label", { class: "check" }, follow, t("operate.audit.follow")), verify),
    verdict,
    h("details", { class: "card folded audit-search" },
      h("summary", {}, h("h2", {}, t("operate.audit.search"))),
      h("div", { class: "form-grid" }, Object.entries(controls).map(([name, control]) =>
        field(t(`operate.audit.${name}`), control)))),
    list, h("div", { class: "row" }, more));

  function query(values) {
    const sent = new URLSearchParams({ limit: String(PAGE), ...values });
    for (const [name, control] of Object.entries(controls)) {
      const value = control.value.trim();
      if (!value) continue;
      sent.set(name, control.type === "datetime-local" ? new Date(value).toISOString() : value);
    }
    return `admin/audit?${sent}`;
  }

  async function read({ quiet = false } = {}) {
    const turn = (asked += 1);
    try {
      const found = await api.get(query({}));
      if (gone || turn !== asked) return;
      const changed = found.entries[0]?.number !== entries[0]?.number || !quiet;
      if (!changed) return;
      if (quiet && entries.length > found.entries.length) {
        const known = entries[0].number;
        entries = [...found.entries.filter((one) => one.number > known), ...entries];
      } else {
        entries = found.entries;
        next = found.next_before;
      }
      draw();
    } catch (failure) {
      if (gone || turn !== asked) return;
      follow.checked = false;
      clear(list).append(refusal(failure, () => read()));
    }
  }

  async function older() {
    const found = await api.get(query({ before: String(next) }));
    entries = [...entries, ...found.entries];
    next = found.next_before;
    draw();
  }

  function draw() {
    more.hidden = next === null || next === undefined;
    if (!entries.length) {
      clear(list).append(h("p", { class: "empty" }, t("operate.audit.none")));
      return;
    }
    clear(list).append(table(t("operate.tab.audit"), [
      ["#", (one) => h("button", {
        type: "button", class: "button quiet small",
        "aria-expanded": String(opened === one.number),
        "aria-label": t("operate.audit.open_one", { number: one.number }),
        onclick: () => {
          opened = opened === one.number ? null : one.number;
          draw();
          list.querySelector("[aria-expanded=true]")?.focus();
        },
      }, String(one.number)), "number"],
      [t("operate.audit.at"), (one) => moment(one.at)],
      [t("operate.audit.what"), (one) => h("div", { class: "stack none" },
        h("span", {}, one.kind === "change" ? badge("accent", t("operate.audit.change")) : null, " ",
          h("code", { dir: "ltr" }, one.template_id || [one.tool, one.operation].filter(Boolean).join(" · "))),
        opened === one.number ? details(one) : null)],
      [t("operate.audit.outcome"), (one) => badge(TONES[one.outcome] ?? "", one.outcome)],
      [t("operate.audit.adapter"), (one) => h("span", { dir: "auto" }, one.adapter || "–"), "hide-narrow"],
      [t("operate.audit.user_id"), (one) => h("span", { dir: "auto" }, one.user_id ?? one.role ?? "–"), "hide-narrow"],
      [t("operate.audit.took"), (one) => (one.duration_ms ? duration(one.duration_ms) : "–"), "number hide-narrow"],
    ], entries), h("p", { class: "muted small" }, t("operate.audit.shown", { count: entries.length })));
  }

  read();
  const timer = setInterval(() => {
    const reading = list.contains(document.activeElement) || opened !== null;
    if (!document.hidden && follow.checked && !reading) read({ quiet: true });
  }, EVERY_MS);
  return () => {
    gone = true;
    clearInterval(timer);
    search.cancel();
  };
}

const LEFT_OUT = new Set(["number", "at", "template_id", "outcome", "adapter", "kind"]);

function details(entry) {
  const rows = Object.entries(entry).filter(([name, value]) =>
    !LEFT_OUT.has(name) && value !== null && value !== "" && !(typeof value === "object" && !Object.keys(value).length));
  return h("dl", { class: "facts audit-details" }, rows.map(([name, value]) => [
    h("dt", { dir: "ltr" }, name),
    h("dd", {}, h("code", { class: "wrap-anywhere", dir: "auto" },
      typeof value === "object" ? JSON.stringify(value) : typeof value === "number" ? n(value) : String(value))),
  ]));
}
