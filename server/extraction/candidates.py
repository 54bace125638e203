"""Every place of a question that could be the value of a parameter."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from server.core.tools import SourceKind
from server.extraction.assignment import FILLERS, bound_at
from server.extraction.pattern_values import numbers_of_domain, with_domain
from server.extraction.periods import looked_back
from server.extraction.plan import NUMERIC, ParameterPlan, TemplatePlan
from server.extraction.shapes import shape_of
from server.extraction.values import (
    BESIDE_ITS_VALUE,
    HINT,
    SURE,
    Candidate,
    SpanSet,
    from_span,
    from_words,
    number,
    written,
)
from server.library.parameter_types import ValueKind
from server.library.sql_model import SqlExecution
from server.text.codes import EXACT, OTHER, SIMILAR, find_codes
from server.text.decimals import Number, opposite
from server.text.durations import UNITS, unit_at
from server.text.expressions import find_expression
from server.text.language import load_language, shipped_names
from server.text.numbers import ambiguous_numbers
from server.text.parsed_text import ParsedText
from server.text.periods import find_periods
from server.text.senses import sense_reader
from server.text.stems import stem
from server.text.tokens import Kind, Span, Tokens, is_digits, is_word
from server.text.units import converted, is_measure, unit_after

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_DAY, _MONTH = timedelta(days=1), timedelta(days=31)
_UP_TO_TODAY: Final = _group("up_to_today")
_AT_PLACE: Final = _ENGLISH.leads["place"]
_EXCLUDING: Final = _group("exclusions") - {"no", "not"}
_EXCLUDED_WITHIN: Final = 5
_LIST_ENDS: Final = _group("list_ends")
_YEAR_LEADS: Final = _group("year_leads")
_YEAR: Final = "year"
_COUNT_NAMES: Final = _group("counting_names")
_BEFORE_STRETCH: Final = _group("period_leads") | {"the"}
_DENIED_WITHIN: Final = 3
"""Words between what a yes or no is about and the word that denies it."""


def find_candidates(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> list[Candidate]:
    """Every place that could be a value of this parameter, best rank first, then in order."""
    finder = _choices if plan.role == "text" and plan.choices else _FINDERS.get(plan.role)
    found = list(finder(plan, template, reading)) if finder else []
    if plan.role not in NUMERIC:
        found = found or _in_quotes(plan, reading)
        found = found if plan.domain_type is None else with_domain(plan, reading, found)
    found.sort(key=attrgetter("rank", "start"))
    return found


def _amounts(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[Candidate]:
    if plan.looks_back:
        yield from looked_back(plan, reading)
        return
    spans, unit = reading.of("number"), plan.name.unit
    backwards: set[int] = set()
    if plan.clock:
        yield from _hours(plan, reading)
    if unit:
        yield from _time_amounts(plan, template, reading)
        durations = reading.of("duration")
        backwards = {span.first for span in durations if _is_backwards(plan, template, span)}
    if plan.rate:
        yield from _rates(plan, reading)
    per_time = {rate.start for rate in reading.rates} if plan.rate else set[int]()
    read_by_domain = numbers_of_domain(plan, reading)
    single = sum(not other.percent for other in template.groups["amount"]) < 2
    asks_data = isinstance(template.template.execution, SqlExecution)
    for span in spans:
        if span.start in per_time or is_other_end(plan, from_span(span, None), reading):
            continue
        ranked = asks_data and _counts_a_list(reading.tokens, span)
        if asks_data and _is_for_another(plan, span, reading, ranked=ranked):
            continue
        fit = _unit_fit(plan, span)
        measured = _measured(plan, span, reading)
        if fit is None or measured is None:
            continue
        if single and ambiguous_numbers(reading.tokens, span):
            what = "a number like 1,5 or 1/2 can be read in two ways; write it with a point"
            yield from_span(span, None, rank=3)._replace(problem=what)
            continue
        rank, hinted, surely = fit
        if ranked and plan.name.pages:
            surely = SURE
        if unit and not span.unit and _counts_things(reading.tokens, span.last):
            continue
        value = read_by_domain.get(span.start, measured[0])
        surely = max(surely, measured[1])
        if span.first in backwards:
            value = opposite(number(value))
        kind: SourceKind = "domain_pattern" if span.start in read_by_domain else "recognizer"
        place = (span.start, span.end, span.first, span.last)
        found = Candidate(*place, value, kind, rank, hinted, fit=surely)
        yield plan.checker.checked(found)
    if not spans:
        for quote in reading.quoted("number"):
            yield plan.checker.checked(from_span(quote, quote.value, rank=2))


def _counts_a_list(tokens: Tokens, span: Span) -> bool:
    """Whether a number says how many of a list are wanted: the last 5 orders."""
    following = tokens.word(span.last)
    is_noun = is_word(following) and following not in UNITS and following not in _FUNCTION_WORDS
    return is_noun and not span.unit and tokens.word(span.first - 1) in _LIST_ENDS


def _is_for_another(plan: ParameterPlan, span: Span, reading: ParsedText, *, ranked: bool) -> bool:
    """Whether a number of a question about data says how many rows, or when, and no amount.

    A year that is a bound is none that something is of: after 2024, over 2000.
    """
    name = plan.name
    of_years = _YEAR in name.words or _YEAR in (plan.parameter.description or "").lower()
    if of_years:
        return not plan.bound and bool(bound_at(from_span(span, None), reading.tokens))
    if ranked and not name.pages and _COUNT_NAMES.isdisjoint(name.words):
        return True
    if reading.tokens.word(span.first - 1) not in _YEAR_LEADS or span.unit:
        return False
    return any(
        one.first <= span.first < one.last and one.reach != "between"
        for one in find_periods(reading)
        if not one.is_days
    )


def is_other_end(plan: ParameterPlan, place: Candidate, reading: ParsedText) -> bool:
    """Whether the words around a number make it the end of a range that the parameter is not."""
    if not plan.bound:
        return False
    bound = bound_at(place, reading.tokens)
    before = reading.tokens.words[max(0, place.first - _EXCLUDED_WITHIN) : place.first]
    if not bound or not _EXCLUDING.isdisjoint(before):  # skip anything under 20
        return False
    unit = UNITS.get(reading.tokens.word(place.last))
    return bound != plan.bound and (unit is None or plan.name.unit != "")


def _rates(plan: ParameterPlan, reading: ParsedText) -> Iterator[Candidate]:
    """Numbers that are per some time; one that is per another than it has to be is a problem."""
    for span in reading.rates:
        if plan.rate in ("any", span.unit):
            yield plan.checker.checked(from_span(span, span.value, fit=SURE))
        else:
            said = reading.text[span.start : span.end]
            yield from_span(span, None)._replace(problem=f"{said} is not per {plan.rate}")


def _measured(plan: ParameterPlan, span: Span, reading: ParsedText) -> tuple[Number, int] | None:
    """Return the value in the parameter's unit of measure and its fit; None for another measure."""
    unit = unit_after(reading.text, span.end)
    if not is_measure(unit) or span.unit.isupper():  # pounds are money as well
        return span.value, 0
    if plan.role != "number" or plan.name.unit:
        return None if plan.role == "money" and not plan.required else (span.value, 0)
    if not plan.measures:
        return span.value, 0
    for wanted in sorted(plan.measures):
        value = converted(span.value, unit, wanted)
        if value is not None:
            return value, SURE
    return None


