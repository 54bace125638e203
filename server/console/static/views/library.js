// What an adapter's library says: its templates, how they lie to each other, and its words.

import { api } from "../api.js";
import { debounce, h, show } from "../dom.js";
import { currentLanguage, t } from "../i18n.js";
import { errorBox } from "../widgets/notice.js";
import { Collisions } from "./library/collisions.js";
import { ExampleMap } from "./library/map.js";
import { skeleton } from "./library/parts.js";
import { Problems } from "./library/problems.js";
import { Templates } from "./library/templates.js";
import { Words } from "./library/words.js";

export const view = {
  id: "library",
  title: () => t("library.title"),
  admin: false,
  mount(root, ctx) {
    const stop = new AbortController();
    const page = new LibraryPage(root, ctx, stop.signal);
    page.load();
    return () => {
      stop.abort();
      page.close();
    };
  },
};

class LibraryPage {
  constructor(root, ctx, signal) {
    this.root = root;
    this.ctx = ctx;
    this.signal = signal;
    this.path = `/adapters/${encodeURIComponent(ctx.adapter)}/library`;
    this.params = ctx.params ?? {};
    this.templates = new Templates(this);
    this.map = new ExampleMap(this);
    this.note = debounce(() => this.writePlace(), 300);
  }

  async load() {
    show(this.root, skeleton());
    try {
      this.library = await api.get(this.path);
    } catch (failed) {
      if (!this.signal.aborted) show(this.root, errorBox(failed, { retry: () => this.load() }));
      return;
    }
    if (this.signal.aborted) return;
    this.groups = new Map(this.library.templates.map((each, index) => [each.id, index]));
    this.show();
  }

  close() {
    this.note.cancel();
    this.map.close();
  }

  show() {
    const { library, ctx, params } = this;
    const panels = Object.entries({
      templates: this.templates,
      map: this.map,
      collisions: new Collisions(this),
      words: new Words(this),
      ...(ctx.me.admin && { problems: new Problems(this) }),
    });
    const examples = library.templates.reduce((sum, each) => sum + each.examples.length, 0);
    const languages = new Intl.DisplayNames([currentLanguage()], { type: "language" });
    const pages = panels.map(([id, panel]) => ({
      id,
      label: t(`library.tab.${id}`),
      make: () => panel.make(),
    }));
    this.tabs = tabs(t("library.title"), pages, (tab) => this.remember({ tab }));
    show(
      this.root,
      h(
        "header",
        { class: "view-head" },
        h("h1", null, t("library.title")),
        h(
          "p",
          { class: "library-about" },
          h("strong", { dir: "auto" }, library.name || library.adapter),
          " ",
          library.description && h("span", { class: "muted", dir: "auto" }, library.description),
        ),
        h(
          "p",
          { class: "library-sums muted" },
          h("span", null, t("library.templates", { count: library.templates.length })),
          h("span", null, t("library.examples", { count: examples })),
          library.languages?.length > 0 &&
            h("span", null, library.languages.map((code) => languages.of(code)).join(", ")),
        ),
      ),
      this.tabs.element,
    );
    this.tabs.open(params.tab ?? (params.word ? "words" : "templates"));
  }

  /** Put where one is into the address, so that the browser's Back returns there. */
  remember(changes) {
    this.params = { ...this.params, ...changes };
    this.note();
  }

  writePlace() {
    this.note.cancel(); // browsers allow few changes a second
    if (!/^#\/library(\?|$)/.test(location.hash)) return; // another view is about to open
    history.replaceState(null, "", `#/library?${new URLSearchParams(this.params)}`);
  }

  ask(question) {
    this.writePlace();
    this.ctx.ask(question);
  }

  showOnMap(id) {
    this.tabs.open("map");
    this.map.choose(id);
  }

  goTemplate(id) {
    this.tabs.open("templates");
    this.templates.open(id);
  }

  /** Fill a box with what `draw` makes of an answer, or with why there is none. */
  async fill(box, ask, draw) {
    show(box, skeleton());
    let made;
    try {
      made = draw(await ask());
    } catch (failed) {
      made = errorBox(failed, { retry: () => this.fill(box, ask, draw) });
    }
    if (!this.signal.aborted) show(box, made);
  }
}

/** Tabs whose pages are made when they are first opened. */
function tabs(label, pages, onOpen) {
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panels = new Map();
  const element = h("div", { class: "library-tabs" }, bar);
  const buttons = pages.map((page) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${page.id}`,
        "aria-controls": `panel-${page.id}`,
        onClick: () => open(page.id),
      },
      page.label,
    ),
  );
  bar.append(...buttons);
  bar.addEventListener("keydown", (event) => {
    const forward = getComputedStyle(bar).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const at = buttons.indexOf(document.activeElement);
    const to = { [forward]: at + 1, [backward]: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const index = (to + buttons.length) % buttons.length;
    open(pages[index].id);
    buttons[index].focus();
  });

  function open(id) {
    const page = pages.find((each) => each.id === id) ?? pages[0];
    pages.forEach((each, index) => {
      const own = each === page;
      buttons[index].setAttribute("aria-selected", String(own));
      buttons[index].tabIndex = own ? 0 : -1;
    });
    if (!panels.has(page.id)) {
      const panel = h("div", {
        role: "tabpanel",
        id: `panel-${page.id}`,
        "aria-labelledby": `tab-${page.id}`,
        class: "library-panel",
      });
      panels.set(page.id, panel);
      element.append(panel);
      panel.append(page.make());
    }
    for (const [each, panel] of panels) panel.hidden = each !== page.id;
    onOpen(page.id);
  }

  return { element, open };
}
