"""Several adapters behind one: their templates are known there as `shop/orders_of_month`.

In an adapter of its own, a template is known by its id alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from server.core.decision import (
    Call,
    Cancelled,
    Clarify,
    DecidedCalls,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
)
from server.core.turn import ConversationContext

_FOREIGN: Final = " "
"""Before an id of another source: no template's own id has a blank."""


@dataclass(frozen=True, slots=True)
class SourceName:
    """How one of several adapters is called: by its name, and as people are shown it."""

    adapter: str
    label: str


@dataclass(frozen=True, slots=True)
class UnansweredSource:
    """A source that was asked for and gives no answer; `why` may be shown to anybody."""

    source: SourceName
    why: str
    is_down: bool = False
    """Whether it does not serve, rather than having nothing for the question."""


def qualified_id(source: str, template_id: str) -> str:
    return f"{source}/{template_id}"


def split_id(template_id: str) -> tuple[str, str]:
    """Return the adapter and the id that `qualified_id` was made of."""
    source, _, local = template_id.partition("/")
    return source, local


def local_context(context: ConversationContext, source: str) -> ConversationContext:
    """Return what a conversation remembers as one adapter knows it: its own templates by their ids.

    What was offered for a choice is left out, unless all of it is the adapter's.
    """
    prefix = f"{source}/"

    def local(template_id: str) -> str:
        own = template_id.startswith(prefix)
        return template_id.removeprefix(prefix) if own else f"{_FOREIGN}{template_id}"

    made = _renamed(context, local)
    if made.options is not None and any(n.startswith(_FOREIGN) for n in made.options.template_ids):
        made = replace(made, options=None)
    return made


def shared_context(context: ConversationContext, source: str) -> ConversationContext:
    """Return what `local_context` was made of, with what one adapter has added to it."""

    def shared(template_id: str) -> str:
        if template_id.startswith(_FOREIGN):
            return template_id.removeprefix(_FOREIGN)
        return qualified_id(source, template_id)

    return _renamed(context, shared)


def _renamed(context: ConversationContext, rename: Callable[[str], str]) -> ConversationContext:
    asked, options, waiting = context.asked, context.options, context.waiting
    if options is not None:
        options = replace(options, template_ids=tuple(map(rename, options.template_ids)))
    return replace(
        context,
        asked=asked and replace(asked, template_id=rename(asked.template_id)),
        options=options,
        done=tuple(replace(call, template_id=rename(call.template_id)) for call in context.done),
        waiting=waiting and replace(waiting, template_id=rename(waiting.template_id)),
    )


def shared_match(source: str, match: Match) -> Match:
    second = match.runner_up
    return replace(
        match,
        template_id=qualified_id(source, match.template_id),
        runner_up=second and replace(second, template_id=qualified_id(source, second.template_id)),
    )


def shared_ending(source: str, ending: Ending) -> Ending:
    """Return what a turn came to in one adapter, as the one before it knows the templates."""
    match ending:
        case Call(match) | MissingArguments(match) | PendingConfirmation(match):
            return replace(ending, match=shared_match(source, match))
        case DecidedCalls(calls):
            shared = (replace(each, match=shared_match(source, each.match)) for each in calls)
            return DecidedCalls(tuple(shared))
        case Clarify(options):
            return replace(ending, options=tuple(shared_match(source, each) for each in options))
        case NoMatch(_, nearest):
            return replace(ending, nearest=tuple(shared_match(source, each) for each in nearest))
        case Cancelled(str() as template_id):
            return Cancelled(qualified_id(source, template_id))
    return ending
