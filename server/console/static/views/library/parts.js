// What the tabs of the library share.

import { h, show } from "../../dom.js";
import { t } from "../../i18n.js";

export const PAUSE_MS = 120;

/** Content that is made when the details around it open. */
export function lazily(make) {
  const box = h("div", { class: "lazily" });
  const fill = () => {
    if (box.childNodes.length === 0) show(box, make());
  };
  queueMicrotask(() => {
    const around = box.closest("details");
    if (!around || around.open) fill();
    around?.addEventListener("toggle", () => around.open && fill());
  });
  return box;
}

/** Adapters whose examples were read otherwise, so that they cannot be compared with the rest. */
export function leftOut(names) {
  return names?.length > 0 && h("p", { class: "muted" }, t("library.left_out", { names: names.join(", ") }));
}

export function skeleton() {
  return h(
    "div",
    { class: "skeleton-lines", "aria-hidden": "true" },
    [0, 1, 2, 3].map(() => h("div", { class: "skeleton" })),
  );
}
