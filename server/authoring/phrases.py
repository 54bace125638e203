"""What people say, and how English words change: `phrases.yaml`, read once."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict

from server.authoring.naming import words

_LONGEST_ACRONYM: Final = 4
_VOWELS: Final = "aeiou"
_SIBILANTS: Final = ("s", "x", "z", "sh", "ch")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PartWords(_Part):
    """How else a part of something is asked for, and one that is nobody's."""

    words: frozenset[str]
    frames: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


class LeadWords(_Part):
    """What leads to the value of a parameter whose name has one of `words`."""

    words: frozenset[str]
    says: tuple[str, ...]
    types: frozenset[str] = frozenset()
    """Types that it counts for; any when empty."""


class ValueWords(_Part):
    words: frozenset[str]
    values: tuple[str, ...]


class Grammar(_Part):
    irregular_plurals: Mapping[str, str]
    uncountable: frozenset[str]
    an_before: frozenset[str]
    a_before: frozenset[str]
    irregular_participles: Mapping[str, str]


class Phrases(_Part):
    """The lists of `phrases.yaml`, whose comments say what each is for."""

    frames: Mapping[str, tuple[str, ...]]
    questions: Mapping[str, tuple[str, ...]]
    parts: tuple[PartWords, ...]
    leads: tuple[LeadWords, ...]
    by_type: Mapping[str, tuple[str, ...]]
    from_to: tuple[str, ...]
    unspoken: frozenset[str]
    limits: frozenset[str]
    states: frozenset[str]
    levels: frozenset[str]
    nouns_of_kind: frozenset[str]
    purposes: frozenset[str]
    identifiers: frozenset[str]
    people: frozenset[str]
    head_counts: frozenset[str]
    directions: Mapping[str, str]
    spoken_after: frozenset[str]
    now_words: frozenset[str]
    collections: frozenset[str]
    unspoken_results: frozenset[str]
    schema_endings: frozenset[str]
    plain_verbs: frozenset[str]
    happening: frozenset[str]
    address_parts: frozenset[str]
    qualities: frozenset[str]
    quality_endings: tuple[str, ...]
    owned: frozenset[str]
    also_called: Mapping[str, str]
    hollow: frozenset[str]
    changing: frozenset[str]
    generic_amounts: frozenset[str]
    groups: frozenset[str]
    first_words: frozenset[str]
    phones: frozenset[str]
    topics: frozenset[str]
    reasons: frozenset[str]
    adding: frozenset[str]
    same_quality: Mapping[str, tuple[str, ...]]
    compared: Mapping[str, tuple[str, str]]
    """How more and less of a quality are said."""
    technical: frozenset[str]
    question_words: frozenset[str]
    unneeded: frozenset[str]
    around: Mapping[str, tuple[str, ...]]
    quantities: frozenset[str]
    before_nouns: frozenset[str]
    prepositions: frozenset[str]
    seeing: frozenset[str]
    named_identifiers: frozenset[str]
    own_names: frozenset[str]
    makers: frozenset[str]
    first_names: frozenset[str]
    last_names: frozenset[str]
    commands: Mapping[str, str]
    alike: Mapping[str, tuple[str, ...]]
    separable: Mapping[str, str]
    grammar: Grammar
    values: tuple[ValueWords, ...]
    codes: tuple[str, ...]
    dates: tuple[str, ...]
    off_topic: tuple[str, ...]
    proposing: str

    @property
    def person_names(self) -> tuple[str, ...]:
        """Names of people."""
        return next(each.values for each in self.values if "person" in each.words)


@cache
def phrases() -> Phrases:
    text = (files("server.authoring") / "phrases.yaml").read_text(encoding="utf-8")
    data: Any = yaml.safe_load(text)
    return Phrases.model_validate(data)


