"""A message that points to what was shown, and the same message with the name in place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from server.conversation.followups.references import (
    Reference,
    ReferenceKind,
    ShownValue,
    has_anaphor,
    only_shown,
    read_possessive,
    read_result,
    resolve_reference,
)
from server.conversation.followups.rows import named, noun_of, row_identity, row_value
from server.core.decision import Call, ClarifyingQuestion, MissingArguments
from server.core.tools import Source
from server.core.turn import CompletedCall, Intent
from server.library.model import Library, Template
from server.retrievers.followups.context import (
    FollowUpContext,
    FollowUpDecision,
    How,
    build_decision,
)
from server.retrievers.followups.repeat_call import continued
from server.retrievers.followups.rows import (
    call_for_listed_row,
    from_last,
    from_row,
    is_all,
    reference_in,
)

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message with something put in place of the words at `span`, which end at `end` now."""

    text: str
    span: Span
    end: int


def with_row(text: str, span: Span, shown: ShownValue, library: Library) -> Rewritten | None:
    """The message with what the row is called by in place of the words that point to it."""
    shown_by = library.templates.get(shown.by.template_id)
    if shown_by is None:
        return None
    called = row_identity(shown.row, shown_by, tuple(library.templates.values()))
    if called is None:
        return None
    name, value = called
    return _put(text, span, f"{noun_of(name)} {value}")


def with_name(text: str, span: Span, form: str, last: CompletedCall) -> Rewritten | None:
    """The message with what the last call was about in place of "it" or "his"."""
    called = named(last.arguments)
    if called is None:
        return None
    name, value = called
    return _put(text, span, form.format(f"{noun_of(name)} {value}"))


def with_value(text: str, span: Span, value: Any) -> Rewritten | None:
    """The message with the last result in place of "it", where that is a number or a date."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _put(text, span, value) if _DATE.fullmatch(value) else None
    if isinstance(value, int | float | Decimal):
        return _put(text, span, format(Decimal(str(value)), "f"))
    return None


def _put(text: str, span: Span, said: str) -> Rewritten:
    return Rewritten(f"{text[: span[0]]}{said}{text[span[1] :]}", span, span[0] + len(said))


def read_from(
    decision: Call | MissingArguments, rewritten: Rewritten, original: str
) -> Call | MissingArguments | None:
    """The decision on a rewritten message as one on the message itself.

    What was read where something was put in came from the conversation; None when nothing
    was, so that what was put in had no part in it.
    """
    arguments = decision.call.arguments if isinstance(decision, Call) else decision.arguments
    found = decision.call.sources if isinstance(decision, Call) else decision.sources
    shift = rewritten.end - rewritten.span[1]
    sources: dict[str, Source] = {}
    used = False
    for name, source in found.items():
        if source.span is None:
            sources[name] = source
            continue
        start, end = source.span
        if start < rewritten.end and rewritten.span[0] < end:
            used = True
            sources[name] = Source("conversation", note=source.note)
        elif start >= rewritten.end:
            place = (start - shift, end - shift)
            sources[name] = replace(source, span=place, text=original[place[0] : place[1]])
        else:
            sources[name] = source
    if not used or arguments.keys() - sources.keys():
        return None
    if isinstance(decision, Call):
        return replace(decision, call=replace(decision.call, sources=sources))
    return replace(decision, sources=sources)


_KINDS: Final[Mapping[str, ReferenceKind]] = {"last": "last", "previous": "previous"}


def referred(scene: FollowUpContext, first: FollowUpDecision) -> FollowUpDecision | None:
    """What a rule pack says refers to earlier answers."""
    intent = first.intent
    if intent is None or intent.route is None or not isinstance(first.decision, ClarifyingQuestion):
        return None
    if intent.entities.get("reference_type") == "context":
        return continued(scene)
    found = _routed(intent, scene.context.done, scene.library)
    if found is None:
        return None
    return FollowUpDecision(
        found, intent._replace(name=intent.route, ask="", route=None), "reference"
    )


async def row_pointed_to(
    scene: FollowUpContext, first: FollowUpDecision
) -> FollowUpDecision | None:
    """What points to a row that was shown: "the second one", "the last post"."""
    found = reference_in(scene)
    if found is None:
        return None
    reference, shown = found
    asking = first.decision
    if isinstance(asking, Call) and not _points_only(scene, asking, reference):
        return None
    if isinstance(asking, MissingArguments):
        call = from_row(asking, shown, scene.library)
        if call is not None:
            return FollowUpDecision(call, first.intent, "reference")
    row = with_row(scene.turn.text, reference.span, shown, scene.library)
    return await _rewritten(scene, row, first, "reference")


async def pointed(scene: FollowUpContext, first: FollowUpDecision) -> FollowUpDecision | None:
    """What points to a row, the last result or the last arguments in so many words."""
    last, text = scene.last, scene.turn.text
    if last is None or isinstance(first.decision, ClarifyingQuestion):
        return None
    row = await row_pointed_to(scene, first)
    if row is not None:
        return row
    span = read_result(text, scene.wording)
    if span is not None and last.value is not None:
        value = with_value(text, span, last.value)
        if result := await _rewritten(scene, value, first, "result"):
            return result
    points = scene.goes_on or has_anaphor(scene.message.saying.words, scene.wording)
    if points and isinstance(first.decision, MissingArguments):
        call = from_last(first.decision, last, scene.library)
        if call is not None:
            return FollowUpDecision(call, first.intent, "follow_up")
    possessive = read_possessive(text, scene.wording)
    if possessive is None:
        return None
    return await _rewritten(scene, with_name(text, *possessive, last), first, "follow_up")


def _points_only(scene: FollowUpContext, call: Call, reference: Reference) -> bool:
    """Whether a call took the reference for a value, or took nothing from a bare reference."""
    spans = [source.span for source in call.call.sources.values() if source.span]
    start, end = reference.span
    if any(first < end and start < last for first, last in spans):
        return True
    return not spans and is_all(scene, reference)


async def _rewritten(
    scene: FollowUpContext, rewritten: Rewritten | None, first: FollowUpDecision, how: How
) -> FollowUpDecision | None:
    """The message decided with something put in, where that is what it needed."""
    if rewritten is None:
        return None
    second = await scene.alone(rewritten.text)
    if not isinstance(second.decision, Call | MissingArguments):
        return None
    asking, meant = first.decision, second.decision.match.template_id
    if isinstance(asking, MissingArguments) and asking.match.template_id != meant:
        return None
    if isinstance(second.decision, MissingArguments) and not isinstance(asking, MissingArguments):
        return None
    found = read_from(second.decision, rewritten, scene.turn.text)
    return FollowUpDecision(found, second.intent, how) if found is not None else None


def _row_referred(intent: Intent, done: Sequence[CompletedCall]) -> ShownValue | None:
    """The row that a pack's reference points to, by its type and position."""
    kind = intent.entities.get("reference_type")
    position = intent.entities.get("reference_position")
    if kind not in ("last", "previous", "specific"):
        return None
    if kind == "specific" and position is None:
        return only_shown(done)
    usual = {"last": 1, "previous": 2}.get(str(kind), 0)
    counted = position if isinstance(position, int) else usual
    return resolve_reference(Reference(_KINDS.get(str(kind), "specific"), counted), done)


