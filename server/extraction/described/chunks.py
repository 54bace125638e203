"""The parts of a question that could be a text: names, quotes, codes, and what is spoken of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.core.stems import stem
from server.extraction.described.english import REQUESTS
from server.extraction.english import ARTICLES, FUNCTION_WORDS
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.tokens import BLOCK, is_digits, is_word, word_set
from server.extraction.taken import Taken

_JOINTS: Final = frozenset("-_'’&+./@#:")
_PARTICLES: Final = word_set("of de da di la le el los las der den van von the and for in on a")
_NO_START: Final = word_set("i me my it its who what which where when how why")
_ENUMERATES: Final = word_set("and or") | frozenset(",&")
_MOST: Final = 60
_QUOTE: Final = BLOCK + "quoted"
_POSSESSIVE: Final = frozenset("'’")
_CONNECTING: Final = word_set(
    "related involving regarding named called titled located based between versus vs per "
    "contains containing requires required needs need has having serving offering "
    "starting ending happening performing taking made done played published released filed "
    "prefer prefers preferably about above below than least most many much "
    "today tomorrow yesterday now currently recently please days weeks months years hours minutes "
    "day week month year hour minute time upcoming latest recent current next previous past last "
    "exactly approximately around roughly top best good better nearest nearby available "
)
"""Words that stand between values and are hardly ever one."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Words `first` up to `last` that may be a value.

    `capital` says that it is written as a name is, `modifies` that a word the template
    is about follows it at once, `code` that letters and digits mix in it.
    """

    start: int
    end: int
    first: int
    last: int
    text: str
    words: tuple[str, ...]
    lead: str
    quoted: bool = False
    capital: bool = False
    modifies: bool = False
    code: bool = False
    moment: bool = False
    members: tuple[str, ...] = ()
    """The texts of a list; empty for a single text."""
    spoken: bool = False
    """Whether every word of it is one that the template itself uses."""


class Chunker:
    """Cuts one reading into chunks, seen from one template's vocabulary."""

    def __init__(self, reading: Reading, taken: Taken, vocabulary: frozenset[str]) -> None:
        self._reading, self._taken, self._vocabulary = reading, taken, vocabulary
        self._tokens = reading.tokens
        self._numbers = {
            index
            for span in reading.of("number")
            for index in range(span.first, span.last)
        }
        self._shouts = self._written_in_capitals()

    def chunks(self) -> list[Chunk]:
        """Every chunk, none twice, in order of mention, longer ones first."""
        found: dict[tuple[int, int], Chunk] = {}
        for chunk in self._all():
            found.setdefault((chunk.first, chunk.last), chunk)
            if len(found) >= _MOST:
                break
        return sorted(found.values(), key=lambda one: (one.first, -one.last))

    def lists(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Chunks that are enumerated: red, green and blue."""
        tokens = self._tokens
        found: list[Chunk] = []
        by_first: dict[int, list[Chunk]] = {}
        for chunk in chunks:
            by_first.setdefault(chunk.first, []).append(chunk)
        for chunk in chunks:
            members, last = [chunk], chunk.last
            while True:
                at = last
                while tokens.word(at) in _ENUMERATES and at - last < 2:
                    at += 1
                while at > last and tokens.word(at) in ARTICLES:
                    at += 1
                following = by_first.get(at, []) if at > last else []
                if not following:
                    break
                members.append(self._alike(members[0], following))
                last = members[-1].last
            first = members[0]
            texts = tuple(member.text for member in members)
            found.append(
                replace(
                    first, end=members[-1].end, last=last, members=texts,
                    modifies=members[-1].modifies,
                )
            )  # fmt: skip
        return found

    @staticmethod
    def _alike(first: Chunk, following: Sequence[Chunk]) -> Chunk:
        """Of several that begin at one place the one most like the first member."""
        same = [one for one in following if one.capital == first.capital]
        fresh = [one for one in same or following if not one.spoken]
        return (fresh or same or list(following))[0]

    def _all(self) -> Iterator[Chunk]:
        for span in self._reading.of("quoted"):
            if self._taken.free(span.start, span.end) and span.value.strip():
                yield self._quoted(span.first, span.start, span.end, span.value)
        runs = list(self._runs())
        for first, last in runs:
            yield from self._variants(first, last)
        for (first, last), (after, end) in zip(runs, runs[1:], strict=False):
            joint = self._tokens.words[last:after]
            if joint in (["of"], ["of", "the"], ["of", "a"]):
                for begin in range(first, last):
                    if begin == first or not self._known(begin - 1) or self._known(begin):
                        yield from self._made(begin, end)
                        break
                capital = next((i for i in range(first, last) if self._upper(i)), None)
                if capital is not None and self._upper(after):
                    yield from self._names(capital, end)
            elif joint == [","] and self._upper(after) and self._upper(last - 1):
                yield from self._names(self._name_start(first, last), self._name_end(after, end))
            elif len(joint) < 3 and self._upper(last - 1) and self._upper(after):
                glue = all(word in _PARTICLES and word not in ("and", "in", "for", "on")
                           for word in joint)  # fmt: skip
                if joint and glue:
                    yield from self._names(self._name_start(first, last), end)

    def _name_start(self, first: int, last: int) -> int:
        at = last
        while at > first and self._upper(at - 1):
            at -= 1
        return at

    def _name_end(self, first: int, last: int) -> int:
        at = first
        while at < last and (self._upper(at) or not is_word(self._tokens.words[at])):
            at += 1
        return at

    def _names(self, first: int, last: int) -> Iterator[Chunk]:
        last = self._name_end(first, last) if self._all_upper_until(first, last) else last
        yield from self._made(first, last)

    def _all_upper_until(self, first: int, last: int) -> bool:
        return False

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Runs of words that carry a meaning of their own."""
        tokens, first = self._tokens, None
        for index in range(len(tokens) + 1):
            if index < len(tokens) and self._carries(index, first):
                first = index if first is None else first
                continue
            if first is not None:
                yield first, index
                first = None

    def _carries(self, index: int, first: int | None) -> bool:
        tokens = self._tokens
        word = tokens.words[index]
        if word[0] == BLOCK or not self._taken.free(tokens.starts[index], tokens.ends[index]):
            return False
        if index in self._reading.moments:
            return False
        glued = tokens.glued(index) and tokens.glued(index + 1)
        if word in _JOINTS and glued and first is not None:
            if word in _POSSESSIVE:
                return tokens.word(index + 1) != "s" or self._upper(index + 2)
            return tokens.words[index + 1][:1].isalnum()
        if word == "." and first is not None and tokens.glued(index):
            before = tokens.words[index - 1]
            return len(before) < 3 and self._upper(index - 1) and is_word(tokens.word(index + 1))
        if word in "&+" and first is not None:
            return self._upper(index - 1) and self._upper(index + 1)
        if word == "s" and first is not None and tokens.word(index - 1) in _POSSESSIVE:
            return True
        if is_digits(word):
            follows_name = first is not None and self._upper(index - 1)
            return (tokens.glued(index) and first is not None) or (
                tokens.glued(index + 1) and is_word(tokens.word(index + 1)) and
                index not in self._numbers
            ) or follows_name
        if not is_word(word):
            return False
        if self._upper(index) and not self._opens(index):
            return word not in _NO_START and not (word in ARTICLES and first is None)
        if word in FUNCTION_WORDS or word in _CONNECTING:
            return tokens.glued(index) and first is not None and tokens.words[index - 1] in "-_"
        asks = word in REQUESTS
        return not (asks and (self._opens(index) or tokens.word(index - 1) in ("to", "and", "you",
                    "please", "me", "can", "i", "also", ",") or first is None))  # fmt: skip

    def _opens(self, index: int) -> bool:
        """Whether the word opens a sentence, so that its capital letter says nothing."""
        tokens = self._tokens
        return index == 0 or (
            tokens.words[index - 1] in ".?!:" and not tokens.glued(index)
            and len(tokens.word(index - 2)) > 2
        )

    def _upper(self, index: int) -> bool:
        tokens = self._tokens
        return (
            0 <= index < len(tokens)
            and self._reading.clean[tokens.starts[index]].isupper()
            and not self._shouts
        )

    def _written_in_capitals(self) -> bool:
        letters = [c for c in self._reading.clean[:400] if c.isalpha()]
        return bool(letters) and sum(c.isupper() for c in letters) > 0.7 * len(letters)

    def _known(self, index: int) -> bool:
        """Whether the template itself uses the word."""
        return stem(self._tokens.words[index]) in self._vocabulary

    def _plain(self, index: int) -> bool:
        """Whether the word may be left out at the end of a chunk."""
        return self._known(index) and not (self._upper(index) and not self._opens(index))

    def _variants(self, first: int, last: int) -> Iterator[Chunk]:
        yield from self._made(first, last)
        low, high = first, last
        while low < high and self._plain(low):
            low += 1
        while high > low and self._plain(high - 1):
            high -= 1
        if low < high:
            yield from self._made(low, high)
        at = first
        while at < last:
            if self._upper(at) and not (self._opens(at) and self._known(at)):
                end = at + 1
                while end < last and (self._upper(end) or not is_word(self._tokens.words[end])
                                      or self._tokens.words[end] == "s"):  # fmt: skip
                    end += 1
                yield from self._made(at, end)
                at = end
            else:
                at += 1
        if low < high and high - low > 1:
            yield from self._made(low, low + 1)
            yield from self._made(high - 1, high)

    def _made(self, first: int, last: int) -> Iterator[Chunk]:
        tokens = self._tokens
        while last > first and (tokens.words[last - 1] in _JOINTS or (
            tokens.words[last - 1] == "s" and tokens.word(last - 2) in _POSSESSIVE)):  # fmt: skip
            last -= 1
        while first < last and not tokens.words[first][:1].isalnum():
            first += 1
        if first >= last:
            return
        start, end = tokens.starts[first], tokens.ends[last - 1]
        if not self._taken.free(start, end):
            return
        words = tuple(tokens.words[first:last])
        said = [index for index in range(first, last) if is_word(tokens.words[index])]
        before = first - 1
        while tokens.word(before) in ARTICLES:
            before -= 1
        follows = last
        if tokens.word(last) in _POSSESSIVE and tokens.word(last + 1) == "s":
            follows = last + 2
        capital = bool(said) and all(
            self._upper(index) or tokens.words[index] in _PARTICLES or tokens.words[index] == "s"
            for index in said
        ) and self._upper(first)  # fmt: skip
        yield Chunk(
            start, end, first, last,
            self._reading.text[start:end],
            words,
            tokens.word(before),
            capital=capital,
            modifies=is_word(tokens.word(follows)) and self._known(follows)
            and tokens.word(follows) not in FUNCTION_WORDS,
            code=any(map(is_digits, words)) and (len(words) > 1 or not said),
            spoken=all(self._known(index) for index in said),
        )  # fmt: skip

    def _quoted(self, index: int, start: int, end: int, value: str) -> Chunk:
        tokens = self._tokens
        before = index - 1
        while tokens.word(before) in ARTICLES:
            before -= 1
        words = tuple(value.lower().split())
        return Chunk(
            start + 1, end - 1, index, index + 1, value, words, tokens.word(before), quoted=True,
            capital=value[:1].isupper(), modifies=is_word(tokens.word(index + 1))
            and self._known(index + 1),
        )  # fmt: skip
