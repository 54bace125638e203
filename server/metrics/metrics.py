"""Every metric of the server, in a registry of its own that is handed around.

Label values come from configuration (adapters, categories, tools) or from a short list,
so their number is bounded whatever people ask.
"""

import os
import re
from collections import Counter as Counts
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from server.core.chat_messages import TokenUsage
from server.core.decision import Answer, coverages_of, ending_name
from server.workers import METRICS_VARIABLE

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

_ROUTER_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_CONFIDENCES: Final = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_MODEL_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)
_RESIDENT: Final = "process_resident_memory_bytes"
_NOT_ADDED_UP: Final = frozenset({"process_start_time_seconds", "process_max_fds"})
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""What a client may call a request in labels; anything else is `other`."""

_COUNTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "intent_router_blocks_total": ("Questions refused by a guard", "intent", "method"),
    "orbit_guard_outcomes_total": ("What guards made of questions", "adapter", "outcome"),
    "orbit_guard_failures_total": (
        "Guard stages that failed or were late", "adapter", "stage", "policy",
    ),
    "orbit_guard_differences_total": (
        "Questions on which two compared guard sets differ", "adapter",
    ),
    "orbit_requests_total": ("HTTP requests", "method", "route", "status"),
    "orbit_decisions_total": (
        "Turns by what was decided: matches (call, ask_for), abstentions and blocks",
        "adapter", "decision",
    ),
    "orbit_turn_failures_total": (
        "Turns that ended without an answer, by the code of the error", "adapter", "error",
    ),
    "orbit_words_total": ("Words of questions, by what they were taken for", "adapter", "role"),
    "orbit_unread_words_total": ("Words that nothing was made of", "adapter", "kind"),
    "orbit_corrections_total": ("Turns that correct what was understood before", "adapter"),
    "orbit_feedback_total": ("Opinions on answers", "adapter", "verdict"),
    "orbit_tool_calls_total": ("Tool calls", "adapter", "tool", "operation", "status"),
    "orbit_provider_calls_total": ("Calls to embedding providers", "provider", "outcome"),
    "orbit_model_calls_total": ("Calls to chat models", "model", "outcome"),
    "orbit_model_tokens_total": (
        "Tokens that chat models read (prompt) and wrote (completion)", "model", "kind",
    ),
    "orbit_rate_limit_refusals_total": (
        "Requests refused because a rate limit was reached", "adapter",
    ),
    "orbit_connection_limits_total": ("Connections that a limit refused or ended", "limit"),
    "orbit_wrong_keys_total": ("Requests whose key was refused", "outcome"),
    "orbit_proposals_total": ("What became of calls that waited for a yes", "adapter", "outcome"),
    "orbit_commit_deliveries_total": ("Attempts to deliver commit events", "outcome"),
    "orbit_values_lost_total": ("Values that could not be stored, and are lost", "what"),
}  # fmt: skip
"""What each counts, and its labels; likewise below, with buckets."""

_HISTOGRAMS: Final[Mapping[str, tuple[Sequence[float], tuple[str, ...]]]] = {
    "intent_router_latency_seconds": (
        _ROUTER_SECONDS, ("Seconds a guard took, by the method that decided", "method"),
    ),
    "intent_router_confidence_score": (
        _CONFIDENCES,
        ("How sure a guard was, by the category and method that decided", "intent", "method"),
    ),
    "orbit_request_seconds": (
        _SECONDS, ("Seconds from request to the end of its response", "route"),
    ),
    "orbit_turn_seconds": (_SECONDS, ("Seconds of turns, those that failed included", "adapter")),
    "orbit_stage_seconds": (_SECONDS, ("Seconds of each stage of a turn", "adapter", "stage")),
    "orbit_provider_seconds": (_SECONDS, ("Seconds of calls to embedding providers", "provider")),
    "orbit_model_seconds": (
        _MODEL_SECONDS,
        ("Seconds of calls to chat models, those that are tried again included", "model"),
    ),
}  # fmt: skip


_SUM: Final = "livesum"
_LATEST: Final = "livemostrecent"


Among = Literal["livesum", "livemostrecent", "livemax"]


class _Processes(Collector):
    """What `ProcessCollector` tells of one process, of several as one."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids

    def collect(self) -> Iterator[Metric]:
        values: dict[str, list[float]] = {}
        kinds: dict[str, Metric] = {}
        for pid in self._pids:
            for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                kinds[metric.name] = metric
                values.setdefault(metric.name, []).append(metric.samples[0].value)
        if proportional := [kb for pid in self._pids if (kb := _proportional_kb(pid))]:
            values[_RESIDENT] = [kb * 1024.0 for kb in proportional]
        for name, found in values.items():
            total = min(found) if name in _NOT_ADDED_UP else sum(found)
            family = CounterMetricFamily if kinds[name].type == "counter" else GaugeMetricFamily
            yield family(name, kinds[name].documentation, value=total)