def _counts_things(tokens: Tokens, index: int) -> bool:
    """Whether the number before `index` counts things, and no time: 3 cities."""
    following = tokens.word(index)
    if not is_word(following) or following in _FUNCTION_WORDS:
        return False
    return not unit_at(tokens.word(index + 1), glued=False)  # 3 business days


def _unit_fit(plan: ParameterPlan, span: Span) -> tuple[int, bool, int] | None:
    """Return rank, whether a hint is needed, and fit of a number's unit; None if it is none."""
    unit = "" if span.unit == "-" else span.unit
    if unit == "%":
        if plan.role == "percentage":
            return 0, False, SURE
        return (1, False, 0) if plan.percent else None
    if plan.role == "percentage":
        return None if unit else (1, True, 0)
    if not unit:
        return 0, not plan.required and plan.name.pages, 0
    if unit.isupper():  # a currency
        counts = plan.name.unit or plan.name.pages  # no list has 100 euros of members
        return None if counts else (0, False, HINT if plan.role == "money" else 0)
    if plan.name.unit:
        return (0, False, SURE) if unit == plan.name.unit else None
    return 1, not plan.required, 0


def _hours(plan: ParameterPlan, reading: ParsedText) -> Iterator[Candidate]:
    """Times of day as hours: 2 pm is 14."""
    for span in reading.of("time"):
        if span.value.minute or span.value.second:
            what = f"{reading.text[span.start : span.end]} is no full hour"
            yield from_span(span, None)._replace(problem=what)
        else:
            yield plan.checker.checked(from_span(span, span.value.hour, fit=SURE))


