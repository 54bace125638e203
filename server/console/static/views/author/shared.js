// What the parts of Author have in common.

import { h } from "../../dom.js";
import { t } from "../../i18n.js";

export const words = (key, values) => t(`author.decision.${key}`, values);
export const diffLabels = () => ({
  caption: t("author.diff.caption"), added: t("author.diff.added"), removed: t("author.diff.removed"),
});

export const field = (id, label, control) =>
  h("div", { class: "field" }, h("label", { for: id }, label), control);
