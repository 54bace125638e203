"""What has to hold of a cluster after its trouble, as figures, each with its bound."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from server.audit.entry import verify_chain
from server.audit.writer import open_sink
from server.settings.models import Settings
from utils.bench._machine import percentiles
from utils.cluster.load import SETTLER, Attempt, Journal
from utils.cluster.services import Shop
from utils.cluster.trouble import Event

RECOVERY_S: Final = 5.0
RELOAD_S: Final = 2.0
KNOWN_S: Final = 30.0
"""After which who said yes knows what came of it. A killed replica costs some ten seconds, and
whoever then says it again may meet the next one that is killed."""
LIMIT_SHARE: Final = 0.01
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its bound; without one it is only told."""

    name: str
    value: float | None
    most: float | None = None
    least: float | None = None
    unit: str = ""

    @property
    def holds(self) -> bool:
        if self.most is None and self.least is None:
            return True
        if self.value is None:
            return False
        return (self.most is None or self.value <= self.most) and (
            self.least is None or self.value >= self.least
        )

    def to_dict(self) -> dict[str, Any]:
        value = None if self.value is None else round(self.value, 4)
        bounds = {"most": self.most, "least": self.least}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"value": value, "unit": self.unit, **given, "holds": self.holds}

    def __str__(self) -> str:
        value = "–" if self.value is None else f"{self.value:.2f}".rstrip("0").rstrip(".")
        bound = f"≤ {self.most:g}" if self.most is not None else ""
        bound = f"≥ {self.least:g}" if self.least is not None else bound
        verdict = "" if not bound else "holds" if self.holds else "MISSED"
        return f"{self.name:<58} {value:>10} {self.unit:<4} {bound:<8} {verdict}".rstrip()


@dataclass
class Verdict:
    figures: list[Figure] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.problems and all(figure.holds for figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "figures": {figure.name: figure.to_dict() for figure in self.figures},
            "events": self.events,
            "problems": self.problems,
        }

    def __str__(self) -> str:
        rows = [str(figure) for figure in self.figures]
        rows += ["", *map(_told, self.events)]
        rows += ["", *(f"problem: {each}" for each in self.problems)] if self.problems else []
        return "\n".join(rows)


def _told(event: Mapping[str, Any]) -> str:
    parts = (f"{name} {value:.2f}" for name, value in event.items() if isinstance(value, float))
    return f"{event['what']:<22} " + ", ".join(parts)


def judge_answers(journal: Journal, events: Sequence[Event], began: float) -> Verdict:
    """What people were answered, and how soon all was well after each event."""
    attempts, events = journal.attempts, sorted(events, key=lambda event: event.begun)
    wrong = [each for each in attempts if each.outcome == "wrong"]
    right = [each for each in attempts if each.outcome == "right" and each.kind != "counted"]
    lasted_s = max((each.ended for each in right if each.kind == "question"), default=0.0) - began
    rows = [_recovery(event, journal, events) for event in events]
    causeless = [each for each in _errors(attempts) if _cause(each, events) is None]
    times = percentiles([(each.ended - each.begun) * 1000 for each in right] or [0.0])
    figures = [
        Figure("wrong answers", len(wrong), most=0),
        Figure("right answers", len(right), least=1),
        Figure("right answers a second", len(right) / lasted_s if lasted_s else None),
        Figure("one right answer, p50", times["p50"], unit="ms"),
        Figure("one right answer, p99", times["p99"], unit="ms"),
        Figure("clean refusals with 503, asked again", journal.count("refused")),
        Figure("connections without an answer, asked again", journal.count("broken")),
        Figure("either, without any cause", len(causeless), most=0),
        Figure(
            "either, while a replica was stopped as for an upgrade",
            sum(row["errors"] for row, event in zip(rows, events, strict=True) if event.is_quiet),
            most=0,
        ),
        Figure(
            "slowest recovery", max((row["recovered_s"] for row in rows), default=None),
            most=RECOVERY_S, unit="s",
        ),
        Figure(
            "a killed replica serves again, slowest",
            max((event.back_s for event in events if event.back_s is not None), default=None),
            unit="s",
        ),
    ]  # fmt: skip
    for row, event in zip(rows, events, strict=True):
        row["at_s"] = round(event.begun - began, 2)
    told = [f"without any cause: {each}" for each in causeless[:_SHOWN]]
    return Verdict(figures, rows, [*_first(journal.problems), *told])


