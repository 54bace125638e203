"""The last call once more, with what a message changes in it, or for a row that was listed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from server.conversation.followups.references import (
    Reference,
    ShownValue,
    nouns,
    read_reference,
    resolve_reference,
    row_identity,
    row_value,
)
from server.core.decision import Call, MissingArguments
from server.core.tools import Source
from server.core.turn import CompletedCall
from server.library.model import Template
from server.retrievers.followups.context import Contribution, FollowUpContext, FollowUpDecision
from server.retrievers.followups.provided_values import (
    ProvidedValues,
    is_likely,
    provided_values,
    whole_message,
)
from server.text.tokens import fold, lead_at

_WHY: Final = "the last call, with what was changed"


def repeat_last_call(ctx: FollowUpContext) -> FollowUpDecision | None:
    """The last call with what the message changes in it, when that is all it says."""
    last = ctx.last
    if last is None or not ctx.goes_on:
        return None
    template = ctx.library.templates[last.template_id]
    decision = call_for_another_row(ctx, last) or _changed_call(ctx, last, template)
    is_correction = ctx.utterance.form == "correction"
    contribution: Contribution = "correction" if is_correction else "follow_up"
    return ctx.decided(decision, last.intent, contribution) if decision is not None else None


def repeat_with_entities(ctx: FollowUpContext) -> FollowUpDecision | None:
    """The latest call that has a use for what a rule pack found, with that in it."""
    for done in reversed(ctx.turn.context.done):
        template = ctx.library.templates.get(done.template_id)
        if template is None:
            continue
        names = [parameter.name for parameter in template.parameters]
        given = provided_values(ctx, template, names)
        own = {name for name, source in given.sources.items() if source.kind == "intent"}
        fresh = {name for name in own if given.arguments[name] != done.arguments.get(name)}
        if fresh and own == given.sources.keys():
            return ctx.decided(_call_with(ctx, given, done, template), done.intent, "follow_up")
    return None


def _changed_call(
    ctx: FollowUpContext, last: CompletedCall, template: Template
) -> Call | MissingArguments | None:
    """The last call with the message's values, when it is nothing but values for it; else None.

    Each value has to be for one parameter and no other; where it could be for several, these
    are asked for.
    """
    names = [parameter.name for parameter in template.parameters]
    given = _only_written(ctx, provided_values(ctx, template, names))
    if given.problems and not given.left and not given.arguments:
        return _call_with(ctx, given, last, template)
    if not given.whole:
        given = _other_free_text(ctx, last, template)
        return _call_with(ctx, given, last, template) if given.arguments else None
    if not is_likely(ctx, template, given, last.arguments):
        return None
    rivals = _rival_parameters(ctx, given, template)
    if not rivals:
        return _call_with(ctx, given, last, template)
    meant = _by_preceding_word(ctx, given, rivals, last)
    if meant is not None:
        return _call_with(ctx, meant, last, template)
    labels = " or ".join(name.replace("_", " ") for name in rivals)
    problems = {name: f"{value} could be the {labels}" for name, value in rivals.items()}
    kept = {name: value for name, value in last.arguments.items() if name not in rivals}
    return ctx.call_or_ask(template, kept, {}, _WHY, problems)


def _call_with(
    ctx: FollowUpContext, given: ProvidedValues, last: CompletedCall, template: Template
) -> Call | MissingArguments:
    arguments: dict[str, Any] = {**last.arguments, **given.arguments}
    sources = {**dict.fromkeys(last.arguments, Source("conversation")), **given.sources}
    return ctx.call_or_ask(template, arguments, sources, _WHY, given.problems)


def _only_written(ctx: FollowUpContext, given: ProvidedValues) -> ProvidedValues:
    """Only what is written: that "until May" begins today is for whole questions."""
    idle = ctx.lexicon.idle
    sources = {n: each for n, each in given.sources.items() if fold(each.text or "") not in idle}
    if len(sources) == len(given.sources):
        return given
    return replace(given, arguments={n: given.arguments[n] for n in sources}, sources=sources)


def _other_free_text(
    ctx: FollowUpContext, last: CompletedCall, template: Template
) -> ProvidedValues:
    """The whole message in place of the only free text that the last call had."""
    values = last.arguments
    texts = [each.name for each in template.required if isinstance(values.get(each.name), str)]
    if len(texts) != 1:
        return ProvidedValues()
    given = whole_message(ctx, template, texts[0], like=values[texts[0]])
    # Any words could be a sentence, so that a yes has to stand between, or a "no" before.
    is_loose = given.is_sentence and not template.policy.confirm
    if not given.arguments or (is_loose and ctx.utterance.form != "correction"):
        return ProvidedValues()
    return given


def _rival_parameters(
    ctx: FollowUpContext, given: ProvidedValues, template: Template
) -> Mapping[str, Any]:
    """Parameters that could each have a value of the message, with that value; mostly none."""
    for name, source in given.sources.items():
        # One place that gave two values says of neither that it was meant.
        shared = sum(source.span == other.span for other in given.sources.values()) > 1
        if source.span is None or (name in given.sure and not shared):
            continue
        rivals = {name: given.arguments[name]}
        for parameter in template.parameters:
            other = parameter.name
            if other == name or (other in given.sources and not shared):
                continue
            taken = provided_values(ctx, template, [other])
            span = taken.sources[other].span if other in taken.sources else None
            if span is not None and span[0] < source.span[1] and source.span[0] < span[1]:
                rivals[other] = taken.arguments[other]
        if len(rivals) > 1:
            return rivals
    return {}


def _by_preceding_word(
    ctx: FollowUpContext, given: ProvidedValues, rivals: Mapping[str, Any], last: CompletedCall
) -> ProvidedValues | None:
    """The value for the one rival that stood behind the same word in the last call: "by" 5."""
    sources = [source for name, source in given.sources.items() if name in rivals]
    span = sources[0].span if len(given.sources) == 1 else None
    word = lead_at(ctx.text, span[0]) if span is not None else ""
    names = [name for name in rivals if word and last.leads.get(name) == word]
    if len(names) != 1:
        return None
    return ProvidedValues({names[0]: rivals[names[0]]}, {names[0]: sources[0]})


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