def _routed(
    intent: Intent, done: Sequence[CompletedCall], library: Library
) -> Call | MissingArguments | None:
    """The call that a pack's reference turns into; None when it refers to nothing.

    Of the templates that are for the intent it leads to, the one whose required arguments
    the message and the row it points to give.
    """
    entities = {
        name: value
        for name, value in intent.entities.items()
        if name not in ("reference_type", "reference_position")
    }
    meant = intent._replace(name=intent.route or intent.name, entities=entities, ask="")
    shown = _row_referred(intent, call_for_listed_row(done, library))
    calls: list[Call] = []
    for template in library.templates.values():
        if not template.required or template.agrees(meant) is False:
            continue
        arguments, sources = _arguments(template, entities, intent, shown, library)
        decision = build_decision(
            template, library.domain, arguments, sources, {}, "it refers to what was shown"
        )
        if isinstance(decision, Call):
            calls.append(decision)
    return calls[0] if len(calls) == 1 else None


def _arguments(
    template: Template,
    entities: Mapping[str, Any],
    intent: Intent,
    shown: ShownValue | None,
    library: Library,
) -> tuple[dict[str, Any], dict[str, Source]]:
    arguments: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    shown_by = library.templates.get(shown.by.template_id) if shown is not None else None
    named = any(parameter.name in entities for parameter in template.required)
    for parameter in template.parameters:
        name = parameter.name
        if name in entities:
            places = intent.places.get(name, ())
            arguments[name] = entities[name]
            sources[name] = Source("intent", places[0] if places else None)
        elif shown is not None and shown_by is not None and not named:
            value = row_value(parameter, shown.row, shown_by)
            if value is not None:
                arguments[name], sources[name] = value, Source("conversation")
    return arguments, sources
