"""What becomes of an example that is not known: its own call, or why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from server.core.decision import (
    Call,
    Clarify,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    SeveralEndings,
)
from server.core.tools import Source, ToolCall
from server.evaluation.outcomes import Outcome, equal, equal_arguments, outcome_of
from server.library.model import Library, Template

Answer = Callable[[ToolCall], Any]
"""Gives what a call comes to; None where it cannot be told without making it."""

Failing = Literal["refused", "caught", "unclear", "incomplete", "misread"]
"""What may come of an example instead of its own call: nothing at all, the call of another
template, a question which of several is meant, one for an argument that it gives, or its own call
with other arguments."""


@dataclass(frozen=True, slots=True)
class FailedExample:
    """An example that would not be understood if it were not written down.

    `other` is the template that caught it, or that it could be taken for. `unread` are the words
    in the way, `objection` their kind where they speak against any call. `expected` is how the
    example is read where it is known, `got` how it was read.
    """

    template: Template
    example: str
    failing: Failing
    other: str | None
    confidence: float
    unread: tuple[str, ...]
    objection: str
    expected: Outcome
    got: Outcome
    sources: Mapping[str, Source] = field(default_factory=dict)
    """Where its arguments stand in it."""


def judge_example(
    library: Library,
    template: Template,
    example: str,
    known: Ending,
    ending: Ending,
    answer: Answer = lambda _: None,
) -> FailedExample | None:
    """Return what went wrong with an example, or None where it came to its own call.

    `known` is what it comes to where it is known, `ending` what it came to. `answer` gives what a
    call comes to, where that can be told: 7 less 2 is 5 whichever template works it out.
    """
    ending, known = _first(ending), _first(known)
    expected = outcome_of(known, library.templates, latency_ms=0.0)
    got = outcome_of(ending, library.templates, latency_ms=0.0)
    other: str | None = None
    failing: Failing
    if got.template == template.id:
        # How the example is read where it is known may itself ask for something.
        foreseen = expected if expected.template == template.id else got
        if equal_arguments(foreseen.arguments, foreseen.asked, got):
            return None
        failing = "incomplete" if set(got.asked) - set(foreseen.asked) else "misread"
    elif got.template is not None:
        failing, other = "caught", got.template
    elif isinstance(ending, Clarify):
        failing = "unclear"
        other = next((o.template_id for o in ending.options if o.template_id != template.id), None)
    else:
        failing = "refused"
        if got.nearest != template.id:
            other = got.nearest
    if failing in ("caught", "misread") and _same_answer(known, ending, answer):
        return None
    match = _match_of(ending)
    return FailedExample(
        template=template,
        example=example,
        failing=failing,
        other=other,
        confidence=match.confidence if match else 0.0,
        unread=ending.unread if isinstance(ending, NoMatch) else (),
        objection=ending.objection if isinstance(ending, NoMatch) else "",
        expected=expected,
        got=got,
        sources=_sources_of(known) if expected.template == template.id else {},
    )


def _first(ending: Ending) -> Ending:
    return ending.parts[0] if isinstance(ending, SeveralEndings) else ending


def _call_of(ending: Ending) -> ToolCall | None:
    match ending:
        case Call(_, call) | PendingConfirmation(_, call):
            return call
    return None


def _same_answer(known: Ending, ending: Ending, answer: Answer) -> bool:
    calls = _call_of(known), _call_of(ending)
    if calls[0] is None or calls[1] is None:
        return False
    first, second = answer(calls[0]), answer(calls[1])
    return first is not None and equal(first, second)


def _sources_of(ending: Ending) -> Mapping[str, Source]:
    if isinstance(ending, MissingArguments):
        return ending.sources
    call = _call_of(ending)
    return call.sources if call is not None else {}


def _match_of(ending: Ending) -> Match | None:
    match ending:
        case Call(match) | MissingArguments(match) | PendingConfirmation(match):
            return match
        case Clarify([first, *_]) | NoMatch(_, [first, *_]):
            return first
    return None
