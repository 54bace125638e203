// Questions with what should come of them, asked one after the other: what is right, and what not.

import { api } from "../api.js";
import { append, clear, debounce, h, live, show } from "../dom.js";
import { duration, n, percent, t, when } from "../i18n.js";
import { errorBox } from "../widgets/notice.js";
import { histogram, lines, matrix, meter, reliability, shares } from "../widgets/plot.js";
import { readQuestions, writeQuestion } from "../widgets/questions.js";
import { dataTable } from "../widgets/table.js";

const KEPT_RUNS = 5;
const MOST_CONFUSED = 14;
const JUDGED = [
  { id: "right", tone: "ok" },
  { id: "silent", tone: "muted" },
  { id: "asked", tone: "warn" },
  { id: "wrong", tone: "bad" },
];
const TONES = Object.fromEntries(JUDGED.map(({ id, tone }) => [id, tone]));
/** The figures of a report, and whether more is better. */
const FIGURES = [
  ["template_accuracy", true], ["argument_accuracy", true], ["abstain_recall", true],
  ["answer_accuracy", true], ["wrong_call_rate", false], ["asked_back_rate", false],
];

/** The runs of this page by adapter and key, the newest first: `running` goes on in other views. */
const histories = new Map();

addEventListener("signedout", () => {
  for (const { runs } of histories.values()) runs.forEach((run) => run.stop());
  histories.clear();
});

export const view = {
  id: "evaluate",
  title: () => t("evaluate.title"),
  admin: false,
  mount(root, ctx) {
    const page = new EvaluatePage(root, ctx);
    page.open();
    return () => page.close();
  },
};

/** One pass over questions; `onChange` hears of each answer until the view is left. */
class Run {
  constructor(path, body, own) {
    this.path = path;
    this.body = body;
    this.own = own;
    this.started = new Date();
    this.total = 0;
    this.results = [];
    this.counts = Object.fromEntries(JUDGED.map(({ id }) => [id, 0]));
    this.problems = [];
    this.report = null;
    this.curves = null;
    this.failure = null;
    this.state = "running";
    this.control = new AbortController();
    this.onChange = () => {};
  }

  async start() {
    try {
      await api.stream(this.path, this.body, (event) => this.hear(event), this.control.signal);
      if (this.state === "running") this.state = "stopped";
    } catch (failed) {
      this.state = this.control.signal.aborted ? "stopped" : "failed";
      if (this.state === "failed") this.failure = failed;
    }
    this.onChange();
  }

  hear(event) {
    if (event.status === "started") {
      this.total = event.total;
      this.problems = event.problems ?? [];
    } else if (event.status === "asked") {
      this.results.push(event);
      this.counts[event.judged] += 1;
    } else if (event.status === "complete") {
      this.report = event.report;
      this.curves = event.curves;
      this.state = "complete";
    }
    this.onChange();
  }

  stop() {
    this.control.abort();
  }
}

