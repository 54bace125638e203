// Inbox: questions that did not go well, what would help, and writing it into the library.

import { h, clear, live, busy } from "../dom.js";
import { api } from "../api.js";
import { t, n, when } from "../i18n.js";
import { changeList, inTurn, kindOf } from "../widgets/decisions.js";
import { confirmDialog } from "../widgets/dialog.js";
import { diffTable, parseUnified, withoutIndent } from "../widgets/diff.js";
import { errorBox, toast } from "../widgets/notice.js";

const FEW = 4;
const MOST_SHOWN = 50;
const WRITTEN_MS = 1500; // what was asked a moment ago is kept within a second
const TONES = { declined: "warn", "asked back": "", corrected: "warn", "marked wrong": "bad" };
const words = (key, values) => t(`inbox.decision.${key}`, values);

export const view = {
  id: "inbox",
  title: () => t("inbox.title"),
  admin: true,
  mount(root, ctx) {
    const page = new Inbox(root, ctx);
    page.load();
    return () => {
      page.gone = true;
    };
  },
};

function turnedOff() {
  return h("section", { class: "card stack inbox-off" },
    h("h1", {}, t("inbox.off.title")),
    h("p", {}, t("inbox.off.why")),
    h("p", {}, t("inbox.off.how")),
    h("pre", { class: "code", dir: "ltr", tabindex: "0" }, "inbox:\n  enabled: true"),
    h("p", { class: "muted" }, t("inbox.off.risk")));
}

class Inbox {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.adapter = ctx.adapter;
    this.base = `/admin/inbox/${encodeURIComponent(this.adapter)}`;
    this.library = `/admin/adapters/${encodeURIComponent(this.adapter)}/library/changes`;
    this.templates = [];
    this.shown = MOST_SHOWN;
    this.summary = h("p", { class: "muted", role: "status" }, t("inbox.about"));
    this.refresh = h("button", {
      type: "button", class: "button", onclick: () => busy(this.refresh, () => this.load()),
    }, t("inbox.refresh"));
    this.list = h("div", { class: "inbox-list stack", "aria-busy": "true" },
      ...Array.from({ length: 3 }, () => h("div", { class: "skeleton inbox-skeleton" })));
    this.root = root;
    root.append(
      h("header", { class: "view-head row wrap" },
        h("div", { class: "grow" }, h("h1", {}, t("inbox.title")), this.summary),
        this.refresh),
      this.list);
  }

  async load() {
    let found;
    try {
      const [answer, library] = await Promise.all([
        api.get(this.base),
        api.get(`/adapters/${encodeURIComponent(this.adapter)}/library`).catch(() => null),
      ]);
      found = answer;
      this.templates = (library?.templates ?? []).map((one) => one.id);
    } catch (failure) {
      if (this.gone) return;
      this.list.removeAttribute("aria-busy");
      clear(this.list).append(errorBox(failure, { retry: () => this.load() }));
      return;
    }
    if (this.gone) return;
    if (found.enabled === false) {
      clear(this.root).append(turnedOff());
      return;
    }
    const isFirst = this.clusters === undefined;
    this.clusters = found.clusters;
    this.show();
    if (isFirst && !this.clusters.length) {
      setTimeout(() => !this.gone && !this.clusters.length && this.load(), WRITTEN_MS);
    }
  }

  show() {
    this.list.removeAttribute("aria-busy");
    const turns = this.clusters.reduce((sum, one) => sum + one.turns, 0);
    this.summary.textContent = this.clusters.length
      ? `${t("inbox.turns", { count: turns })} ${t("inbox.clusters", { count: this.clusters.length })}`
      : t("inbox.about");
    if (!this.clusters.length) {
      clear(this.list).append(h("div", { class: "empty stack" },
        h("p", {}, h("strong", {}, t("inbox.empty.title"))),
        h("p", {}, t("inbox.empty.what")),
        h("p", {}, h("button", {
          type: "button", class: "button", onclick: () => this.ctx.go("ask", {}),
        }, t("inbox.empty.ask")))));
      return;
    }
    const some = this.clusters.slice(0, this.shown);
    clear(this.list).append(...some.map((cluster) => new Card(this, cluster).node));
    if (this.clusters.length > some.length) {
      this.list.append(h("button", {
        type: "button", class: "button",
        onclick: () => {
          this.shown += MOST_SHOWN;
          this.show();
        },
      }, t("inbox.more", { count: this.clusters.length - some.length })));
    }
  }

  drop(cluster) {
    return api.send("DELETE", `${this.base}/${cluster.number}`);
  }

  remove(cluster, node) {
    this.clusters = this.clusters.filter((one) => one !== cluster);
    const next = node.nextElementSibling ?? node.previousElementSibling;
    node.remove();
    if (!this.clusters.length) this.show();
    else next?.querySelector("button")?.focus();
  }
}

