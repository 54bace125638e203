// Questions with what should come of them, asked one after the other: what is right, and what not.

import { api } from "../api.js";
import { append, clear, debounce, h, live, show } from "../dom.js";
import { duration, n, percent, t, when } from "../i18n.js";
import { errorBox } from "../widgets/notice.js";
import { shares } from "../widgets/plot.js";
import { dataTable } from "../widgets/table.js";
import { confusionsOf, latenciesOf, reliabilityOf, templateTable, thresholdsOf } from "./evaluate/plots.js";
import { JUDGED, TONES, begin, changeOf, historyOf } from "./evaluate/run.js";
import { Source, unusable } from "./evaluate/source.js";
import { named, sayFailure } from "./evaluate/words.js";

/** The figures of a report, and whether more is better. */
const FIGURES = [
  ["template_accuracy", true],
  ["argument_accuracy", true],
  ["abstain_recall", true],
  ["answer_accuracy", true],
  ["wrong_call_rate", false],
  ["asked_back_rate", false],
];

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

class EvaluatePage {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.path = `/adapters/${encodeURIComponent(ctx.adapter)}`;
    this.history = historyOf(ctx.me, ctx.adapter);
    this.closed = false;
    this.filter = { judged: null, text: "", changed: false };
  }

  get run() {
    return this.history.runs[0] ?? null;
  }

  async open() {
    this.source = new Source(this.history, {
      admin: this.ctx.me.admin,
      ask: (questions) => this.begin(questions),
    });
    this.progress = h("section", { class: "evaluate-progress" });
    this.results = h("div", { class: "evaluate-results" });
    show(
      this.root,
      h(
        "header",
        { class: "view-head" },
        h("h1", null, t("evaluate.title")),
        h("p", { class: "muted" }, t("evaluate.about")),
      ),
      this.source.element,
      this.progress,
      this.results,
    );
    this.attach();
    try {
      this.source.fill(await api.get(`${this.path}/questions`));
    } catch (failed) {
      this.source.fill({ failed });
    }
  }

  close() {
    this.closed = true;
    if (this.run) this.run.onChange = () => {};
  }

  begin(questions) {
    const body = { tools: this.ctx.me.admin && this.history.tools };
    if (questions !== null) body.questions = questions;
    begin(this.history, `${this.path}/evaluations`, body);
    this.filter = { judged: null, text: "", changed: false };
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
      this.source.button.disabled = state === "running";
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
    const stop = h(
      "button",
      { type: "button", class: "button danger", onClick: () => run.stop() },
      t("evaluate.stop"),
    );
    const running = run.state === "running";
    show(
      this.progress,
      h(
        "div",
        { class: "card stack" },
        h(
          "div",
          { class: "row apart nowrap" },
          h("div", { class: "grow" }, this.said, running && this.asking),
          running && stop,
        ),
        running && this.bar,
        this.shares.element,
      ),
      run.failure && errorBox(run.failure),
      unusable(run.problems, { open: Boolean(run.body.questions) }),
    );
    if (run.state === "complete")
      live(t("evaluate.done", { count: run.results.length, right: run.counts.right }));
    if (run.state === "failed") live(run.failure.message);
  }

  drawCounts(run) {
    const done = run.results.length;
    const whole = run.state === "running" ? Math.max(run.total, 1) : Math.max(done, 1);
    this.shares.update(
      JUDGED.map(({ id, tone }) => ({
        id,
        tone,
        name: t(`evaluate.judged.${id}`),
        count: run.counts[id],
        chosen: this.filter.judged === id,
      })),
      whole,
    );
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
    show(this.results, this.figures, this.listing(run, earlier));
    this.drawFigures(run);
    setTimeout(() => {
      // what is further down, once this is on the screen
      if (this.closed || this.run !== run) return;
      append(this.results, [
        this.plots(run),
        run.report && templateTable(run.report.templates, (template) => this.ctx.go("library", { template })),
      ]);
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
      return h(
        "div",
        { class: "figure-card" },
        h("dt", { title: t(`evaluate.figure_about.${name}`) }, t(`evaluate.figure.${name}`)),
        h(
          "dd",
          null,
          h("span", { class: "figure-value" }, write(value)),
          visible &&
            h(
              "span",
              { class: `badge ${change > 0 === better ? "ok" : "bad"}`, dir: "ltr" },
              `${change > 0 ? "+" : "−"}${write(Math.abs(change))}`,
            ),
        ),
      );
    };
    const share = (value) => percent(value, 1);
    show(
      this.figures,
      h("h2", { id: "evaluate-figures" }, t("evaluate.figures")),
      h(
        "dl",
        { class: "figure-cards" },
        FIGURES.map(([name, better]) => figure(name, run.report[name], before?.[name], better, share)),
        figure("auroc", run.report.auroc, before?.auroc, true, (v) => n(v, { maximumFractionDigits: 3 })),
        ["p50", "p99"].map((name) => figure(name, run.report.latency_ms?.[name], null, false, duration)),
      ),
    );
  }

  /** The questions, filtered, each with what came of it; what changed since an earlier run. */
  listing(run, earlier) {
    const before = () => new Map((this.against?.results ?? []).map((each) => [each.ask, each]));
    let old = before();
    const due = new Map(
      (run.body.questions ?? this.source.file?.questions ?? []).map((each) => [each.ask, each]),
    );
    const text = h("input", {
      type: "search",
      "aria-label": t("evaluate.search"),
      placeholder: t("evaluate.search"),
      dir: "auto",
      autocomplete: "off",
      spellcheck: "false",
      value: this.filter.text,
    });
    const judged = h("div", {
      class: "row evaluate-filters",
      role: "group",
      "aria-label": t("evaluate.filter"),
    });
    const versus =
      earlier.length > 0 &&
      h(
        "label",
        { class: "row evaluate-versus" },
        h("span", { class: "muted" }, t("evaluate.compare")),
        h(
          "select",
          {
            class: "compact",
            onChange: (event) => {
              this.against = earlier[Number(event.target.value)] ?? null;
              old = before();
              this.drawFigures(run);
              list();
            },
          },
          earlier.map(({ started, counts, results }, index) => {
            const share = t("evaluate.right_of", { right: counts.right, count: results.length });
            return h("option", { value: String(index) }, `${when(started, "time")} · ${share}`);
          }),
        ),
      );
    const table = dataTable({
      caption: t("evaluate.results"),
      rowHeight: 60,
      tall: true,
      empty: t("evaluate.nothing"),
      onRow: (row) => this.ctx.ask(row.ask),
      columns: [
        {
          id: "judged",
          label: t("evaluate.outcome"),
          size: "s",
          value: (row) => order(row),
          cell: (row) => this.badge(row, old.get(row.ask)),
        },
        {
          id: "ask",
          label: t("evaluate.question"),
          value: (row) => row.ask,
          cell: (row) => [
            h(
              "button",
              {
                type: "button",
                class: "evaluate-ask",
                title: t("evaluate.open"),
                dir: "auto",
                onClick: () => this.ctx.ask(row.ask),
              },
              row.ask,
            ),
            row.failure &&
              h(
                "span",
                { class: "evaluate-why muted", title: row.failure },
                sayFailure(row, due.get(row.ask)),
              ),
          ],
        },
        {
          id: "expected",
          label: t("evaluate.expected"),
          size: "m",
          wide: true,
          value: (row) => row.expected ?? "",
          cell: (row) => named(row.expected),
        },
        {
          id: "got",
          label: t("evaluate.got"),
          size: "m",
          wide: true,
          value: (row) => row.got ?? "",
          cell: (row) => [
            named(row.got),
            !row.got &&
              row.nearest &&
              h("span", { class: "muted evaluate-nearest" }, t("evaluate.nearest", { name: row.nearest })),
          ],
        },
        {
          id: "confidence",
          label: t("evaluate.confidence"),
          size: "xs",
          numeric: true,
          value: (row) => row.confidence,
          cell: (row) => percent(row.confidence ?? 0),
        },
        {
          id: "latency",
          label: t("evaluate.latency"),
          size: "xs",
          numeric: true,
          wide: true,
          value: (row) => row.latency_ms,
          cell: (row) => duration(row.latency_ms),
        },
      ],
    });
    const chip = (id, label, count, tone) =>
      h(
        "button",
        {
          type: "button",
          class: `chip ${tone}`,
          "aria-pressed": String(
            id === "changed"
              ? this.filter.changed
              : id === "all"
                ? !this.filter.judged && !this.filter.changed
                : this.filter.judged === id,
          ),
          onClick: () => {
            if (id === "changed") this.filter.changed = !this.filter.changed;
            else if (id === "all") Object.assign(this.filter, { judged: null, changed: false });
            else this.filter.judged = this.filter.judged === id ? null : id;
            this.drawCounts(run);
            list();
            judged.querySelector(`[data-chip="${id}"]`)?.focus();
          },
          dataset: { chip: id },
        },
        label,
        h("span", { class: "chip-count" }, n(count)),
      );
    const list = () => {
      const { filter } = this;
      const changed = run.results.filter((row) => changeOf(row, old.get(row.ask)) !== null);
      const wanted = filter.text.toLowerCase();
      const rows = (filter.changed ? changed : run.results)
        .filter(
          (row) =>
            filter.judged === null ||
            (filter.judged === "failed" ? row.failure : row.judged === filter.judged),
        )
        .filter(
          (row) =>
            !wanted ||
            [row.ask, row.expected, row.got, row.failure].some((each) =>
              each?.toLowerCase().includes(wanted),
            ),
        );
      table.update(rows);
      show(
        judged,
        chip("all", t("evaluate.all"), run.results.length, ""),
        chip("failed", t("evaluate.failures"), run.results.filter((row) => row.failure).length, "tone-bad"),
        JUDGED.filter(({ id }) => run.counts[id] > 0).map(({ id, tone }) =>
          chip(id, t(`evaluate.judged.${id}`), run.counts[id], `tone-${tone}`),
        ),
        this.against && chip("changed", t("evaluate.changed"), changed.length, "tone-accent"),
      );
      this.drawChanges(run, old);
    };
    text.addEventListener(
      "input",
      debounce(() => {
        this.filter.text = text.value.trim();
        list();
      }, 120),
    );
    if (run.results.some((row) => row.failure)) this.filter.judged = "failed";
    this.list = list;
    this.listed = h(
      "div",
      { class: "card stack" },
      h("div", { class: "row apart" }, h("h2", null, t("evaluate.results")), versus),
      this.changes,
      h("div", { class: "evaluate-find" }, text, judged),
      table.element,
    );
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
        : some.map(([kind, count]) =>
            h("span", { class: `badge ${tones[kind]}` }, t(`evaluate.change.${kind}`, { count })),
          ),
    );
  }

  badge(row, before) {
    const change = changeOf(row, before);
    return [
      h(
        "span",
        { class: `badge evaluate-judged tone-${TONES[row.judged]}` },
        t(`evaluate.judged.${row.judged}`),
      ),
      change &&
        change !== "added" &&
        h(
          "span",
          { class: "evaluate-before muted" },
          t("evaluate.was", { judged: t(`evaluate.judged.${before.judged}`) }),
        ),
    ];
  }

  plots(run) {
    const failed = run.results.filter((row) => row.expected !== row.got);
    return h(
      "section",
      { class: "evaluate-plots", "aria-label": t("evaluate.plots") },
      run.curves?.reliability?.length > 0 && h("div", { class: "card" }, reliabilityOf(run.curves)),
      run.curves?.thresholds?.length > 0 && h("div", { class: "card" }, thresholdsOf(run.curves)),
      h("div", { class: "card" }, latenciesOf(run.results)),
      failed.length > 0 &&
        h(
          "div",
          { class: "card evaluate-confusions" },
          confusionsOf(failed, (question) => this.ctx.ask(question)),
        ),
    );
  }
}

function order(row) {
  return ["wrong", "asked", "silent", "right"].indexOf(row.judged) * 2 + (row.failure ? 0 : 1);
}
