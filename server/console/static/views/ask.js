// Ask: questions, answers as they come, and why they are what they are.

import { api } from "../api.js";
import { clear, h, live, show, uid } from "../dom.js";
import { t } from "../i18n.js";
import { openDialog } from "../widgets/dialog.js";
import { icon } from "../widgets/icons.js";
import { errorBox } from "../widgets/notice.js";
import { turnView } from "./ask/answer.js";
import { completion } from "./ask/completion.js";
import { beginSession, dropAll, dropSession, outcomeOf, sessionsOf } from "./ask/sessions.js";

const SHOWN = 12; // templates whose examples are shown at first
const SHORT = 60; // characters of an example that is easily read
let owner = null; // the key whose conversations are kept here

export const view = {
  id: "ask",
  title: () => t("nav.ask"),
  admin: false,
  mount(root, ctx) {
    if (owner !== ctx.me.key_id) dropAll();
    owner = ctx.me.key_id;
    const ask = new Ask(root, ctx);
    ask.start();
    return () => ask.stop();
  },
};

class Ask {
  #root;
  #ctx;
  #session;
  #library = null;
  #examples = [];
  #views = new Map();
  #isOver = false;
  #hero = h("div");
  #turns = h("div", { class: "turns" });
  #rail = h("nav", { class: "rail", "aria-label": t("ask.history") });
  #head = h("div", { class: "ask-head row" });
  #composer = h("div", { class: "composer-place" });
  #input = null;
  #button = null;
  #suggestions = null;