/** One cluster: what was asked, what came of it, and what can be done. */
class Card {
  constructor(page, cluster) {
    this.page = page;
    this.cluster = cluster;
    this.questions = Object.entries(cluster.questions ?? {});
    this.central = cluster.central || this.questions[0]?.[0] || "";
    this.result = h("div", { class: "inbox-result stack", "aria-live": "polite" });
    this.asked = h("ul", { class: "inbox-questions" });
    this.showQuestions(false);
    const id = `cluster-${cluster.number}`;
    this.node = h("article", { class: "card inbox-card stack", "aria-labelledby": id },
      h("header", { class: "row wrap" },
        h("h2", { id, class: "inbox-central grow" },
          h("span", { dir: "auto" }, this.central || t("inbox.masked")),
          times(cluster.questions?.[this.central])),
        ...Object.entries(cluster.kinds ?? {}).map(([kind, count]) =>
          h("span", { class: `badge ${TONES[kind] ?? ""}` }, `${kindName(kind)} ${n(count)}`))),
      h("p", { class: "muted inbox-facts" }, this.facts()),
      this.asked,
      ...(cluster.comments ?? []).map((comment) =>
        h("blockquote", { class: "inbox-comment", dir: "auto" }, comment)),
      this.actions(),
      this.result);
  }

  facts() {
    const { template, expected, turns, from, until } = this.cluster;
    const about = template
      ? [t(expected ? "inbox.meant" : "inbox.near"), " ", h("code", { dir: "ltr" }, template), " · "]
      : [];
    const span = from === until || !until ? when(from) : `${when(from)} – ${when(until)}`;
    return [...about, t("inbox.asked", { count: turns }), " · ", span];
  }

  showQuestions(all) {
    const rest = this.questions.filter(([question]) => question !== this.central);
    const shown = all ? rest : rest.slice(0, FEW);
    clear(this.asked).append(
      ...shown.map(([question, count]) => h("li", {},
        h("span", { dir: "auto" }, question),
        times(count))),
      rest.length > shown.length ? h("li", {}, h("button", {
        type: "button", class: "button quiet small", onclick: () => this.showQuestions(true),
      }, t("inbox.questions", { count: rest.length - shown.length }))) : "");
  }

  actions() {
    const { template } = this.cluster;
    const drop = h("button", {
      type: "button", class: "button quiet", onclick: () => this.drop(),
    }, t("inbox.drop"));
    if (!this.central) return h("div", { class: "row" }, drop);
    const review = h("button", {
      type: "button", class: "button primary", "data-testid": "review",
      onclick: () => busy(review, () => this.review()),
    }, t("inbox.review"));
    const open = h("button", {
      type: "button", class: "button quiet", onclick: () => this.page.ctx.ask(this.central),
    }, t("inbox.ask"));
    const edit = h("button", {
      type: "button", class: "button quiet",
      onclick: () => this.page.ctx.go("author", { question: this.central, template }),
    }, t("inbox.edit"));
    const byHand = this.byHand();
    const more = h("button", {
      type: "button", class: "button", "aria-expanded": "false",
      onclick: () => {
        this.showByHand(byHand.hidden);
        if (!byHand.hidden) byHand.querySelector("select").focus();
      },
    }, t("inbox.by_hand"));
    this.showByHand = (yes) => {
      byHand.hidden = !yes;
      more.setAttribute("aria-expanded", String(yes));
    };
    return h("div", { class: "stack tight" },
      h("div", { class: "row inbox-actions" },
        review, more, h("span", { class: "grow" }), open, edit, drop),
      byHand);
  }

  /** Where the person knows better than the review which template it is for. */
  byHand() {
    const choice = h("select", { "aria-label": t("inbox.template") },
      h("option", { value: "" }, t("inbox.choose")),
      this.page.templates.map((one) => h("option", { value: one }, one)));
    if (this.page.templates.includes(this.cluster.template)) choice.value = this.cluster.template;
    const make = (kind, label) => {
      const button = h("button", {
        type: "button", class: "button",
        onclick: () => {
          if (!choice.value) {
            choice.focus();
            live(t("inbox.choose"));
            return undefined;
          }
          const change = { kind, template: choice.value, text: this.central };
          return busy(button, () => this.preview(change));
        },
      }, label);
      return button;
    };
    return h("div", { class: "row inbox-by-hand", hidden: true }, choice,
      make("add_example", t("inbox.make.example")),
      make("add_counter_example", t("inbox.make.counter")));
  }

