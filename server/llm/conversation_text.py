"""What a person has said, and whether a value stands in it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Any, Final

from server.core.tools import Source
from server.core.turn import Turn
from server.library.model import Parameter, Template
from server.llm.fact_tokens import answer_words, read_tokens
from server.text.blocks import find_blocks
from server.text.language import shipped_languages
from server.text.parsed_text import ParsedText
from server.text.stems import stem
from server.text.tokens import DateOrder

_BLANK: Final = "\0"
_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_LEAVES: Final = 200

Place = tuple[int, int, int]
"""Which text, and from which character to which."""


class ConversationText:
    """The texts of one person: the question, and what they said before, newest first.

    Each place gives its value to one argument. `sources` are those of the question that
    gave theirs already.
    """

    def __init__(self, turn: Turn, sources: Mapping[str, Source], date_order: DateOrder) -> None:
        spans = [source.span for source in sources.values() if source.span is not None]
        earlier = [m.content for m in reversed(turn.context.messages) if m.role == "user"]
        self._texts = [_blanked(turn.text, spans), *earlier]
        self._fields = frozenset(chain(*map(_field_names, (turn.text, *earlier))))
        self._now = turn.received_at.astimezone()
        self._order = date_order

    def read_day(self, value: str) -> str | None:
        """Return the day or moment that a text is, as ISO; None for any other text."""
        parsed = ParsedText(value.strip(), self._now, self._order)
        for span in (*parsed.of("datetime"), *parsed.of("date")):
            if (span.start, span.end) == (0, len(parsed.text)):
                return str(span.value.isoformat())
        return None

    def take(self, value: Any, parameter: Parameter, own_words: frozenset[str]) -> bool:
        """Take the value from where it was said; return whether it was.

        A text of nothing but `own_words`, those of the template itself, does not count.
        """
        taken: list[Place] = []
        before = list(self._texts)
        for leaf in _leaves(value):
            place = next(self._places(leaf, parameter, own_words), None)
            if place is None or len(taken) >= _MOST_LEAVES:
                self._texts = before
                return False
            taken.append(place)
            at, start, end = place
            if end > start:
                self._texts[at] = _blanked(self._texts[at], [(start, end)])
        return bool(taken)

    def _places(
        self, value: Any, parameter: Parameter, own_words: frozenset[str]
    ) -> Iterator[Place]:
        kind = parameter.descriptor.kind
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            yield from self._numbers(Decimal(str(value)))
            yield from self._ratios(Decimal(str(value)))
        elif not isinstance(value, str) or not value.strip():
            return  # nothing in a text is a truth value for certain
        elif kind in ("date", "datetime"):
            yield from self._dates(value)
        else:
            if kind == "currency":
                yield from self._currencies(value)
            if _words(value) - own_words or any(char.isdigit() for char in value):
                yield from self._phrases(value)
            else:
                yield from self._values(value)
            yield from self._field_names(value)

    def _numbers(self, value: Decimal) -> Iterator[Place]:
        for at, parsed in self._parsed_texts():
            # Tokens are counted in normal characters, and also found inside JSON.
            same = parsed.text.isascii() or unicodedata.is_normalized("NFKC", parsed.text)
            for token in read_tokens(parsed.text, self._order) if same else ():
                if token.kind == "number" and token.value == value:
                    yield at, token.start, token.end
            for span in parsed.of("number"):
                if Decimal(str(span.value)) == value:
                    yield at, span.start, span.end

    def _ratios(self, value: Decimal) -> Iterator[Place]:
        """Where a word says that number, as it is or in percent: half is 0.5 and 50."""
        for at, text in enumerate(self._texts):
            for word in _WORD.finditer(text):
                ratio = _ratio_words().get(word[0].casefold())
                if ratio is not None and value in (ratio, ratio * 100):
                    yield at, word.start(), word.end()

    def _values(self, value: str) -> Iterator[Place]:
        """Where the words are a value by themselves, such as a day: they may be the template's."""
        for at, parsed in self._parsed_texts():
            for span in (*parsed.of("date"), *parsed.of("datetime"), *parsed.of("time")):
                if parsed.text[span.start : span.end].casefold() == value.casefold():
                    yield at, span.start, span.end

    def _field_names(self, value: str) -> Iterator[Place]:
        """Where the data that was pasted has a field of that name, which data never uses up."""
        if value in self._fields:
            yield 0, 0, 0

    def _dates(self, value: str) -> Iterator[Place]:
        try:
            wanted = datetime.fromisoformat(value)
        except ValueError:
            return
        for at, parsed in self._parsed_texts():
            for span in (*parsed.of("date"), *parsed.of("offset")):
                if span.value == wanted.date():
                    yield at, span.start, span.end
            for span in parsed.of("datetime"):
                if span.value.replace(tzinfo=None) == wanted.replace(tzinfo=None):
                    yield at, span.start, span.end

    def _currencies(self, value: str) -> Iterator[Place]:
        for at, parsed in self._parsed_texts():
            for span in (*parsed.of("currency"), *parsed.of("number")):
                if value.upper() in (span.value, span.unit):
                    yield at, span.start, span.end

    def _phrases(self, value: str) -> Iterator[Place]:
        words = r"\s+".join(re.escape(word) for word in value.casefold().split())
        pattern = re.compile(rf"(?<!\w){words}(?!\w)")
        for at, text in enumerate(self._texts):
            folded = text.casefold()
            if len(folded) == len(text) and (found := pattern.search(folded)):
                yield at, found.start(), found.end()

    def _parsed_texts(self) -> Iterator[tuple[int, ParsedText]]:
        for at, text in enumerate(self._texts):
            yield at, ParsedText(text, self._now, self._order)


def own_words_of(template: Template) -> frozenset[str]:
    """Return the words of a template itself, which are no value that a person gives."""
    counts = Counter(word for example in template.nl_examples for word in _words(example))
    names = [template.id, template.description, template.function_name]
    names += [f"{p.name} {p.description}" for p in template.parameters]
    repeated = {word for word, count in counts.items() if count > 1}
    return answer_words().plain.union(repeated, *map(_words, names))


@cache
def _ratio_words() -> Mapping[str, Decimal]:
    languages = shipped_languages()
    return {w: Decimal(str(n)) for one in languages for w, n in one.numbers.ratios.items()}


def _field_names(text: str) -> Iterator[str]:
    pending: list[Any] = [block.value for block in find_blocks(text)]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            yield from map(str, value)
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _words(text: str) -> set[str]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return {*words, *map(stem, words)}


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + _BLANK * (end - start) + text[end:]
    return text


def _leaves(value: Any) -> list[Any]:
    found, pending = list[Any](), [value]
    while pending and len(found) <= _MOST_LEAVES:
        inner = pending.pop(0)
        if isinstance(inner, Mapping):
            pending = [*inner.values(), *pending]
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            pending = [*inner, *pending]
        else:
            found.append(inner)
    return found
