// One pass over questions, and those before it: they are kept as long as the page is open.

import { api } from "../../api.js";

const KEPT_RUNS = 5;

/** What may come of a question, the best first. */
export const JUDGED = [
  { id: "right", tone: "ok" },
  { id: "silent", tone: "muted" },
  { id: "asked", tone: "warn" },
  { id: "wrong", tone: "bad" },
];
export const TONES = Object.fromEntries(JUDGED.map(({ id, tone }) => [id, tone]));

const histories = new Map(); // by key and adapter

addEventListener("signedout", () => {
  for (const { runs } of histories.values()) runs.forEach((run) => run.stop());
  histories.clear();
});

/** The runs of a key with an adapter, the newest first, and the questions that were typed. */
export function historyOf(me, adapter) {
  const key = `${me.key_id} ${adapter}`;
  if (!histories.has(key)) histories.set(key, { runs: [], text: "", own: false, tools: false });
  return histories.get(key);
}

/** Ask questions; the oldest run is forgotten where there are many. */
export function begin(history, path, body) {
  const run = new Run(path, body);
  history.runs = [run, ...history.runs].slice(0, KEPT_RUNS);
  run.start();
  return run;
}

/** One pass over questions; `onChange` hears of each answer until the view is left. */
class Run {
  constructor(path, body) {
    this.path = path;
    this.body = body;
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

/** What a question's outcome is against an earlier one: fixed, broken, other, added, or null. */
export function changeOf(row, before) {
  if (!before) return null;
  if (!row.failure !== !before.failure) return row.failure ? "broken" : "fixed";
  return row.judged !== before.judged || row.got !== before.got ? "other" : null;
}