  waiting() {
    clear(this.result).append(
      h("p", { class: "muted" }, t("inbox.trying")),
      h("div", { class: "skeleton block" }), h("div", { class: "skeleton block" }));
  }

  async review() {
    this.waiting();
    try {
      const found = await inTurn(() =>
        api.send("POST", `${this.page.base}/${this.cluster.number}/review`));
      if (!found.proposal) {
        clear(this.result).append(h("p", { class: "notice", dir: "auto" }, found.why ?? t("inbox.nothing")));
        this.showByHand(true);
        return;
      }
      const { place, add, changes } = found.proposal;
      this.offer({
        intro: [t("inbox.add_to"), " ", h("strong", { dir: "auto" }, place)],
        lines: h("pre", { class: "code", dir: "ltr", tabindex: "0" }, add),
        would: found.would_change,
        changes: changes?.length ? changes : null,
      });
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
    }
  }

  async preview(change) {
    this.waiting();
    try {
      const found = await inTurn(() =>
        api.send("POST", this.page.library, { changes: [change], preview: true }));
      this.offer({
        intro: [t(`inbox.as.${change.kind}`), " ", h("code", { dir: "ltr" }, change.template)],
        lines: (found.files ?? []).map((file) => h("div", {},
          h("div", { class: "muted small", dir: "ltr" }, file.id),
          diffTable(withoutIndent(parseUnified(file.diff)), {
            caption: t("inbox.diff"), added: t("inbox.added"), removed: t("inbox.removed"),
          }))),
        would: found.would_change,
        changes: [change],
      });
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
    }
  }

  /** Show what would be written and what it would change; one click writes it. */
  offer({ intro, lines, would, changes }) {
    const add = changes && h("button", {
      type: "button", class: "button primary", "data-testid": "add",
      onclick: () => busy(add, () => this.write(changes)),
    }, t("inbox.add"));
    clear(this.result).append(h("div", { class: "inbox-offer stack" },
      h("p", {}, intro), lines,
      would ? wouldChange(would, this.page.ctx) : "",
      h("div", { class: "row" }, add,
        h("button", {
          type: "button", class: "button quiet", onclick: () => clear(this.result),
        }, t("common.cancel")))));
    add?.focus();
  }

  async write(changes) {
    try {
      await api.send("POST", this.page.library, { changes, preview: false });
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
      return;
    }
    try {
      await this.page.drop(this.cluster);
    } catch (failure) {
      // It is in the library; that it stays in the list too is all that is left to say.
      clear(this.result).append(h("p", { class: "notice ok" }, t("inbox.written")), errorBox(failure));
      return;
    }
    toast(t("inbox.written"), "ok");
    this.page.remove(this.cluster, this.node);
  }

  async drop() {
    const sure = await confirmDialog({
      title: t("inbox.drop.title"),
      text: t("inbox.drop.what", { count: this.cluster.turns }),
      action: t("inbox.drop"),
      cancel: t("common.cancel"),
      danger: true,
    });
    if (!sure) return;
    try {
      await this.page.drop(this.cluster);
      toast(t("inbox.dropped"), "ok");
      this.page.remove(this.cluster, this.node);
    } catch (failure) {
      clear(this.result).append(errorBox(failure));
    }
  }
}

const times = (count) => (count > 1 ? h("span", { class: "muted inbox-times" }, ` ×${n(count)}`) : null);

function kindName(kind) {
  const key = `inbox.kind.${kind.replaceAll(" ", "_")}`;
  const name = t(key);
  return name === key ? kind : name;
}

function wouldChange(would, ctx) {
  const changes = would.changes ?? would.changed ?? [];
  const asked = would.asked ?? would.counts?.asked ?? 0;
  const broken = changes.filter((one) => kindOf(one) === "broken").length;
  return h("div", { class: "stack" },
    h("p", { class: broken ? "notice bad" : "muted" }, changes.length
      ? t("inbox.would", { changed: changes.length, asked })
      : t("inbox.would_not", { asked })),
    changes.length ? changeList(changes, words, { onask: (ask) => ctx.ask(ask) }) : null);
}