def _time_amounts(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[Candidate]:
    unit = plan.name.unit
    numbers = {span.start for span in reading.of("number") if span.unit == unit}
    for span in reading.of("duration"):
        if is_other_end(plan, from_span(span, None), reading):
            continue
        count = span.value.count_in(unit)
        if count is None:
            what = f"{reading.text[span.start : span.end]} has no fixed number of {unit}s"
            yield from_span(span, None)._replace(problem=what)
        elif span.start not in numbers:
            count = opposite(count) if _is_backwards(plan, template, span) else count
            yield plan.checker.checked(from_span(span, count, fit=SURE))


def _is_backwards(plan: ParameterPlan, template: TemplatePlan, span: Span) -> bool:
    """Whether a span of time is a negative number here: beside a date it is moved by."""
    allowed = plan.parameter.ge is None or plan.parameter.ge < 0
    return span.unit == "-" and allowed and bool(template.groups["date"])


def _plain_dates(
    template: TemplatePlan, reading: ParsedText, *, whole: bool = False
) -> list[Candidate]:
    """Dates; `whole` ones only without those in a time: tomorrow at 5pm is no mere tomorrow."""
    moments = _moments(template, reading)
    offsets = () if template.counts_time else reading.of("offset")
    anchors = reading.of("anchor") if template.counts_time else ()
    found = [
        from_span(span, span.value, rank=int(span.weak or reading.is_present(span)))
        for span in reading.of("date")
        if not any(o.start <= span.start and span.end <= o.end for o in offsets)
    ]
    found += [from_span(span, span.value) for span in (*moments, *offsets)]
    found += [from_span(span, span.value, rank=2) for span in anchors]
    return [c for c in found if not (whole and any(c.is_within(m) for m in moments))]


def _moments(template: TemplatePlan, reading: ParsedText) -> list[Span]:
    """Dates with a time, which are one value where no parameter takes the time by itself."""
    found = [span for span in reading.of("datetime") if not span.weak]
    if not any(plan.role == "time" or plan.clock for plan in template.groups["amount"]):
        return found
    days = reading.of("date")
    return [m for m in found if not any(m.start <= d.start and d.end <= m.end for d in days)]


def _dates(plan: ParameterPlan, template: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    only_dates = plan.parameter.type == "date" or plan.parameter.pattern is not None
    for candidate in _plain_dates(template, reading, whole=not only_dates):
        value = written(candidate.value)
        yield candidate._replace(value=value[:10] if only_dates else value)
    yield from unreadable(reading, "date")


def _datetimes(
    _: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[Candidate]:
    moments = reading.of("datetime")
    for span in moments:
        yield from_span(span, written(span.value))
    for candidate in _plain_dates(template, reading):
        if not any(m.start <= candidate.start < m.end for m in moments):
            yield candidate._replace(value=f"{candidate.value.isoformat()}T00:00:00")
    for span in reading.of("time"):
        if not span.weak and not any(m.start <= span.start < m.end for m in moments):
            moment = f"{reading.today.isoformat()}T{span.value.isoformat()}"
            yield from_span(span, moment, rank=2)
    yield from unreadable(reading, "date")


def _written_dates(
    _: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[Candidate]:
    for candidate in _plain_dates(template, reading, whole=True):
        text = reading.text[candidate.start : candidate.end]
        # "5pm on March 7" is written in no order that a tool could be told of.
        absolute = not isinstance(candidate.value, datetime) and any(map(str.isdigit, text))
        yield candidate._replace(value=text if absolute else written(candidate.value))


def unreadable(reading: ParsedText, kind: str) -> Iterator[Candidate]:
    for span in reading.of("unreadable"):
        if span.unit == kind:
            yield from_span(span, None)._replace(problem=span.value)


def up_to_today(found: Candidate, reading: ParsedText) -> tuple[Candidate, Candidate] | None:
    """The two dates of "days until X" or "days since X", of which one is today."""
    index = found.first - 1
    lead = reading.tokens.word(index)
    if lead not in _UP_TO_TODAY or found.kind == "template_pattern":
        return None
    today = from_words(reading.tokens, index, index + 1, reading.today.isoformat())
    return (found, today) if lead == "since" else (today, found)


def _spans(plan: ParameterPlan, _: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    for span in reading.of(_KIND_OF[plan.role]):
        found = from_span(span, written(span.value), rank=int(span.weak))
        yield plan.checker.checked(found) if plan.parameter.pattern else found
    if plan.role == "time":
        yield from unreadable(reading, "time")


def _shaped(plan: ParameterPlan, _: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    shape = shape_of(plan.parameter.pattern or "")
    if shape is None:
        return
    for first, last, value in shape.find(reading):
        yield plan.checker.checked(from_words(reading.tokens, first, last, value))
    for month in find_periods(reading):
        start, end = month.start, month.end
        if start is None or end is None or (start + _MONTH).replace(day=1) <= end or start.day > 1:
            continue
        if not month.is_days and (end + _DAY).day == 1 and shape.takes(f"{start:%Y-%m}"):
            yield from_words(reading.tokens, month.first, month.last, f"{start:%Y-%m}")


def _codes(plan: ParameterPlan, template: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    """Codes, each as a whole: first what is like the example, then what the words beside claim."""
    forms = [one.form for one in template.groups["code"] if one.form is not None]
    whole = [span for kind in _APART for span in reading.of(kind)]
    tokens, own = reading.tokens, plan.form
    for code in find_codes(reading.clean, forms, numbers=True):
        words = tokens.index_at(code.start), tokens.index_at(code.end - 1) + 1
        found = Candidate(code.start, code.end, *words, code.text)
        if any(found.overlaps(from_span(span, None)) for span in whole):
            continue
        fit = own.fit(code.text) if own else OTHER
        if own and fit and own.is_telling:
            points = _FITS[fit] + (HINT - 1 if own.leads(code.text) else 0)
            found = found._replace(value=own.written(code.text), fit=points)
        elif any(form.fit(code.text) == EXACT for form in plan.other_forms):
            if own:
                continue  # one that is known to be of something else
            found = found._replace(rank=1, hinted=not plan.required)
        elif own or code.text.isdigit():
            hinted = not plan.required or len(code.text) < _CODE_DIGITS
            found = found._replace(rank=1, hinted=hinted)
        yield plan.checker.checked(found)


def _expressions(_: ParameterPlan, __: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    found = find_expression(reading)
    if found is not None:
        text = reading.tokens.slice(found.first, found.last)
        place = from_words(reading.tokens, found.first, found.last, text)
        yield place._replace(fit=SURE)


def _currencies(plan: ParameterPlan, _: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    amounts = {place for n in reading.of("number") for place in (n.first, n.last)}
    for span in reading.of("currency"):
        of_amount = span.last in amounts or span.first in amounts
        sure = of_amount and "from" in plan.name.topics
        yield from_span(span, span.value, fit=BESIDE_ITS_VALUE if sure else 0)


def _places(plan: ParameterPlan, _: TemplatePlan, reading: ParsedText) -> Iterator[Candidate]:
    times = {span.last for span in reading.of("time") if not span.weak}
    for span in reading.places:
        if span.kind == "timezone":
            at = span.first
            at -= reading.tokens.word(at - 1) in _AT_PLACE and at not in times
            sure = at in times and "from" in plan.name.topics  # 4pm in Paris
            yield from_span(span, span.value, fit=BESIDE_ITS_VALUE if sure else 0)
        else:
            yield from_span(span, None)._replace(problem=span.value)


def _is_part_of_period(found: Candidate, reading: ParsedText) -> bool:
    """Whether it is but a word of a stretch of days: the year of this year, since in 2024."""
    return any(
        one.first <= found.first < found.last <= one.last
        and (found.first, found.last) != (one.first, one.last)
        and (found.last < one.last or reading.tokens.words[one.first] not in _BEFORE_STRETCH)
        for one in find_periods(reading)
    )


def _choices(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[Candidate]:
    tokens = reading.tokens
    asks_data = isinstance(template.template.execution, SqlExecution)
    kinds: tuple[Kind, ...] = ("number", "date", "datetime", "time")
    copulas = load_language((*reading.languages, "en")[0]).remarks.copulas
    for phrase in plan.choices.find(tokens) or plan.choices.find_turned(tokens, copulas):
        rank = int(phrase.weak)
        found = from_words(tokens, phrase.first, phrase.last, phrase.value, "vocabulary", rank=rank)
        wholes = [span for kind in kinds for span in reading.of(kind)]
        # The 2 of 2.5 is no choice.
        is_digit = is_digits(tokens.words[phrase.first])
        named = tokens.word(phrase.first - 1) in plan.name.before
        if phrase.last - phrase.first == 1 and _is_mere_word(reading, phrase.first) and not named:
            continue
        is_part = is_digit and any(found.is_within(span) for span in wholes)
        if not is_part and not (asks_data and _is_part_of_period(found, reading)):
            yield found._replace(slip=phrase.slip)
    for quote in reading.of("quoted"):
        known, value = plan.choices.lookup(quote.value)
        if known:
            yield from_span(quote, value)._replace(kind="vocabulary")


def _is_mere_word(reading: ParsedText, at: int) -> bool:
    """Whether a single letter is the word that it is elsewhere: a permit, I have."""
    word, start = reading.tokens.words[at], reading.tokens.starts[at]
    if len(word) > 1 or word not in _FUNCTION_WORDS:
        return False
    return at == 0 or not reading.clean[start].isupper()


def _in_quotes(plan: ParameterPlan, reading: ParsedText) -> list[Candidate]:
    if plan.role == "written_date":
        return [from_span(quote, quote.value) for quote in reading.of("quoted")]
    kind = _KIND_OF.get(plan.role)
    spans = () if kind is None else reading.quoted(kind)
    return [from_span(span, written(span.value), rank=1) for span in spans]


_APART: Final[tuple[Kind, ...]] = ("email", "url", "array", "object", "date", "datetime", "time")
_FITS: Final = {EXACT: HINT + 1, SIMILAR: HINT}
"""Points of a code for having the form of the example."""
_CODE_DIGITS: Final = 4
"""Digits of a code that may be one though nothing says so, where one is needed."""
_KIND_OF: Final[dict[ValueKind, Kind]] = {
    "date": "date", "datetime": "datetime", "time": "time", "duration": "duration",
    "email": "email", "url": "url", "currency": "currency",
}  # fmt: skip
_FINDERS: Final[dict[ValueKind, Callable[..., Iterable[Candidate]]]] = {
    "number": _amounts, "percentage": _amounts, "money": _amounts,
    "date": _dates, "datetime": _datetimes, "written_date": _written_dates, "time": _spans,
    "duration": _spans, "shaped": _shaped, "code": _codes, "email": _spans, "url": _spans,
    "currency": _currencies,
    "date_format": lambda _, __, reading: [from_span(s, s.value) for s in reading.date_formats],
    "choice": _choices, "expression": _expressions, "timezone": _places,
    "country": lambda _, __, reading: [from_span(s, s.value) for s in reading.countries],
}  # fmt: skip

_BOOLEAN_WORDS: Final = dict.fromkeys(_group("affirmed"), True) | dict.fromkeys(
    _group("denied"), False
)
_SWITCHES: Final = {"on": True, "off": False}
_NEGATIONS, _TURNS, _HOLLOW = _group("negations"), _group("turns"), _group("hollow_flags")


def find_boolean(
    plan: ParameterPlan, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> Candidate | None:
    """What the question says about the parameter; `alone` when it has no other boolean."""
    tokens = reading.tokens
    if _SWITCHES.keys() <= set(tokens.words):
        return None  # both words occur, so neither is the answer
    named = _mention(plan, tokens, taken)
    for index, word in enumerate(tokens.words):
        if not taken.has_room(tokens, index, index + 1):
            continue
        beside = named and (named[0] - 3 <= index < named[0] or 0 <= index - named[1] <= 2)
        for meanings, answers in ((_BOOLEAN_WORDS, _is_answer), (_SWITCHES, _is_switch)):
            if word in meanings and (beside or (alone and answers(tokens, index))):
                return from_words(tokens, index, index + 1, meanings[word])
    if named is None:
        return _local_mention(plan, reading, taken)
    before = {tokens.word(named[0] - 1), tokens.word(named[0] - 2)}
    return from_words(tokens, *named, before.isdisjoint(_NEGATIONS))


def _local_mention(plan: ParameterPlan, reading: ParsedText, taken: SpanSet) -> Candidate | None:
    """What the description's main word says where it stands, in a language beside English.

    The name of a parameter is English there, so that only its description can be mentioned.
    """
    tokens, description = reading.tokens, plan.parameter.description or ""
    for code in tokens.languages:
        if code == "en" or code not in shipped_names():
            continue
        telling = sense_reader(code).telling(description)
        subject = stem(max(telling, key=len), code) if telling else ""
        for index, word in enumerate(tokens.words):
            if not subject or not is_word(word) or stem(word, code) != subject:
                continue
            if taken.has_room(tokens, index, index + 1):
                around = tokens.words[max(0, index - _DENIED_WITHIN) : index + _DENIED_WITHIN + 1]
                denied = sense_reader(code).denies(around)
                return from_words(tokens, index, index + 1, not denied)
    return None


def _mention(plan: ParameterPlan, tokens: Tokens, taken: SpanSet) -> tuple[int, int] | None:
    """Where all telling words of the name stand in a row, or an alias does: archived, of
    include_archived.
    """
    telling = [word for word in plan.name.words if word not in _HOLLOW]
    for words in (telling, *(alias.lower().split() for alias in plan.parameter.aliases)):
        size = len(words)
        for first in range(len(tokens) - size + 1 if words else 0):
            place = first, first + size
            if [*tokens.words[slice(*place)]] == words and taken.has_room(tokens, *place):
                return place
    return None


def _is_answer(tokens: Tokens, index: int) -> bool:
    """Whether a yes or no answers, and does not deny: "no more than" is no no."""
    if tokens.words[index] not in ("no", "yes"):
        return True
    return not tokens.word(index + 1)[:1].isalnum() or tokens.word(index - 1) in FILLERS


def _is_switch(tokens: Tokens, index: int) -> bool:
    turned = any(word in _TURNS for word in tokens.words[max(0, index - 4) : index])
    is_last = not any(map(is_word, tokens.words[index + 1 :]))
    return turned or (is_last and tokens.words[0] not in _ENGLISH.followups.asks)
