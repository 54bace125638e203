"""The same questions as people mistype and dress them up, to measure what a library bears."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from server.evaluation.questions import Question
from server.text.language import load_language

_SMALL: Final = "small letters"
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
"""Shorter words are hardly mistyped without becoming others."""
_NEIGHBOURS: Final = {
    key: row[max(0, at - 1) : at] + row[at + 1 : at + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, key in enumerate(row)
}

Change = Callable[[str, random.Random], str]


def perturbed(question: Question, seed: int) -> Iterator[tuple[str, Question]]:
    """Yield the question changed in each way that changes it, with the way's name.

    Words of its arguments stay as they are, so that the same call is right. The same seed gives
    the same questions.
    """
    chance = random.Random(f"{seed}:{question.ask}")  # noqa: S311  for tests
    given = question.arguments or {}
    values = _values_of(given)
    for name, change in WAYS.items():
        if name in _OF_LETTERS:
            asked = _mistyped(question.ask, values, change, chance)
        else:
            asked = change(question.ask, chance)
            if name == _SMALL and any(map(str.isupper, "".join(map(str, given.values())))):
                continue  # a name that is written small is another value
        if asked != question.ask:
            yield name, question.model_copy(update={"ask": asked})


def _values_of(arguments: Mapping[str, Any]) -> frozenset[str]:
    words = re.findall(r"\w+", " ".join(map(str, arguments.values())).lower())
    return frozenset(words)


def _mistyped(text: str, values: frozenset[str], change: Change, chance: random.Random) -> str:
    """Change one word that is no value and stands in no quotes or JSON."""
    quoted = [m.span() for m in re.finditer(r"[\"“{\[].*[\"”}\]]", text)]
    places = [
        m.span()
        for m in _WORD.finditer(text)
        if m[0].lower() not in values
        and not m[0].isupper()
        and not any(start <= m.start() < end for start, end in quoted)
    ]
    if not places:
        return text
    start, end = chance.choice(places)
    return text[:start] + change(text[start:end], chance) + text[end:]


def _swap(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 2) if len(word) > 4 else 1
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _double(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at] + word[at:]


def _slip(word: str, chance: random.Random) -> str:
    places = [at for at in range(1, len(word)) if _NEIGHBOURS.get(word[at].lower())]
    if not places:
        return word
    at = chance.choice(places)
    return word[:at] + chance.choice(_NEIGHBOURS[word[at].lower()]) + word[at + 1 :]


def _unpunctuated(text: str, _: random.Random) -> str:
    return text.rstrip(" .?!")


def _lowered(text: str, _: random.Random) -> str:
    return text.lower() if text != text.lower() else text


def _polite(text: str, chance: random.Random) -> str:
    return f"{chance.choice(_said('greetings'))}, {text}"


def _thanked(text: str, chance: random.Random) -> str:
    return f"{text.rstrip(' .?!')} {chance.choice(_said('closings'))}"


def _said(kind: str) -> Sequence[str]:
    politeness = load_language("en").politeness
    return sorted(politeness.greetings if kind == "greetings" else politeness.please)


_OF_LETTERS: Final[Mapping[str, Change]] = {
    "swapped letters": _swap,
    "a letter left out": _drop,
    "a letter doubled": _double,
    "a neighbouring key": _slip,
}
WAYS: Final[Mapping[str, Change]] = {
    **_OF_LETTERS,
    "no punctuation": _unpunctuated,
    _SMALL: _lowered,
    "a greeting": _polite,
    "a please": _thanked,
}
"""How questions are changed, by what people see of it."""
