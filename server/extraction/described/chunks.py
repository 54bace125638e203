"""The parts of a question that could be a text: names, quotes, codes, and what is spoken of."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from server.core.stems import stem
from server.extraction.described.chunk import Chunk
from server.extraction.described.english import BETWEEN, EMPTY, REQUESTS
from server.extraction.described.odd import Odd, formulas, odd_parts
from server.extraction.english import ARTICLES, FUNCTION_WORDS
from server.extraction.types import SpanSet
from server.text.parsed_text import ParsedText
from server.text.phrases import PhraseTable
from server.text.tokens import BLOCK, is_digits, is_word, word_set

_JOINTS: Final = frozenset("-_'’+./@#")
_PARTICLES: Final = word_set("of de da di la le el los las der den van von the and for in on a")
_LINKS: Final = word_set("of de da di la le el los las der den van von")
_NO_START: Final = word_set("i me my it its who what which where when how why")
_AFTER_THEM: Final = word_set("to and you please me can i also , we then")
_AFTER_VERBS: Final = word_set("by in on at from to for with between as under during")
_MOST: Final = 120
_APOSTROPHES: Final = frozenset("'’")


class Chunker:
    """Cuts one reading into chunks, seen from one template's vocabulary."""

    def __init__(self, reading: ParsedText, taken: SpanSet, vocabulary: frozenset[str]) -> None:
        self._reading, self._taken, self._vocabulary = reading, taken, vocabulary
        self._tokens = reading.tokens
        numbers = reading.of("number")
        self._numbers = {i for span in numbers for i in range(span.first, span.last)}
        letters = [c for c in reading.clean[:400] if c.isalpha()]
        self._shouts = sum(c.isupper() for c in letters) > 0.7 * len(letters)

    def chunks(self) -> list[Chunk]:
        """Every chunk, none twice, in order of mention, longer ones first."""
        found: dict[tuple[int, int], Chunk] = {}
        for chunk in self._all():
            found.setdefault((chunk.start, chunk.end), chunk)
            if len(found) >= _MOST:
                break
        return sorted(found.values(), key=lambda one: (one.start, -one.end))

    def _all(self) -> Iterator[Chunk]:
        for span in self._reading.of("quoted"):
            if self._taken.free(span.start, span.end) and span.value.strip():
                yield self._quoted(span.first, span.start, span.end, span.value)
        for odd in odd_parts(self._reading):
            yield from self._written(odd)
        runs = list(self._runs())
        for first, last in runs:
            yield from self._variants(first, last)
        for (first, last), (after, end) in pairwise(runs):
            yield from self._joined(first, last, after, end)

    # What does not look like plain words

    def phrases(self, tables: Iterable[PhraseTable]) -> list[Chunk]:
        """Values that descriptions name, even those that are words of every sentence."""
        return [
            chunk
            for table in tables
            for phrase in (table.find(self._tokens) if table else ())
            for chunk in self._made(phrase.first, phrase.last)
        ]

    def formulas(self) -> list[Chunk]:
        """What is written in letters, numbers and signs of arithmetic."""
        return [chunk for odd in formulas(self._reading) for chunk in self._written(odd)]

    def _written(self, odd: Odd) -> Iterator[Chunk]:
        tokens, (start, end, form, moment) = self._tokens, odd
        first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
        if first < len(tokens) and tokens.starts[first] == start and self._taken.free(start, end):
            if tokens.words[first][0] == BLOCK:
                return
            yield Chunk(
                start, end, first, last, self._reading.text[start:end],
                tuple(tokens.words[first:last]), self._lead(first), form,
                modifies=self._follows(last), moment=moment,
            )  # fmt: skip

    def _quoted(self, index: int, start: int, end: int, value: str) -> Chunk:
        words = tuple(value.lower().split())
        return Chunk(
            start + 1, end - 1, index, index + 1, value, words, self._lead(index), "quote",
            capital=value[:1].isupper(), modifies=self._follows(index + 1),
        )  # fmt: skip

    # Words

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Runs of words that carry a meaning of their own."""
        first: int | None = None
        for index in range(len(self._tokens)):
            if self._carries(index, first):
                first = index if first is None else first
            elif first is not None:
                yield first, index
                first = None
        if first is not None:
            yield first, len(self._tokens)

    def _carries(self, index: int, first: int | None) -> bool:
        tokens = self._tokens
        word = tokens.words[index]
        if word[0] == BLOCK or index in self._reading.moments:
            return False
        if not self._taken.free(tokens.starts[index], tokens.ends[index]):
            return False
        if not (is_word(word) or is_digits(word)):
            return first is not None and self._joins(index)
        if first is not None and tokens.glued(index) and self._joins(index - 1):
            return True
        if is_digits(word):
            glued = tokens.glued(index) and first is not None
            return glued or (first is not None and self._upper(index - 1))
        if self._upper(index) and not self._opens(index):
            return word not in _NO_START and not (word in ARTICLES and first is None)
        if word in FUNCTION_WORDS or word in BETWEEN or index in self._numbers:
            return False
        if word.endswith("ed") and tokens.word(index + 1) in _AFTER_VERBS:
            return False  # composed by, filed in
        if word in REQUESTS:
            return not (
                self._opens(index) or first is None or tokens.word(index - 1) in _AFTER_THEM
            )
        return True

    def _joins(self, index: int) -> bool:
        """Whether a sign joins the words beside it to one: gluten-free, Moore's law, S&P."""
        tokens = self._tokens
        word = tokens.words[index]
        if word in "&+" and self._upper(index - 1) and self._upper(index + 1):
            return True
        if word == "." and tokens.glued(index) and len(tokens.word(index - 1)) < 3:
            return self._upper(index - 1) and is_word(tokens.word(index + 1))  # St. Louis
        if word not in _JOINTS or not (tokens.glued(index) and tokens.glued(index + 1)):
            return False
        if word in _APOSTROPHES and tokens.word(index + 1) == "s":
            return self._upper(index - 1) and self._upper(index + 2)
        return tokens.words[index + 1][0].isalnum()

    def _opens(self, index: int) -> bool:
        """Whether the word opens a sentence, so that its capital letter says nothing."""
        tokens = self._tokens
        return index == 0 or (
            tokens.words[index - 1] in ".?!:"
            and not tokens.glued(index)
            and len(tokens.word(index - 2)) > 2
        )

    def _upper(self, index: int) -> bool:
        tokens = self._tokens
        inside = 0 <= index < len(tokens)
        return inside and self._reading.clean[tokens.starts[index]].isupper() and not self._shouts

    def _named(self, index: int) -> bool:
        """Whether a capital letter makes a name of the word."""
        return self._upper(index) and not (self._opens(index) and self._known(index))

    def _known(self, index: int) -> bool:
        """Whether the template itself uses the word."""
        return stem(self._tokens.word(index)) in self._vocabulary

    def _variants(self, first: int, last: int) -> Iterator[Chunk]:
        """A run, the run without the template's own words around it, and the names in it."""
        parts = list(self._parts(first, last))
        yield from self._made(first, last)
        low, high = 0, len(parts)
        while low < high and self._drops(parts[low]):
            low += 1
        while high > low and self._drops(parts[high - 1]):
            high -= 1
        if low < high:
            yield from self._made(parts[low][0], parts[high - 1][1])
        for begin, end in parts:
            if self._named(begin):
                yield from self._made(begin, end)
        for begin, end in parts if len(parts) > 1 else ():
            yield from self._made(begin, end)
        for begin, end in parts:
            if "-" in self._tokens.words[begin:end] and end - begin == 3:
                yield from self._made(begin, begin + 1)  # the gas of gas-powered

    def _drops(self, part: tuple[int, int]) -> bool:
        return all(self._known(i) for i in range(*part) if is_word(self._tokens.words[i])) and not (
            self._named(part[0])
        )

    def _parts(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Words, with names and what is joined by signs in one piece."""
        at = first
        while at < last:
            end = at + 1
            while end < last and (
                (self._upper(end) and self._named(at))
                or (self._tokens.glued(end))
                or (is_digits(self._tokens.words[end]) and self._named(at))
                or (self._tokens.words[end] in "&+")
            ):
                end += 1
            yield at, end
            at = end

    def _joined(self, first: int, last: int, after: int, end: int) -> Iterator[Chunk]:
        """Two runs with what may join them: theory of relativity, Rome, Italy."""
        between = self._tokens.words[last:after]
        head = list(self._parts(first, last))[-1]
        tail = next(self._parts(after, end))
        names = self._named(head[0]) and self._named(tail[0])
        if between in ([","], ["and"]) and names:
            yield from self._made(head[0], tail[1])
        elif between[:1] == ["of"] and all(word in ARTICLES for word in between[1:]):
            for stop in {tail[1], end}:
                if names:
                    yield from self._made(head[0], stop)
                for begin, _ in self._parts(first, last):
                    yield from self._made(begin, stop, head=self._tokens.words[head[0]])
        elif names and 0 < len(between) < 3 and _LINKS.issuperset(set(between) - {"the"}):
            yield from self._made(head[0], tail[1])

    def _made(self, first: int, last: int, head: str = "") -> Iterator[Chunk]:
        tokens = self._tokens
        while last > first and not tokens.words[last - 1][0].isalnum():
            last -= 1
        while first < last and not tokens.words[first][0].isalnum():
            first += 1
        start, end = tokens.starts[first], tokens.ends[max(first, last - 1)]
        if first >= last or not self._taken.free(start, end):
            return
        said = [index for index in range(first, last) if is_word(tokens.words[index])]
        capital = bool(said) and self._named(first) and all(
            self._upper(i) or tokens.words[i] in _PARTICLES or tokens.glued(i) for i in said
        )  # fmt: skip
        if capital and tokens.word(first - 1) == "the" and self._named_the(first - 1):
            first, start = first - 1, tokens.starts[first - 1]
        yield Chunk(
            start, end, first, last,
            self._reading.text[start:end],
            tuple(tokens.words[first:last]),
            self._lead(first),
            capital=capital,
            modifies=self._follows(last),
            spoken=all(self._known(i) or tokens.words[i] in EMPTY for i in said),
            inner=is_word(tokens.word(last)) and self._carries(last, first),
            cut=tokens.word(last) == "of",
            mixed=not capital and any(map(self._named, said)),
            counted=(first - 1) in self._numbers,
            joined="," in tokens.words[first:last],
            coupled="and" in tokens.words[first:last],
            torn=self._torn(first, last),
            edges=self._plain(first) + self._plain(last - 1) if last - first > 1 else 0,
            head=head,
            head_known=stem(head) in self._vocabulary or head in EMPTY,
        )  # fmt: skip

    def _plain(self, index: int) -> bool:
        return self._known(index) and not self._named(index)

    def _torn(self, first: int, last: int) -> bool:
        """Whether words that nothing is known of go on before or after."""
        tokens = self._tokens
        after = is_word(tokens.word(last)) and self._carries(last, first)
        before = first > 0 and is_word(tokens.word(first - 1)) and self._carries(first - 1, None)
        return (after and not self._known(last)) or (before and not self._known(first - 1))

    def _named_the(self, index: int) -> bool:
        """Whether a "The" belongs to the name after it: The Weeknd."""
        return self._upper(index) and not self._opens(index)

    def _lead(self, first: int) -> str:
        before = first - 1
        while self._tokens.word(before) in ARTICLES:
            before -= 1
        return self._tokens.word(before)

    def _follows(self, last: int) -> bool:
        """Whether a word of the template's own comes next."""
        tokens = self._tokens
        if tokens.word(last) in _APOSTROPHES and tokens.word(last + 1) == "s":
            last += 2
        word = tokens.word(last)
        return is_word(word) and word not in FUNCTION_WORDS and self._known(last)
