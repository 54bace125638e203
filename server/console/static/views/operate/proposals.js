// Proposals: calls that wait for a person's yes, of all adapters. They are that person's to settle.

import { h } from "../../dom.js";
import { api } from "../../api.js";
import { t, when } from "../../i18n.js";
import { badge, fill, table } from "./shared.js";

const EVERY_MS = 5000;

export function mount(root) {
  const list = h("div", { class: "stack" });
  root.append(h("p", { class: "muted" }, t("operate.proposals.about")), list);
  const read = () => fill(list, async () => {
    const { proposals } = await api.get("admin/proposals");
    if (!proposals.length) return h("p", { class: "empty" }, t("operate.proposals.none"));
    return table(t("operate.tab.proposals"), [
      [t("operate.proposals.call"), (one) => h("div", { class: "stack none" },
        h("code", { dir: "ltr" }, one.template_id),
        h("span", { class: "muted small", dir: "ltr" }, [one.tool, one.operation].filter(Boolean).join(" · ")))],
      [t("operate.proposals.arguments"), (one) => h("code", { class: "wrap-anywhere", dir: "ltr" },
        Object.entries(one.arguments ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ") || "–")],
      [t("operate.proposals.effect"), (one) => badge(one.effect === "read" ? "" : "warn", one.effect ?? "–")],
      [t("operate.keys.adapter"), (one) => h("span", { dir: "auto" }, one.adapter)],
      [t("operate.proposals.who"), (one) => h("div", { class: "stack none" },
        h("span", { dir: "auto" }, one.user_id ?? "–"),
        h("code", { class: "muted small", dir: "ltr" }, one.key_id)), "hide-narrow"],
      [t("operate.proposals.until"), (one) => (one.expires_at ? when(one.expires_at, "time") : "–")],
    ], proposals);
  });
  read();
  const timer = setInterval(() => {
    if (!document.hidden && !list.contains(document.activeElement) && !list.querySelector(".error")) read();
  }, EVERY_MS);
  return () => clearInterval(timer);
}
