"""Stretches of days, and of what they are."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from server.extraction.data_questions.asked import (
    EACH,
    Asked,
    Condition,
    DataRequest,
    Days,
    Each,
    NotHeld,
    Unclear,
)
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.steps.figures import has_lines
from server.extraction.data_questions.words import Words, use
from server.text.periods import SpokenPeriod

_MONTHS: Final = 12
_MONTHS_OF_QUARTER: Final = 3
_BOUNDS: Final = frozenset({"more", "least", "less", "most"})


def read_days(words: Words, request: DataRequest) -> None:
    """In 2025, since March; 2024 and 2025 side by side."""
    to_come = next((item for item in words.items if _is_to_come(words, item)), None)
    request.newly = any(item.has("recent") for item in words.left())
    if to_come is not None:
        raise NotHeld(to_come.said)
    for item in words.left():
        if item.kind == "period":
            if _is_now(words, request, item):
                use(item)
                continue
            use(item, role="value")
            columns = _columns_beside(words, request, item)
            if item.value.start is not None and item.value.start > request.today and not columns:
                raise NotHeld(item.said)  # the future is in no data
            if request.days:
                _read_two_periods(words, request, request.days.pop(), Days(item.value, columns))
            elif request.spans:
                _read_further_period(request, item.value)
            else:
                request.days.append(Days(item.value, columns))


def _is_to_come(words: Words, item: Item) -> bool:
    """Whether something is told about the future: we will, we are going to sell."""
    if item.spoken in words.language.future:
        return True
    after = words.next(item)
    leads = item.spoken in words.language.future_leads and after is not None
    if not leads or after is None:
        return False
    happens = bool(after.meanings.done) or after.has("money_done")
    return happens or after.spoken in words.language.being


def read_leftovers(words: Words, request: DataRequest) -> None:
    """Small words that mean something only beside what else was read."""
    by_days = any(isinstance(group, str) for group in request.groups)
    if request.days or by_days or any(absent.days for absent in request.absent):
        use(*(item for item in words.left() if item.has("recent")))
    if any(item.is_filler and item.spoken in words.language.nows for item in words.items):
        _read_now(words, request)
    for item in words.left():
        each = next((each for each in EACH if item.has(each)), None)
        if each is not None and request.having and not request.groups:
            use(item, role="operator")
            request.groups.append(each)  # in which months did we sell for less
        elif each is not None and (request.top or request.order):
            use(item, role="operator")
            request.groups.append(each)
            request.limit = request.limit or 1
            request.top = not request.order
        elif item.has("totals") and _tells_condition(words, request):
            use(item)  # where the freight is above 500, with the amount
        elif item.has("totals") and _lists_with_lines(words, request):
            use(item)
            request.figures.append(Asked("sum", "money"))  # orders with their value
        elif (
            (words.is_how_much(item) or item.spoken in words.language.worth)
            and request.counted is not None
            and not request.figures
        ):
            use(item, role="operator")
            request.figures.append(Asked("sum", "money"))  # how many, and for how much
        elif item.has("year") and any(one.comparison == "given" for one in request.conditions):
            use(item)  # of which we don't know the year they came out
        elif item.has("year") and (years := _own_years(words, request)):
            use(item)
            request.shown.append(years)
        elif (
            item.has("acquired")
            and request.counted is not None
            and _happens(words, request.counted)
        ):
            use(item)  # how many orders did we get
        elif item.has("acquired") and any(
            asked.rows is not None and _happens(words, asked.rows) for asked in request.all_asked()
        ):
            use(item)  # where we get the most orders from
        elif item.has("before") and any(a.days for a in request.absent):
            use(item)  # who bought before, but not this year
            request.facts += [absent.tables for absent in request.absent if absent.tables]
        elif item.has("exactly") and _ends_after_days(words, item):
            use(item)  # this year only
        elif item.spoken in words.language.sellers and _is_ours(words, item):
            use(item)  # the cheapest things we sell
        elif item.has("everything") and any(a.measure == "stock" for a in request.all_asked()):
            use(item)  # what the stuff in the warehouse is worth
        elif _is_said(words, request, item):
            use(item)


def _tells_condition(words: Words, request: DataRequest) -> bool:
    """Whether an amount is asked for that has a bound, and is shown anyway."""
    target = request.target
    compared = [one.columns for one in request.conditions if one.comparison in _BOUNDS]
    amounts = [c for columns in compared for c in columns if words.kind(c) == "money"]
    return target is not None and any(column.table == target.table for column in amounts)


def _happens(words: Words, need: Need) -> bool:
    table = words.model.tables[need.table]
    return bool(table.date) and not table.people


def _is_ours(words: Words, item: Item) -> bool:
    before = words.previous(item)
    return before is not None and before.last_word in words.language.we


def _ends_after_days(words: Words, item: Item) -> bool:
    before = words.previous(item)
    return before is not None and before.kind == "period" and not words.rest_of_clause(item)


def _read_now(words: Words, request: DataRequest) -> None:
    """What is rented right now has not come back."""
    open_ = words.meanings(words.language.open_word)
    done = {table for tables in request.facts for table in tables}
    holds = any(item.last_word in words.language.holders for item in words.items)
    pending = open_.pending if open_ is not None else ()
    columns = tuple(column for column in pending if holds or column.table in done)
    told = {column for one in request.conditions for column in one.columns}
    if columns and told.isdisjoint(columns) and not (request.days or request.absent):
        request.conditions.append(Condition(columns, "given", value=False))


def _own_years(words: Words, request: DataRequest) -> Columns:
    """The years of what is listed: films with their year."""
    target = request.target
    return tuple(c for c in words.years if target is not None and c.table == target.table)


def _lists_with_lines(words: Words, request: DataRequest) -> bool:
    """Whether rows are listed whose amount their lines tell, and no other figure is asked for."""
    others = request.figures or request.order or request.having or request.groups
    target = request.target
    return target is not None and not others and has_lines(words, target.table)


def _is_said(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether a word says again what is asked for anyway."""
    if item.has("totals"):
        tells_worth = item.spoken in words.language.worth and _are_numbers(words, request)
        return (any(request.all_asked()) or bool(request.shown)) and not tells_worth
    return (
        (item.has("each") and bool(request.having or request.shown or request.shows_days))
        or (item.spoken in words.language.each_one and request.limit is not None)
        or (item.has("most") and bool(request.order))
        or (item.spoken in words.language.percents and request.share)
        or (item.has("discounted") and any(measure.less for measure in words.model.measures))
        or (item.has("acquired") and request.subject is not None)
        or any(agent in i.meanings.nouns for agent in item.meanings.agents for i in words.items)
        or (item.has("exactly") and _is_only(words, request, item))
        or (item.spoken in words.language.figure_nouns and _tells_figures(request))
        or _is_group_again(request, item)
        or (item.spoken in words.language.number_words and bool(request.absent))
        or (item.spoken in words.language.than and bool(request.spans))
        or (item.has(*EACH) and bool(request.days) and request.target is not None)
    )