class EvaluatePage {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.path = `/adapters/${encodeURIComponent(ctx.adapter)}`;
    const key = `${ctx.me?.key_id ?? ""} ${ctx.adapter}`;
    this.history = histories.get(key) ?? { runs: [], text: "", own: false };
    histories.set(key, this.history);
    this.closed = false;
    this.filter = { judged: null, text: "", changed: false };
  }

  get run() {
    return this.history.runs[0] ?? null;
  }

  async open() {
    this.source = h("section", { class: "card evaluate-source", "aria-labelledby": "evaluate-source" });
    this.progress = h("section", { class: "evaluate-progress" });
    this.results = h("div", { class: "evaluate-results" });
    show(
      this.root,
      h("header", { class: "view-head" },
        h("h1", null, t("evaluate.title")),
        h("p", { class: "muted" }, t("evaluate.about"))),
      this.source, this.progress, this.results,
    );
    this.file = null;
    this.drawSource();
    this.attach();
    try {
      this.file = await api.get(`${this.path}/questions`);
    } catch (failed) {
      this.file = { questions: [], problems: [], failed };
    }
    if (!this.closed) this.drawSource();
  }

  close() {
    this.closed = true;
    if (this.run) this.run.onChange = () => {};
  }

  /** Where the questions come from, and the button that asks them. */
  drawSource() {
    const { history, file } = this;
    const none = file !== null && file.questions.length === 0;
    if (none) history.own = true;
    const choice = (own, label) => h("label", { class: "check" },
      h("input", {
        type: "radio", name: "evaluate-source", checked: history.own === own, disabled: !own && none,
        onChange: () => {
          history.own = own;
          this.drawSource();
        },
      }),
      h("span", null, label));
    const text = h("textarea", {
      rows: "8", wrap: "off", class: "evaluate-text", dir: "auto", spellcheck: "false", id: "evaluate-text",
      "aria-describedby": "evaluate-how", placeholder: t("evaluate.placeholder"), value: history.text,
    });
    const said = h("div", { id: "evaluate-said", "aria-live": "polite" });
    const look = () => {
      history.text = text.value;
      const { questions, problems } = readQuestions(history.text);
      show(
        said,
        problems.length > 0 && h("ul", { class: "evaluate-problems" }, problems.slice(0, 5).map((each) => h(
          "li", null, t("evaluate.line", { line: each.line }), " ", t(`evaluate.problem.${each.what}`, { value: each.value ?? "" }),
        ))),
        h("p", { class: "muted" }, t("evaluate.read", { count: questions.length }),
          problems.length > 5 && ` ${t("evaluate.more_problems", { count: problems.length - 5 })}`),
      );
      return questions;
    };
    text.addEventListener("input", debounce(look, 200));
    const tools = h("input", { type: "checkbox", checked: history.tools === true, onChange: () => { history.tools = tools.checked; } });
    const ask = h("button", { type: "button", class: "button primary", dataset: { testid: "run" } }, t("evaluate.run"));
    ask.addEventListener("click", () => {
      const own = history.own ? look() : null;
      if (own !== null && own.length === 0) {
        text.focus();
        return;
      }
      this.begin(own);
    });
    const count = file === null ? null : file.questions.length;
    show(
      this.source,
      h("h2", { id: "evaluate-source" }, t("evaluate.questions")),
      h("div", { class: "row evaluate-choices", role: "radiogroup", "aria-labelledby": "evaluate-source" },
        choice(false, count === null ? t("evaluate.file") : t("evaluate.file_count", { count })),
        choice(true, t("evaluate.paste"))),
      file?.failed && errorBox(file.failed),
      none && !file.failed && h("p", { class: "muted" }, t("evaluate.no_file")),
      file?.problems?.length > 0 && !history.own && h("details", { class: "evaluate-file-problems" },
        h("summary", null, t("evaluate.unusable", { count: file.problems.length })),
        h("ul", null, file.problems.slice(0, 50).map((each) => h("li", { dir: "auto" }, sayProblem(each))))),
      history.own && h("div", { class: "stack tight" },
        h("label", { for: "evaluate-text", class: "visually-hidden" }, t("evaluate.paste")),
        text,
        said,
        h("details", { class: "muted small evaluate-how", open: !history.text },
          h("summary", null, t("evaluate.how_title")),
          h("p", { id: "evaluate-how" }, t("evaluate.how")),
          h("pre", { class: "code" }, HOW)),
        count > 0 && h("div", null, h("button", {
          type: "button", class: "button small", onClick: () => {
            text.value = file.questions.map(writeQuestion).join("\n");
            setTimeout(look);
          },
        }, t("evaluate.fill")))),
      h("div", { class: "row" }, ask,
        this.ctx.me?.admin && h("label", { class: "check" }, tools, t("evaluate.tools"))),
    );
    if (history.own && history.text) look();
    this.askButton = ask;
    this.askButton.disabled = this.run?.state === "running";
  }

  begin(questions) {
    const body = { tools: this.ctx.me?.admin === true && this.history.tools === true };
    if (questions !== null) body.questions = questions;
    const run = new Run(`${this.path}/evaluations`, body, questions !== null);
    this.history.runs.unshift(run);
    this.history.runs.length = Math.min(this.history.runs.length, KEPT_RUNS);
    this.filter = { judged: null, text: "", changed: false };
    this.against = null;
    run.start();
    this.attach();
    this.progress.scrollIntoView({ block: "nearest" });
    live(t("evaluate.started"));
  }

  /** Show the newest run, and go on showing it. */
  attach() {
    clear(this.progress);
    clear(this.results);
    const { run } = this;
    if (!run) {
      show(this.results, h("p", { class: "empty" }, t("evaluate.none_yet")));
      return;
    }
    let waiting = false;
    let state = null;
    const draw = () => {
      waiting = false;
      if (this.closed || this.run !== run) return;
      if (run.state !== state) {
        state = run.state;
        this.drawProgress(run);
        if (state !== "running") this.drawResults(run);
      }
      this.drawCounts(run);
      if (this.askButton) this.askButton.disabled = state === "running";
    };
    run.onChange = () => {
      if (waiting) return;
      waiting = true;
      setTimeout(() => requestAnimationFrame(draw), state === "running" && run.state === state ? 80 : 0);
    };
    draw();
  }

  drawProgress(run) {
    this.bar = h("progress", { max: "1", value: "0", "aria-label": t("evaluate.progress") });
    this.said = h("p", { class: "muted evaluate-said" });
    this.asking = h("p", { class: "evaluate-asking clip", dir: "auto" });
    this.shares = shares({ label: t("evaluate.shares"), onChoose: ({ id }) => this.choose(id) });
    const stop = h("button", { type: "button", class: "button danger", onClick: () => run.stop() }, t("evaluate.stop"));
    const running = run.state === "running";
    show(
      this.progress,
      h("div", { class: "card stack" },
        h("div", { class: "row apart nowrap" },
          h("div", { class: "grow" }, this.said, running && this.asking),
          running && stop),
        running && this.bar,
        this.shares.element),
      run.failure && errorBox(run.failure),
      run.problems.length > 0 && h("details", { class: "evaluate-file-problems", open: run.own },
        h("summary", null, t("evaluate.unusable", { count: run.problems.length })),
        h("ul", null, run.problems.slice(0, 50).map((each) => h("li", { dir: "auto" }, sayProblem(each))))),
    );
    if (run.state === "complete") live(t("evaluate.done", { count: run.results.length, right: run.counts.right }));
    if (run.state === "failed") live(run.failure.message);
  }

  drawCounts(run) {
    const done = run.results.length;
    const whole = run.state === "running" ? Math.max(run.total, 1) : Math.max(done, 1);
    this.shares.update(JUDGED.map(({ id, tone }) => ({
      id, tone, name: t(`evaluate.judged.${id}`), count: run.counts[id], chosen: this.filter.judged === id,
    })), whole);
    if (run.state === "running") {
      this.bar.max = Math.max(run.total, 1);
      this.bar.value = done;
      this.said.textContent = run.total
        ? t("evaluate.asked_of", { done, total: run.total })
        : t("evaluate.starting");
      this.asking.textContent = run.results.at(-1)?.ask ?? "";
      return;
    }
    const took = t("evaluate.asked_at", { count: done, time: when(run.started, "time") });
    const kind = { stopped: t("evaluate.was_stopped"), failed: t("evaluate.has_failed") }[run.state];
    this.said.textContent = [took, kind].filter(Boolean).join(" · ");
  }

  choose(judged) {
    this.filter.judged = this.filter.judged === judged ? null : judged;
    this.drawCounts(this.run);
    this.list?.();
    this.listed?.scrollIntoView({ block: "nearest" });
  }

  drawResults(run) {
    if (run.results.length === 0) {
      clear(this.results);
      return;
    }
    const earlier = this.history.runs.slice(1).filter((each) => each.results.length > 0);
    this.against = earlier[0] ?? null;
    this.figures = h("section", { class: "card", "aria-labelledby": "evaluate-figures" });
    this.changes = h("div", { class: "evaluate-changes" });
    show(
      this.results,
      this.figures,
      this.listing(run, earlier),
    );
    this.drawFigures(run);
    setTimeout(() => { // what is further down, once this is on the screen
      if (this.closed || this.run !== run) return;
      append(this.results, [this.plots(run), run.report && this.perTemplate(run.report.templates)]);
    });
  }

  drawFigures(run) {
    if (!run.report) {
      this.figures.hidden = true;
      return;
    }
    const before = this.against?.report ?? null;
    const figure = (name, value, was, better, write) => {
      if (typeof value !== "number") return null; // no question bears on it
      const change = typeof was === "number" ? value - was : 0;
      const visible = write(Math.abs(change)) !== write(0);
      return h("div", { class: "figure-card" },
        h("dt", { title: t(`evaluate.figure_about.${name}`) }, t(`evaluate.figure.${name}`)),
        h("dd", null,
          h("span", { class: "figure-value" }, write(value)),
          visible && h("span", { class: `badge ${change > 0 === better ? "ok" : "bad"}`, dir: "ltr" },
            `${change > 0 ? "+" : "−"}${write(Math.abs(change))}`)));
    };
    const share = (value) => percent(value, 1);
    show(
      this.figures,
      h("h2", { id: "evaluate-figures" }, t("evaluate.figures")),
      h("dl", { class: "figure-cards" },
        FIGURES.map(([name, better]) => figure(name, run.report[name], before?.[name], better, share)),
        figure("auroc", run.report.auroc, before?.auroc, true, (v) => n(v, { maximumFractionDigits: 3 })),
        ["p50", "p99"].map((name) => figure(name, run.report.latency_ms?.[name], null, false, duration))),
    );
  }

  /** The questions, filtered, each with what came of it; what changed since an earlier run. */
  listing(run, earlier) {
    const before = () => new Map((this.against?.results ?? []).map((each) => [each.ask, each]));
    let old = before();
    const due = new Map((run.body.questions ?? this.file?.questions ?? []).map((each) => [each.ask, each]));
    const text = h("input", {
      type: "search", "aria-label": t("evaluate.search"), placeholder: t("evaluate.search"), dir: "auto",
      autocomplete: "off", spellcheck: "false", value: this.filter.text,
    });
    const judged = h("div", { class: "row evaluate-filters", role: "group", "aria-label": t("evaluate.filter") });
    const versus = earlier.length > 0 && h("label", { class: "row evaluate-versus" },
      h("span", { class: "muted" }, t("evaluate.compare")),
      h("select", { class: "compact", onChange: (event) => {
        this.against = earlier[Number(event.target.value)] ?? null;
        old = before();
        this.drawFigures(run);
        list();
      } }, earlier.map((each, index) => h("option", { value: String(index) },
        `${when(each.started, "time")} · ${t("evaluate.right_of", { right: each.counts.right, count: each.results.length })}`))));
    const table = dataTable({
      caption: t("evaluate.results"),
      rowHeight: 60,
      tall: true,
      empty: t("evaluate.nothing"),
      onRow: (row) => this.ctx.ask(row.ask),
      columns: [
        { id: "judged", label: t("evaluate.outcome"), size: "s", value: (row) => order(row), cell: (row) => this.badge(row, old.get(row.ask)) },
        { id: "ask", label: t("evaluate.question"), value: (row) => row.ask, cell: (row) => [
          h("button", { type: "button", class: "evaluate-ask", title: t("evaluate.open"), dir: "auto", onClick: () => this.ctx.ask(row.ask) }, row.ask),
          row.failure && h("span", { class: "evaluate-why muted", dir: "auto", title: row.failure }, sayFailure(row, due.get(row.ask))),
        ] },
        { id: "expected", label: t("evaluate.expected"), size: "m", wide: true, value: (row) => row.expected ?? "", cell: (row) => named(row.expected) },
        { id: "got", label: t("evaluate.got"), size: "m", wide: true, value: (row) => row.got ?? "", cell: (row) => [
          named(row.got),
          !row.got && row.nearest && h("span", { class: "muted evaluate-nearest" }, t("evaluate.nearest", { name: row.nearest })),
        ] },
        { id: "confidence", label: t("evaluate.confidence"), size: "xs", numeric: true, value: (row) => row.confidence, cell: (row) => percent(row.confidence ?? 0) },
        { id: "latency", label: t("evaluate.latency"), size: "xs", numeric: true, wide: true, value: (row) => row.latency_ms, cell: (row) => duration(row.latency_ms) },
      ],
    });
    const chip = (id, label, count, tone) => h("button", {
      type: "button", class: `chip ${tone}`, "aria-pressed": String(id === "changed" ? this.filter.changed : id === "all" ? !this.filter.judged && !this.filter.changed : this.filter.judged === id),
      onClick: () => {
        if (id === "changed") this.filter.changed = !this.filter.changed;
        else if (id === "all") Object.assign(this.filter, { judged: null, changed: false });
        else this.filter.judged = this.filter.judged === id ? null : id;
        this.drawCounts(run);
        list();
        judged.querySelector(`[data-chip="${id}"]`)?.focus();
      },
      dataset: { chip: id },
    }, label, h("span", { class: "chip-count" }, n(count)));
    const list = () => {
      const { filter } = this;
      const changed = run.results.filter((row) => changeOf(row, old.get(row.ask)) !== null);
      const wanted = filter.text.toLowerCase();
      const rows = (filter.changed ? changed : run.results)
        .filter((row) => filter.judged === null || (filter.judged === "failed" ? row.failure : row.judged === filter.judged))
        .filter((row) => !wanted || [row.ask, row.expected, row.got, row.failure].some((each) => each?.toLowerCase().includes(wanted)));
      table.update(rows);
      show(
        judged,
        chip("all", t("evaluate.all"), run.results.length, ""),
        chip("failed", t("evaluate.failures"), run.results.filter((row) => row.failure).length, "tone-bad"),
        JUDGED.filter(({ id }) => run.counts[id] > 0).map(({ id, tone }) => chip(id, t(`evaluate.judged.${id}`), run.counts[id], `tone-${tone}`)),
        this.against && chip("changed", t("evaluate.changed"), changed.length, "tone-accent"),
      );
      this.drawChanges(run, old);
    };
    text.addEventListener("input", debounce(() => {
      this.filter.text = text.value.trim();
      list();
    }, 120));
    if (run.results.some((row) => row.failure)) this.filter.judged = "failed";
    this.list = list;
    this.listed = h("div", { class: "card stack" },
      h("div", { class: "row apart" }, h("h2", null, t("evaluate.results")), versus),
      this.changes,
      h("div", { class: "evaluate-find" }, text, judged),
      table.element);
    list();
    return this.listed;
  }

  drawChanges(run, old) {
    const counts = { fixed: 0, broken: 0, other: 0, added: 0 };
    if (!this.against) {
      clear(this.changes);
      return;
    }
    for (const row of run.results) {
      const change = changeOf(row, old.get(row.ask));
      if (change) counts[change] += 1;
    }
    const tones = { fixed: "ok", broken: "bad", other: "warn", added: "" };
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    show(
      this.changes,
      some.length === 0
        ? h("p", { class: "muted" }, t("evaluate.no_change"))
        : some.map(([kind, count]) => h("span", { class: `badge ${tones[kind]}` }, t(`evaluate.change.${kind}`, { count }))),
    );
  }

  badge(row, before) {
    const change = changeOf(row, before);
    return [
      h("span", { class: `badge evaluate-judged tone-${TONES[row.judged]}` }, t(`evaluate.judged.${row.judged}`)),
      change && change !== "added" && h("span", { class: "evaluate-before muted" }, t("evaluate.was", { judged: t(`evaluate.judged.${before.judged}`) })),
    ];
  }

  plots(run) {
    const failed = run.results.filter((row) => row.expected !== row.got);
    return h("section", { class: "evaluate-plots", "aria-label": t("evaluate.plots") },
      run.curves?.reliability?.length > 0 && h("div", { class: "card" }, reliabilityOf(run.curves)),
      run.curves?.thresholds?.length > 0 && h("div", { class: "card" }, thresholdsOf(run.curves)),
      h("div", { class: "card" }, latenciesOf(run.results)),
      failed.length > 0 && h("div", { class: "card evaluate-confusions" }, this.confusions(failed)));
  }

  /** Which template was meant and which answered, of the questions where they differ. */
  confusions(failed) {
    const counts = new Map();
    for (const row of failed) {
      const key = `${row.expected ?? ""}\u0000${row.got ?? ""}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const cells = [...counts]
      .map(([key, count]) => {
        const [row, column] = key.split("\u0000");
        return { row, column, count };
      })
      .sort((a, b) => b.count - a.count);
    const most = (side) => [...new Set(cells.map((cell) => cell[side]))].slice(0, MOST_CONFUSED);
    const heads = (ids) => ids.map((id) => ({ id, label: id || t("evaluate.nothing_called") }));
    const [rows, columns] = [most("row"), most("column")];
    const shown = cells.filter((cell) => rows.includes(cell.row) && columns.includes(cell.column));
    const left = cells.length - shown.length;
    return matrix({
      title: t("evaluate.confusion"),
      description: [t("evaluate.confusion_about"), left > 0 && t("evaluate.confusion_left", { count: left })].filter(Boolean).join(" "),
      corner: t("evaluate.confusion_corner"),
      rows: heads(rows),
      columns: heads(columns),
      cells: shown,
      onCell: ({ row, column }) => {
        const rows = failed.filter((each) => (each.expected ?? "") === row && (each.got ?? "") === column);
        show(this.pairs, h("h3", null, named(row), " → ", named(column)),
          h("ul", { class: "evaluate-pairs" }, rows.slice(0, 20).map((each) => h("li", null, h("button", {
            type: "button", class: "evaluate-ask", dir: "auto", onClick: () => this.ctx.ask(each.ask),
          }, each.ask)))));
      },
      below: this.pairs = h(
        "div", { class: "evaluate-pair", "aria-live": "polite" },
        h("p", { class: "muted" }, t("evaluate.pairs_hint")),
      ),
    }).element;
  }

  perTemplate(rows) {
    if (!rows?.length) return null;
    const count = (id, extra = {}) => ({
      id, label: t(`evaluate.row.${id}`), size: "s", numeric: true, value: (row) => row[id],
      cell: (row) => (row[id] ? n(row[id]) : h("span", { class: "muted" }, "0")), ...extra,
    });
    const table = dataTable({
      caption: t("evaluate.per_template"),
      rows,
      rowHeight: 40,
      sort: { id: "share", down: false },
      columns: [
        { id: "template", label: t("evaluate.template"), size: "l", value: (row) => row.template, cell: (row) => h("button", {
          type: "button", class: "evaluate-ask", onClick: () => this.ctx.go("library", { template: row.template }),
        }, h("bdi", null, row.template)) },
        { id: "share", label: t("evaluate.row.share"), numeric: true, value: (row) => (row.questions ? row.right / row.questions : null), cell: shareBar },
        count("questions"), count("right_arguments", { wide: true }), count("asked_back", { wide: true }),
        count("silent", { wide: true }), count("taken_from_others", { wide: true }),
      ],
    });
    return h("div", { class: "card stack" }, h("h2", null, t("evaluate.per_template")), table.element);
  }
}

const HOW = [
  "How much is the coffee grinder? → product_price",
  "Cancel order #004 → cancel_order order=\"#004\"",
  "Cancel my order → cancel_order ?order",
  "What is the meaning of life? → nothing",
  "- {ask: \"Where is #006?\", template: order_status, arguments: {order: \"#006\"}}",
].join("\n");

function reliabilityOf({ reliability: bins, calibration_error: error }) {
  return reliability({
    title: t("evaluate.reliability"),
    description: [
      t("evaluate.reliability_about"),
      typeof error === "number" && t("evaluate.reliability_error", { share: percent(error, 1) }),
    ].filter(Boolean).join(" "),
    x: { label: t("evaluate.confidence_axis") },
    y: { label: t("evaluate.right_axis") },
    counts: t("evaluate.calls"),
    bins: bins.map((bin) => ({
      from: bin.from ?? bin.low, to: bin.to ?? bin.high, count: bin.count ?? bin.calls,
      confidence: bin.mean_confidence ?? bin.confidence, right: bin.share_right ?? bin.right,
    })),
  }).element;
}

function thresholdsOf({ thresholds }) {
  const series = ["right", "silent", "wrong"]
    .filter((id) => thresholds.some((each) => typeof each[id] === "number"))
    .map((id) => ({
      name: t(`evaluate.judged.${id}`), tone: TONES[id], points: thresholds.map((each) => [each.threshold, each[id]]),
    }));
  return lines({
    title: t("evaluate.thresholds"),
    description: t("evaluate.thresholds_about"),
    x: { label: t("evaluate.threshold_axis"), domain: [0, 1] },
    y: { label: t("evaluate.share_axis"), domain: [0, 1], format: (value) => percent(value) },
    series,
  }).element;
}

function latenciesOf(results) {
  const all = results.map((row) => row.latency_ms).sort((a, b) => a - b);
  const at = (share) => all[Math.min(all.length - 1, Math.max(0, Math.ceil(all.length * share) - 1))];
  const most = at(0.99);
  const step = niceStep(most / 20);
  const many = Math.max(1, Math.ceil(all.at(-1) > most * 2 ? most / step : all.at(-1) / step));
  const bins = Array.from({ length: many }, (_, index) => ({ from: index * step, to: (index + 1) * step, count: 0 }));
  for (const each of all) bins[Math.min(many - 1, Math.floor(each / step))].count += 1;
  const beyond = all.filter((each) => each > many * step).length;
  return histogram({
    title: t("evaluate.latencies"),
    description: [
      t("evaluate.latencies_about", { p50: duration(at(0.5)), p99: duration(at(0.99)) }),
      beyond > 0 && t("evaluate.latencies_beyond", { count: beyond, most: duration(all.at(-1)) }),
    ].filter(Boolean).join(" "),
    x: { label: t("evaluate.latency_axis") },
    y: { label: t("evaluate.count_axis") },
    bins,
    marks: [{ at: Math.min(at(0.5), many * step), name: "p50" }, { at: Math.min(at(0.99), many * step), name: "p99" }],
  }).element;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 0.01)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
}

function shareBar(row) {
  if (!row.questions) return h("span", { class: "muted" }, "–");
  const share = row.right / row.questions;
  return meter(share, { wide: true, tone: share === 1 ? "ok" : share < 0.7 ? "bad" : "warn" });
}

/** What a question's outcome is against an earlier one: fixed, broken, other, added, or null. */
function changeOf(row, before) {
  if (!before) return null;
  if (!row.failure !== !before.failure) return row.failure ? "broken" : "fixed";
  return row.judged !== before.judged || row.got !== before.got ? "other" : null;
}

function order(row) {
  return ["wrong", "asked", "silent", "right"].indexOf(row.judged) * 2 + (row.failure ? 0 : 1);
}

function named(id) {
  return id ? h("bdi", { class: "evaluate-id" }, id) : h("span", { class: "muted" }, t("evaluate.nothing_called"));
}

/** Why a question is not right, in words; `question` says what it expected. */
function sayFailure(row, question) {
  const { expected, got } = row;
  if (expected !== got) {
    if (!got) return t("evaluate.why_silent", { expected });
    return expected ? t("evaluate.why_other", { expected, got }) : t("evaluate.why_needless", { got });
  }
  const [due, asked] = [question?.asks ?? [], row.asks ?? []];
  const names = (some) => some.join(", ");
  if (names([...due].sort()) !== names([...asked].sort())) {
    return asked.length > 0
      ? t("evaluate.why_asked", { names: names(asked) })
      : t("evaluate.why_not_asked", { names: names(due) });
  }
  return differences(question?.arguments ?? {}, row.arguments ?? {}).join("; ") || row.failure;
}

function differences(expected, got) {
  const write = (value) => (typeof value === "string" ? `“${value}”` : JSON.stringify(value));
  const other = Object.keys(expected).filter((name) => write(expected[name]) !== write(got[name]));
  if (other.length > 0) {
    return other.map((name) => (got[name] === undefined
      ? t("evaluate.why_missing", { name, expected: write(expected[name]) })
      : t("evaluate.why_value", { name, expected: write(expected[name]), got: write(got[name]) })));
  }
  const extra = Object.keys(got).filter((name) => !(name in expected)); // defaults are, too
  return extra.map((name) => t("evaluate.why_extra", { name, got: write(got[name]) }));
}

function sayProblem({ what, line, ask }) {
  const place = line ? t("evaluate.problem_line", { line }) : ask && `“${ask}”`;
  return [what, place].filter(Boolean).join(" · ");
}
