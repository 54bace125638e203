"""Calls for a row that an earlier answer listed."""

from collections.abc import Mapping, Sequence
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
from server.library.model import Domain, Library, Template
from server.retrievers.followups.context import FollowUpContext, build_decision


def call_for_listed_row(
    done: Sequence[CompletedCall], library: Library
) -> tuple[CompletedCall, ...]:
    """The calls that showed rows which can be spoken of: those with a number of their own."""
    templates = tuple(library.templates.values())
    return tuple(
        call
        for call in done
        if call.rows
        and call.template_id in library.templates
        and row_identity(call.rows[0], library.templates[call.template_id], templates) is not None
    )


def reference_in(scene: FollowUpContext) -> tuple[Reference, ShownValue] | None:
    """The place in a list that the message speaks of, with the row that stands there."""
    templates = scene.library.templates
    names = [call.template_id for call in scene.context.done if call.rows]
    things = {noun for name in names if name in templates for noun in nouns(templates[name])}
    reference = read_reference(scene.turn.text, scene.wording, things)
    if reference is None:
        return None
    shown = resolve_reference(reference, call_for_listed_row(scene.context.done, scene.library))
    return (reference, shown) if shown is not None else None


def is_all(scene: FollowUpContext, reference: Reference) -> bool:
    """Whether the message is the reference, and words to ask for it."""
    left = scene.message.saying.left([reference.span], scene.wording)
    asking = scene.wording.commands | scene.wording.asks
    return all(word.text in asking for word in left)


def for_another_row(scene: FollowUpContext, last: CompletedCall) -> Call | None:
    """The last call for another row, of which the message says nothing but the place.

    "And the last one?" is about the list, and not about what was shown since.
    """
    found = reference_in(scene)
    if found is None or not is_all(scene, found[0]):
        return None
    lists = [
        call
        for call in call_for_listed_row(scene.context.done, scene.library)
        if len(call.rows) > 1
    ]
    shown = resolve_reference(found[0], lists[-1:]) or found[1]
    return _for_row(last, shown, scene.library)


def from_row(asking: MissingArguments, shown: ShownValue, library: Library) -> Call | None:
    """The call whose missing arguments a row that was shown has, all of them."""
    template = library.templates[asking.match.template_id]
    shown_by = library.templates.get(shown.by.template_id)
    if shown_by is None:
        return None
    return _completed(
        asking,
        template,
        library.domain,
        {p.name: row_value(p, shown.row, shown_by) for p in template.parameters},
        "it refers to what was shown",
    )


def _for_row(last: CompletedCall, shown: ShownValue, library: Library) -> Call | None:
    """The last call for another row: what that row has, and the rest as it was."""
    template = library.templates[last.template_id]
    shown_by = library.templates.get(shown.by.template_id)
    if shown_by is None or not template.required:
        return None
    values = {p.name: row_value(p, shown.row, shown_by) for p in template.parameters}
    fresh = {name: value for name, value in values.items() if value is not None}
    if any(parameter.name not in fresh for parameter in template.required):
        return None
    why = "the last call, for another that was shown"
    arguments = {**last.arguments, **fresh}
    decision = build_decision(template, library.domain, arguments, {}, {}, why)
    return decision if isinstance(decision, Call) else None


def from_last(asking: MissingArguments, last: CompletedCall, library: Library) -> Call | None:
    """The call whose missing arguments the last call had, under the same names and types."""
    template = library.templates[asking.match.template_id]
    before = library.templates.get(last.template_id)
    if before is None:
        return None
    types = {parameter.name: parameter.type for parameter in before.parameters}
    alike = {
        parameter.name: last.arguments.get(parameter.name)
        for parameter in template.parameters
        if types.get(parameter.name) == parameter.type
    }
    return _completed(asking, template, library.domain, alike, "it goes on with the last call")


def _completed(
    asking: MissingArguments,
    template: Template,
    domain: Domain,
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
    decision = build_decision(template, domain, {**asking.arguments, **fresh}, sources, {}, why)
    return decision if isinstance(decision, Call) else None
