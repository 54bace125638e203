"""What a retriever may decide, the trace of how it came to that, and the answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any, Final, Literal

from server.core.coverage import NO_COVERAGE, Coverage
from server.core.spans import NO_SPAN, Span, traced_span
from server.core.tools import Source, ToolCall


@dataclass(frozen=True, slots=True)
class Match:
    """A template that answers a question, and how sure that is.

    `confidence` is a calibrated probability, 0 to 1. `similarity` is the cosine
    between the question and the template's nearest example, -1 to 1. `runner_up`
    is the next best template, if the library has one.
    """

    template_id: str
    confidence: float
    similarity: float
    why: str
    nearest_example: str = ""
    runner_up: "Match | None" = None


@dataclass(frozen=True, slots=True)
class ProposedAction:
    """What a conversation seems to ask for, before anyone has confirmed it.

    `question` asks whether `intent`, for `target`, is what is meant. With the origin `template`,
    the template is the reason to ask, and the call is shown as every call that has to be confirmed.
    `lookup` is a call that reads, and finds what `target` names, before anything is asked.
    """

    intent: str
    target: str | None
    question: str
    origin: "Origin" = "conversation"
    lookup: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Run this; with `proposed`, only once that was confirmed, whatever its effect is.

    With `otherwise`, a model proposed what it was not offered: the policy chain refuses it
    and writes it down, and `otherwise` is what is decided then.
    """

    match: Match
    call: ToolCall
    proposed: ProposedAction | None = None
    otherwise: "Decision | None" = None
    coverage: Coverage = NO_COVERAGE
    alternatives: tuple["Call", ...] = ()
    """What may be meant as well, where the data can tell: a name may be of another thing."""


@dataclass(frozen=True, slots=True)
class SeveralCalls:
    """Run these, in their order: a message asks for each of them.

    `skipped` are the parts of the message that were not understood, as they were written; they
    can change nothing about the others.
    """

    calls: tuple[Call, ...]
    skipped: tuple[str, ...] = ()


Origin = Literal["template", "conversation"]
"""Why a call has to be confirmed: its template says so, or a conversation proposed it."""


@dataclass(frozen=True, slots=True)
class PendingConfirmation:
    """A call that waits to be confirmed; nothing was done yet. `call` is as it may be shown.

    `question` is empty where the usual words ask for it.
    """

    match: Match
    call: ToolCall
    proposal_id: str
    expires_at: datetime
    seal: str
    intent: str
    target: str | None = None
    question: str = ""
    origin: Origin = "template"
    coverage: Coverage = NO_COVERAGE
    """How the message that asked for it was read; empty once a later message shows it again."""
    left_out: tuple[str, ...] = ()
    """What the call makes no use of in that message, as it may be shown."""


@dataclass(frozen=True, slots=True)
class SeveralEndings:
    """What came of several calls, in their order: each was judged, and one at most waits."""

    parts: tuple[Call | PendingConfirmation, ...]
    skipped: tuple[str, ...] = ()

    @property
    def waits(self) -> PendingConfirmation | None:
        """The call that waits for a yes, if one does."""
        held = (part for part in self.parts if isinstance(part, PendingConfirmation))
        return next(held, None)


@dataclass(frozen=True, slots=True)
class DecidedCalls:
    """Calls that were judged and not made: whoever asked makes them."""

    calls: tuple[Call, ...]


NotExecutedReason = Literal[
    "declined", "unclear", "expired", "settled", "altered", "changed", "unknown"
]
"""`settled`: it ran or was declined before. `altered`: its seal is invalid. `changed`: its template
has changed since. `unclear`: the reply was neither yes nor no, so it still waits."""


@dataclass(frozen=True, slots=True)
class ProposalNotExecuted:
    """A proposal did not run; `held` is the call if it still waits."""

    why: NotExecutedReason
    proposal_id: str
    held: PendingConfirmation | None = None
    reason: str = ""
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class MissingParameter:
    """One required argument that the question does not give."""

    name: str
    description: str = ""
    type: str = "string"
    choices: tuple[Any, ...] = ()
    example: Any = None
    problem: str = ""
    """Why the value that was given cannot be used; empty when none was given."""
    open_ended: bool = False
    """Whether the choices are but the nearest of more."""


