// Live figures: every two seconds what /metrics counted since the last time.

import { clear, h } from "../../dom.js";
import { api } from "../../api.js";
import { duration, hasText, loadTexts, n, percent, t, when } from "../../i18n.js";
import { lines } from "../../widgets/plot.js";
import { growth, growthBy, parseMetrics, quantile, sum } from "../../widgets/prometheus.js";
import { refusal, waiting } from "./shared.js";

await loadTexts("ask"); // the names of the stages

const EVERY_MS = 2000;
const KEPT = 150; // five minutes
const LEAST_MS = 30_000;
const OVER = 15; // readings that a latency or a share is taken over: half a minute
const ABSTENTIONS = new Set(["clarify", "ask_back", "no_match"]);
const OTHERS = new Set(["courtesy", "blocked", "dropped", "not_run"]);

/** Readings outlive the panel, so that coming back does not begin from nothing. */
const readings = [];

const served = (labels) => /^\/(chat|v1|intents|downloads)\b/.test(labels.route ?? "");
const failed = (labels) => served(labels) && /^5/.test(labels.status);
const abstained = (labels) => ABSTENTIONS.has(labels.decision);
const decided = (labels) => !OTHERS.has(labels.decision);

export function mount(root, ctx) {
  let timer;
  let gone = false;
  let drawn = null;
  root.append(...waiting());

  async function read() {
    clearTimeout(timer);
    if (gone) return;
    if (!document.hidden) {
      try {
        readings.push({ at: Date.now(), metrics: parseMetrics(await api.text("metrics")) });
        while (readings.length > KEPT + OVER) readings.shift();
        if (gone) return;
        drawn ??= build(root);
        drawn();
      } catch (failure) {
        if (gone) return;
        drawn = null;
        clear(root).append(refusal(failure, read));
        if (failure.status === 403 || failure.status === 401 || failure.status === 404) return;
      }
    }
    timer = setTimeout(read, EVERY_MS);
  }

  const back = () => {
    if (!document.hidden) read();
  };
  document.addEventListener("visibilitychange", back);
  read();
  return () => {
    gone = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", back);
  };
}

function build(root) {
  const tiles = {};
  const tile = (id) => {
    tiles[id] = { value: h("strong", { class: "tile-value" }, "–"), note: h("span", { class: "muted small" }) };
    return h("div", { class: "card tile" },
      h("span", { class: "tile-name" }, t(`operate.tile.${id}`)), tiles[id].value, tiles[id].note);
  };
  const time = { label: t("operate.plot.time"), format: (at) => when(new Date(at), "time") };
  const per = (label) => ({ label, format: (value) => n(value, { maximumFractionDigits: 2 }) });
  const plots = {
    traffic: lines({
      title: t("operate.plot.traffic"), x: time,
      y: per(t("operate.plot.per_s")), series: [], height: 200,
    }),
    latency: lines({
      title: t("operate.plot.latency"), x: time,
      y: { label: t("operate.plot.ms"), format: (value) => duration(value) }, series: [], height: 200,
    }),
    abstention: lines({
      title: t("operate.plot.abstention"), x: time,
      y: { label: t("operate.plot.share"), domain: [0, 1], format: (value) => percent(value) },
      series: [], height: 200,
    }),
  };
  const decisions = h("section", { class: "card stack" });
  const stages = h("section", { class: "card stack" });
  const note = h("p", { class: "muted small" }, t("operate.traffic.about"));
  clear(root).append(
    h("div", { class: "tiles" },
      ["requests", "latency", "abstention", "failures", "connections", "memory"].map(tile)),
    h("div", { class: "plots" },
      Object.values(plots).map((plot) => h("div", { class: "card" }, plot.element)),
      h("div", { class: "stack" }, decisions, stages)),
    note);

  return function draw() {
    const rates = readings.slice(1).map((reading, at) => pointOf(readings[at], reading));
    const slow = readings.slice(1).map((reading, at) => wideOf(readings[Math.max(0, at + 1 - OVER)], reading));
    const until = readings.at(-1).at;
    const from = Math.max(readings[0].at, until - KEPT * EVERY_MS);
    time.domain = [Math.min(from, until - LEAST_MS), until];
    const line = (name, tone, points, value) => ({
      name, tone,
      points: points.filter((one) => one.at >= from && value(one) !== null).map((one) => [one.at, value(one)]),
    });
    plots.traffic.update([
      line(t("operate.line.requests"), "accent", rates, (one) => one.requests),
      line(t("operate.line.failures"), "bad", rates, (one) => one.failures),
    ]);
    plots.latency.update([
      line("p50", "accent", slow, (one) => one.p50),
      line("p95", "warn", slow, (one) => one.p95),
    ]);
    plots.abstention.update([line(t("operate.line.abstained"), "warn", slow, (one) => one.abstained)]);

    const now = readings.at(-1).metrics;
    const last = slow.at(-1);
    const set = (id, value, text) => {
      tiles[id].value.textContent = value;
      tiles[id].note.textContent = text;
    };
    set("requests",
      last ? n(last.requests, { maximumFractionDigits: 1 }) : "–",
      t("operate.tile.so_far", { count: sum(now, "orbit_requests_total", served) }));
    set("latency", last?.p50 == null ? "–" : duration(last.p50),
      last?.p95 == null ? t("operate.tile.quiet") : t("operate.tile.p95", { value: duration(last.p95) }));
    const all = sum(now, "orbit_decisions_total", decided);
    const silent = sum(now, "orbit_decisions_total", abstained);
    set("abstention", all ? percent(silent / all, 1) : "–", t("operate.tile.turns", { count: all }));
    set("failures", n(sum(now, "orbit_requests_total", failed)), t("operate.tile.since"));
    set("connections", n(sum(now, "orbit_connections")), t("operate.tile.now"));
    const memory = sum(now, "process_resident_memory_bytes");
    set("memory", memory ? t("operate.tile.mb", { value: n(memory / 2 ** 20, { maximumFractionDigits: 0 }) }) : "–",
      t("operate.tile.process"));
    drawDecisions(decisions, now);
    drawStages(stages, now);
  };
}

