"""What a message asks for: without what is said not to be wanted, and with slips put right."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from server.conversation.followups.lexicon import FollowUpPhrases, Lexicon
from server.text.language import everyday_sentences, load_language, shipped_names
from server.text.senses import Clause, MessageSenses, WordSense, read_senses
from server.text.spelling import SpellingIndex
from server.text.tokens import Tokens, is_digits, is_word, tokens

_SHORTEST_SAID: Final = 4
_SHORTEST_MEANT: Final = 5
"""One letter makes another word of shorter ones."""


class Wishes(NamedTuple):
    """What a text says is wanted, and what is not; each stands where it stood, among blanks."""

    wanted: str
    unwanted: str


def read_wishes(text: str, lexicon: Lexicon) -> Wishes | None:
    """Return a text without what it says is not wanted, and what that is.

    None where it takes nothing back, or all of it: “cancel it … no, don't”. What an answer
    begins with, “no” or “not that one”, goes as well.
    """
    message = Tokens(text)
    senses = read_senses(message, _languages())
    wanted, unwanted = list(text), [" "] * len(text)
    for number, clause in enumerate(senses.clauses):
        denial = _denial(senses, clause, lexicon)
        if denial is None:
            continue
        end = _end_of(senses, denial, clause, lexicon.but)
        opens = number == 0 and any(map(_bears, senses.words[clause.last :]))
        if opens or _says_what(senses, denial, end):
            start, stop = message.starts[denial.first], message.ends[end - 1]
            wanted[start:stop] = " " * (stop - start)
            said = message.ends[denial.last - 1]
            unwanted[said:stop] = text[said:stop]
        else:
            return None
    found = Wishes("".join(wanted), "".join(unwanted))
    return found if found.wanted != text else None


def _denial(senses: MessageSenses, clause: Clause, lexicon: Lexicon) -> WordSense | None:
    """The first “not”, “instead of” or, after a “rather”, “than” of a clause."""
    language = load_language(senses.reader.code)
    preferring = language.group("preferring")
    for sense in senses.senses:
        if not clause.first <= sense.first < clause.last:
            continue
        words = tuple(senses.words[sense.first : sense.last])
        if words in lexicon.but or lexicon.other.issuperset(words):
            continue
        is_than = sense.phrase in language.group("preferred_over")
        rather = is_than and preferring.intersection(senses.words[clause.first : sense.first])
        if sense.sense in ("negation", "exclusion") or rather:
            return sense
    return None


def _end_of(senses: MessageSenses, denial: WordSense, clause: Clause, but: FollowUpPhrases) -> int:
    """Where what is denied ends: with its clause, or before a “but”."""
    words = tuple(senses.words[: clause.last])
    contrasts = (
        at
        for at in range(denial.last, clause.last)
        if but.at(words, at) > at or senses.reader.is_contrast(words[at])
    )
    return next(contrasts, clause.last)


def _says_what(senses: MessageSenses, denial: WordSense, end: int) -> bool:
    """Whether a denial names what it denies, and is no mere “no, don't do it”."""
    return any(
        _bears(senses.words[at]) and at not in senses.empty for at in range(denial.last, end)
    )


def _bears(word: str) -> bool:
    return is_word(word) or is_digits(word)


@cache
def _languages() -> tuple[str, ...]:
    known = [code for code in shipped_names() if load_language(code).senses]
    return tuple(sorted(known, key=lambda code: code != "en"))


class SlipReader:
    """Puts slips of the pen right against the words of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        written = tuple(texts)
        meant = set(chain.from_iterable(map(tokens, written)))
        everyday = chain.from_iterable(map(tokens, everyday_sentences((), written)))
        languages = map(load_language, _languages())
        functions = chain.from_iterable(language.function_words for language in languages)
        self._known = meant.union(everyday, functions)
        self._meant = SpellingIndex(
            word for word in sorted(meant) if len(word) >= _SHORTEST_MEANT and word.isalpha()
        )

    def corrected(self, text: str) -> str | None:
        """Return a text with words that are one slip from a known one as that; None without one."""
        left, corrected = "", False
        for word, rest in _words(text):
            said, meant = word.casefold(), list[str]()
            if len(said) >= _SHORTEST_SAID and said.isalpha() and said not in self._known:
                meant = self._meant.near(said)
            corrected = corrected or len(meant) == 1
            left += (meant[0] if len(meant) == 1 else word) + rest
        return left if corrected else None


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a text, and what stands between it and the next; first what leads."""
    message = Tokens(text)
    starts = [*message.starts, len(text)]
    yield "", text[: starts[0]]
    for start, end, following in zip(message.starts, message.ends, starts[1:], strict=True):
        yield text[start:end], text[end:following]