  constructor(root, ctx) {
    this.#root = root;
    this.#ctx = ctx;
    [this.#session] = sessionsOf(ctx.adapter);
  }

  get #client() {
    return api.asking(this.#ctx.adapter);
  }

  start() {
    this.#drawComposer();
    this.#drawHead();
    show(
      this.#root,
      h("h1", { class: "visually-hidden" }, t("nav.ask")),
      h("div", { class: "ask" }, h("div", { class: "ask-main" }, this.#head, this.#hero, this.#turns, this.#composer), this.#rail),
    );
    this.#drawTurns();
    this.#loadLibrary();
    const given = this.#ctx.handedOver ?? (this.#ctx.params.q ? { question: this.#ctx.params.q, send: false } : null);
    if (given) {
      this.#session.draft = given.question; // until there is a key to ask it with
      this.#setText(given.question);
      if (given.send && this.#client) this.#submit();
    }
    if (this.#client && matchMedia("(hover: hover)").matches) this.#input.focus({ preventScroll: true });
  }

  stop() {
    this.#isOver = true;
    if (this.#input) this.#session.draft = this.#input.value;
  }

  async #loadLibrary() {
    try {
      this.#library = await api.get(`adapters/${encodeURIComponent(this.#ctx.adapter)}/library`);
      this.#examples = this.#library.templates.flatMap((each) => each.examples.map((text) => ({ text, template: each.id })));
    } catch (failed) {
      this.#library = { failed };
    }
    if (!this.#isOver) this.#drawHero();
  }

  // What stands above the conversation

  #drawHead() {
    const { adapter } = this.#ctx;
    const sessions = sessionsOf(adapter);
    const picked = h(
      "select",
      {
        class: "compact",
        "aria-label": t("ask.session"),
        onChange: () => this.#openSession(sessions.find((each) => each.id === picked.value)),
      },
      sessions.map((each) => h("option", { value: each.id, selected: each === this.#session }, nameOf(each))),
    );
    const isEmpty = this.#session.turns.length === 0;
    show(
      this.#head,
      h("span", { class: "ask-title", dir: "auto", "aria-hidden": "true" }, adapter),
      h("span", { class: "grow" }),
      sessions.length > 1 && picked,
      h("button", { class: "button small", type: "button", disabled: isEmpty, dataset: { testid: "new-session" }, onClick: () => this.#openSession(beginSession(adapter)) }, icon("plus"), t("ask.new_session")),
      h("button", { class: "button small quiet", type: "button", disabled: isEmpty, dataset: { testid: "forget" }, onClick: () => this.#forget() }, icon("trash"), t("ask.forget")),
    );
  }

  #openSession(session) {
    this.#session.draft = this.#input.value;
    this.#session = session;
    this.#setText(session.draft);
    this.#drawHead();
    this.#drawTurns();
    this.#input.focus();
    live(nameOf(session));
  }

  async #forget() {
    const session = this.#session;
    const yes = await openDialog({
      title: t("ask.forget_title"),
      body: [h("p", null, t("ask.forget_body"))],
      cancel: t("common.cancel"),
      actions: [{ label: t("ask.forget"), kind: "danger", run: async () => {
        await this.#client.send("DELETE", `chat/sessions/${session.id}`);
        return true;
      } }],
    });
    if (!yes) return;
    dropSession(this.#ctx.adapter, session);
    this.#openSession(sessionsOf(this.#ctx.adapter)[0]);
    live(t("ask.forgotten"));
  }

  #drawHero() {
    if (!this.#client) return null; // what stands there makes a key
    if (this.#session.turns.length > 0) return show(this.#hero);
    const library = this.#library;
    if (library === null) return show(this.#hero, h("div", { class: "hero" }, [1, 2, 3].map(() => h("div", { class: "skeleton" }))));
    if (library.failed) return show(this.#hero, h("div", { class: "hero" }, errorBox(library.failed, { retry: () => this.#loadLibrary() })));
    const withExamples = spread(library.templates.filter((each) => each.examples.length > 0));
    let most = SHOWN;
    const grid = h("ul", { class: "starts" });
    const more = h("div");
    const draw = () => {
      show(grid, withExamples.slice(0, most).map((each) => this.#startOf(each)));
      const rest = withExamples.length - most;
      show(more, rest > 0 && h("button", { class: "button quiet", type: "button", onClick: () => { most += 60; draw(); } }, t("ask.more_examples", { count: rest })));
    };
    draw();
    return show(
      this.#hero,
      h(
        "section",
        { class: "hero stack" },
        h("div", { class: "stack tight" }, h("h2", { class: "hero-title" }, t("ask.hero")), h("p", { class: "muted", dir: "auto" }, library.description)),
        withExamples.length > 0 && h("h3", { class: "small-caps" }, t("ask.starts")),
        grid,
        more,
      ),
    );
  }

  #startOf(template) {
    const example = template.examples.find((each) => each.length <= SHORT) ?? template.examples[0];
    return h(
      "li",
      null,
      h(
        "button",
        { class: "start", type: "button", onClick: () => this.#fill(example) },
        h("span", { dir: "auto" }, example),
        h("span", { class: "row nowrap small muted" }, h("span", { class: "clip", dir: "auto" }, template.description || template.id), template.effect && template.effect !== "read" && h("span", { class: "badge warn" }, t("ask.writes"))),
      ),
    );
  }

  // The conversation

  #drawTurns() {
    this.#views.clear();
    clear(this.#turns);
    this.#session.turns.forEach((turn) => this.#addTurn(turn));
    this.#drawHero();
    this.#drawRail();
    this.#drawButton();
    this.#turns.lastElementChild?.scrollIntoView({ block: "start" });
  }

  #addTurn(turn) {
    const { me, go, adapter } = this.#ctx;
    const session = this.#session;
    const made = turnView(turn, {
      send: (body) => this.#ask(body),
      fill: (text) => this.#fill(text),
      settle: (of, accept) => this.#settle(of, accept),
      retry: (of) => of.path === "chat" && this.#ask({ ...of.body, shown: of.message ? undefined : of.shown }),
      stop: () => turn.abort?.abort(),
      feedback: me.may?.feedback ? (of, said) => this.#client.send("POST", "chat/feedback", { request_id: of.requestId, session_id: session.id, ...said }) : null,
      mend: me.admin ? (question, template) => go("author", { question, template }) : null,
      templates: () => this.#library?.templates ?? [],
      client: () => api.asking(adapter),
      isLast: () => session.turns.at(-1) === turn,
      library: { template: (id) => go("library", { template: id }), word: (word) => go("library", { word }) },
    });
    this.#views.set(turn, made);
    this.#turns.append(made.element);
    turn.changed = () => !this.#isOver && this.#session === session && this.#change(turn);
  }

  #change(turn) {
    const { element, draw } = this.#views.get(turn);
    draw();
    if (outcomeOf(turn) === "pending") return;
    this.#drawRail();
    this.#drawButton();
    element.scrollIntoView({ block: "start" });
    live(turn.error ? t("ask.outcome.failed") : `${t(`ask.outcome.${outcomeOf(turn)}`)}. ${turn.content}`);
  }

  #drawRail() {
    const { turns } = this.#session;
    show(
      this.#rail,
      turns.length > 0 && [
        h("h2", { class: "small-caps" }, t("ask.history")),
        h(
          "ol",
          null,
          turns.map((turn) =>
            h(
              "li",
              null,
              h(
                "button",
                { type: "button", class: "rail-item", onClick: () => this.#views.get(turn).element.scrollIntoView({ block: "start" }) },
                h("span", { class: ["dot", outcomeOf(turn)], "aria-hidden": "true" }),
                h("span", { class: "clip", dir: "auto" }, turn.shown),
                h("span", { class: "visually-hidden" }, t(`ask.outcome.${outcomeOf(turn)}`)),
              ),
            ),
          ),
        ),
      ],
    );
  }

  #begin(turn) {
    const before = this.#session.turns.at(-1);
    this.#session.turns.push(turn);
    if (before) {
      before.isOpen = false;
      this.#views.get(before)?.draw();
    }
    this.#drawHero();
    this.#addTurn(turn);
    this.#drawHead();
    this.#drawRail();
    this.#views.get(turn).element.scrollIntoView({ block: "start" });
    this.#drawButton();
  }

  /** Ask `message`; where `shown` says something else, nothing is told of how it was read. */
  async #ask({ message, arguments: values, shown }) {
    if (this.#isBusy) return;
    const session = this.#session;
    const body = { message, session_id: session.id, stream: true, explain: true, ...(values ? { arguments: values } : {}) };
    const turn = { shown: shown ?? message, message: shown === undefined ? message : "", at: new Date(), path: "chat", body, content: "" };
    const client = this.#client;
    turn.abort = new AbortController();
    this.#begin(turn);
    const since = performance.now();
    try {
      turn.requestId = await client.stream("chat", body, (event) => {
        if (event.status === "sources") turn.early = event.sources?.map((each) => each.template_id).join(", ");
        else if (event.status === "streaming") turn.content += event.chunk;
        else if (event.status === "reset") turn.content = "";
        else if (event.status === "complete") this.#complete(turn, event, performance.now() - since);
        if (event.status !== "complete") turn.changed();
      }, turn.abort.signal);
      if (!turn.metadata) throw new Error(t("ask.broken_off"));
    } catch (failed) {
      turn.error = failed.name === "AbortError" ? new Error(t("ask.stopped")) : failed;
      turn.requestId ??= failed.requestId;
    }
    turn.changed();
  }

  #complete(turn, event, ms) {
    const { status, chunk, isComplete, ...rest } = event;
    turn.content += chunk ?? "";
    turn.ms = ms;
    turn.metadata = event.metadata;
    turn.confidence = event.confidence;
    turn.trace = event.trace ?? event.metadata.trace;
    turn.raw = { content: turn.content, ...rest };
  }

  async #settle(proposed, accept) {
    const session = this.#session;
    const { proposal_id: id, seal } = proposed.metadata.proposal;
    const body = { session_id: session.id, proposal_id: id, accept, explain: true, ...(seal ? { seal } : {}) };
    const since = performance.now();
    const response = await this.#client.fetch("POST", "chat/confirm", body);
    const answer = await response.json();
    proposed.metadata.proposal.settled = accept ? "yes" : "no";
    const turn = { shown: t(accept ? "ask.said_yes" : "ask.said_no"), message: "", at: new Date(), path: "chat/confirm", body, content: "", requestId: response.headers.get("x-request-id") };
    this.#begin(turn);
    this.#complete(turn, { ...answer, chunk: answer.content }, performance.now() - since);
    turn.changed();
  }

  // Asking

  #drawComposer() {
    if (!this.#client) return this.#drawNoKey();
    const hint = uid("hint");
    this.#input = h("textarea", {
      rows: "1",
      autocomplete: "off",
      "aria-label": t("ask.question"),
      "aria-describedby": hint,
      placeholder: t("ask.placeholder"),
      dataset: { testid: "question" },
      value: this.#session.draft,
    });
    this.#button = h("button", { class: "button primary send", type: "submit", dataset: { testid: "ask" } });
    this.#suggestions = completion(this.#input, () => this.#examples);
    this.#input.addEventListener("input", () => this.#grow());
    this.#input.addEventListener("keydown", (event) => {
      if (event.isComposing || this.#suggestions.handleKey(event)) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        this.#submit();
      }
    });
    const form = h(
      "form",
      { class: "composer", onSubmit: (event) => { event.preventDefault(); this.#submit(); } },
      this.#suggestions.list,
      h("div", { class: "composer-box" }, this.#input, this.#button),
      h("p", { class: "small muted composer-hint", id: hint }, t("ask.keys")),
    );
    this.#drawButton();
    show(this.#composer, form);
    requestAnimationFrame(() => this.#grow());
    return null;
  }

  /** An admin looks at an adapter that the key does not open for questions. */
  #drawNoKey() {
    const { adapter, me } = this.#ctx;
    this.#input = h("textarea", { hidden: true });
    const problem = h("div");
    const make = h("button", { class: "button primary", type: "button", onClick: async () => {
      try {
        await api.makeKeyFor(adapter);
        this.#drawComposer();
        this.#drawHero();
        this.#input.focus();
      } catch (failed) {
        show(problem, errorBox(failed));
      }
    } }, icon("key"), t("ask.make_key", { adapter }));
    clear(this.#composer);
    show(this.#hero, h("div", { class: "card stack" }, h("p", null, t("ask.other_adapter", { own: me.adapter, adapter })), problem, h("div", null, make)));
  }

  get #isBusy() {
    return this.#session.turns.some((each) => outcomeOf(each) === "pending");
  }

  #drawButton() {
    if (!this.#button) return;
    show(this.#button, icon("send"), h("span", null, t("ask.ask")));
    this.#button.disabled = this.#isBusy;
  }

  #submit() {
    const message = this.#input.value.trim();
    this.#session.draft = "";
    if (!message || this.#button?.disabled !== false) return;
    this.#suggestions.close();
    this.#setText("");
    this.#ask({ message });
  }

  #fill(text) {
    this.#setText(text);
    this.#input.focus();
  }

  #setText(text) {
    if (!this.#input) return;
    this.#input.value = text;
    this.#suggestions?.close();
    this.#grow();
  }

  #grow() {
    const { style } = this.#input;
    this.#input.dir = this.#input.value ? "auto" : document.documentElement.dir; // of the placeholder
    style.setProperty("--height", "auto");
    style.setProperty("--height", `${Math.min(200, this.#input.scrollHeight + 2)}px`);
  }
}

/** The templates, those first that stand far apart: neighbours in a library are often alike. */
function spread(templates) {
  const step = templates.length / Math.min(SHOWN, templates.length);
  const first = new Set(Array.from({ length: SHOWN }, (_, place) => templates[Math.floor(place * step)]));
  first.delete(undefined);
  return [...first, ...templates.filter((each) => !first.has(each))];
}

function nameOf(session) {
  const first = session.turns[0]?.shown ?? t("ask.nothing_yet");
  const short = Array.from(first);
  return t("ask.session_name", { number: session.number, first: short.length > 32 ? `${short.slice(0, 31).join("")}…` : first });
}
