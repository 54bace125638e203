"""A message with what it points to written in place of the words that point."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from server.conversation.followups.referring import Shown
from server.conversation.followups.rows import identity, named, noun_of
from server.core.context import Done
from server.core.decision import AskFor, Call
from server.core.tools import Source
from server.library.model import Library

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message with something put in place of the words at `span`, which end at `end` now."""

    text: str
    span: Span
    end: int


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
