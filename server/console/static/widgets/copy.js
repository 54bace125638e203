// What copies.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";
import { toast } from "./notice.js";

/** A button that copies `text()`, and says that it did. */
export function copyButton(text, label, { kind = "quiet" } = {}) {
  const button = h(
    "button",
    {
      class: ["button", kind],
      type: "button",
      onClick: async () => {
        try {
          await navigator.clipboard.writeText(text());
          toast(t("common.copied"), "ok");
        } catch {
          await openDialog({
            title: label,
            body: [h("p", null, t("common.copy_by_hand")), h("pre", { class: "code", tabindex: "0" }, text())],
            cancel: t("common.close"),
          });
        }
      },
    },
    icon("copy"),
    label,
  );
  return button;
}
