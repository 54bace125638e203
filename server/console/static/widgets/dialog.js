// Dialogs: one question, or one small form, in the browser's own <dialog>.

import { h } from "../dom.js";
import { sayError } from "./notice.js";

let count = 0;

/**
 * Show a dialog, and return the value of the action that was chosen, or null when it was closed.
 *
 * `actions` are {label, kind?, value?, testid?, run?}: `run` is awaited before the dialog closes,
 * its result is the value; when it throws, its message is shown and the dialog stays. A `sticky`
 * dialog is not closed by Escape.
 */
export function openDialog({
  title, body = [], actions = [], cancel, wide = false, sticky = false,
}) {
  const before = document.activeElement;
  const id = `dialog-${++count}`;
  return new Promise((resolve) => {
    const error = h("p", { class: "error", role: "alert", hidden: true });
    const content = h("div", { class: "dialog-body stack" }, ...[body].flat(Infinity));
    const buttons = actions.map((action) =>
      h("button", {
        type: "button",
        class: `button ${action.kind ?? ""}`,
        "data-testid": action.testid,
        onclick: () => choose(action),
      }, action.label));
    const away = cancel
      ? h("button", { type: "button", class: "button quiet", onclick: () => close(null) }, cancel)
      : null;
    const node = h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-labelledby": id },
      h("h2", { id, class: "dialog-title" }, title),
      content,
      error,
      h("div", { class: "dialog-actions row" }, away, ...buttons));

    function close(value) {
      node.close();
      node.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(value);
    }

    async function choose(action) {
      if (!action.run) return close(action.value ?? true);
      error.hidden = true;
      for (const button of buttons) button.disabled = true;
      try {
        close((await action.run()) ?? action.value ?? true);
      } catch (failure) {
        error.textContent = sayError(failure);
        error.hidden = false;
      } finally {
        for (const button of buttons) button.disabled = false;
      }
    }

    node.addEventListener("cancel", (event) => {
      event.preventDefault();
      if (!sticky) close(null);
    });
    content.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.tagName !== "INPUT" || !actions.length) return;
      event.preventDefault();
      buttons.at(-1).click();
    });
    document.body.append(node);
    node.showModal();
    // What cannot be undone is never the key away that Enter would press.
    const dangerous = actions.some((action) => action.kind?.includes("danger"));
    const first = content.querySelector("input, select, textarea");
    (first ?? (dangerous ? away : buttons.at(-1)) ?? away)?.focus();
  });
}

/** Ask once before something is done; true only for a yes. */
export async function confirmDialog({ title, text, action, cancel, danger = false }) {
  const lines = [text].flat().map((line) => (typeof line === "string" ? h("p", {}, line) : line));
  const answer = await openDialog({
    title,
    body: lines,
    cancel,
    actions: [{ label: action, kind: danger ? "danger" : "primary", value: true }],
  });
  return answer === true;
}
