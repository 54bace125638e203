"""The words of expressions in the languages of a question, out of the `sums` of their files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Final

from server.text.language import Language, load_language, shipped_names
from server.text.tokens import Tokens

_LAST_PART: Final = 12
_LONGEST_LEAD: Final = 5


class PhraseSet:
    """Phrases, of which the longest at a place is found."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {tuple(Tokens(phrase).words) for phrase in phrases}
        self._longest: dict[str, int] = {}
        for phrase in self._phrases:
            self._longest[phrase[0]] = max(self._longest.get(phrase[0], 0), len(phrase))

    def longest(self, words: Sequence[str], at: int) -> int:
        """Return the word after the longest phrase at a word; 0 for none."""
        most = self._longest.get(words[at], 0) if at < len(words) else 0
        for size in range(min(most, len(words) - at), 0, -1):
            if tuple(words[at : at + size]) in self._phrases:
                return at + size
        return 0

    def ends(self, words: Sequence[str], at: int) -> bool:
        """Whether a phrase ends right before a word."""
        sizes = range(1, min(at, _LONGEST_LEAD) + 1)
        return any(tuple(words[at - size : at]) in self._phrases for size in sizes)


@dataclass(frozen=True)
class Lexicon:
    """What the words of one or several languages mean in an expression."""

    code: str
    numbers: Mapping[str, int]
    multipliers: Mapping[str, int]
    ordinals: Mapping[str, int]
    joining: frozenset[str]
    point: frozenset[str]
    plural: frozenset[str]
    ones: frozenset[str]
    of: frozenset[str]
    per: frozenset[str]
    halves: Mapping[str, Fraction]
    parts: Mapping[str, Fraction]
    percent: PhraseSet
    charges: PhraseSet
    reductions: PhraseSet
    fillers: PhraseSet
    leads: PhraseSet
    asks: PhraseSet
    tails: PhraseSet
    joints: frozenset[str]
    adds: frozenset[str]
    then: PhraseSet
    it: PhraseSet
    units: Mapping[str, str]
    compounds: Mapping[str, tuple[tuple[str, int], ...]]
    powers: Mapping[str, int]
    spaced: frozenset[str]
    places: Mapping[str, Fraction]
    no_things: frozenset[str]
    shown: Mapping[str, str]

    def joints_after(self, joint: str) -> frozenset[str]:
        """What may join two more values of a list; a sign of addition does no more after “and”."""
        return self.joints if joint in self.adds else self.joints - self.adds


@cache
def lexicon_of(codes: tuple[str, ...]) -> Lexicon:
    """Return the words of languages, the first counting most; English where none is known."""
    languages = languages_of(codes)
    common = load_language("common")
    sums = [common.sums, *(one.sums for one in languages)]
    merged: dict[str, int] = {}
    multipliers: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    for one in reversed(languages):
        merged |= {w: value for w, value in one.numbers.words.items() if " " not in w}
        for ending in ("", *one.sums.plural):
            multipliers |= {f"{w}{ending}": v for w, v in one.numbers.multipliers.items()}
        ordinals |= one.numbers.ordinals
    parts = {
        f"{name}{plural}": Fraction(1, value)
        for one in languages
        for name, value in one.numbers.ordinals.items()
        if 2 < value <= _LAST_PART
        for plural in ("", *one.sums.plural)
    } | {name: Fraction(str(f)) for one in languages for name, f in one.numbers.fractions.items()}
    units = dict(_units(languages))
    return Lexicon(
        code=languages[0].language,
        numbers=merged,
        multipliers=multipliers,
        ordinals=ordinals,
        joining=frozenset(chain(*(one.numbers.joining_words for one in languages))),
        point=frozenset(chain(*(one.point for one in sums))),
        plural=frozenset(chain(*(one.plural for one in sums))),
        ones=frozenset(chain(*(one.ones for one in sums))),
        of=frozenset(chain(*(one.of for one in sums))),
        per=frozenset(chain(*(one.per for one in sums))),
        halves={n: Fraction(str(f)) for one in languages for n, f in one.sums.halves.items()},
        parts=parts,
        percent=PhraseSet(chain(*(one.percent for one in sums))),
        charges=PhraseSet(chain(*(one.charges for one in sums))),
        reductions=PhraseSet(chain(*(one.reductions for one in sums))),
        fillers=PhraseSet(chain(*(one.fillers for one in sums))),
        leads=PhraseSet(chain(*((*one.leads, *one.asks) for one in sums))),
        asks=PhraseSet(chain(*(one.asks for one in sums))),
        tails=PhraseSet(chain(*(one.tails for one in sums))),
        joints=frozenset(chain(*(one.joints for one in sums))),
        adds=frozenset(chain(*(one.adds for one in sums))),
        then=PhraseSet(chain(*(one.then for one in sums))),
        it=PhraseSet(chain(*(one.it for one in sums))),
        units=units,
        compounds={n: tuple(p.items()) for one in sums for n, p in one.compounds.items()},
        powers={w: power for one in sums for w, power in one.powers.items()},
        spaced=frozenset(chain(*(one.spaced_units for one in sums))),
        places={w: Fraction(10) ** power for one in sums for w, power in one.places.items()},
        no_things=frozenset(
            chain(
                (*merged, *multipliers, *parts),
                *(one.function_words for one in languages),
                *(one.not_things for one in sums),
            )
        ),
        shown={name: text for one in reversed(sums) for name, text in one.shown.items()},
    )


def languages_of(codes: tuple[str, ...]) -> list[Language]:
    """The languages whose words are read: English counts as well, after those of the question."""
    known = [load_language(code) for code in codes if code in shipped_names()]
    english = load_language("en")
    return known if english in known else [*known, english]


def _units(languages: Sequence[Language]) -> Iterator[tuple[str, str]]:
    common = load_language("common")
    for unit in common.sums.pint_names:
        yield unit, unit
        for name in common.measures.get(unit, ()):
            yield name, unit
            yield f"{name}s", unit
    for language in languages:
        for time_unit, words in language.units.items():
            yield from ((word, time_unit) for word in words)
    for one in (common, *languages):
        for unit, phrases in one.sums.units.items():
            yield from ((phrase, unit) for phrase in phrases)