def plural(noun: str) -> str:
    """The plural of a noun or of the last word of a phrase; of what cannot be counted, itself."""
    *before, last = noun.split(" ")
    grammar = phrases().grammar
    irregular = grammar.irregular_plurals
    if last in grammar.uncountable or last in irregular.values() or not last.isalpha():
        return noun
    if last in irregular:
        many = irregular[last]
    elif last.endswith("y") and last[-2:-1] not in _VOWELS:
        many = f"{last[:-1]}ies"
    elif last.endswith("s") and singular(last) != last:
        many = last
    else:
        many = f"{last}es" if last.endswith(_SIBILANTS) else f"{last}s"
    return " ".join([*before, many])


def singular(noun: str) -> str:
    """The singular of a noun or of the last word of a phrase."""
    *before, last = noun.split(" ")
    grammar = phrases().grammar
    known = {many: one for one, many in grammar.irregular_plurals.items()}
    if last in known:
        one = known[last]
    elif last in grammar.uncountable or last in known.values():
        one = last
    elif last.endswith("ies") and len(last) > 4:
        one = f"{last[:-3]}y"
    elif last.endswith(("sses", "shes", "ches", "xes", "zes")):
        one = last[:-2]
    else:
        ends = last.endswith("s") and not last.endswith(("ss", "us", "is"))
        one = last[:-1] if ends and len(last) > 2 else last
    return " ".join([*before, one])


def is_plural(noun: str) -> bool:
    return singular(noun) != noun


def with_article(noun: str) -> str:
    """`a van`, `an order`; what is many or cannot be counted has none."""
    first, last = noun.split(" ")[0].lower(), noun.split(" ")[-1].lower()
    grammar = phrases().grammar
    if last in grammar.uncountable or is_plural(last):
        return noun
    vowel = first[:1] in _VOWELS and singular(first) not in grammar.a_before
    vowel = vowel or singular(first) in grammar.an_before
    return f"{'an' if vowel else 'a'} {noun}"


def possessive(text: str) -> str:
    return f"{text}'" if text.endswith("s") else f"{text}'s"


def participle(verb: str) -> str:
    """`cancelled` of cancel, `called off` of call off."""
    first, *rest = verb.split(" ")
    irregular = phrases().grammar.irregular_participles
    if first in irregular:
        done = irregular[first]
    elif first.endswith("e"):
        done = f"{first}d"
    elif first.endswith("y") and first[-2:-1] not in _VOWELS:
        done = f"{first[:-1]}ied"
    elif first.endswith("l") and first[-2:-1] in _VOWELS and first[-3:-2] not in _VOWELS:
        done = f"{first}led"
    elif _doubles(first):
        done = f"{first}{first[-1]}ed"
    else:
        done = f"{first}ed"
    return " ".join([done, *rest])


def _doubles(verb: str) -> bool:
    """Whether the last letter is written twice: stop, plan, submit."""
    ends = verb[-1] not in f"{_VOWELS}wxy" and verb[-2:-1] in _VOWELS
    short = sum(letter in _VOWELS for letter in verb) == 1
    return ends and verb[-3:-2] not in _VOWELS and (short or verb.endswith("mit"))


def bare(verb: str) -> str:
    """A verb without the ending of descriptions: lists, matches and cancels."""
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def said(value: object) -> str:
    """A value of a closed list as it is said: in use, for in_use and IN_USE; DHL, for DHL."""
    text = str(value)
    if text.isupper() and ("_" in text or (text.isalpha() and len(text) > _LONGEST_ACRONYM)):
        text = text.lower()
    as_it_is = text.isupper() or " " in text or text[:1].isdigit()
    return text if as_it_is or text.istitle() else words(text)


def participle_of_now(verb: str) -> str:
    """`starting` of start, `shipping` of ship, `expiring` of expires."""
    base = bare(verb)
    if base.endswith("e") and not base.endswith("ee"):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1] if _doubles(base) else ''}ing"


def name_words(name: str) -> list[str]:
    return words(name).split()
