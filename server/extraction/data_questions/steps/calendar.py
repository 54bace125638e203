"""Days of the week and months of any year: on a Saturday, at weekends, birthdays in May."""

from datetime import timedelta

from server.extraction.data_questions.asked import DataRequest, InCalendar, Unclear
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words, use
from server.library.composed_sql import MONTH_NAMES, WEEKDAY_NAMES
from server.text.dates import WEEKDAYS
from server.text.periods import SpokenPeriod

_MONDAY_FIRST = (*WEEKDAY_NAMES[1:], WEEKDAY_NAMES[0])


def read_calendar(words: Words, request: DataRequest) -> None:
    """What happened on some day of any week; whose birthday is in a month of any year."""
    found: list[InCalendar] = []
    for item in words.left():
        days = _weekdays(words, item)
        if days:
            use(item, role="value")
            found.append(InCalendar("weekday", days, _columns_beside(item, words)))
        elif item.kind == "period" and any(map(str.isdigit, item.said)):
            continue  # the year of a birth
        elif item.kind == "period" and (births := _births(words)):
            use(item, role="value")
            months = (_month(item.value),)
            found.append(InCalendar("calendar_month", months, births))
            _ask_for(words, request, births)
            if request.target is not None:
                request.shown.append(births)
    if found and request.absent:
        raise Unclear("which of them is denied")
    if len(found) == 1:
        request.calendar = found[0]
    elif found:
        first = found[0]
        if any(one[::2] != first[::2] for one in found):
            raise Unclear("days of two kinds")
        names = tuple(name for one in found for name in one.names)
        request.calendar = first._replace(names=names)


def _weekdays(words: Words, item: Item) -> tuple[str, ...]:
    """The days that are named, of any week: on Saturdays, on a Saturday, at weekends."""
    if item.kind != "unknown":
        return ()
    if item.spoken in words.language.weekends:
        return _MONDAY_FIRST[-2:]
    if item.spoken in words.language.workdays:
        return _MONDAY_FIRST[:-2]
    number = WEEKDAYS.get(item.spoken, WEEKDAYS.get(item.spoken.removesuffix("s")))
    return () if number is None else (_MONDAY_FIRST[number],)


def _columns_beside(item: Item, words: Words) -> Columns:
    before = words.beside(item, -1)
    if before is None or before.role or not before.meanings.dates or before.meanings.done:
        return ()
    use(before)
    return tuple(before.meanings.dates)


def _births(words: Words) -> Columns:
    """The days of births that are spoken of."""
    for other in words.items:
        known = other.meanings
        births = words.births
        if known.dates and all(column in births for column in known.dates) and not known.done:
            use(other)
            return tuple(known.dates)
    return ()


def _ask_for(words: Words, request: DataRequest, births: Columns) -> None:
    """Ask for those who were born, where nothing else is asked for: who has a birthday."""
    first = words.first()
    if request.subject is None and first is not None and first.has("who"):
        use(first)
        request.target, request.plural = Need(births[0].table), True


def _month(period: SpokenPeriod) -> str:
    start, end = period.start, period.end
    if start is None or end is None or start.day != 1:
        raise Unclear("birthdays")
    if (end + timedelta(days=1)).day != 1 or (start.year, start.month) != (end.year, end.month):
        raise Unclear("birthdays")
    return MONTH_NAMES[start.month - 1]