def _tells_figures(request: DataRequest) -> bool:
    return request.counted is not None or any(request.all_asked())


def _is_group_again(request: DataRequest, item: Item) -> bool:
    """Whether it names what is put together by: per country, only countries with five."""
    bounded = bool(request.bounds or request.having)
    columns = [column for group in request.groups if isinstance(group, tuple) for column in group]
    return bounded and any(column in columns for column in item.meanings.columns)


def _is_only(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether “only” leads to a bound or a number of rows that is read: only the first six."""
    after = words.beside(item, 1)
    bounded = bool(request.having or request.bounds) or request.limit is not None
    if request.groups and after is not None and after.role == "value":
        return True  # per genre, only for blues and reggae
    if not bounded or after is None:
        return False
    return after.names_table or bool(after.meanings.columns) or after.role == "operator"


def _are_numbers(words: Words, request: DataRequest) -> bool:
    """Whether what is added up are no amounts of money, so that it tells no worth."""
    columns = [column for asked in request.all_asked() for column in asked.columns]
    return bool(columns) and all(words.kind(column) == "number" for column in columns)


def _columns_beside(words: Words, request: DataRequest, item: Item) -> Columns:
    """The columns of the days that a verb beside tells: shipped in May."""
    columns: Columns = ()
    for other in (words.beside(item, -1), words.beside(item, 1), _verb_before(words, item)):
        if other is None or other.role or not other.meanings.dates or columns:
            continue
        use(other)
        if other.meanings.done:
            request.facts.append(tuple(other.meanings.done))
        else:
            columns = tuple(other.meanings.dates)
    return columns


def _is_now(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether it only says that it is so now: what costs more than 50 today."""
    known = words.meanings(item.said)
    target = request.target
    if known is None or "frames" not in known.tags or target is None or request.facts:
        return False
    return not words.model.tables[target.table].date


def _verb_before(words: Words, item: Item) -> Item | None:
    """The verb of a day, with names between: shipped to Brazil in May."""
    for other in reversed(words.before(item)):
        nouns = other.meanings.nouns
        if nouns and all(words.model.tables[need.table].pays for need in nouns):
            continue  # that have to be with the customer by Friday
        if other.clause != item.clause or other.role == "operator" or nouns:
            return None
        if other.meanings.dates and not other.meanings.done:
            return other
        if other.meanings.done:
            return None
    return None


def _read_two_periods(words: Words, request: DataRequest, one: Days, other: Days) -> None:
    """2024 and 2025, October and November: each by itself; in 2024 or 2025 is one stretch.

    In 2026, from June on, is what both hold.
    """
    first, second = one.period, other.period
    within = _within(first, second)
    if within is not None and one.columns == other.columns:
        request.days.append(Days(within, one.columns))
        return
    if (
        request.either
        and not request.compares
        and first.end is not None
        and second.start is not None
    ):
        if first.end + timedelta(days=1) != second.start:
            raise Unclear("two stretches of days")
        request.days.append(Days(replace(first, end=second.end), one.columns))
        return
    each = _calendar(first)
    done = any(item.meanings.done for item in words.items)
    listed = (request.target is not None or request.who) and done
    listed = listed and not (_tells_figures(request) or request.compares)
    if listed and first.end is not None and second.start is not None:
        if first.end + timedelta(days=1) != second.start:
            raise Unclear("two stretches of days")
        request.days.append(Days(replace(first, end=second.end), one.columns))
        return
    others = any(group in EACH and group != each for group in request.groups)
    if each is None or _calendar(second) != each or others:
        raise Unclear("two stretches of days")
    request.spans = tuple(sorted(_span(period, each) for period in (first, second)))
    if each not in request.groups:
        request.groups.append(each)


def _read_further_period(request: DataRequest, period: SpokenPeriod) -> None:
    """And 2026: one more of those that are told side by side."""
    each = _calendar(period)
    if each is None or each not in request.groups:
        raise Unclear("two stretches of days")
    request.spans = tuple(sorted((*request.spans, _span(period, each))))


def _span(period: SpokenPeriod, each: Each) -> str:
    """The year or the month of a stretch of days, as it is told."""
    assert period.start is not None  # noqa: S101  _calendar saw it
    if each == "quarter":
        return f"{period.start.year}-Q{period.start.month // _MONTHS_OF_QUARTER + 1}"
    return period.start.isoformat()[: len("2025") if each == "year" else len("2025-01")]


def _within(first: SpokenPeriod, second: SpokenPeriod) -> SpokenPeriod | None:
    """What two stretches of days both hold, where one is in the other or goes on beyond it."""
    if first.start is None or second.start is None:
        return None
    outer, inner = sorted((first, second), key=lambda period: period.start or date.min)
    if outer.end is not None and inner.start is not None and inner.start > outer.end:
        return None
    if inner.end is None:
        return replace(inner, end=outer.end)
    return inner if outer.end is None or inner.end <= outer.end else None


def _calendar(period: SpokenPeriod) -> Each | None:
    """Whether it is one year, one quarter or one month of the calendar."""
    start, end = period.start, period.end
    if start is None or end is None or start.day != 1 or (end + timedelta(days=1)).day != 1:
        return None
    if (start.month, end.month, start.year) == (1, _MONTHS, end.year):
        return "year"
    if start.year != end.year:
        return None
    is_quarter = start.month % _MONTHS_OF_QUARTER == 1
    if is_quarter and end.month - start.month == _MONTHS_OF_QUARTER - 1:
        return "quarter"
    return "month" if start.month == end.month else None
