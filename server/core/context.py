"""What a conversation remembers, as a decision sees it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from server.core.speech import Message
from server.core.values import value


@value
class Asked:
    """A call that lacks arguments, and what was asked for.

    `question` are the words it began with, and `tries` how often it was asked.
    """

    template_id: str
    missing: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    intent: str | None = None
    tries: int = 1


@value
class Options:
    """Templates between which somebody was asked to choose, in the order they were shown."""

    template_ids: tuple[str, ...]
    question: str = ""
    intent: str | None = None


@value
class Done:
    """A call that ran, or waits for a yes, and as much of its result as can be spoken of later.

    `arguments` are those that somebody gave, without defaults. `rows` hold the short fields
    of what was listed, in the order it was shown; `value` is a result that is one number,
    one text or one date. `leads` are the words that the arguments stood behind.
    """

    template_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    value: Any = None
    intent: str | None = None
    leads: Mapping[str, str] = field(default_factory=dict)


@value
class Context:
    """What was said and done before this turn, oldest first.

    `asked` and `options` are what the last answer asked; never both. `held` is the proposal
    that waits for a yes, and `waiting` its call, which can still be corrected.
    """

    messages: tuple[Message, ...] = ()
    asked: Asked | None = None
    options: Options | None = None
    done: tuple[Done, ...] = ()
    held: str | None = None
    waiting: Done | None = None


NO_CONTEXT = Context()
