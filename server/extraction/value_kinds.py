"""How a parameter is read: its type, and for plain strings what its name says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from server.extraction.shapes import shape_of
from server.library.model import Domain, Parameter, Template
from server.library.parameter_types import CUSTOM, ValueKind
from server.library.parameters import has_data_beside, is_compared_with_data, name_words
from server.text.codes import CodeForm, find_codes, form_of
from server.text.durations import UNITS
from server.text.language import load_language
from server.text.stems import inflections
from server.text.units import is_measure, unit_of, units_in

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group

PERCENT, MAYBE_PERCENT, MONEY = _group("percent_names"), _group("rate_names"), _group("money_names")
FIELDS, ORDERED, NUMBERS = _group("key_nouns"), _group("order_names"), _group("number_names")
IDENTIFIERS = _group("identifier_names")
DATES, URLS, WRITTEN = _group("date_names"), _group("url_names"), _group("text_names")
_TOPICS: Final = {word: topic for topic, words in _ENGLISH.topics.items() for word in words}
_TIME_UNITS: Final = {w: unit for w, unit in UNITS.items() if len(w) > 3 or w == unit}
_PER: Final = {word: unit for unit, some in _ENGLISH.rates.adverbs.items() for word in some}
_TIMES, _DAYS = ("19:30", "07:05"), ("2026-05-12", "1999-12-31")
"""Values that a pattern takes which describes times of day, and days."""
_LOOKBACK: Final = _group("lookback_names")
_COUNTING: Final = frozenset({"of", "many", "in", ""})
_PAGING, _SAYS_NOTHING = _group("paging_names"), _group("hollow_names")


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter's name, taken apart.

    `before` and `after` are words that stand next to its value: its own, their synonyms, and
    those that usually lead to such a value.
    """

    words: tuple[str, ...]
    before: frozenset[str]
    after: frozenset[str]
    unit: str
    rate: str
    """The unit of time that it is per: calls_per_day, monthly_rent."""
    topics: tuple[str, ...]
    pages: bool
    """Whether it says how much to show, which no question has to mean by a number."""
    leads: frozenset[str]
    """Words that usually lead to a value of this name, without the name itself."""
    called: frozenset[str]
    """What the value is, by its name and the other words for it: customer, of customer_name."""

    def has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words)


def take_apart(name: str, synonyms: Iterable[str] = ()) -> Name:
    """`name` in snake_case or camelCase; `synonyms` are other words for the same thing."""
    words = name_words(name)
    telling = {word for word in words if len(word) > 1 and not word.isdigit()}
    more = {part for synonym in synonyms for part in synonym.split() if len(part) > 2}
    words_beside = (telling - _SAYS_NOTHING) | more
    near = frozenset[str]().union(*map(inflections, words_beside))
    topics = tuple(dict.fromkeys(_TOPICS[word] for word in words if word in _TOPICS))
    leads, follows = (
        frozenset[str]().union(*(words.get(topic, ()) for topic in topics))
        for words in (_ENGLISH.leads, _ENGLISH.follows)
    )
    rate = _rate_of(words)
    unit = _TIME_UNITS.get(words[-1], "") if words and not rate else ""
    directions = {word for word in near if _TOPICS.get(word) in ("from", "to")}
    pages = not {"limit", "page"}.isdisjoint(topics) or not _PAGING.isdisjoint(words)
    after = near - directions | follows
    called = near - directions - {*WRITTEN, "name", "names"}
    return Name(words, near | leads, after, unit, rate, topics, pages, leads, called)


def _rate_of(words: Sequence[str]) -> str:
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if word in _ENGLISH.rates.leads and following in _TIME_UNITS:
            return _TIME_UNITS[following]
        if word in _PER:
            return _PER[word]
    return ""


Group = Literal[
    "data", "query", "claim", "code", "date", "amount", "numbers", "field", "fields", "cell",
    "boolean", "words", "text",
]  # fmt: skip
"""Roles whose values could be taken for one another's; filled in this order."""

GROUPS: Final[dict[ValueKind, Group]] = {
    "records": "data", "object": "data", "rows_query": "query",
    "choice": "claim", "email": "claim", "url": "claim", "currency": "claim",
    "timezone": "claim", "country": "claim", "expression": "claim",
    "date_format": "claim", "custom": "claim", "shaped": "claim",
    "code": "code",
    "date": "date", "written_date": "date", "datetime": "date",
    "number": "amount", "percentage": "amount", "money": "amount", "duration": "amount",
    "time": "amount",
    "numbers": "numbers", "field": "field", "fields": "fields", "cell": "cell",
    "boolean": "boolean", "strings": "words", "choices": "words", "text": "text",
}  # fmt: skip


SELF_EXPLAINING: Final[frozenset[ValueKind]] = frozenset({"expression", "rows_query"})
"""Kinds of values that say what is asked for, so that no word of a template has to."""