@dataclass(frozen=True, slots=True)
class MissingArguments:
    """The template is clear, but arguments are missing: ask for exactly these."""

    match: Match
    missing: tuple[MissingParameter, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    coverage: Coverage = NO_COVERAGE


@dataclass(frozen=True, slots=True)
class Clarify:
    """Two or more templates are too close to choose between, best first."""

    options: tuple[Match, ...]
    coverage: Coverage = NO_COVERAGE
    alternatives: tuple[Call, ...] = ()
    """The calls that they would be, where the data can tell which is meant."""


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion:
    """The rule engine needs to know more: ask `question` back."""

    question: str
    confidence: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class NoMatch:
    """Nothing fits. `nearest` are the closest templates, best first.

    `unread` are the words that were in the way of the nearest, as they were written, and
    `objection` is what kind of words they are where they speak against doing anything at all.
    """

    why: str
    nearest: tuple[Match, ...] = ()
    unread: tuple[str, ...] = ()
    objection: str = ""
    coverage: Coverage = NO_COVERAGE


@dataclass(frozen=True, slots=True)
class Blocked:
    """A guard refused the question; `response` is what to say instead."""

    category: str
    response: str
    confidence: float
    method: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The person withdraws the question; `template_id` is the call it was about."""

    template_id: str | None = None


@dataclass(frozen=True, slots=True)
class Courtesy:
    """A message that is nothing but polite, or that asks about the assistant itself.

    No tool has anything to do with it. `kind` is `hello`, `thanks`, `bye`, `help` (what can you
    do) or `about` (who are you), and `language` the one it is said in.
    """

    kind: str
    language: str
    coverage: Coverage = NO_COVERAGE


Decision = (
    Call
    | SeveralCalls
    | MissingArguments
    | Clarify
    | ClarifyingQuestion
    | NoMatch
    | Blocked
    | Cancelled
    | Courtesy
)


Ending = Decision | SeveralEndings | DecidedCalls | PendingConfirmation | ProposalNotExecuted
"""How a turn ended: its decision, or what became of a call that had to be confirmed."""

_NAMES: Final[Sequence[tuple[type[Ending], str]]] = (
    (Call, "call"),
    (SeveralCalls, "several"),
    (SeveralEndings, "several"),
    (DecidedCalls, "decided"),
    (MissingArguments, "ask_for"),
    (Clarify, "clarify"),
    (ClarifyingQuestion, "ask_back"),
    (NoMatch, "no_match"),
    (Blocked, "blocked"),
    (Cancelled, "dropped"),
    (Courtesy, "courtesy"),
    (PendingConfirmation, "held"),
    (ProposalNotExecuted, "not_run"),
)


def ending_name(ending: Ending) -> str:
    """Return in one word how a turn ended, as metrics and logs have it."""
    return next(name for kind, name in _NAMES if isinstance(ending, kind))


def coverages_of(ending: Ending) -> list[Coverage]:
    """Return the accounts of words of a turn: one for each of several calls."""
    match ending:
        case SeveralEndings(parts) | SeveralCalls(parts) | DecidedCalls(parts):
            return [part.coverage for part in parts]
        case (
            Call() | PendingConfirmation() | MissingArguments() | Clarify() | NoMatch() | Courtesy()
        ):
            return [ending.coverage]
    return []


@dataclass(frozen=True, slots=True)
class ArgumentCoverage:
    """How well a question fits the parameters of a template, for choosing between templates.

    Of `required` parameters, `read` have a value that stands in the question. `unused`
    are the places of the question that hold a value (a number, a date, JSON …) which
    no parameter took. `agrees` says whether the template declares to be for what the rule
    engine found; None when there is nothing to compare.
    """

    required: int = 0
    read: int = 0
    unused: tuple[str, ...] = ()
    agrees: bool | None = None


@dataclass(slots=True)
class Stage:
    """One stage: how long it took, and what it found, as JSON-ready data."""

    name: str
    ms: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)

    def describe(self, span: Span) -> None:
        """Tell a span what the stage found, without words of the question or values."""
        found = {name: self.details.get(key) for key, name in _ATTRIBUTES.items()}
        span.set({name: value for name, value in found.items() if isinstance(value, str)})
        if self.details.get("status") in ("error", "timeout"):
            span.fail(str(self.details["status"]))


_ATTRIBUTES: Final[Mapping[str, str]] = {
    "tool": "gen_ai.tool.name",
    "operation": "orbit.tool.operation",
    "outcome": "orbit.outcome",
    "template_id": "orbit.template.id",
    "reading": "orbit.reply",
}
"""Details of stages that spans tell, and their attributes: names from the configuration, or from a
short list.
"""


@dataclass(slots=True)
class Trace:
    """The stages of one turn, in order."""

    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a stage; what the caller puts into the yielded dict is kept with it."""
        stage = Stage(name)
        self.stages.append(stage)
        start = perf_counter()
        with traced_span(name) as span:
            try:
                yield stage.details
            finally:
                stage.ms = (perf_counter() - start) * 1000
                if span is not NO_SPAN:
                    stage.describe(span)

    def note(self, name: str, details: dict[str, Any]) -> None:
        """Add a stage that took no time worth measuring."""
        self.stages.append(Stage(name, 0.0, details))

    def to_list(self, *, details: bool = True) -> list[dict[str, Any]]:
        return [
            {"stage": s.name, "ms": round(s.ms, 3), **(s.details if details else {})}
            for s in self.stages
        ]


Explain = Literal["times", "details"]
"""How much of its trace an answer tells: how long each stage took, or what it found as well."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the shape users see: text, metadata, and a confidence of 0 to 1."""

    content: str
    confidence: float
    metadata: Mapping[str, Any]
    decision: Ending
    trace: Trace = field(default_factory=Trace)
    kept: str | None = field(default=None, repr=False)
    """What may be kept of `content`, where that shows sensitive values to who must confirm them."""

    @property
    def kept_content(self) -> str:
        return self.content if self.kept is None else self.kept

    def to_dict(self, session_id: str, explain: Explain | None = None) -> dict[str, Any]:
        """Return the answer as HTTP sends it, with as much of the trace as `explain` says."""
        data = {
            "content": self.content,
            "metadata": self.metadata,
            "confidence": round(self.confidence, 4),
            "session_id": session_id,
        }
        if explain is not None:
            data["trace"] = self.trace.to_list(details=explain == "details")
        return data
