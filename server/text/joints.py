"""Where one message may part into several requests: the ends of sentences, "and", "then"."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from server.text.language import load_language, shipped_names
from server.text.tokens import Tokens

_SENTENCE_ENDS: Final = frozenset(".?!;")
_LEAST_ATTACHED: Final = 3
_ALONE: Final = frozenset({"that", "this"})

JointKind = Literal["sentence", "clause", "word", "comma"]
"""The end of a sentence; a comma and a word; a word alone; a comma alone."""


class Joint(NamedTuple):
    """What stands between two parts: the words from `first` up to `last`.

    The part before it ends at the character `end`, the part after it begins at `start`.
    """

    first: int
    last: int
    end: int
    start: int
    kind: JointKind


class JointReader:
    """Reads the joints of some languages, and the words that point to what was said before."""

    def __init__(self, codes: Iterable[str]) -> None:
        languages = [load_language(code) for code in codes]
        self._joints = _Phrases(one for each in languages for one in each.joints)
        words = [each.followups for each in languages]
        pointers = [w for each in words for w in (*each.results, *each.possessives)]
        self._pointers = _Phrases(pointers)
        self._attached = tuple(w for each in words for w in each.attached)
        self._small = frozenset[str]().union(
            *(each.group("articles") | each.group("prepositions") for each in languages)
        )

    @property
    def small_words(self) -> frozenset[str]:
        """Articles and prepositions, which may stand again before a second value."""
        return self._small

    def joints(self, tokens: Tokens) -> list[Joint]:
        """Every joint between two words of a text, in order; neighbours make one."""
        found, at, size = list[Joint](), 0, len(tokens)
        while at < size:
            first, kinds = at, set[str]()
            if first and "\n" in tokens.text[tokens.ends[first - 1] : tokens.starts[first]]:
                kinds.add("sentence")
            while at < size and (separator := self._separator(tokens, at)) is not None:
                kinds.add(separator[1])
                at += separator[0]
            attached = not kinds and first and self._is_attached(tokens.words[first])
            if (kinds or attached) and first > 0 and at < size:
                start = tokens.starts[at] + (1 if attached else 0)
                # The sign at the end of a sentence belongs to it.
                ends = "sentence" in kinds and tokens.words[first] in _SENTENCE_ENDS
                end = tokens.ends[first if ends else first - 1]
                found.append(Joint(first, at, end, start, _kind(kinds)))
            at += at == first
        return found

    def pointers(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where words stand for something that was named before: "it", "the result"."""
        at = 0
        while at < len(words):
            size = self._pointers.at(words, at)
            # “that” before another word is no thing of its own: “that lamp”.
            if size == 1 and words[at] in _ALONE and words[at + 1 : at + 2]:
                size = 0 if words[at + 1][0].isalpha() else size
            if size:
                yield at, at + size
            at += size or 1

    def _separator(self, tokens: Tokens, at: int) -> tuple[int, str] | None:
        """How many words of a joint begin at `at`, and of what kind; None where none does."""
        word = tokens.words[at]
        if word in _SENTENCE_ENDS:
            # No end of a sentence: the point of 3.5, the mark of “?q=”.
            return (1, "sentence") if not tokens.glued(at + 1) or word == ";" else None
        if word == ",":
            return (1, "comma") if not tokens.glued(at + 1) else None
        size = self._joints.at(tokens.words, at)
        if size:
            return size, "word"
        return None

    def _is_attached(self, word: str) -> bool:
        return len(word) >= _LEAST_ATTACHED and word.startswith(self._attached)


class _Phrases:
    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {tuple(Tokens(phrase).words) for phrase in phrases}
        self._longest = max(map(len, self._phrases), default=0)

    def at(self, words: Sequence[str], index: int) -> int:
        """How many words the longest phrase at `index` has; 0 where there is none."""
        for size in range(min(self._longest, len(words) - index), 0, -1):
            if tuple(words[index : index + size]) in self._phrases:
                return size
        return 0


def _kind(kinds: Collection[str]) -> JointKind:
    if "sentence" in kinds:
        return "sentence"
    if "comma" in kinds:
        return "clause" if "word" in kinds else "comma"
    return "word"


def joint_reader(codes: Iterable[str]) -> JointReader:
    """The reader of the languages with these codes, of which those that ship count."""
    short = (code.partition("-")[0].lower() for code in codes)
    return _joint_reader(tuple(dict.fromkeys(each for each in short if each in shipped_names())))


@cache
def _joint_reader(codes: tuple[str, ...]) -> JointReader:
    return JointReader(codes)
