// Operate: what an admin looks after while the server runs, a panel for each.

import { clear, command, h, live } from "../dom.js";
import { t } from "../i18n.js";
import { errorBox } from "../widgets/notice.js";

const PANELS = ["traffic", "adapters", "keys", "guards", "proposals", "audit", "log"];

export const view = {
  id: "operate",
  title: () => t("operate.title"),
  admin: true,
  mount(root, ctx) {
    if (!ctx.me.admin) {
      root.append(h("section", { class: "card stack" },
        h("h1", {}, t("operate.title")), h("p", {}, t("operate.not_admin")),
        command("console --open")));
      return undefined;
    }
    return new Operate(root, ctx).leave;
  },
};

class Operate {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.tabs = PANELS.map((id) => h("button", {
      type: "button",
      role: "tab",
      id: `operate-tab-${id}`,
      "aria-controls": "operate-panel",
      "data-panel": id,
      onclick: () => this.open(id),
      onkeydown: (event) => this.move(event),
    }, t(`operate.tab.${id}`)));
    this.panel = h("div", {
      id: "operate-panel", class: "operate-panel stack", role: "tabpanel", tabindex: "-1",
    });
    root.append(
      h("header", { class: "view-head" }, h("h1", {}, t("operate.title"))),
      h("div", { class: "tabs operate-tabs", role: "tablist", "aria-label": t("operate.title") }, this.tabs),
      this.panel);
    this.unlisten = ctx.onAdapterChange(() => this.open(this.current, { again: true }));
    this.open(PANELS.includes(ctx.params.panel) ? ctx.params.panel : PANELS[0]);
  }

  move(event) {
    const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const at = PANELS.indexOf(this.current);
    const to = {
      [forward]: (at + 1) % PANELS.length,
      [back]: (at + PANELS.length - 1) % PANELS.length,
      Home: 0,
      End: PANELS.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.open(PANELS[to]);
    this.tabs[to].focus();
  }

  async open(id, { again = false } = {}) {
    if (id === this.current && !again) return;
    this.close();
    this.current = id;
    history.replaceState(null, "", `#/operate?panel=${id}`);
    for (const tab of this.tabs) {
      const chosen = tab.dataset.panel === id;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.panel.setAttribute("aria-labelledby", `operate-tab-${id}`);
    const root = h("div", { class: `stack operate-${id}` },
      h("div", { class: "skeleton block" }), h("div", { class: "skeleton block" }));
    clear(this.panel).append(root);
    try {
      const module = await import(`./operate/${id}.js`);
      if (this.current !== id || !root.isConnected) return;
      clear(root);
      this.cleanup = module.mount(root, this.ctx);
      live(t(`operate.tab.${id}`));
    } catch (failure) {
      clear(root).append(errorBox(failure));
    }
  }

  close() {
    this.cleanup?.();
    this.cleanup = undefined;
  }

  leave = () => {
    this.close();
    this.current = null;
    this.unlisten();
  };
}
