"""Conversations that their clients tell with every question, known by what was said in them."""

import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any, Final, Literal

_PREFIX: Final = "said:"
_HEX_CHARS: Final = 64

Teller = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A call of a tool as a transcript tells it: what it is called there, and its arguments."""

    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class TranscriptKey:
    """Turns what was said into ids, which nobody can make without the secret of the installation.

    The id of a moment stands for everything before it, so that whoever leaves out or changes as
    much as a word gets another one. White space does not count: clients change it.
    """

    secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)

    def start(self, *apart: str) -> str:
        """Return the id of a conversation in which nothing was said, `apart` from others."""
        return self._id(["start", *apart])

    def after(self, before: str, who: Teller, text: str, calls: Iterable[ToldCall] = ()) -> str:
        """Return the id of the moment after a message, from that of the moment before it."""
        told = [[call.name, call.arguments] for call in calls]
        return self._id([before, who, " ".join(text.split()), told])

    def _id(self, told: Any) -> str:
        plain = json.dumps(told, sort_keys=True).encode()
        return _PREFIX + hmac.new(self.secret, plain, "sha256").hexdigest()


def hex_of_moment(moment: str) -> str:
    return moment.removeprefix(_PREFIX)


def moment_of_hex(digits: str) -> str | None:
    """Return the id of a moment from its digits; None for what cannot be one."""
    if len(digits) != _HEX_CHARS or not set(digits) <= set("0123456789abcdef"):
        return None
    return _PREFIX + digits


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question that was answered before, and the moment after its answer.

    One without a question stands for all before it, and can be known by its moment alone.
    """

    question: str | None
    moment: str


@dataclass(frozen=True, slots=True)
class ReturnedCall:
    """A call that the client made itself, because it was told to, and what it says came of it."""

    call: ToldCall
    result: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said before a question, as the client tells it, oldest first.

    `moment` is the one in which it is answered.
    """

    key: TranscriptKey
    exchanges: tuple[Exchange, ...]
    moment: str

    def after(self, text: str, calls: Iterable[ToldCall] = ()) -> str:
        """Return the id of the moment after the answer."""
        return self.key.after(self.moment, "assistant", text, calls)