def _proportional_kb(pid: int) -> int | None:
    """Return a process's memory and its part of what it shares; None where that is not told."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found.group(1)) if found else None


class Metrics:
    """The counters of one server. Safe to use from any thread.

    Of several processes, each writes files that `text` reads: see `METRICS_VARIABLE`.
    """

    def __init__(self, version: str = "") -> None:
        self._registry = CollectorRegistry()
        self._counters = {name: self.counter(name, *texts) for name, texts in _COUNTERS.items()}
        self._histograms = {
            name: self.histogram(name, *texts, buckets=buckets)
            for name, (buckets, texts) in _HISTOGRAMS.items()
        }
        self._commits_waiting = self.gauge(
            "orbit_commit_events_waiting", "Commit events to be delivered", among=_LATEST
        )
        self._connections = self.gauge("orbit_connections", "Open connections", among=_SUM)
        vectors = "orbit_index_vectors", "Vectors in the index", "adapter"
        self._vectors = self.gauge(*vectors, among=_LATEST)
        info = self.gauge("orbit_build_info", "Always 1", "version", among="livemax")
        info.labels(version).set(1)
        self._folder = os.environ.get(METRICS_VARIABLE)
        if self._folder is None:
            ProcessCollector(registry=self._registry)

    def counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(name, what, labels, registry=self._registry)

    def histogram(
        self, name: str, what: str, *labels: str, buckets: Sequence[float] = _SECONDS
    ) -> Histogram:
        return Histogram(name, what, labels, buckets=buckets, registry=self._registry)

    def gauge(self, name: str, what: str, *labels: str, among: Among) -> Gauge:
        """`among` says what the values of several processes come to."""
        return Gauge(name, what, labels, registry=self._registry, multiprocess_mode=among)

    def text(self, pids: Sequence[int] = ()) -> bytes:
        """Return every metric in the format of Prometheus.

        `pids` are the processes of a server with workers, whose memory and time is added up.
        """
        if self._folder is None:
            return generate_latest(self._registry)
        merged = CollectorRegistry()
        MultiProcessCollector(merged, self._folder)  # type: ignore[no-untyped-call]
        merged.register(_Processes(pids))
        return generate_latest(merged)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route` is the pattern that was matched, never the path that was asked for."""
        known = method if method in METHODS else "other"
        self._counters["orbit_requests_total"].labels(known, route, status).inc()
        self._histograms["orbit_request_seconds"].labels(route).observe(seconds)

    def turn(self, adapter: str, answer: Answer, seconds: float, *, corrects: bool = False) -> None:
        """Count a turn that was answered, its stages, its words and its tool calls.

        One that `corrects` says that the turn before was understood wrongly.
        """
        self._counters["orbit_decisions_total"].labels(adapter, ending_name(answer.decision)).inc()
        self._histograms["orbit_turn_seconds"].labels(adapter).observe(seconds)
        if corrects:
            self._counters["orbit_corrections_total"].labels(adapter).inc()
        for coverage in coverages_of(answer.decision):
            if coverage.ruled:
                continue  # who chose the template has read more than stands in the account
            for role, count in Counts(word.role for word in coverage.words).items():
                self._counters["orbit_words_total"].labels(adapter, role).inc(count)
            for kind, count in Counts(word.kind or "word" for word in coverage.unread()).items():
                self._counters["orbit_unread_words_total"].labels(adapter, kind).inc(count)
        for stage in answer.trace.stages:
            self._histograms["orbit_stage_seconds"].labels(adapter, stage.name).observe(
                stage.ms / 1000
            )
            found = stage.details
            # What waits for a yes was not called, and has not failed.
            held = found.get("outcome") == "confirmation_required"
            if stage.name == "tool" and "tool" in found and not held:
                self._counters["orbit_tool_calls_total"].labels(
                    adapter, found["tool"], found["operation"], found["status"]
                ).inc()

    def turn_failed(self, adapter: str, error: str, seconds: float) -> None:
        """`error` is the code of a failure that has a name, or one word for all others."""
        self._histograms["orbit_turn_seconds"].labels(adapter).observe(seconds)
        self._counters["orbit_turn_failures_total"].labels(adapter, error).inc()

    def feedback(self, adapter: str, verdict: str) -> None:
        self._counters["orbit_feedback_total"].labels(adapter, verdict).inc()

    def provider_call(self, provider: str, outcome: str, since: float) -> None:
        """`since` is the `perf_counter` of the call's beginning."""
        self._counters["orbit_provider_calls_total"].labels(provider, outcome).inc()
        self._histograms["orbit_provider_seconds"].labels(provider).observe(perf_counter() - since)

    def model_call(self, model: str, outcome: str, since: float, tokens: TokenUsage) -> None:
        """`model` is provider and model as configured; `since` as for `provider_call`."""
        self._counters["orbit_model_calls_total"].labels(model, outcome).inc()
        self._histograms["orbit_model_seconds"].labels(model).observe(perf_counter() - since)
        for kind, count in (("prompt", tokens.prompt), ("completion", tokens.completion)):
            if count is not None and count >= 0:
                self._counters["orbit_model_tokens_total"].labels(model, kind).inc(count)

    def rate_limited(self, adapter: str) -> None:
        self._counters["orbit_rate_limit_refusals_total"].labels(adapter).inc()

    def wrong_key(self, outcome: str) -> None:
        self._counters["orbit_wrong_keys_total"].labels(outcome).inc()

    def connection_limit(self, limit: str) -> None:
        self._counters["orbit_connection_limits_total"].labels(limit).inc()

    def connections(self, count: int) -> None:
        self._connections.set(count)

    def proposal(self, adapter: str, outcome: str) -> None:
        self._counters["orbit_proposals_total"].labels(adapter, outcome).inc()

    def commit_delivery(self, outcome: str) -> None:
        self._counters["orbit_commit_deliveries_total"].labels(outcome).inc()

    def commits_waiting(self, count: int) -> None:
        self._commits_waiting.set(count)

    def values_lost(self, what: str, count: int = 1) -> None:
        """`what` is one of the few kinds that are written in batches."""
        self._counters["orbit_values_lost_total"].labels(what).inc(count)

    def index_size(self, adapter: str, vectors: int) -> None:
        self._vectors.labels(adapter).set(vectors)

    def guard_decided(
        self, adapter: str, outcome: str, *, intent: str, method: str, score: float, seconds: float
    ) -> None:
        """Count what a guard made of a question; `intent` is a category of its packs."""
        self._counters["orbit_guard_outcomes_total"].labels(adapter, outcome).inc()
        self._histograms["intent_router_latency_seconds"].labels(method).observe(seconds)
        self._histograms["intent_router_confidence_score"].labels(intent, method).observe(score)
        if outcome == "block":
            self._counters["intent_router_blocks_total"].labels(intent, method).inc()

    def guard_failed(self, adapter: str, stage: str, policy: str) -> None:
        self._counters["orbit_guard_failures_total"].labels(adapter, stage, policy).inc()

    def guards_differ(self, adapter: str) -> None:
        self._counters["orbit_guard_differences_total"].labels(adapter).inc()
