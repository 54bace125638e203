"""A message that points to what was shown, and the same message with the name in place."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from server.conversation.followups.references import (
    Reference,
    ShownValue,
    has_anaphor,
    named,
    noun_of,
    only_shown,
    read_possessive,
    read_result,
    resolve_reference,
    row_identity,
)
from server.core.decision import Call, ClarifyingQuestion, Decision, MissingArguments
from server.core.tools import Source
from server.core.turn import Intent
from server.library.model import Template
from server.retrievers.followups.context import FollowUpContext, FollowUpDecision, Rewriting
from server.retrievers.followups.repeat_call import (
    call_with_last_arguments,
    call_with_row,
    calls_with_rows,
    is_only_reference,
    reference_in,
    repeat_with_entities,
    row_values,
)

_REFERENCE: Final = ("reference_type", "reference_position")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def to_shown_row(ctx: FollowUpContext, alone: FollowUpDecision) -> FollowUpDecision:
    """What points to a row that was shown: "the second one", "the last post"."""
    found = reference_in(ctx)
    if found is None:
        return alone
    reference, shown = found
    first = alone.decision
    if isinstance(first, Call) and not _needs_reference(ctx, first, reference):
        return alone
    if isinstance(first, MissingArguments):
        call = call_with_row(ctx, first, shown)
        if call is not None:
            return FollowUpDecision(call, alone.intent, "reference")
    name = _row_name(ctx, shown)
    if name is None:
        return alone
    rewriting = Rewriting(ctx.turn.text, reference.span, name, "reference", first)
    return replace(alone, rewritings=(rewriting,))


def by_reference(ctx: FollowUpContext, alone: FollowUpDecision) -> FollowUpDecision:
    """What points to a row, the last result or the last arguments in so many words."""
    last, text, first = ctx.last, ctx.turn.text, alone.decision
    if last is None:
        return alone
    decided = to_shown_row(ctx, alone)
    if decided.contribution:
        return decided
    span = read_result(text, ctx.lexicon)
    if span is not None and (value := _value_as_text(last.value)) is not None:
        rewriting = Rewriting(text, span, value, "result", first)
        decided = replace(decided, rewritings=(*decided.rewritings, rewriting))
    points = ctx.goes_on or has_anaphor(ctx.utterance.words, ctx.lexicon)
    if points and isinstance(first, MissingArguments):
        call = call_with_last_arguments(ctx, first, last)
        if call is not None:
            return replace(decided, decision=call, contribution="follow_up")
    possessive = read_possessive(text, ctx.lexicon)
    called = named(last.arguments)
    if possessive is not None and called is not None:
        span, form = possessive
        name = form.format(f"{noun_of(called[0])} {called[1]}")
        rewriting = Rewriting(text, span, name, "follow_up", first)
        decided = replace(decided, rewritings=(*decided.rewritings, rewriting))
    return decided


def by_pack_reference(ctx: FollowUpContext, first: Decision) -> FollowUpDecision | None:
    """What a rule pack says refers to earlier answers.

    Of the templates that are for the intent it leads to, the one whose required arguments
    the message and the row it points to give.
    """
    intent = ctx.turn.intent
    if intent is None or intent.route is None or not isinstance(first, ClarifyingQuestion):
        return None
    route = intent.route
    if not intent.entities and ctx.turn.mentions is not None:
        # Too little to say what is wanted alone, it still says which of the shown ones.
        said = ctx.turn.mentions.entities
        intent = intent._replace(entities={n: said[n] for n in _REFERENCE if n in said})
    if intent.entities.get("reference_type") == "context":
        return repeat_with_entities(ctx) or more_like_shown(ctx, intent)
    own = {name: intent.entities[name] for name in intent.entities if name not in _REFERENCE}
    routed = intent._replace(name=route, ask="", route=None)
    meant = routed._replace(entities=own)
    shown = _row_of_pack_reference(ctx, intent)
    decisions = [
        _call_for_intent(ctx, template, meant, shown)
        for template in ctx.library.templates.values()
        if template.required and template.agrees(meant) is not False
    ]
    calls = [decision for decision in decisions if isinstance(decision, Call)]
    return FollowUpDecision(calls[0], routed, "reference") if len(calls) == 1 else None


def more_like_shown(ctx: FollowUpContext, intent: Intent) -> FollowUpDecision | None:
    """The latest list once more, of what is like the row that is pointed to: of its topic.

    Without a place it has to be the only row of the last answer.
    """
    done = calls_with_rows(ctx)
    position = intent.entities.get("reference_position")
    shown = only_shown(done)
    if isinstance(position, int):
        shown = resolve_reference(Reference("specific", position), done)
    if shown is None:
        return None
    for call in reversed(done):
        template = ctx.library.templates.get(call.template_id)
        if template is None or template.required:
            continue
        names = [parameter.name for parameter in template.parameters]
        alike = {name: shown.row[name] for name in names if isinstance(shown.row.get(name), str)}
        if alike:
            sources = dict.fromkeys(alike, Source("conversation"))
            decision = ctx.call_or_ask(template, alike, sources, "more like what was shown")
            return ctx.decided(decision, call.intent, "reference")
    return None


def _call_for_intent(
    ctx: FollowUpContext, template: Template, intent: Intent, shown: ShownValue | None
) -> Call | MissingArguments:
    arguments: dict[str, Any] = {}
    if shown is not None and not any(each.name in intent.entities for each in template.required):
        arguments = row_values(ctx, template, shown)
    sources: dict[str, Source] = {}
    for parameter in template.parameters:
        name = parameter.name
        if name in intent.entities:
            places = intent.places.get(name, ())
            arguments[name] = intent.entities[name]
            sources[name] = Source("intent", places[0] if places else None)
    return ctx.call_or_ask(template, arguments, sources, "it refers to what was shown")


def _row_of_pack_reference(ctx: FollowUpContext, intent: Intent) -> ShownValue | None:
    kind, position = map(intent.entities.get, _REFERENCE)
    done = calls_with_rows(ctx)
    if kind not in ("last", "previous", "specific"):
        return None
    if kind == "specific" and position is None:
        return only_shown(done)
    if not isinstance(position, int):
        position = {"last": 1, "previous": 2}.get(kind, 0)
    return resolve_reference(Reference(kind, position), done)


def _needs_reference(ctx: FollowUpContext, call: Call, reference: Reference) -> bool:
    """Whether a call took the reference for a value, or took nothing from a bare reference."""
    spans = [source.span for source in call.call.sources.values() if source.span]
    start, end = reference.span
    if any(first < end and start < last for first, last in spans):
        return True
    return not spans and is_only_reference(ctx, reference)


def _row_name(ctx: FollowUpContext, shown: ShownValue) -> str | None:
    templates = ctx.library.templates
    shown_by = templates.get(shown.by.template_id)
    if shown_by is None:
        return None
    called = row_identity(shown.row, shown_by, tuple(templates.values()))
    return None if called is None else f"{noun_of(called[0])} {called[1]}"


def _value_as_text(value: Any) -> str | None:
    """A result as it can be written in a message, where it is a number or a date."""
    if isinstance(value, str):
        return value if _DATE.fullmatch(value) else None
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return format(Decimal(str(value)), "f")
    return None
