"""The column of the day that rows are of."""

from server.extraction.data_questions.asked import DataRequest, Unclear
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.joins import Joined
from server.extraction.data_questions.meanings import Column, Columns


def day_column(
    choice: Choice, request: DataRequest, joined: Joined, columns: Columns = ()
) -> Column:
    """One of the columns that are told; else the day of the rows, or of what is near to them."""
    if columns:
        return choice.column(columns)
    model = choice.model
    own = model.tables[joined.root]
    if own.date and (request.when or request.newly or not own.people):
        return Column(joined.root, own.date)
    year = next((column for column in choice.years if column.table == joined.root), None)
    if year is not None:
        return year
    ways = sorted(
        (len(found[0]), table)
        for table, found in model.reachable[joined.root].items()
        if found[0] and model.tables[table].date and not model.tables[table].people
    )
    if not ways:
        raise Unclear("nothing has such a day")
    nearest = ways[0][1]
    return Column(nearest, model.tables[nearest].date)


def day_path(choice: Choice, request: DataRequest, joined: Joined) -> str:
    """The way to the day that rows are of."""
    column = day_column(choice, request, joined)
    choice.add(choice.need_of(column.table))
    found = choice.joined()
    if found.root != joined.root:
        raise Unclear("day")
    return choice.path(found, column)
