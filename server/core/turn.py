"""A turn: the caller, the question, its intent, and what the conversation remembers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from server.core.chat_messages import Message
from server.core.transcript import ReturnedCall, Transcript

SESSION_ID: Final = r"^[A-Za-z0-9_.:-]{1,128}$"
"""What a client may call a conversation."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A call that lacks arguments, and which of them the user was asked for.

    `question` are the words it began with, and `tries` how often it was asked.
    """

    template_id: str
    missing: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    intent: str | None = None
    tries: int = 1


@dataclass(frozen=True, slots=True)
class OfferedChoices:
    """Templates that the user was asked to choose from, in the order they were shown."""

    template_ids: tuple[str, ...]
    question: str = ""
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A call that ran or waits to be confirmed, and what later questions may refer to.

    `arguments` are those that somebody gave, without defaults. `rows` hold the short fields
    of what was listed, in the order it was shown; `value` is a result that is one number,
    one text or one date. `leads` are the words that the arguments stood behind. `together` is the
    turn that made it beside calls of other adapters, where one did.
    """

    template_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    value: Any = None
    intent: str | None = None
    leads: Mapping[str, str] = field(default_factory=dict)
    together: str = ""


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What was said and done before this turn, oldest first.

    `asked` and `options` are what the last answer asked; never both. `held` is the proposal
    that waits to be confirmed, and `waiting` its call, which can still be corrected.
    """

    messages: tuple[Message, ...] = ()
    asked: PendingQuestion | None = None
    options: OfferedChoices | None = None
    done: tuple[CompletedCall, ...] = ()
    held: str | None = None
    waiting: CompletedCall | None = None
    held_in: str | None = None
    """The session of the proposal, where each moment of the conversation has an id of its own."""


NO_CONTEXT = ConversationContext()

IntentMethod = Literal["keyword", "regex", "semantic", "default"]

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Intent(NamedTuple):
    """A detected intent. `confidence` is 0 to 1, and `explanation` is for people.

    `route` is the intent that a reference to an earlier answer turns into once it is
    known what it refers to. `ask` is what to ask back instead of acting on it, empty when
    it can be acted on. `places` are where in the question each entity was read, as
    (start, end) in characters; an entity that nobody named has none. `unread` are words that
    narrow the question and that nothing was made of (None where no account is kept), and
    `reads` the entities that it can have. `by_model` says that only a model can do it.
    """

    name: str
    confidence: float
    method: IntentMethod
    entities: Mapping[str, Any] = _NONE
    flags: Mapping[str, bool] = _NONE
    explanation: str = ""
    route: str | None = None
    ask: str = ""
    places: Mapping[str, tuple[tuple[int, int], ...]] = _NONE
    unread: tuple[str, ...] | None = None
    reads: frozenset[str] = frozenset()
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, without the key itself."""

    key_id: str
    adapter: str
    user_id: str | None = None
    role: str = "user"
    limits: tuple[str, ...] = ()
    """Rate limits of this key, written as `60/minute`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question. `received_at` is aware and in UTC; `id` is the request id."""

    id: str
    text: str
    session_id: str
    caller: Caller
    received_at: datetime
    languages: tuple[str, ...] = ()
    """Languages the reader prefers, as BCP 47 tags, best first."""
    intent: Intent | None = None
    """What the rule engine makes of it, for adapters that have one."""
    mentions: Intent | None = None
    """The same intent with everything that the rule engine read, whatever the intent."""
    context: ConversationContext = NO_CONTEXT
    """What the conversation remembers; nothing, when this is its first turn."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Values by name for what the last answer asked for; `text` then says them in words."""
    continues: bool = False
    """Whether the client named the conversation, which may then have earlier turns."""
    transcript: Transcript | None = None
    """The conversation as the client tells it, where it does not name one."""
    returned: tuple[ReturnedCall, ...] = ()
    """What came of the calls of this question, where the client made them itself."""
    runs: bool = True
    """Whether what is decided is done; else the client is told the calls, to make them itself."""
