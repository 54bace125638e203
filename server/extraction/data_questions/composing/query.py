"""A question as one query: what is shown, of which rows, put together and in which order."""

from collections.abc import Sequence

from server.extraction.data_questions.asked import DataRequest, Unclear
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.composition import Composition
from server.extraction.data_questions.composing.meant import meant_by
from server.extraction.data_questions.composing.measures import Measures, possible_measures
from server.extraction.data_questions.composing.rankings import order_rows
from server.extraction.data_questions.composing.settle import (
    settle_by_values,
    settle_facts,
    settle_target,
)
from server.extraction.data_questions.joins import Joined, Need
from server.extraction.data_questions.words import Words
from server.library.data_query import DataQuery


def compose_query(words: Words, request: DataRequest) -> DataQuery:
    """Put together what was read; Unclear where it is no one query."""
    settle_target(words, request)
    choice = Choice(words.model, request, years=words.years, lists=words.lists, births=words.births)
    for need in (request.target, request.counted, *request.also):
        if need is not None:
            choice.add(need)
    settle_facts(choice, request)
    measures = possible_measures(words.model, request)
    for group in request.groups:
        if isinstance(group, Need):
            choice.add(group)
    for asked in request.all_asked():
        for one in (asked.rows, asked.per):
            if isinstance(one, Need):
                choice.add(one)
    if not measures and _names_nothing(request, choice):
        settle_by_values(words, request)
        order_rows(words.model, request)
        if request.target is not None:
            choice.add(request.target)
    if not measures:
        return _composed(words, request, choice)[0]
    return _nearest(words, request, choice, measures)


def _names_nothing(request: DataRequest, choice: Choice) -> bool:
    """Whether nothing but values says what is asked for."""
    asks_day = request.when and bool(request.end_of_days)
    if request.subject is None and not (request.figures or request.groups or asks_day):
        return True
    return not choice.needs and not any(asked.columns for asked in request.all_asked())


def _nearest(
    words: Words, request: DataRequest, choice: Choice, possible: Sequence[Measures]
) -> DataQuery:
    """The query of the measures from whose table all else is reached by the fewest links."""
    found: list[tuple[DataQuery, Joined]] = []
    why = ""
    for measures in possible:
        trial = Choice(
            words.model, request, choice.needs, measures, words.years, words.lists, words.births
        )
        try:
            found.append(_composed(words, request, trial))
        except Unclear as unclear:
            why = str(unclear)
    if not found:
        raise Unclear(why)
    return min(found, key=lambda one: one[1].cost)[0]


def _composed(words: Words, request: DataRequest, choice: Choice) -> tuple[DataQuery, Joined]:
    meant = meant_by(words, request, choice)
    return Composition(words, request, choice, meant).query(), meant.joined
