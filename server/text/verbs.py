"""The forms of English verbs: order, orders, ordered, ordering."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_VOWELS: Final = frozenset("aeiou")
_SIBILANTS: Final = ("s", "x", "z", "sh", "ch", "o")
_UNDOUBLED: Final = "wxyaeiou"
_BEFORE_E: Final = frozenset("scvgu")
"""Letters that hardly end a verb: what is left of released is release without its e."""
_SHORTEST: Final = 3


def conjugated(base: str, irregular: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """All forms of a verb that is given as one says “to …”; `irregular` are those not by rule."""
    if base in irregular:
        return frozenset({base, _third(base), _stem(base) + "ing", *irregular[base]})
    past = base if base.endswith("e") else f"{_stem(base)}e"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        past = f"{base[:-1]}ie"
    return frozenset({base, _third(base), f"{_stem(base)}ing", f"{past}d"})


def verb_forms(word: str, irregular: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The forms of the verb that a word is a form of; the word alone where it is none."""
    for base, others in irregular.items():
        if word == base or word in others:
            return conjugated(base, irregular)
    bases = (base for base in _bases(word) if len(base) >= _SHORTEST)
    found = (forms for base in bases if word in (forms := conjugated(base, irregular)))
    return next(found, frozenset({word}))


def _bases(word: str) -> Iterator[str]:
    """What a form may come from, the likeliest first: placed comes from place."""
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or not _VOWELS & set(stem):
            continue
        if ending == "ed" and stem.endswith("i"):
            yield f"{stem[:-1]}y"
        elif stem[-1:] == stem[-2:-1] and stem[-1:] not in ("l", "s"):
            yield stem[:-1]
        elif _is_short(stem) or (stem[-1:] in _BEFORE_E and stem[-2:-1] != stem[-1:]):
            yield f"{stem}e"
        yield stem
        yield f"{stem}e"  # agreed
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("es"):
        yield word[:-2] if word[:-2].endswith(_SIBILANTS) else word[:-1]
        yield word[:-1]
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
    yield word


def _is_short(stem: str) -> bool:
    """Whether a stem would double its last letter, if nothing had been taken off: hir of hire."""
    vowels = sum(
        letter in _VOWELS and (at == 0 or stem[at - 1] not in _VOWELS)
        for at, letter in enumerate(stem)
    )
    single = stem[-1:] not in _VOWELS and stem[-2:-1] in _VOWELS and stem[-3:-2] not in _VOWELS
    return vowels == 1 and single and stem[-1:] not in _UNDOUBLED


def _stem(base: str) -> str:
    """What -ing stands behind: hir of hire, shipp of ship."""
    if base.endswith("ie"):
        return f"{base[:-2]}y"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return base[:-1]
    return base + base[-1] if _is_short(base) else base


def _third(base: str) -> str:
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(_SIBILANTS) else f"{base}s"