def _recovery(event: Event, journal: Journal, events: Sequence[Event]) -> dict[str, Any]:
    """How soon after an event everybody had a right answer again, and nobody another error."""
    touched = [each for each in journal.attempts if each.kind in event.touches]
    # Whom something else keeps from answers at that moment is not waited for.
    kept = [other.touches for other in events if other.begun <= event.over < other.over]
    clients = {
        each.client
        for each in touched
        if each.begun < event.over
        and each.client != SETTLER  # who asks only while something is to be settled
        and not any(each.kind in kinds for kinds in kept)
    }
    first: dict[str, float] = {}
    for each in touched:
        if each.client in clients and each.begun >= event.over and each.outcome in _ANSWERED:
            first.setdefault(each.client, each.ended - event.over)
    errors = [each for each in _errors(journal.attempts) if _cause(each, events) is event]
    last_error_s = max((each.begun - event.over for each in errors), default=0.0)
    everybody_s = max(first.values(), default=0.0)
    if unanswered := clients - first.keys():
        everybody_s = float("inf")
        journal.problems.append(f"never answered after {event.what}: {sorted(unanswered)}")
    row: dict[str, Any] = {
        "what": event.what,
        "lasted_s": event.over - event.begun,
        "errors": len(errors),
        "first_right_s": min(first.values(), default=0.0),
        "everybody_right_s": everybody_s,
        "last_error_s": max(0.0, last_error_s),
        "recovered_s": max(everybody_s, last_error_s),
    }
    times = {"noticed_s": event.noticed_s, "back_s": event.back_s}
    return row | {name: value for name, value in times.items() if value is not None}


_ANSWERED: Final = ("right", "waits", "limited")


def _errors(attempts: Iterable[Attempt]) -> list[Attempt]:
    return [each for each in attempts if each.outcome in ("refused", "broken")]


def _cause(error: Attempt, events: Sequence[Event]) -> Event | None:
    """The latest event before the end of an error that may have led to it."""
    known = [
        event for event in events if error.kind in event.touches and event.begun <= error.ended
    ]
    # One that is stopped as for an upgrade breaks nothing: what is killed meanwhile does.
    return max(known, key=lambda event: event.begun if event.is_quiet else event.over, default=None)


def judge_writes(journal: Journal, shop: Shop, settings: Settings) -> Verdict:
    """Each confirmed change was made once, was written down before, and was told to the kernel."""
    sink, seal = open_sink(settings) or (None, None)
    assert sink is not None
    assert seal is not None
    chain = verify_chain(sink, seal)
    entries = [entry.event for entry in sink.entries()]
    sink.close()
    writes = [each for each in entries if each["template_id"] == "cancel_order"]
    started = Counter(e["arguments"]["order"] for e in writes if e["outcome"] == "started")
    made = {e["arguments"]["order"] for e in writes if e["outcome"] == "success"}
    cancelled, told = shop.cancelled, shop.told
    doubled = [order for order, count in cancelled.items() if count > 1]
    lost = sorted(journal.done.keys() - cancelled.keys())
    unwritten = sorted(cancelled.keys() - started.keys())
    untold = sorted(cancelled.keys() - told.keys())
    # A commit says that a call was begun: one that was ended, and made anew, has two.
    told_twice = sorted(order for order, ids in told.items() if len(ids) > started[order])
    figures = [
        Figure("changes that were confirmed", len(journal.done), least=1),
        Figure("lost", len(lost), most=0),
        Figure("made twice", len(doubled), most=0),
        Figure("made, and not in the audit", len(unwritten), most=0),
        Figure("of which nobody knows", len(journal.undecided), most=0),
        Figure("made, and no commit was told", len(untold), most=0),
        Figure("told as more commits than were begun", len(told_twice), most=0),
        Figure(
            "longest from a yes until it is known", max(journal.done.values(), default=None),
            most=KNOWN_S, unit="s",
        ),
        Figure("ended by kill -9, and whether they were made was looked up",
               len(cancelled.keys() - made)),
        Figure("entries of the audit", len(entries)),
        Figure("problems of its chain", len(chain.problems), most=0),
    ]  # fmt: skip
    which = {"lost": lost, "made twice": doubled, "not in the audit": unwritten,
             "not told": untold, "told twice": told_twice}  # fmt: skip
    problems = [f"{name}: {orders[:_SHOWN]}" for name, orders in which.items() if orders]
    return Verdict(figures, problems=[*problems, *_first(chain.problems)])


def judge_limits(name: str, limit: int, answered: int) -> Verdict:
    """As many calls were answered as a limit allows, within a hundredth."""
    share = abs(answered - limit) / limit
    return Verdict(
        [
            Figure(f"{name}: answered of {limit}", answered),
            Figure(f"{name}: away from it", share * 100, most=LIMIT_SHARE * 100, unit="%"),
        ]
    )


def judge_trouble(reload_s: float | None, early_starts: int) -> Verdict:
    return Verdict(
        [
            Figure(
                "all others answer by a library that one reloaded",
                reload_s,
                most=RELOAD_S,
                unit="s",
            ),
            Figure("starts that found no database, and were begun again", early_starts),
        ]
    )


def merged(verdicts: Iterable[Verdict]) -> Verdict:
    whole = Verdict()
    for each in verdicts:
        whole.figures += each.figures
        whole.events += each.events
        whole.problems += each.problems
    return whole


def _first(problems: Sequence[str]) -> list[str]:
    more = len(problems) - 4 * _SHOWN
    return [*problems[: 4 * _SHOWN], *([f"and {more} more"] if more > 0 else [])]


def tracebacks(said: str) -> list[str]:
    """What a replica said when something failed that has no name."""
    return [part[:1500] for part in said.split("Traceback (most recent call last)")[1:]]
