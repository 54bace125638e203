"""What the names and descriptions of a template's parameters say about their values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.core.stems import stem
from server.extraction.described.english import (
    BODIES,
    HOLLOW,
    KINDS,
    NAMED,
    PEOPLE,
    PLACES,
    WIDE,
    WORKS,
)
from server.extraction.described.places import wants_state
from server.extraction.described.units import MEASURES, TIMES, measures_told
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.library.model import Template
from server.text.phrases import PhraseTable
from server.text.tokens import word_set

_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
_QUOTED: Final = re.compile(r"'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"|`([^`\n]{1,40})`")
_LISTED: Final = re.compile(
    r"(?:e\.g\.?|i\.e\.?|such as|like|options?(?: are| include)?:?|either|can be|for example|"
    r"example)"
    r"[,:]?\s+([^.();]{2,120})",
    re.IGNORECASE,
)
_DEFAULT: Final = re.compile(
    r"(?:default(?:s|ed|ing)?(?:\s+(?:value|factor|unit))?"
    r"(?:\s+(?:is|to|as|of|it to|are))?[:,]?\s*)"
    r"(?:set to\s+)?(?:'([^']*)'|\"([^\"]*)\"|([\w.%/^-]+))",
    re.IGNORECASE,
)
_MEANS: Final = re.compile(r"'([^']{1,12})'\s+(?:for|means|refers to)\s+(?:an?\s+)?([a-z]+)", re.I)
_CLOSED: Final = re.compile(
    r"can be|options|either|one of|must be|possible values|\('[^']*' or '", re.IGNORECASE
)
_YEAR: Final = re.compile(r"\byear\b(?! old)")
_SPLIT: Final = re.compile(r",|\bor\b|\band\b|/")
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "start": 1, "end": 2, "from": 1, "to": 2,
    "origin": 1, "destination": 2, "starting": 1, "ending": 2, "initial": 1, "final": 2,
    "source": 1, "target": 2, "base": 1, "departure": 1, "arrival": 2, "one": 1, "two": 2,
}  # fmt: skip
_SHARES: Final = word_set("rate percent percentage interest discount yield growth return inflation")


@dataclass(frozen=True, slots=True)
class Told:
    """What is said about one parameter.

    `own` are stems of its name, `about` those of its description, each weighing less the
    more parameters of the template have it. `options` are values that the description
    names, with the words for them; it may take others. `place` orders parameters
    that differ in nothing else: from before to, first before second.
    """

    plan: ParameterPlan
    own: Mapping[str, float]
    about: Mapping[str, float]
    measures: frozenset[str]
    options: Mapping[str, str]
    phrases: PhraseTable
    stems: Mapping[str, str]
    """The same by the stems of their words."""
    closed: bool
    """Whether the description says that there are no others."""
    topics: frozenset[str]
    default: str | None
    place: int
    among_places: bool
    """Whether another parameter takes a place too, so that a city is no country."""
    with_state: bool
    """Whether a city is wanted with its state: Denver, CO."""
    a_year: bool
    """Whether it is a year, and no number of years."""

    @property
    def required(self) -> bool:
        return self.plan.required

    @property
    def description(self) -> str:
        return self.plan.parameter.description


@dataclass(frozen=True, slots=True)
class TemplateTold:
    """What is said about a template.

    `vocabulary` are the stems of everything said: words of a question that repeat them
    are no values.
    """

    parameters: Mapping[str, Told]
    vocabulary: frozenset[str]
    subject: frozenset[str]
    """Those of its name and description alone."""


def describes_itself(template: Template) -> bool:
    """Whether descriptions are all there is to read a template by."""
    described = template.description or any(p.description for p in template.parameters)
    return bool(described) and not template.nl_examples


def tell(plan: TemplatePlan) -> TemplateTold:
    """What is said about a template and its parameters; made once, used for every question."""
    names = {one.key: frozenset(map(stem, _name_words(one))) for one in plan.parameters}
    abouts = {
        one.key: frozenset(map(stem, _words(one.parameter.description))) - names[one.key]
        for one in plan.parameters
    }
    shared = Counter(s for stems in names.values() for s in stems)
    spread = Counter(s for key in names for s in names[key] | abouts[key])
    parameters = {
        one.key: _told(
            one,
            {s: 1 / shared[s] for s in names[one.key]},
            {s: 1 / spread[s] for s in abouts[one.key]},
        )
        for one in plan.parameters
    }
    places = [told for told in parameters.values() if "place" in told.topics]
    wide = [told for told in places if not WIDE.isdisjoint(told.plan.name.words)]
    if wide and len(wide) < len(places):
        parameters |= {told.plan.key: replace(told, among_places=True) for told in places}
    template = plan.template
    said = f"{template.id} {template.function_name} {template.description}"
    subject = frozenset(map(stem, _words(said, hollow=frozenset())))
    own = frozenset(s for stems in names.values() for s in stems)
    return TemplateTold(parameters, subject | own, subject)


def _name_words(plan: ParameterPlan) -> list[str]:
    return [word for word in plan.name.words if not word.isdigit() and word not in HOLLOW] or [
        word for word in plan.name.words if not word.isdigit()
    ]


def _words(text: str, hollow: frozenset[str] = HOLLOW) -> list[str]:
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ")
    return [word for word in map(str.lower, _WORD.findall(parts)) if word not in hollow]


def _told(plan: ParameterPlan, own: Mapping[str, float], about: Mapping[str, float]) -> Told:
    description = plan.parameter.description
    default = _default(description)
    options = _options(plan, description, default)
    measures = _measures(plan, description)
    return Told(
        plan=plan,
        own=own,
        about=about,
        measures=measures,
        options=options,
        phrases=PhraseTable(options),
        stems={" ".join(map(stem, text.lower().split())): value for text, value in options.items()},
        closed=bool(_CLOSED.search(description)),
        topics=_topics(plan, description),
        default=default,
        place=_place(plan, description),
        among_places=False,
        with_state=wants_state(description),
        a_year=_is_year(plan, description),
    )


def _is_year(plan: ParameterPlan, description: str) -> bool:
    words = plan.name.words
    if "year" in words and not {"per", "in", "period", "time"} & set(words):
        return True
    told = description.lower()
    return (
        bool(_YEAR.search(told))
        and not {"years", "per"} & set(words)
        and not ("per year" in told or "a year" in told or "fiscal" in told)
    )


def _default(description: str) -> str | None:
    found = _DEFAULT.search(description)
    if found is None:
        return None
    value = next((part for part in found.groups() if part is not None), "")
    return value.rstrip(".") or None


def _options(plan: ParameterPlan, description: str, default: str | None) -> dict[str, str]:
    if plan.parameter.type != "string" or plan.parameter.enum:
        return {}
    found: dict[str, str] = {}
    for match in _QUOTED.finditer(description):
        value = next(part for part in match.groups() if part)
        found.setdefault(value, value)
    if not found:
        for match in _LISTED.finditer(description):
            for part in _SPLIT.split(match[1]):
                value = part.strip(" .'\"").removesuffix(" etc").strip()
                if value and value.lower() != "etc" and len(value.split()) < 4:
                    found.setdefault(value, value)
    for match in _MEANS.finditer(description):
        found.setdefault(match[2], match[1])
    if default is not None and not default.isdigit():
        found.setdefault(default, default)
    return found


def _measures(plan: ParameterPlan, description: str) -> frozenset[str]:
    if plan.role not in ("number", "percentage", "money", "duration"):
        return frozenset()
    if plan.name.unit:
        return frozenset({plan.name.unit})
    last = plan.name.words[-1] if plan.name.words else ""
    named = {MEASURES[last]} if last in MEASURES and len(last) > 1 else set()
    told = set(measures_told(_DEFAULT.sub("", description)))
    if {"percent"} == told or plan.role == "percentage":
        return frozenset({"percent"})
    words = frozenset(plan.name.words)
    if plan.role == "money":
        told.add("money")
    if not named and not told and words & _SHARES:
        named.add("percent")
    if words & _SHARES:
        told = {m for m in told if m not in TIMES and m != "money"} | {"percent"}
    return frozenset(named or told)


def _topics(plan: ParameterPlan, description: str) -> frozenset[str]:
    """What it is about, by its name, else by the words of its description."""
    found: set[str] = set()
    words = frozenset(plan.name.words)
    first = frozenset(_words(description.partition(".")[0], hollow=frozenset()))
    for names in (words, first):
        for topic, known in (
            ("place", PLACES), ("person", PEOPLE), ("body", BODIES), ("work", WORKS),
            ("kind", KINDS),
        ):  # fmt: skip
            if not names.isdisjoint(known):
                found.add(topic)
        if found:
            break
    if words & NAMED or "name" in words:
        found.add("named")
    return frozenset(found)


def _place(plan: ParameterPlan, description: str) -> int:
    for word in plan.name.words:
        if word in _ORDINALS:
            return _ORDINALS[word]
        if word.isdigit():
            return int(word)
    if plan.key[-1:] in ("1", "2", "3", "4"):
        return int(plan.key[-1])
    first = description.lower().split()[:4]
    return next((_ORDINALS[word] for word in first if word in ("first", "second", "third")), 0)


def in_order(told: Sequence[Told]) -> list[Told]:
    """The parameters with those that are told apart by order alone in that order."""
    ordered = sorted((one for one in told if one.place), key=lambda one: one.place)
    return [ordered.pop(0) if one.place else one for one in told]
