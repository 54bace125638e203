"""What a template's schema says about the values of its parameters, beside their types."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.extraction.plan import NUMERIC, ParameterPlan, TemplatePlan
from server.library.model import Template
from server.library.parameters import name_words
from server.text.language import load_language
from server.text.phrases import PhraseTable
from server.text.stems import stem
from server.text.units import unit_of, units_in

_ENGLISH: Final = load_language("en")
_HOLLOW: Final = _ENGLISH.function_words | _ENGLISH.group("hollow_descriptions")
_QUOTED: Final = re.compile(r"'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"|`([^`\n]{1,40})`")
_LISTED: Final = re.compile(
    r"(?:e\.g\.?|i\.e\.?|such as|like|options?(?: are| include)?:?|either|can be|for example|"
    r"example)[,:]?\s+([^.();]{2,120})|\((?!e\.g|i\.e|such)([^()]*,[^()]*)\)",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(r",|\bor\b|\band\b|/")
_DATE_FORMAT: Final = re.compile(
    r"\b(y{2,4}|m{1,2}|d{1,2}|month|day|year)([-/. ])(y{2,4}|m{1,2}|d{1,2}|month|day|year)"
    r"(?:\2(y{2,4}|m{1,2}|d{1,2}|month|day|year))?\b",
    re.IGNORECASE,
)
_REGION: Final = re.compile(r"\b[A-Z][\w.]+(?: [A-Z][\w.]+)*, [A-Z]{2}\b")


@dataclass(frozen=True, slots=True)
class ParameterHints:
    """What a schema says about the value of one parameter.

    `name` and `about` weigh the stems of its name and description, less the more parameters
    share them. `options` are named values; there may be others unless it is `closed`.
    """

    plan: ParameterPlan
    name: Mapping[str, float]
    about: Mapping[str, float]
    topics: frozenset[str]
    """What leads to it: `from`, `to` or `place`, by its name and the first of its description."""
    units: frozenset[str]
    options: PhraseTable
    closed: bool
    date_format: str | None
    """How a date is to be written, for `strftime`; None where nothing says so."""
    fraction: bool
    """Whether 5% is 0.05 for it, and not 5."""
    with_region: bool
    """Whether the description shows a place with what it lies in: Denver, CO."""


@dataclass(frozen=True, slots=True)
class TemplateHints:
    parameters: Mapping[str, ParameterHints]
    vocabulary: frozenset[str]
    """Stems of its name, its description and its parameters' names; they are no values."""


def has_schema_only(template: Template) -> bool:
    """Whether there is nothing but descriptions to read a template's arguments by."""
    described = template.description or any(p.description for p in template.parameters)
    return bool(described) and not template.nl_examples


def describe_parameters(plan: TemplatePlan) -> TemplateHints:
    """Return what the schema says; made once for each template, used for every question."""
    names = {one.key: _telling_stems(" ".join(one.name.words)) for one in plan.parameters}
    abouts = {
        p.key: _telling_stems(p.parameter.description) - names[p.key] for p in plan.parameters
    }
    shared = Counter(word for stems in names.values() for word in stems)
    spread = Counter(word for key in names for word in names[key] | abouts[key])
    by_name = {key: {word: 1 / shared[word] for word in names[key]} for key in names}
    by_about = {key: {word: 1 / spread[word] for word in abouts[key]} for key in names}
    parameters = {
        p.key: _parameter_hints(p, by_name[p.key], by_about[p.key]) for p in plan.parameters
    }
    template = plan.template
    said = f"{template.id} {template.function_name} {template.description}"
    subject = frozenset(stem(word) for part in said.split() for word in name_words(part))
    return TemplateHints(parameters, subject | frozenset[str]().union(*names.values()))


def _telling_stems(text: str) -> frozenset[str]:
    words = [word for part in text.split() for word in name_words(part)]
    return frozenset(stem(word) for word in words if word not in _HOLLOW and word.isalpha())


def _parameter_hints(
    plan: ParameterPlan, name: Mapping[str, float], about: Mapping[str, float]
) -> ParameterHints:
    description = plan.parameter.description
    lowered = description.lower()
    first = re.findall(r"[a-z]+", lowered.partition(".")[0])
    about_topics = {topic for topic, words in _ENGLISH.topics.items() if words & {*first}}
    percent = "percent" in lowered or "%" in lowered or plan.role == "percentage"
    decimal = "decimal" in lowered or "0." in lowered or "between 0 and 1" in lowered
    return ParameterHints(
        plan=plan,
        name=name,
        about=about,
        topics=frozenset(plan.name.topics) | (about_topics & {"place", "from", "to"}),
        units=_unit_names(plan, description),
        options=PhraseTable(_named_options(plan, description)),
        closed=bool(re.search(r"can be|options|either|one of|must be|possible values", lowered)),
        date_format=_date_format(description),
        fraction=plan.parameter.type == "number" and (decimal or not percent),
        with_region=bool(_REGION.search(description)),
    )


def _unit_names(plan: ParameterPlan, description: str) -> frozenset[str]:
    if plan.role not in NUMERIC:
        return frozenset()
    if plan.name.unit or plan.role == "percentage":
        return frozenset({plan.name.unit or "percent"})
    words = plan.name.words if len(plan.name.words) > 1 else ()
    # Units are written in full, or stand last: miles_driven, weight_kg.
    written = [word for word in words if len(word) > 3 or word == words[-1]]
    named = {unit_of(word) for word in written} - {"", "second", "degree", "percent"}
    return frozenset(named) or units_in(description)


def _named_options(plan: ParameterPlan, description: str) -> dict[str, str]:
    if plan.role not in ("text", "strings"):
        return {}
    found = {value: value for m in _QUOTED.finditer(description) for value in m.groups() if value}
    if not found:
        parts = [part for m in _LISTED.finditer(description) for part in _SPLIT.split(m[1] or m[2])]
        values = [part.strip(" .").removesuffix(" etc").strip() for part in parts]
        found = {v: v for v in values if v and v.lower() != "etc" and len(v.split()) < 4}
    return found


def _date_format(description: str) -> str | None:
    found = _DATE_FORMAT.search(description)
    if found is None:
        return None
    kinds = [part[0].lower() for part in (found[1], found[3], found[4]) if part]
    if len(set(kinds)) < len(kinds) or "y" not in kinds:
        return None
    return found[2].join(f"%{kind.replace('y', 'Y')}" for kind in kinds)
