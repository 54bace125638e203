"""A message that points to what was shown: a row of a list, an argument, the last result."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from server.conversation.followups.referring import (
    Reference,
    ReferenceKind,
    Shown,
    only_shown,
    resolve,
)
from server.conversation.followups.rows import identity, named, noun_of, row_value
from server.core.context import Done
from server.core.decision import AskFor, Call
from server.core.intent import Intent
from server.core.tools import Source
from server.library.model import Domain, Library, Template
from server.retrievers.following.building import build

_KINDS: Final[Mapping[str, ReferenceKind]] = {"last": "last", "previous": "previous"}
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message with something put in place of the words at `span`, which end at `end` now."""

    text: str
    span: Span
    end: int


def listed(done: Sequence[Done], library: Library) -> tuple[Done, ...]:
    """The calls that showed rows which can be spoken of: those with a number of their own."""
    templates = tuple(library.templates.values())
    return tuple(
        call
        for call in done
        if call.rows
        and call.template_id in library.templates
        and identity(call.rows[0], library.templates[call.template_id], templates) is not None
    )


def row_referred(intent: Intent, done: Sequence[Done]) -> Shown | None:
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


def routed(intent: Intent, done: Sequence[Done], library: Library) -> Call | AskFor | None:
    """The call that a pack's reference turns into; None when it refers to nothing.

    Of the templates that are for the intent it leads to, the one whose required arguments
    the message and the row it points to give.
    """
    entities = {
        name: value
        for name, value in intent.entities.items()
        if name not in ("reference_type", "reference_position")
    }
    meant = replace(intent, name=intent.route or intent.name, entities=entities, ask="")
    shown = row_referred(intent, listed(done, library))
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


def from_row(asking: AskFor, shown: Shown, library: Library, domain: Domain) -> Call | None:
    """The call whose missing arguments a row that was shown has, all of them."""
    template = library.templates[asking.match.template_id]
    shown_by = library.templates.get(shown.by.template_id)
    if shown_by is None:
        return None
    return _completed(
        asking,
        template,
        domain,
        {p.name: row_value(p, shown.row, shown_by) for p in template.parameters},
        "it refers to what was shown",
    )


def for_row(last: Done, shown: Shown, library: Library) -> Call | None:
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
    decision = build(template, library.domain, arguments, {}, {}, why)
    return decision if isinstance(decision, Call) else None


def from_last(asking: AskFor, last: Done, library: Library) -> Call | None:
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
    asking: AskFor, template: Template, domain: Domain, values: Mapping[str, Any], why: str
) -> Call | None:
    wanted = {missing.name for missing in asking.missing}
    if any(missing.problem for missing in asking.missing):
        return None
    fresh = {name: values[name] for name in wanted if values.get(name) is not None}
    if fresh.keys() != wanted:
        return None
    sources = {**asking.sources, **dict.fromkeys(fresh, Source("conversation"))}
    decision = build(template, domain, {**asking.arguments, **fresh}, sources, {}, why)
    return decision if isinstance(decision, Call) else None


def with_row(text: str, span: Span, shown: Shown, library: Library) -> Rewritten | None:
    """The message with what the row is called by in place of the words that point to it."""
    shown_by = library.templates.get(shown.by.template_id)
    if shown_by is None:
        return None
    called = identity(shown.row, shown_by, tuple(library.templates.values()))
    if called is None:
        return None
    name, value = called
    return _put(text, span, f"{noun_of(name)} {value}")


def with_name(text: str, span: Span, form: str, last: Done) -> Rewritten | None:
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


def read_from(decision: Call | AskFor, rewritten: Rewritten, original: str) -> Call | AskFor | None:
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
