// Author: the files of a library, problems as one types, what a draft would change, and saving it.

import { h, clear, live } from "../dom.js";
import { api } from "../api.js";
import { t, n } from "../i18n.js";
import { confirmDialog, openDialog } from "../widgets/dialog.js";
import { diffLines, diffTable, withContext } from "../widgets/diff.js";
import { createEditor } from "../widgets/editor.js";
import { icon } from "../widgets/icons.js";
import { errorBox, sayError } from "../widgets/notice.js";
import { QuickChange } from "./author/quick.js";
import { diffLabels } from "./author/shared.js";
import { Trial } from "./author/trial.js";

const CHECK_AFTER_MS = 450;
const MOST_LISTED = 200;

/** Drafts outlive the view: {base, text, version} by adapter and file. */
const drafts = new Map();
const lastFile = new Map();
const keyOf = (adapter, id) => `${adapter}\n${id}`;
const isEdited = (draft) => draft !== undefined && draft.text !== draft.base;

export const view = {
  id: "author",
  title: () => t("author.title"),
  admin: true,
  mount(root, ctx) {
    if (ctx.me.may && !ctx.me.may.author) {
      root.append(turnedOff());
      return undefined;
    }
    const page = new Author(root, ctx);
    page.start();
    return () => page.leave();
  },
};

function turnedOff(message) {
  return h("section", { class: "card stack author-off" },
    h("h1", {}, t("author.off.title")),
    h("p", {}, message ?? t("author.off.why")),
    h("p", {}, t("author.off.how")),
    h("pre", { class: "code", dir: "ltr" }, "console:\n  authoring: always   # loopback | never | always"),
    h("p", { class: "muted" }, t("author.off.risk")));
}

