"""A message that points to what was shown: a row of a list, an argument, the last result."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.conversation.followups.referring import (
    Reference,
    ReferenceKind,
    Shown,
    has_anaphor,
    only_shown,
    read_possessive,
    read_result,
    resolve,
)
from server.conversation.followups.rows import row_value
from server.core.context import Done
from server.core.decision import AskBack, AskFor, Call
from server.core.intent import Intent
from server.core.tools import Source
from server.library.model import Library, Template
from server.retrievers.following.building import build
from server.retrievers.following.repeating import continued
from server.retrievers.following.rewriting import (
    Rewritten,
    read_from,
    with_name,
    with_row,
    with_value,
)
from server.retrievers.following.rows import from_last, from_row, is_all, listed, reference_in
from server.retrievers.following.scene import Decided, How, Scene

_KINDS: Final[Mapping[str, ReferenceKind]] = {"last": "last", "previous": "previous"}


def referred(scene: Scene, first: Decided) -> Decided | None:
    """What a rule pack says refers to earlier answers."""
    intent = first.intent
    if intent is None or intent.route is None or not isinstance(first.decision, AskBack):
        return None
    if intent.entities.get("reference_type") == "context":
        return continued(scene)
    found = _routed(intent, scene.context.done, scene.library)
    if found is None:
        return None
    return Decided(found, intent._replace(name=intent.route, ask="", route=None), "reference")


async def row_pointed_to(scene: Scene, first: Decided) -> Decided | None:
    """What points to a row that was shown: "the second one", "the last post"."""
    found = reference_in(scene)
    if found is None:
        return None
    reference, shown = found
    asking = first.decision
    if isinstance(asking, Call) and not _points_only(scene, asking, reference):
        return None
    if isinstance(asking, AskFor):
        call = from_row(asking, shown, scene.library)
        if call is not None:
            return Decided(call, first.intent, "reference")
    row = with_row(scene.turn.text, reference.span, shown, scene.library)
    return await _rewritten(scene, row, first, "reference")


async def pointed(scene: Scene, first: Decided) -> Decided | None:
    """What points to a row, the last result or the last arguments in so many words."""
    last, text = scene.last, scene.turn.text
    if last is None or isinstance(first.decision, AskBack):
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
    if points and isinstance(first.decision, AskFor):
        call = from_last(first.decision, last, scene.library)
        if call is not None:
            return Decided(call, first.intent, "follow_up")
    possessive = read_possessive(text, scene.wording)
    if possessive is None:
        return None
    return await _rewritten(scene, with_name(text, *possessive, last), first, "follow_up")


def _points_only(scene: Scene, call: Call, reference: Reference) -> bool:
    """Whether a call took the reference for a value, or took nothing from a bare reference."""
    spans = [source.span for source in call.call.sources.values() if source.span]
    start, end = reference.span
    if any(first < end and start < last for first, last in spans):
        return True
    return not spans and is_all(scene, reference)


async def _rewritten(
    scene: Scene, rewritten: Rewritten | None, first: Decided, how: How
) -> Decided | None:
    """The message decided with something put in, where that is what it needed."""
    if rewritten is None:
        return None
    second = await scene.alone(rewritten.text)
    if not isinstance(second.decision, Call | AskFor):
        return None
    asking, meant = first.decision, second.decision.match.template_id
    if isinstance(asking, AskFor) and asking.match.template_id != meant:
        return None
    if isinstance(second.decision, AskFor) and not isinstance(asking, AskFor):
        return None
    found = read_from(second.decision, rewritten, scene.turn.text)
    return Decided(found, second.intent, how) if found is not None else None


def _row_referred(intent: Intent, done: Sequence[Done]) -> Shown | None:
    """The row that a pack's reference points to, by its type and position."""
    kind = intent.entities.get("reference_type")
    position = intent.entities.get("reference_position")
    if kind not in ("last", "previous", "specific"):
        return None
    if kind == "specific" and position is None:
        return only_shown(done)
    usual = {"last": 1, "previous": 2}.get(str(kind), 0)
    counted = position if isinstance(position, int) else usual
    return resolve(Reference(_KINDS.get(str(kind), "specific"), counted), done)


def _routed(intent: Intent, done: Sequence[Done], library: Library) -> Call | AskFor | None:
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
    shown = _row_referred(intent, listed(done, library))
    calls: list[Call] = []
    for template in library.templates.values():
        if not template.required or template.agrees(meant) is False:
            continue
        arguments, sources = _arguments(template, entities, intent, shown, library)
        decision = build(
            template, library.domain, arguments, sources, {}, "it refers to what was shown"
        )
        if isinstance(decision, Call):
            calls.append(decision)
    return calls[0] if len(calls) == 1 else None


def _arguments(
    template: Template,
    entities: Mapping[str, Any],
    intent: Intent,
    shown: Shown | None,
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
