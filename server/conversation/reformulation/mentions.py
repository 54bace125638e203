"""What a conversation names: its targets, and whether a text stands in it at all."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from server.core.intent import Intent
from server.core.speech import Message

Read = Callable[[str], Intent]
"""A text to what the adapter's rule pack makes of it."""

_QUOTED: Final = re.compile(r"“[^”]*”")
_WORDS: Final = re.compile(r"\w+")
_EMPTY: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "your",
        "his",
        "her",
        "our",
        "their",
        "this",
        "that",
        "these",
        "those",
        "order",
        "number",
        "item",
        "nr",
        "no",
    ]
)
_MOST_WORDS_BESIDE: Final = 3


class Mentions:
    """Finds targets by the entities that name them, the first of `entities` that is there."""

    def __init__(self, read: Read | None, entities: Sequence[str]) -> None:
        self._read = read
        self._entities = tuple(entities)

    def in_text(self, text: str) -> tuple[str, ...]:
        """The targets that a text names, each once, in their order."""
        return self.of(self._read(text)) if self._read is not None else ()

    def of(self, read: Intent) -> tuple[str, ...]:
        """The targets among the entities that were read."""
        for entity in self._entities:
            found = tuple(dict.fromkeys(_texts(read.entities.get(entity))))
            if found:
                return found
        return ()

    def is_hardly_more(self, text: str, read: Intent) -> bool:
        """Whether a text says little besides its target, as an answer to “which one?” does."""
        left = list(text)
        for entity in self._entities:
            for start, end in read.places.get(entity, ()):
                left[start:end] = " " * (end - start)
        return len(_WORDS.findall("".join(left))) <= _MOST_WORDS_BESIDE

    def latest(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """The targets of the latest message that names any; more than one when it names more."""
        for message in reversed(messages):
            found = self.in_text(_said(message))
            if found:
                return found
        return ()


def grounded(target: str, messages: Sequence[Message]) -> bool:
    """Whether the words of `target` stand together in one of the messages.

    Articles and words such as “order” do not count; a target of such words alone names
    nothing, and stands nowhere.
    """
    wanted = _words(target)
    return bool(wanted) and any(_holds(_words(m.content), wanted) for m in messages)


def _said(message: Message) -> str:
    """What a message speaks of. What the assistant quotes is an example, and means nothing."""
    return message.content if message.role == "user" else _QUOTED.sub(" ", message.content)


def _texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else (value,):
        if item is not None and str(item).strip():
            yield str(item)


def _words(text: str) -> list[str]:
    return [word for word in _WORDS.findall(text.casefold()) if word not in _EMPTY]


def _holds(words: list[str], wanted: list[str]) -> bool:
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))