class Author {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.adapter = ctx.adapter;
    this.files = [];
    this.current = null;
    this.opening = 0;
    this.problems = [];
    this.templates = [];
    this.stopped = new AbortController();
    this.base = `/admin/adapters/${encodeURIComponent(this.adapter)}`;
  }

  async start() {
    this.build();
    addEventListener("beforeunload", this.warn);
    try {
      const [found, library] = await Promise.all([
        api.get(`${this.base}/files`),
        api.get(`/adapters/${encodeURIComponent(this.adapter)}/library`).catch(() => null),
      ]);
      if (this.stopped.signal.aborted) return;
      this.files = found.files;
      this.templates = library?.templates ?? [];
    } catch (failure) {
      clear(this.root).append(failure.code === "authoring_off"
        ? turnedOff(failure.message)
        : errorBox(failure, { retry: () => this.ctx.go("author") }));
      return;
    }
    this.quick.show(this.ctx.params);
    const { template, question } = this.ctx.params;
    const place = await this.placeOf(template);
    if (this.stopped.signal.aborted) return;
    const wanted = this.ctx.params.file ?? place?.id ?? lastFile.get(this.adapter);
    const first = this.files.find((file) => file.id === wanted)
      ?? this.files.find((file) => file.kind === "templates") ?? this.files[0];
    if (!first) {
      this.main.replaceChildren(h("p", { class: "empty" }, t("author.files.none")));
      return;
    }
    const line = this.ctx.params.line ?? (first.id === place?.id ? place.line : null);
    await this.open(first.id, line && Number(line), { focus: !question });
    this.check();
  }

  /** The file and the line in which a template begins; null where it is not found. */
  async placeOf(template) {
    if (!template) return null;
    const begins = new RegExp(`^[ -]*id: *["']?${escaped(template)}["']? *(#.*)?$`);
    for (const { id } of this.files.filter((file) => file.kind === "templates")) {
      try {
        if (!isEdited(this.draft(id))) await this.refresh(id);
      } catch {
        continue; // one that cannot be shown is told of when it is opened
      }
      const at = this.draft(id).text.split("\n").findIndex((line) => begins.test(line));
      if (at !== -1) return { id, line: at + 1 };
    }
    return null;
  }

  leave() {
    this.stopped.abort();
    clearTimeout(this.timer);
    removeEventListener("beforeunload", this.warn);
    this.editor.destroy();
  }

  warn = (event) => {
    if (![...drafts.values()].some(isEdited)) return;
    event.preventDefault();
    event.returnValue = "";
  };

  get edited() {
    return this.files.filter((file) => isEdited(this.draft(file.id)));
  }

  get changes() {
    return this.edited.map(({ id }) => ({ id, text: this.draft(id).text }));
  }

  draft(id) {
    return drafts.get(keyOf(this.adapter, id));
  }

  build() {
    this.editor = createEditor({
      label: t("author.editor.label"),
      labels: {
        hint: t("author.editor.hint"),
        search: t("author.editor.search"),
        previous: t("author.editor.previous"),
        next: t("author.editor.next"),
        close: t("author.editor.close"),
        found: (at, all) => (all ? t("author.editor.found", { at, all }) : t("author.editor.nothing")),
        place: (line, column) => t("author.editor.place", { line, column }),
      },
      onInput: (text) => this.typed(text),
      onSave: () => this.save(),
    });
    this.nav = h("nav", { class: "author-files", "aria-label": t("author.files.label") });
    this.name = h("h2", { class: "author-name", dir: "ltr" }, h("span", { class: "skeleton" }));
    this.state = h("span", { class: "badge" });
    this.saveButton = h("button", {
      type: "button", class: "button primary", "data-testid": "save", onclick: () => this.save(),
    }, t("author.save"));
    this.revertButton = h("button", {
      type: "button", class: "button quiet", onclick: () => this.discard(),
    }, t("author.discard"));
    this.diffButton = h("button", {
      type: "button", class: "button quiet", onclick: () => this.showChanges(),
    }, t("author.changes"));
    this.searchButton = h("button", {
      type: "button", class: "button quiet square", "aria-label": t("author.search"),
      title: `${t("author.search")} (Ctrl+F)`, onclick: () => this.editor.openSearch(),
    }, icon("search"));
    this.message = h("div", { class: "author-message", role: "status" });
    this.problemList = h("section", { class: "author-problems", "aria-label": t("author.problems.label") });
    this.main = h("div", { class: "author-main stack" },
      h("div", { class: "author-bar row" },
        this.name, this.state, h("span", { class: "grow" }),
        this.searchButton, this.diffButton, this.revertButton, this.saveButton),
      this.message, this.editor.node, this.problemList);
    this.quick = new QuickChange(this);
    this.trial = new Trial(this);
    this.root.append(
      h("header", { class: "view-head" },
        h("h1", {}, t("author.title")),
        h("p", { class: "muted" }, t("author.about"))),
      h("div", { class: "author" },
        this.nav, this.main,
        h("aside", { class: "author-side stack" }, this.quick.node, this.trial.node)));
    this.showState();
  }

  showFiles() {
    const problems = new Map();
    for (const one of this.problems) problems.set(one.id, (problems.get(one.id) ?? 0) + 1);
    const groups = new Map();
    for (const file of this.files) {
      groups.set(file.kind, [...(groups.get(file.kind) ?? []), file]);
    }
    clear(this.nav).append(...[...groups].map(([kind, files]) => h("div", { class: "author-group" },
      h("p", { class: "author-kind" }, kindName(kind)),
      h("ul", {}, files.map((file) => {
        const count = problems.get(file.id);
        return h("li", {}, h("button", {
          type: "button",
          class: "author-file",
          "aria-current": file.id === this.current ? "true" : null,
          title: file.id,
          onclick: () => this.open(file.id),
        },
        h("span", { class: "author-file-name", dir: "ltr" }, file.name ?? file.id),
        isEdited(this.draft(file.id))
          ? h("span", { class: "author-dot", title: t("author.state.edited") },
            h("span", { class: "visually-hidden" }, t("author.state.edited")))
          : null,
        count ? h("span", { class: "badge bad" }, n(count)) : null));
      })))));
  }

  showState() {
    const file = this.files.find((one) => one.id === this.current);
    const edited = isEdited(this.draft(this.current));
    const all = this.edited.length;
    this.state.className = `badge ${edited ? "warn" : "ok"}`;
    this.state.hidden = !file;
    this.state.textContent = file && !file.writable
      ? t("author.state.readonly") : t(edited ? "author.state.edited" : "author.state.saved");
    this.saveButton.disabled = all === 0 || this.saving;
    this.saveButton.textContent = this.saving ? t("author.saving")
      : all > 1 ? t("author.save_all", { count: all }) : t("author.save");
    this.revertButton.disabled = !edited;
    this.diffButton.disabled = all === 0;
    this.trial?.showHint();
    this.showFiles();
  }

  async open(id, line, { focus = true } = {}) {
    const turn = (this.opening += 1);
    try {
      if (!isEdited(this.draft(id))) await this.refresh(id);
    } catch (failure) {
      this.say("bad", sayError(failure));
      return;
    }
    if (this.stopped.signal.aborted || turn !== this.opening) return;
    const isOpen = id === this.current;
    const file = this.files.find((one) => one.id === id);
    this.current = id;
    lastFile.set(this.adapter, id);
    const at = id.lastIndexOf("/") + 1;
    this.name.title = id;
    clear(this.name).append(h("span", { class: "clip muted" }, id.slice(0, at)), h("span", {}, id.slice(at)));
    this.editor.setReadOnly(file.writable === false);
    const { text } = this.draft(id);
    if (!isOpen || this.editor.value !== text) this.editor.setValue(text);
    this.markProblems();
    this.showState();
    if (line) this.editor.goTo(line, 1, { focus });
  }

  /** Read a file again, unless it is edited by the time that it is there. */
  async refresh(id) {
    const found = await this.fetch(id);
    if (!isEdited(this.draft(id))) this.keep(id, found);
  }

  async read(id) {
    this.keep(id, await this.fetch(id));
  }

  fetch(id) {
    return api.get(`${this.base}/files/content?id=${encodeURIComponent(id)}`);
  }

  keep(id, found) {
    drafts.set(keyOf(this.adapter, id), {
      base: found.text, text: found.text, version: found.version,
    });
  }

  typed(text) {
    const draft = this.draft(this.current);
    if (!draft) return;
    const was = isEdited(draft);
    draft.text = text;
    if (was !== isEdited(draft)) this.showState();
    clear(this.message);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_AFTER_MS);
  }

  /** Ask what the draft has wrong; while one answer is awaited, what is typed waits for it. */
  async check() {
    if (this.checking) {
      this.again = true;
      return;
    }
    this.checking = true;
    this.problemList.setAttribute("aria-busy", "true");
    try {
      const found = await api.send("POST", `${this.base}/files/check`, { changes: this.changes });
      this.problems = found.problems;
      this.problemsUnknown = null;
    } catch (failure) {
      this.problemsUnknown = sayError(failure);
    } finally {
      this.checking = false;
      this.problemList.removeAttribute("aria-busy");
    }
    if (this.stopped.signal.aborted) return;
    this.showProblems();
    if (this.again) {
      this.again = false;
      this.check();
    }
  }

  markProblems() {
    this.editor.setProblems(this.problems.filter((one) => one.id === this.current));
  }

  showProblems() {
    this.markProblems();
    this.showFiles();
    const errors = this.problems.filter((one) => one.kind !== "warning");
    const summary = this.problemsUnknown
      ? h("span", { class: "badge warn" }, this.problemsUnknown)
      : this.problems.length === 0
        ? h("span", { class: "badge ok" }, t("author.problems.none"))
        : h("span", { class: `badge ${errors.length ? "bad" : "warn"}` },
          t("author.problems.count", { count: this.problems.length }));
    const listed = this.problems.slice(0, MOST_LISTED);
    clear(this.problemList).append(
      h("div", { class: "row" }, h("h3", {}, t("author.problems.label")), summary),
      listed.length ? h("ul", { class: "problems" }, listed.map((one) => h("li", {},
        h("button", {
          type: "button", class: "problem", onclick: () => this.goTo(one),
        },
        h("span", { class: `badge ${one.kind === "warning" ? "warn" : "bad"}` },
          t(one.kind === "warning" ? "author.problems.warning" : "author.problems.error")),
        h("span", { class: "problem-what" }, h("span", { dir: "auto" }, one.what),
          one.hint ? h("span", { class: "muted", dir: "auto" }, ` ${one.hint}`) : null),
        one.id ? h("span", { class: "problem-where", dir: "ltr" },
          one.line ? `${shortName(one.id)}:${one.line}` : shortName(one.id)) : null)))) : "");
  }

  async goTo(problem) {
    if (!problem.id || !this.files.some((file) => file.id === problem.id)) return;
    if (problem.id !== this.current) await this.open(problem.id);
    if (problem.line) this.editor.goTo(problem.line, problem.column ?? 1);
  }

  say(tone, ...content) {
    clear(this.message).append(h("div", { class: `notice ${tone}` }, ...content));
    const text = this.message.textContent;
    if (tone === "bad") live(text);
  }

  async save() {
    const edited = this.edited;
    if (!edited.length || this.saving) return;
    this.saving = true;
    this.showState();
    try {
      const saved = await api.send("PUT", `${this.base}/files`, {
        changes: edited.map(({ id }) => {
          const { text, version } = this.draft(id);
          return { id, text, version };
        }),
      });
      this.saving = false;
      for (const { id } of edited) {
        const draft = this.draft(id);
        draft.base = draft.text;
        const version = saved.versions?.[id];
        if (version) draft.version = version;
        else await this.read(id);
      }
      this.saved(saved);
    } catch (failure) {
      this.saving = false;
      if (failure.code === "file_changed") await this.settle(failure);
      else this.refused(failure);
    }
    this.showState();
  }

  saved(answer) {
    clear(this.quick.result);
    const asked = this.quick.question;
    this.say("ok",
      h("p", {}, t("author.saved", { adapter: this.adapter }),
        answer.backup ? [" ", h("span", { class: "muted" }, t("author.backup", { place: answer.backup }))] : null),
      asked ? h("button", {
        type: "button", class: "button small", onclick: () => this.ctx.ask(asked),
      }, t("author.ask_again", { question: asked })) : null);
    live(t("author.saved", { adapter: this.adapter }));
    this.check();
    this.refreshLibrary();
  }

  refused(failure) {
    const rows = (failure.details ?? []).filter((row) => row.what);
    const here = rows.filter((row) => row.id);
    const elsewhere = rows.filter((row) => !row.id);
    if (here.length) {
      this.problems = here;
      this.showProblems();
      this.goTo(here[0]);
    }
    this.say("bad",
      h("p", { dir: "auto" }, here.length && !elsewhere.length
        ? t("author.refused", { count: here.length }) : sayError(failure)),
      elsewhere.length ? h("ul", {}, elsewhere.slice(0, 20).map((row) =>
        h("li", { dir: "auto" }, row.where ? `${row.what} (${row.where})` : row.what))) : null);
  }

  /** Somebody else wrote a file meanwhile: show both, and let the person choose. */
  async settle(failure) {
    this.showState();
    const changed = [];
    for (const { id } of this.edited) {
      const now = await api.get(`${this.base}/files/content?id=${encodeURIComponent(id)}`);
      if (now.version !== this.draft(id).version) changed.push({ id, now });
    }
    if (!changed.length) return this.refused(failure);
    const body = [h("p", {}, t("author.conflict.why"))];
    for (const { id, now } of changed) {
      const rows = withContext(diffLines(now.text, this.draft(id).text));
      body.push(h("h3", { dir: "ltr" }, id),
        rows.length ? diffTable(rows, {
          caption: t("author.conflict.caption", { file: id }),
          added: t("author.conflict.mine"),
          removed: t("author.conflict.theirs"),
        }) : h("p", { class: "muted" }, t("author.conflict.equal")));
    }
    body.push(h("p", { class: "muted" }, t("author.conflict.legend")));
    const choice = await openDialog({
      title: t("author.conflict.title"),
      body,
      wide: true,
      cancel: t("author.conflict.later"),
      actions: [
        { label: t("author.conflict.take"), value: "theirs" },
        { label: t("author.conflict.keep"), kind: "primary", value: "mine" },
      ],
    });
    for (const { id, now } of changed) {
      const draft = this.draft(id);
      if (choice === null) continue;
      draft.version = now.version;
      draft.base = now.text;
      if (choice === "theirs") draft.text = now.text;
    }
    if (choice === "theirs") {
      this.editor.setValue(this.draft(this.current).text, { keepPlace: true });
      this.say("ok", t("author.conflict.taken"));
      this.check();
    } else if (choice === "mine") await this.save();
    else this.say("warn", t("author.conflict.waiting"));
    return undefined;
  }

  async discard() {
    const sure = await confirmDialog({
      title: t("author.discard.title"),
      text: t("author.discard.what", { file: this.current }),
      action: t("author.discard"),
      cancel: t("common.cancel"),
      danger: true,
    });
    if (!sure) return;
    try {
      await this.read(this.current);
    } catch (failure) {
      this.say("bad", sayError(failure));
      return;
    }
    this.editor.setValue(this.draft(this.current).text, { keepPlace: true });
    clear(this.message);
    this.showState();
    this.check();
  }

  async showChanges() {
    const body = this.edited.flatMap(({ id }) => {
      const { base, text } = this.draft(id);
      return [h("h3", { dir: "ltr" }, id), diffTable(withContext(diffLines(base, text)), diffLabels())];
    });
    const chosen = await openDialog({
      title: t("author.changes.title"),
      body,
      wide: true,
      cancel: t("common.close"),
      actions: [{ label: this.saveButton.textContent, kind: "primary", value: "save" }],
    });
    if (chosen === "save") await this.save();
  }

  /** Files were written by another way than the editor's. */
  async reread() {
    const open = this.current;
    for (const file of this.files) {
      if (this.draft(file.id) && !isEdited(this.draft(file.id))) await this.refresh(file.id);
    }
    if (open === this.current) {
      this.editor.setValue(this.draft(open).text, { keepPlace: true });
    }
    this.showState();
    this.check();
    this.refreshLibrary();
  }

  async refreshLibrary() {
    const found = await api.get(`/adapters/${encodeURIComponent(this.adapter)}/library`)
      .catch(() => null);
    if (!found || this.stopped.signal.aborted) return;
    this.templates = found.templates;
    this.quick.showTemplates();
  }
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function kindName(kind) {
  const name = t(`author.kind.${kind}`);
  return name.startsWith("author.kind.") ? kind : name;
}

const shortName = (id) => id.split("/").at(-1);
