"""What a question came to, in the few words in which two versions of a library are compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from server.core.decision import (
    Blocked,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    Ending,
    NoMatch,
    SeveralEndings,
)
from server.core.json import to_json
from server.evaluation.outcomes import Outcome, equal, outcome_of
from server.evaluation.questions import Question
from server.evaluation.report import failure_of
from server.library.model import Library

Kind = Literal["call", "asks", "unclear", "declined", "courtesy", "blocked", "other"]

_KINDS: Final[Mapping[type, Kind]] = {
    NoMatch: "declined",
    Clarify: "unclear",
    ClarifyingQuestion: "unclear",
    Courtesy: "courtesy",
    Blocked: "blocked",
    Cancelled: "other",
}


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision: `why`, `unread` and `nearest` tell of it, and are not compared."""

    kind: Kind
    template: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    more: tuple["Decided", ...] = ()
    """The further calls of a message that asks for several."""
    why: str = field(default="", compare=False)
    unread: tuple[str, ...] = field(default=(), compare=False)
    nearest: str | None = field(default=None, compare=False)

    def same(self, other: "Decided") -> bool:
        """Whether the same would be done; arguments are compared by value."""
        return (
            (self.kind, self.template, set(self.asked), set(self.options), len(self.more))
            == (other.kind, other.template, set(other.asked), set(other.options), len(other.more))
            and equal(self.arguments, other.arguments)
            and all(one.same(another) for one, another in zip(self.more, other.more, strict=True))
        )

    def to_text(self) -> str:
        """Return it on one line, for people."""
        arguments = ", ".join(f"{name}={to_json(v)}" for name, v in self.arguments.items())
        match self.kind:
            case "call":
                parts = [f"{self.template}({arguments})", *(one.to_text() for one in self.more)]
                return " and ".join(parts)
            case "asks":
                return f"{self.template}({arguments}), asking for {', '.join(self.asked)}"
            case "unclear" if self.options:
                return f"asked back: {' or '.join(self.options)}"
            case "unclear":
                return f"asked back: {self.why}"
            case "declined":
                unread = f"; in the way: {', '.join(self.unread)}" if self.unread else ""
                return f"declined ({self.why}{unread})"
        return f"{self.kind} ({self.why})" if self.why else self.kind

    def to_dict(self) -> dict[str, Any]:
        """Return what there is to say of it, as JSON-ready data."""
        said = {
            "template": self.template,
            "arguments": dict(self.arguments),
            "asks": list(self.asked),
            "options": list(self.options),
            "more": [one.to_dict() for one in self.more],
            "why": self.why,
            "unread": list(self.unread),
            "nearest": self.nearest,
        }
        return {"decision": self.kind, **{name: value for name, value in said.items() if value}}


def decided(ending: Ending, library: Library) -> Decided:
    """Return what a question came to; a call that waits for a yes is a call."""
    if isinstance(ending, SeveralEndings):
        first, *rest = (decided(part, library) for part in ending.parts)
        return Decided("call", first.template, first.arguments, more=tuple(rest))
    outcome = judged_outcome(ending, library)
    if outcome.template is not None:
        kind: Kind = "call" if outcome.called else "asks"
        return Decided(kind, outcome.template, outcome.arguments, outcome.asked)
    why, unread, options = "", tuple[str, ...](), tuple[str, ...]()
    match ending:
        case NoMatch():
            why, unread = ending.why, ending.unread
        case Clarify():
            options = tuple(option.template_id for option in ending.options)
        case ClarifyingQuestion():
            why = ending.question
        case Courtesy():
            why = ending.kind
        case Blocked():
            why = ending.category
    kind = _KINDS.get(type(ending), "other")
    return Decided(kind, options=options, why=why, unread=unread, nearest=outcome.nearest)


def judged_outcome(ending: Ending, library: Library) -> Outcome:
    """Return a decision as an outcome, as nothing was run for it."""
    return outcome_of(ending, library.templates, latency_ms=0.0)


def is_expected(question: Question, outcome: Outcome) -> bool:
    """Whether a decision is what its question expects; the text of an answer is not looked at."""
    return failure_of(question.model_copy(update={"answer": None}), outcome) is None
