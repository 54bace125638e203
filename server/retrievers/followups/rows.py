"""Calls for a row that an earlier answer listed."""

from collections.abc import Mapping
from typing import Any

from server.conversation.followups.references import (
    Reference,
    ShownValue,
    read_reference,
    resolve_reference,
)
from server.conversation.followups.rows import nouns, row_identity, row_value
from server.core.decision import Call, MissingArguments
from server.core.tools import Source
from server.core.turn import CompletedCall
from server.library.model import Template
from server.retrievers.followups.context import FollowUpContext


def calls_with_rows(ctx: FollowUpContext) -> tuple[CompletedCall, ...]:
    """The calls that showed rows which can be spoken of: those with a number of their own."""
    library = ctx.library.templates
    templates = tuple(library.values())
    return tuple(
        call
        for call in ctx.turn.context.done
        if call.rows
        and call.template_id in library
        and row_identity(call.rows[0], library[call.template_id], templates) is not None
    )


def reference_in(ctx: FollowUpContext) -> tuple[Reference, ShownValue] | None:
    """The place in a list that the message speaks of, with the row that stands there."""
    templates = ctx.library.templates
    names = [call.template_id for call in ctx.turn.context.done if call.rows]
    things = {noun for name in names if name in templates for noun in nouns(templates[name])}
    reference = read_reference(ctx.turn.text, ctx.lexicon, things)
    if reference is None:
        return None
    shown = resolve_reference(reference, calls_with_rows(ctx))
    return (reference, shown) if shown is not None else None


def is_only_reference(ctx: FollowUpContext, reference: Reference) -> bool:
    """Whether the message is the reference, and words to ask for it."""
    left = ctx.utterance.left([reference.span], ctx.lexicon)
    asking = ctx.lexicon.commands | ctx.lexicon.asks
    return all(word.text in asking for word in left)


def call_for_another_row(ctx: FollowUpContext, last: CompletedCall) -> Call | None:
    """The last call for another row, of which the message says nothing but the place.

    "And the last one?" is about the list, and not about what was shown since.
    """
    found = reference_in(ctx)
    if found is None or not is_only_reference(ctx, found[0]):
        return None
    lists = [call for call in calls_with_rows(ctx) if len(call.rows) > 1]
    shown = resolve_reference(found[0], lists[-1:]) or found[1]
    template = ctx.library.templates[last.template_id]
    fresh = row_values(ctx, template, shown)
    if not template.required or any(each.name not in fresh for each in template.required):
        return None
    why = "the last call, for another that was shown"
    decision = ctx.call_or_ask(template, {**last.arguments, **fresh}, {}, why)
    return decision if isinstance(decision, Call) else None


def call_with_row(ctx: FollowUpContext, asking: MissingArguments, shown: ShownValue) -> Call | None:
    """The call whose missing arguments a row that was shown has, all of them."""
    template = ctx.library.templates[asking.match.template_id]
    values = row_values(ctx, template, shown)
    return _completed_call(ctx, asking, template, values, "it refers to what was shown")


def call_with_last_arguments(
    ctx: FollowUpContext, asking: MissingArguments, last: CompletedCall
) -> Call | None:
    """The call whose missing arguments the last call had, under the same names and types."""
    template = ctx.library.templates[asking.match.template_id]
    before = ctx.library.templates[last.template_id]
    types = {parameter.name: parameter.type for parameter in before.parameters}
    alike = {
        parameter.name: last.arguments[parameter.name]
        for parameter in template.parameters
        if types.get(parameter.name) == parameter.type and parameter.name in last.arguments
    }
    return _completed_call(ctx, asking, template, alike, "it goes on with the last call")


def row_values(ctx: FollowUpContext, template: Template, shown: ShownValue) -> dict[str, Any]:
    """The parameters of a template that a row has a value for, with that value."""
    shown_by = ctx.library.templates.get(shown.by.template_id)
    if shown_by is None:
        return {}
    values = {each.name: row_value(each, shown.row, shown_by) for each in template.parameters}
    return {name: value for name, value in values.items() if value is not None}


def _completed_call(
    ctx: FollowUpContext,
    asking: MissingArguments,
    template: Template,
    values: Mapping[str, Any],
    why: str,
) -> Call | None:
    wanted = {missing.name for missing in asking.missing}
    if any(missing.problem for missing in asking.missing):
        return None
    fresh = {name: values[name] for name in wanted if values.get(name) is not None}
    if fresh.keys() != wanted:
        return None
    sources = {**asking.sources, **dict.fromkeys(fresh, Source("conversation"))}
    decision = ctx.call_or_ask(template, {**asking.arguments, **fresh}, sources, why)
    return decision if isinstance(decision, Call) else None
