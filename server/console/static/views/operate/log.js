// How much the server writes into its log, until its next start.

import { busy, command, h } from "../../dom.js";
import { api } from "../../api.js";
import { t } from "../../i18n.js";
import { errorBox, toast } from "../../widgets/notice.js";
import { fill } from "./shared.js";

export function mount(root) {
  const body = h("div", { class: "stack" });
  root.append(body);
  fill(body, async () => {
    const { level, levels } = await api.get("admin/log-level");
    const problem = h("div", {});
    let now = level;
    const choices = levels.map((each) => {
      const input = h("input", {
        type: "radio", name: "log-level", value: each, checked: each === level, id: `level-${each}`,
      });
      const key = `operate.log.${each}`;
      return h("label", { class: "level card", for: input.id }, input,
        h("span", { class: "stack none" }, h("strong", { dir: "ltr" }, each),
          t(key) === key ? null : h("span", { class: "muted" }, t(key))));
    });
    const group = h("fieldset", { class: "levels" }, h("legend", {}, t("operate.log.level")), choices);
    group.addEventListener("change", (event) => busy(group, async () => {
      problem.replaceChildren();
      try {
        const made = await api.send("PUT", "admin/log-level", { level: event.target.value });
        now = made.level;
        toast(t("operate.log.changed", { level: now }), "ok");
      } catch (failure) {
        problem.append(errorBox(failure));
        group.querySelector(`[value="${CSS.escape(now)}"]`).checked = true;
      }
    }));
    return [
      h("p", { class: "muted" }, t("operate.log.about")), group, problem,
      h("p", { class: "muted" }, t("operate.log.where")),
      command("logs --follow"),
    ];
  });
  return undefined;
}
