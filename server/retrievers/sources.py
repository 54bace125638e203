"""Which of several adapters a message names: “… in the archive”, “compare the shop and …”."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from server.core.coverage import Coverage, CoveredWord
from server.text.language import Language, WordGroup, load_language, shipped_names
from server.text.stems import stem
from server.text.tokens import Tokens, is_word

_BETWEEN_SIGNS: Final = frozenset({",", "&", "/", "'", "’"})
_OPENS: Final = frozenset({":", ","})
_APOSTROPHES: Final = frozenset({"'", "’"})

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NamedSources:
    """The sources that a message names, each once, in its order.

    `text` is the message with the words that name them blanked out, so that every other word is
    where it was; `words` is the account of those, and `names` are the places of the names alone.
    It is `certain` that a source is meant where the name stands as one does: “in the archive”.
    """

    sources: tuple[str, ...]
    text: str
    words: tuple[CoveredWord, ...] = ()
    names: tuple[Place, ...] = ()
    certain: bool = False

    def on_message(self, coverage: Coverage, message: str) -> Coverage:
        """The account of `text` as one of the whole message."""
        if not coverage.words or not self.words:
            return coverage
        return replace(coverage, text=message, words=tuple(sorted((*coverage.words, *self.words))))

    def are_read(self, coverage: Coverage) -> bool:
        """Whether an account of the whole message has another use for every name."""
        used = [(word.start, word.end) for word in coverage.words if word.role in _USED]
        return all(any(a < end and start < b for a, b in used) for start, end in self.names)


_USED: Final = frozenset({"value", "frame"})


@dataclass(frozen=True, slots=True)
class _Mention:
    """The words of a name from `first` up to `last`, and what leads to it from `lead` on."""

    source: str
    lead: int
    first: int
    last: int
    certain: bool


class SourceReader:
    """Reads the names of sources, as they are written in some languages."""

    def __init__(self, names: Mapping[str, Iterable[str]], codes: Iterable[str]) -> None:
        """`names` are those of each source; what two of them share names neither."""
        short = dict.fromkeys(code.partition("-")[0].lower() for code in codes)
        self._codes = tuple(code for code in short if code in shipped_names())
        languages = [load_language(code) for code in self._codes]
        self._names = self._name_table(names)
        self._longest = max(map(len, self._names), default=0)
        self._articles = _words(languages, "articles")
        joining = _words(languages, "list_joints").union(
            word for each in languages for phrase in each.joints for word in phrase.split()
        )
        prepositions = _words(languages, "prepositions")
        self._leads = (prepositions | _words(languages, "owner_leads")) - joining
        self._between = prepositions | joining | self._articles | _BETWEEN_SIGNS
        self._prefixes = tuple(each for one in languages for each in one.prefixes)
        self._comparing = {
            tuple(Tokens(phrase).words) for each in languages for phrase in each.comparing
        }

    def read(self, text: str) -> NamedSources:
        """Return the sources that a message names; none where it is not one request of them."""
        tokens = Tokens(text)
        mentions = list(self._mentions(tokens))
        if not mentions:
            return NamedSources((), text)
        sources = tuple(dict.fromkeys(mention.source for mention in mentions))
        comparing = list(self._comparisons(tokens)) if len(sources) > 1 else []
        joined = all(self._are_joined(tokens, *pair) for pair in pairwise(mentions))
        if len(sources) > 1 and not (joined or comparing):
            return NamedSources((), text)
        places = [(mention.lead, mention.last) for mention in mentions]
        if joined:
            places = [(mentions[0].lead, mentions[-1].last)]
        taken = {at for first, last in (*places, *comparing) for at in range(first, last)}
        taken |= self._signs_beside(tokens, taken)
        named = {at for each in mentions for at in range(each.first, each.last)}
        words = tuple(
            CoveredWord(
                tokens.starts[at],
                tokens.ends[at],
                "frame" if at in named else "filler",
                kind="source",
            )
            for at in sorted(taken)
            if tokens.words[at][:1].isalnum()
        )
        blank = list(text)
        for at in taken:
            start, end = tokens.starts[at], tokens.ends[at]
            blank[start:end] = " " * (end - start)
        return NamedSources(
            sources=sources,
            text="".join(blank),
            words=words,
            names=tuple((tokens.starts[m.first], tokens.ends[m.last - 1]) for m in mentions),
            certain=bool(comparing) or any(mention.certain for mention in mentions),
        )

    def _name_table(self, names: Mapping[str, Iterable[str]]) -> dict[tuple[str, ...], str | None]:
        """Whose each name is; None where it is that of several."""
        table: dict[tuple[str, ...], str | None] = {}
        for source, own in names.items():
            keys = {key for name in own for key in self._keys(tuple(filter(_counts, _cut(name))))}
            for key in keys - {()}:
                table[key] = source if table.get(key, source) == source else None
        return table

    def _keys(self, words: Sequence[str]) -> set[tuple[str, ...]]:
        """Some words as they are, and their stems in each language."""
        stems = {tuple(stem(word, code) for word in words) for code in self._codes}
        return {tuple(words), *stems}

    def _mentions(self, tokens: Tokens) -> Iterable[_Mention]:
        at = 0
        while at < len(tokens):
            found = self._mention_at(tokens, at)
            if found is not None:
                yield found
            at = found.last if found is not None else at + 1

    def _mention_at(self, tokens: Tokens, at: int) -> _Mention | None:
        words = tokens.words
        for size in range(min(self._longest, len(words) - at), 0, -1):
            source, attached = self._named(words[at : at + size]), False
            if source is None:
                for prefix in self._prefixes:
                    bare = words[at].removeprefix(prefix)
                    if source is None and bare and bare != words[at]:
                        source = self._named([bare, *words[at + 1 : at + size]])
                        attached = source is not None
            if source is not None:
                lead, leads = self._lead(tokens, at)
                last = at + size
                if tokens.word(last) in _APOSTROPHES and tokens.word(last + 1) == "s":
                    last += 2
                opens = lead == 0 and tokens.word(last) == ":"
                return _Mention(source, lead, at, last, leads or attached or opens)
        return None

    def _named(self, words: Sequence[str]) -> str | None:
        found = {self._names[key] for key in self._keys(words) if key in self._names}
        return found.pop() if len(found) == 1 else None

    def _lead(self, tokens: Tokens, at: int) -> tuple[int, bool]:
        """Where the article and the preposition before a name begin, and if there is one."""
        first = at
        while tokens.word(first - 1) in self._articles or (
            tokens.word(first - 1) in _APOSTROPHES and tokens.word(first - 2) in self._articles
        ):
            first -= 1
        if tokens.word(first - 1) in self._leads:
            return first - 1, True
        return first, False

    def _are_joined(self, tokens: Tokens, one: _Mention, other: _Mention) -> bool:
        return all(word in self._between for word in tokens.words[one.last : other.first])

    def _comparisons(self, tokens: Tokens) -> Iterable[Place]:
        for phrase in self._comparing:
            for at in range(len(tokens) - len(phrase) + 1):
                if tuple(tokens.words[at : at + len(phrase)]) == phrase:
                    yield at, at + len(phrase)

    @staticmethod
    def _signs_beside(tokens: Tokens, taken: set[int]) -> set[int]:
        """The comma or colon that sets off what was taken at the beginning or the end."""
        signs = set[int]()
        first = next((at for at in range(len(tokens)) if at not in taken), None)
        if first and tokens.words[first] in _OPENS:
            signs.add(first)
        last = len(tokens) - 1
        while last >= 0 and not is_word(tokens.words[last]) and last not in taken:
            last -= 1
        while last in taken:
            last -= 1
        if last + 1 in taken and tokens.word(last) == ",":
            signs.add(last)
        return signs


@lru_cache(maxsize=64)
def source_reader(
    names: tuple[tuple[str, tuple[str, ...]], ...], codes: tuple[str, ...]
) -> SourceReader:
    """The reader of these names, made once."""
    return SourceReader(dict(names), codes)


def _words(languages: Iterable[Language], group: WordGroup) -> frozenset[str]:
    return frozenset[str]().union(*(each.group(group) for each in languages))


def _cut(name: str) -> list[str]:
    return Tokens(name.replace("_", " ")).words


def _counts(word: str) -> bool:
    return word[:1].isalnum()