def value_kind(parameter: Parameter, name: Name, template: Template, domain: Domain) -> ValueKind:
    """How the values of `parameter` are recognised."""
    descriptor = parameter.descriptor
    if descriptor.kind == "number":
        numeric: tuple[tuple[frozenset[str], ValueKind], ...]
        numeric = (PERCENT, "percentage"), (MONEY, "money")
        return next((kind for words, kind in numeric if name.has(words)), "number")
    if descriptor.is_numeric:
        return descriptor.kind
    if descriptor.json_type == "array":
        return _array(parameter, name, template)
    if (parameter.choices or parameter.enum) and descriptor.kind != "boolean":
        return "choice"
    if descriptor is CUSTOM:
        entity = domain.entities.get(parameter.type)
        if entity is not None and entity.values:
            return "choice"
        patterns = parameter.extraction_patterns or parameter.type in domain.parameter_patterns
        return "custom" if entity is None or patterns else "text"
    if descriptor.kind == "text" and not parameter.format:
        shaped = _shaped(parameter)
        if shaped is None and parameter.name not in domain.entities:
            shaped = "code" if _is_code(parameter, name, template) else None
        return shaped or _string(parameter, name, template)
    return descriptor.kind


def _shaped(parameter: Parameter) -> ValueKind | None:
    """How a text is recognised whose `pattern` tells it from any other."""
    shape = shape_of(parameter.pattern) if parameter.pattern else None
    if shape is None:
        return None
    if all(map(shape.takes, _TIMES)):
        return "time"
    return "date" if all(map(shape.takes, _DAYS)) else "shaped"


def form_of_codes(parameter: Parameter) -> CodeForm | None:
    """What the values of a code are made of, where its author shows one."""
    example = parameter.example
    return form_of(example) if isinstance(example, str) else None


def _is_code(parameter: Parameter, name: Name, template: Template) -> bool:
    """Whether a text that may be any is known by its letters and digits.

    Its example says so, or its name and those of the sentences that hold such a code.
    """
    if parameter.pattern or not template.nl_examples:
        return False
    form = form_of_codes(parameter)
    if form is not None and not (form.is_number or form.is_word):
        return True
    if not name.has(IDENTIFIERS) or name.has(DATES):
        return False
    if form is not None or parameter.example is not None:
        return form is not None
    shown = [any(find_codes(example)) for example in template.nl_examples]
    return 2 * sum(shown) >= len(shown)


def takes_percent(parameter: Parameter, name: Name) -> bool:
    """Whether `15%` may be 15 for this number, going by what its author says of it."""
    text = f"{parameter.description} {parameter.example}".lower()
    return name.has(PERCENT | MAYBE_PERCENT) or "percent" in text or "%" in text


def measures_of(parameter: Parameter, name: Name) -> frozenset[str]:
    """The units of measure that a number is given in, as its name or its author's words have it."""
    words = name.words if len(name.words) > 1 else ()
    written = [word for word in name.words if len(word) > 3] + [*words[-1:]]
    named = {unit_of(word) for word in written} or set[str]()
    return frozenset(one for one in named | units_in(parameter.description) if is_measure(one))


def looks_back(parameter: Parameter, name: Name) -> str:
    """The unit of time that a number counts back in, as its name or its description says."""
    if parameter.descriptor.json_type not in ("integer", "number") or name.rate:
        return ""
    described = name_words(parameter.description)
    if _LOOKBACK.isdisjoint((*name.words, *described)):
        return ""
    named = [word for word in name.words if word in _TIME_UNITS]
    # “Number of days to look back”: what is counted stands right after what counts.
    counted = [
        word
        for before, word in pairwise(("", *described))
        if word in _TIME_UNITS and before in _COUNTING
    ]
    return next((_TIME_UNITS[word] for word in (*named, *counted)), "")


def rate_of(parameter: Parameter, name: Name) -> str:
    """The unit of time that a number is per, as its author says or its name does."""
    return parameter.unit.removeprefix("per_") if parameter.unit else name.rate


def _array(parameter: Parameter, name: Name, template: Template) -> ValueKind:
    items = parameter.items or {}
    if parameter.choices or items.get("enum"):
        return "choices"
    kind = items.get("type")
    if kind in ("number", "integer"):
        return "numbers"
    if kind == "string" or (kind is None and name.has(FIELDS)):
        return "fields" if name.has(FIELDS) and has_data_beside(parameter, template) else "strings"
    return "numbers" if kind is None and name.has(NUMBERS) else "records"


def _string(parameter: Parameter, name: Name, template: Template) -> ValueKind:
    if has_data_beside(parameter, template):
        if name.has(FIELDS) or (name.has(ORDERED) and "by" in name.words):
            return "field"
        if is_compared_with_data(parameter, template):
            return "cell"
    if "format" in name.words:
        return "date_format" if name.has(DATES | WRITTEN) or len(name.words) == 1 else "text"
    if name.has(DATES):
        return "written_date" if name.has(WRITTEN) else "date"
    if "currency" in name.words:
        return "currency"
    if "email" in name.words:
        return "email"
    return "url" if name.has(URLS) else "text"
