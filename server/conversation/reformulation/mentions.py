"""The targets that a conversation names."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from server.conversation.followups.lexicon import Lexicon
from server.conversation.reformulation.references import (
    TargetReference,
    read_target_reference,
    resolve_target,
)
from server.core.chat_messages import Message
from server.core.turn import Intent
from server.text.language import load_language

Read = Callable[[str], Intent]
"""Reads a text by the adapter's rule pack."""

_QUOTED: Final = re.compile(r"“[^”]*”")
_WORDS: Final = re.compile(r"[^\W_]+")
_PRONOUNS: Final = load_language("en").group("target_pronouns")
_EMPTY: Final = load_language("en").group("target_fillers")
_MOST_WORDS_BESIDE: Final = 3


class Mentions:
    """Finds targets by the entities that name them, the first of `entities` that is there.

    `things` are nouns of targets: the “order” of “the second order”.
    """

    def __init__(
        self, read: Read | None, entities: Sequence[str], things: Sequence[str], lexicon: Lexicon
    ) -> None:
        self._read = read
        self._entities = tuple(entities)
        self._lexicon = lexicon
        self._things = _EMPTY.union(*map(str.split, things))

    def in_text(self, text: str) -> tuple[str, ...]:
        """Return the targets that a text names, each once, in their order."""
        return self.of(self._read(text)) if self._read is not None else ()

    def of(self, read: Intent) -> tuple[str, ...]:
        for entity in self._entities:
            texts = dict.fromkeys(_texts(read.entities.get(entity)))
            found = tuple(text for text in texts if not self.points(text))
            if found:
                return found
        return ()

    def points(self, target: str) -> bool:
        """Return whether a text names nothing itself: “it”, “latter”, “second one”."""
        words = [word for word, _ in _words(target)]
        lexicon = self._lexicon
        return bool(words) and all(
            word in _PRONOUNS
            or word in lexicon.positions
            or word in lexicon.other
            or word in lexicon.every
            or word in lexicon.things
            or (word,) in lexicon.last
            for word in words
        )

    def reference_in(self, text: str) -> TargetReference | None:
        """Return what a text points to by its place among what was named: “the other one”."""
        return read_target_reference(text, self._lexicon, self._things)

    def chosen_in(self, text: str, targets: Sequence[str]) -> tuple[str, ...]:
        """Return which of the targets of a text it goes on to point to: the first one.

        The other one is the one that was not spoken of last. All, where it points to none.
        """
        reference = self.reference_in(text)
        if reference is None or reference.kind == "every":
            return tuple(targets)
        if reference.kind == "other":
            before = text[: reference.span[0]]
            spoken_of = max(targets, key=before.rfind)
            return tuple(each for each in targets if each != spoken_of)
        return resolve_target(reference, [targets]) or tuple(targets)

    def is_hardly_more(
        self, text: str, read: Intent, reference: TargetReference | None = None
    ) -> bool:
        """Return whether a text says little besides its target, as the answer “#001” does."""
        left = list(text)
        spans = [span for entity in self._entities for span in read.places.get(entity, ())]
        for start, end in [*spans, *((reference.span,) if reference else ())]:
            left[start:end] = " " * (end - start)
        return len(_WORDS.findall("".join(left))) <= _MOST_WORDS_BESIDE

    def latest(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Return the targets of the latest message that has any."""
        return next(filter(None, reversed(self._named(messages))), ())

    def resolved(self, reference: TargetReference, messages: Sequence[Message]) -> tuple[str, ...]:
        """Return what a reference means after `messages`: one target, several, or none."""
        return resolve_target(reference, self._named(messages))

    def _named(self, messages: Sequence[Message]) -> list[tuple[str, ...]]:
        """The targets of each message, also those that it pointed to."""
        named = list[tuple[str, ...]]()
        for message in messages:
            text = _spoken_text(message)
            found = self.in_text(text)
            if not found and message.role == "user":
                reference = self.reference_in(text)
                found = resolve_target(reference, named) if reference else ()
            named.append(found)
        return named

    def as_written(self, target: str, messages: Sequence[Message]) -> str | None:
        """Return `target` as it is written in the latest message that has it; None if none does.

        Its words have to stand together. Articles and words such as “order” do not count; a
        target of such words alone names nothing, and stands nowhere.
        """
        wanted = [word for word, _ in _words(target)]
        if not wanted:
            return None
        for message in reversed(messages):
            words = _words(message.content)
            at = _index_of(wanted, [word for word, _ in words])
            if at is not None:
                for known in self.in_text(message.content):
                    if _index_of(wanted, [word for word, _ in _words(known)]) is not None:
                        return known
                start, end = words[at][1].start(), words[at + len(wanted) - 1][1].end()
                numbered = message.content[:start].endswith("#")
                return message.content[start - numbered : end]
        return None


def is_pronoun(target: str) -> bool:
    words = [word for word, _ in _words(target)]
    return bool(words) and _PRONOUNS.issuperset(words)


def _spoken_text(message: Message) -> str:
    """Return the text of a message, without what the assistant quotes as examples."""
    return message.content if message.role == "user" else _QUOTED.sub(" ", message.content)


def _texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else (value,):
        if item is not None and str(item).strip():
            yield str(item)


def _words(text: str) -> list[tuple[str, re.Match[str]]]:
    every = ((found[0].casefold(), found) for found in _WORDS.finditer(text))
    return [(word, found) for word, found in every if word not in _EMPTY]


def _index_of(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    size = len(wanted)
    places = (at for at in range(len(words) - size + 1) if list(words[at : at + size]) == wanted)
    return next(places, None)
