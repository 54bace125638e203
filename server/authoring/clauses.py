"""What a sentence says of the value of a parameter: `available`, `in Leeds`, `since 3 May`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from server.authoring.phrases import (
    LeadWords,
    is_plural,
    name_words,
    participle_of_now,
    phrases,
    plural,
    said,
    singular,
    with_article,
)
from server.authoring.schema import ApiParameter
from server.authoring.values import is_free, later, spoken, value_of
from server.text.codes import form_of
from server.text.durations import UNITS
from server.text.language import load_language
from server.text.units import is_measure, unit_of

_LETTERS: Final = 2
"""Of a value that needs its name beside it: zone A."""
_COUNTED: Final = re.compile(r"(?:(?:the )?number of|how many) (\w+)$", re.IGNORECASE)
_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_SHORT: Final = 4
"""A code with as few letters is not said alone."""


@dataclass(frozen=True, slots=True)
class Clause:
    """How a value is said of a thing; what is empty cannot be said so."""

    arguments: Mapping[str, Any]
    before: str = ""
    """Before the noun: available."""
    after: str = ""
    """After the noun, or at the end of a command: in Leeds."""
    are: str = ""
    """What they are, said of many: available, in Leeds."""
    have: str = ""
    """What they have, said of many: a C1 licence."""


def label_of(parameter: ApiParameter) -> str:
    """What a parameter is called in a sentence."""
    left_out = phrases().owned | (phrases().hollow if parameter.type == "boolean" else {"filter"})
    spoken_words = [word for word in name_words(parameter.name) if word not in left_out]
    return " ".join(spoken_words) or parameter.name


def is_unspoken(parameter: ApiParameter) -> bool:
    """Whether nobody says it: the format of an answer, and not that of a book."""
    known = phrases()
    technical = not parameter.enum or {str(v).lower() for v in parameter.enum} & known.technical
    return parameter.name in known.unspoken and bool(technical)


def clause_of(
    parameter: ApiParameter, turn: int, value: Any, references: Mapping[str, str]
) -> Clause | None:
    """Return how a value is said in a turn; None where nobody says it."""
    if is_unspoken(parameter) or parameter.type == "object":
        return None
    given = {parameter.name: value}
    text = spoken(value, parameter, turn)
    if parameter.name in references:
        named = reference(parameter, references, text, turn)
        return Clause(given, after=f"{_lead_to(parameter, references[parameter.name])} {named}")
    measured = _measured(parameter, text, turn)
    if measured:
        return Clause(given, after=measured)
    if parameter.type == "boolean":
        return _flag(parameter, given, turn)
    if isinstance(value, str) and _MONTH.fullmatch(value):
        day = date.fromisoformat(f"{value}-01")
        return Clause(given, after=f"for {f'{day:%B %Y}' if turn % 2 else text}")
    if parameter.name in phrases().limits and parameter.type == "integer":
        return Clause(given, before=f"first {text}")
    if parameter.enum:
        found = _choice(parameter, given, text, turn)
        if found is not None:
            return found
    return Clause(given, after=_led(parameter, text, turn), are=_place(parameter, text))


def span_of(start: ApiParameter, end: ApiParameter, turn: int) -> Clause:
    """From one day to another."""
    first = value_of(start, turn)
    last = f"{later(first, turn)}{first[10:]}"
    says = phrases().from_to
    text = says[turn % len(says)].format(
        start=spoken(first, start, turn), end=spoken(last, end, turn)
    )
    return Clause({start.name: first, end.name: last}, after=text)


def _lead_to(parameter: ApiParameter, noun: str) -> str:
    """What stands before a thing that is named by its number: from, to, at or for."""
    known = phrases()
    direction = known.directions.get(name_words(parameter.name)[0])
    if direction is not None:
        return direction
    lead = next((x for x in known.leads if noun.split(" ")[-1] in x.words), None)
    return "at" if lead is not None and lead.says[0] == "in {value}" else "for"


def _measured(parameter: ApiParameter, text: str, turn: int) -> str:
    """A number with what it counts: 3.5 kg, 12 months, 6 pallets, 15 people; empty for others."""
    if parameter.type not in ("number", "integer"):
        return ""
    *before, last = name_words(parameter.name)
    known, lead = phrases(), _lead_of(parameter)
    bound = set(before) & {"min", "minimum", "max", "maximum"}
    if last in known.head_counts or parameter.description.lower() in known.head_counts:
        most = "at most" if bound & {"max", "maximum"} else "at least"
        return f"for {most if bound else ''} {text} people".replace("  ", " ")
    what = [word for word in before if word not in bound]
    if bound and is_measure(unit_of(last) or ""):
        return _bounded(what, f"{text} {last}", turn, most=bool(bound & {"max", "maximum"}))
    if bound or (lead is not None and last in UNITS and not before):
        return ""
    if before and last in UNITS:
        return (f"for {text} {last}", f", {text} {last}")[turn % 2]
    if before and (is_measure(unit := unit_of(last) or "")):
        said_so = "weighing {0}" if before[-1] == "weight" else "of {0}"
        says = (said_so, ", {0}", "with a " + " ".join(before) + " of {0}")
        return says[turn % 3].format(f"{text} {last if len(last) > 1 else unit}")
    counted = " ".join(before) if last == "count" else ""
    described = _COUNTED.match(parameter.description)
    counted = counted or (described[1].lower() if described else "")
    if counted and parameter.type == "integer":
        return (f"with {text} {plural(counted)}", f", {text} {plural(counted)}")[turn % 2]
    return ""


def _bounded(what: Sequence[str], text: str, turn: int, *, most: bool) -> str:
    """A bound with its unit: with at least 50 kw, bigger than 80 ha."""
    compared = [words for name, words in phrases().compared.items() if name in what]
    if compared and not turn % 2:
        return f"{compared[0][most]} than {text}"
    bound = "at most" if most else "at least"
    return f"with {bound} {text}"


def is_span(start: ApiParameter, end: ApiParameter) -> bool:
    """Whether two parameters are the ends of a time."""
    roles = load_language("en").roles
    moments = ("date", "datetime", "time")
    return (
        start.type in moments
        and end.type in moments
        and start.type == end.type
        and bool({*name_words(start.name)} & roles.starts)
        and bool({*name_words(end.name)} & roles.ends)
    )


def reference(
    parameter: ApiParameter, references: Mapping[str, str], text: str, turn: int = 0
) -> str:
    """One thing by its number or code: trip 5021, V-0042."""
    nouns = nouns_of(parameter, references)
    noun = nouns[(turn + 1) // 2 % len(nouns)]
    if is_free(parameter) and turn % 2:
        return text
    form = form_of(text) if parameter.is_code else None
    telling = form is not None and not form.is_number
    if (parameter.pattern or telling) and len(text) > _SHORT and turn % 3 == 1:
        return text
    if telling and phrases().directions.get(name_words(parameter.name)[0]):
        return text if turn % 2 == 0 else f"{noun.split(' ')[-1]} {text}"
    own = name_words(parameter.name)[-1]
    if own in phrases().named_identifiers and turn % 3 == 2:
        return f"{own.upper()} {text}"
    short = noun.split(" ")[-1]
    if turn % 4 == 2 and parameter.type == "integer":
        return f"{noun} number {text}"
    if turn % 5 == 4 and parameter.type == "integer" and len(text) >= _SHORT:
        return text
    return f"{short if turn % 4 == 3 else noun} {text}"


def nouns_of(parameter: ApiParameter, references: Mapping[str, str]) -> list[str]:
    """What a thing is called that a parameter names: member, and card, library card."""
    noun = references[parameter.name]
    left_out = phrases().identifiers | {"value"}
    own = " ".join(word for word in name_words(parameter.name) if word not in left_out)
    found = [noun]
    if own and not ({*own.split(" ")} & {*noun.split(" ")}):
        numbered = name_words(parameter.name)[-1] == "number"
        found += [own] if not own.endswith("ing") else []
        found += [f"{own} number"] if numbered else []
        *described, last = parameter.description.lower().split(" ")
        told = " ".join(described)
        if last in phrases().identifiers and told.endswith(f" {own}") and len(described) < _SHORT:
            found.append(told)
    return found


def join_clauses(clauses: Sequence[str]) -> str:
    """Several clauses after one another: `with a and b`, where they begin alike."""
    joined = ""
    for clause in clauses:
        if not clause:
            continue
        alike = clause.startswith("with ") and " with " in f" {joined}"
        if joined and alike:
            clause = f"and {clause.removeprefix('with ')}"
        joined += clause if clause[0] in ",:" else f" {clause}"
    return joined


def at_the_end(parameter: ApiParameter, clause: Clause) -> str:
    """A clause at the end of a command, for one that stands before a noun."""
    if parameter.enum:
        label = label_of(parameter)
        value = clause.before.removesuffix(f" {label}")
        plain = phrases().purposes | phrases().states
        if label not in plain and (led := _lead_of(parameter)) is not None:
            return led.says[0].format(value=value, label=label, rest="", role="")
        kind_of, _, kind = label.rpartition(" ")
        if kind_of and kind in phrases().nouns_of_kind:
            return f"for {with_article(f'{value} {kind_of}')}"
        return f"for {value}" if label in phrases().purposes else f"with {label} {value}"
    return f", {clause.before or clause.are}"


def is_action(word: str) -> bool:
    """Whether a word is a verb that orders something: notify."""
    return any(word in group for group in load_language("en").actions) and not is_quality(word)


def is_quality(word: str) -> bool:
    """Whether a word says how a thing is, and not what it is."""
    known = phrases().qualities | {*phrases().grammar.irregular_participles.values()}
    return word in known or word.endswith(phrases().quality_endings)


def _flag(parameter: ApiParameter, given: Mapping[str, Any], turn: int) -> Clause:
    label = label_of(parameter)
    parts = label.split(" ")
    known = phrases()
    owned = bool(set(name_words(parameter.name)) & known.owned)
    if owned:
        told = _described(parameter, label)
        told = told if told != label or is_plural(label) else with_article(label)
        return Clause(given, after=f"with {told}", have=told)
    if parts[0] in known.prepositions:
        return Clause(given, after=f"that are {label}", are=label)
    if len(parts) > 1 and is_action(parts[0]):
        return Clause(given, after=f"and {parts[0]} the {' '.join(parts[1:])}")
    said_so = (parts[0], *known.same_quality.get(parts[0], ()))
    label = " ".join([said_so[turn % len(said_so)], *parts[1:]])
    if parts[-1] in known.now_words and is_quality(parts[0]):
        return Clause(given, after=label, are=label)
    if is_quality(parts[-1]):
        return Clause(given, before=label, are=label)
    thing = label if is_plural(label) else with_article(label)
    return Clause(given, after=f"with {thing}", have=thing)


def _described(parameter: ApiParameter, label: str) -> str:
    """What they have, as the description of a flag has it: overdue loans, for has_overdue."""
    found = re.search(
        rf"\b(?:with|have|has) ((?:[a-z]+ )?{re.escape(label)}(?: [a-z]+)?)$",
        parameter.description.lower(),
    )
    return found[1] if found else label


def _choice(
    parameter: ApiParameter, given: Mapping[str, Any], text: str, turn: int
) -> Clause | None:
    known = phrases()
    label = label_of(parameter)
    own = set(label.split(" "))
    unit = label.split(" ")[-1]
    if unit in UNITS and text.isdigit():
        return Clause(given, after=f"for {text} {unit}")
    if len(text) <= _LETTERS and text.isupper() and " " not in label:
        return Clause(given, after=(f"in {label} {text}", f", {label} {text}")[turn % 2])
    if is_plural(text) and " " not in text:
        return Clause(given, after=f"for {text}")
    if own & {"sort", "order", "orderby", "sortby", "weekday"}:
        return None
    if text.split(" ")[0] in known.prepositions:
        return Clause(given, after=f"that are {text}", are=text)
    if label in known.levels:
        return Clause(given, before=f"{text} {label}")
    if label in known.groups:
        if turn % 3 == 2:
            return Clause(given, before=text)
        return Clause(given, after=f"in {text}", are=f"in {text}")
    if own & known.states and text.islower():
        return Clause(given, before=text, are=text)
    if not text.islower() and len(own) > 1:
        have = with_article(f"{text} {label.split(' ')[0]}")
        return Clause(given, after=(f"with {label} {text}", f"with {have}")[turn % 2], have=have)
    if turn % 3 == 2 and label not in known.purposes:
        return Clause(given, after=f"with {label} {text}")
    return Clause(given, before=text)


def _led(parameter: ApiParameter, text: str, turn: int) -> str:
    known = phrases()
    label = label_of(parameter)
    lead = _lead_of(parameter)
    parts = name_words(parameter.name)
    if (
        lead is None
        and parameter.type == "string"
        and len(parts) > 1
        and parts[0] in ("from", "to")
    ):
        return (f"{parts[0]} {text}", f"{parts[0]} {' '.join(parts[1:])} {text}")[turn % 4 == 3]
    moment = parameter.type in ("date", "datetime", "time")
    bound = parts[-1] in ("until", "since")  # they say it alone
    if moment and len(parts) > 1 and parts[-1] in known.spoken_after and not (bound or turn % 2):
        told = (
            parts[-2] if is_quality(parts[-2]) or len(parts) > 2 else participle_of_now(parts[-2])
        )
        last = "on" if parts[-1] == "at" and parameter.type == "datetime" else parts[-1]
        return f"{' '.join((*parts[:-2], told, last))} {text}"
    if lead is None and parameter.type == "string" and parts[-1] == "name" and len(parts) > 1:
        return (f"for {text}", f"with {label} {text}")[turn % 2]
    if lead is not None:
        rest = " ".join(part for part in label.split(" ") if part not in lead.words)
        says = lead.says[turn % len(lead.says)]
        if "sorted" in says and text.endswith("est"):
            return f"{text} first"
        if rest or "{rest}" not in says:
            role = rest if rest in ("before", "after") else "on"
            return says.format(value=text, label=label, rest=rest, role=role)
    if parameter.type == "integer" and is_plural(label):
        return (f"with {text} {label}", f", {text} {label}")[turn % 2]
    common = known.by_type.get(parameter.type, known.by_type["any"])
    return common[turn % len(common)].format(value=text, label=label)


def _lead_of(parameter: ApiParameter) -> LeadWords | None:
    parts = set(label_of(parameter).split(" "))
    leads = (lead for lead in phrases().leads if lead.words & parts)
    return next((x for x in leads if not x.types or parameter.type in x.types), None)


def _place(parameter: ApiParameter, text: str) -> str:
    """Where they are, if that is what the value says."""
    led = _led(parameter, text, 0)
    return led if led.startswith("in ") else ""


def spellings_of(parameter: ApiParameter) -> dict[str, list[str]]:
    """Other spellings of the values of a list: `in use` for in_use, suites for suite."""
    if parameter.type == "boolean":
        return {}
    values = parameter.enum
    no_things = {*label_of(parameter).split(" ")} & (phrases().states | phrases().levels)
    spellings: dict[str, list[str]] = {}
    taken = {str(value).lower() for value in values}
    for value in values:
        text = said(value)
        more = [text] if text != str(value).lower() else []
        first, _, rest = text.partition(" ")
        if first in phrases().prepositions and rest and " " not in rest:
            more.append(f"{first} the {rest}")
        is_kind = bool(
            {*label_of(parameter).split(" ")} & (phrases().nouns_of_kind | phrases().purposes)
        )
        is_thing = (
            is_kind and text.isalpha() and text.islower() and not (no_things or is_quality(text))
        )
        if is_thing:
            more.append(plural(text) if not is_plural(text) else singular(text))
        kept = [each for each in dict.fromkeys(more) if each.lower() not in taken and each != value]
        taken |= set(kept)
        if kept:
            spellings[str(value)] = kept
    return spellings


def other_qualities(parameter: ApiParameter) -> list[str]:
    """How else people say that a flag is so: free, for available."""
    if parameter.type != "boolean":
        return []
    first, *_ = label_of(parameter).split(" ")
    return [*phrases().same_quality.get(first, ())]