/** What happened between two readings, by the second. */
function pointOf(before, after) {
  const seconds = Math.max(0.001, (after.at - before.at) / 1000);
  const per = (wanted) => growth(before.metrics, after.metrics, "orbit_requests_total", wanted) / seconds;
  return { at: after.at, requests: per(served), failures: per(failed) };
}

/** The same over a longer while, for what few requests say little about. */
function wideOf(before, after) {
  const chat = (labels) => labels.route === "/chat" || labels.route === "/v1/chat/completions";
  const ms = (share) => {
    const seconds = quantile(before.metrics, after.metrics, "orbit_request_seconds", share, chat);
    return seconds === null ? null : seconds * 1000;
  };
  const all = growth(before.metrics, after.metrics, "orbit_decisions_total", decided);
  const silent = growth(before.metrics, after.metrics, "orbit_decisions_total", abstained);
  return {
    ...pointOf(before, after), p50: ms(0.5), p95: ms(0.95), abstained: all ? silent / all : null,
  };
}

const NONE = new Map();
const MOST_STAGES = 8;

function drawDecisions(node, now) {
  const adapters = [...new Set((now.get("orbit_decisions_total") ?? []).map((one) => one.labels.adapter))];
  const rows = adapters.map((adapter) => {
    const of = growthBy(NONE, now, "orbit_decisions_total", "decision", (one) => one.adapter === adapter);
    const all = [...of.values()].reduce((a, b) => a + b, 0);
    return { adapter, all, of: [...of].filter(([, count]) => count).sort((a, b) => b[1] - a[1]) };
  });
  clear(node).append(
    h("h2", { class: "plot-title" }, t("operate.decisions")),
    rows.length ? h("div", { class: "stack" }, rows.map((row) => h("div", {},
      h("div", { class: "row" }, h("strong", { class: "grow", dir: "auto" }, row.adapter), n(row.all)),
      h("ul", { class: "row wrap decisions" }, row.of.map(([decision, count]) => h("li", {},
        h("span", { class: `badge ${toneOf(decision)}` }, `${nameOf(decision)} ${n(count)}`)))))))
      : h("p", { class: "muted" }, t("operate.tile.quiet")));
}

/** Where the time of a turn goes: the mean of each stage, the longest in all first. */
function drawStages(node, now) {
  const names = [...new Set((now.get("orbit_stage_seconds_count") ?? []).map((one) => one.labels.stage))];
  const rows = names.map((stage) => {
    const of = (labels) => labels.stage === stage;
    const count = sum(now, "orbit_stage_seconds_count", of);
    const all = sum(now, "orbit_stage_seconds_sum", of);
    return { stage, all, mean: count ? (1000 * all) / count : 0 };
  }).sort((a, b) => b.all - a.all).slice(0, MOST_STAGES);
  const most = Math.max(...rows.map((row) => row.mean), 0.001);
  node.hidden = rows.length === 0;
  clear(node).append(
    h("h2", { class: "plot-title" }, t("operate.stages")),
    h("ul", { class: "scores" }, rows.map(({ stage, mean }) => h("li", {},
      h("span", {}, stageName(stage)),
      h("meter", { min: "0", max: String(most), value: mean, "aria-label": stageName(stage) }),
      h("span", {}, duration(mean))))));
}

const toneOf = (decision) => {
  if (["call", "several", "ask_for", "held"].includes(decision)) return "ok";
  if (decision === "blocked") return "bad";
  return ABSTENTIONS.has(decision) ? "warn" : "";
};

const stageName = (stage) => (hasText(`ask.stage.${stage}`) ? t(`ask.stage.${stage}`) : stage);

const nameOf = (decision) => {
  const key = `operate.decision.${decision}`;
  const name = t(key);
  return name === key ? decision : name;
};
