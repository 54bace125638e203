"""What rows are put in order by where the words only say that there is an order."""

from server.extraction.data_questions.asked import Asked, DataRequest, Ends, Ordered
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.subjects import thing_done
from server.extraction.data_questions.words import Words
from server.library.data_model import DataModel


def name_best_sellers(model: DataModel, request: DataRequest) -> None:
    """The three best sellers, in units: of what is sold, where nothing else is named."""
    by_units = any(isinstance(one.by, Asked) and one.by.measure == "units" for one in request.order)
    sold = [measure.table for measure in model.measures if measure.kind == "number"]
    others = request.subject or request.groups or request.facts or request.who or request.shown
    figures = [asked for asked in request.figures if asked != Asked("sum", "units")]
    if by_units and sold and request.limit is not None and not (others or figures):
        request.figures.clear()
        request.target, request.plural = thing_done(model, request, facts=sold), True


def rank_by_number(words: Words, request: DataRequest) -> None:
    """The top 5 countries that our customers live in: by how many of them do."""
    kinds = [
        columns
        for columns in request.shown
        if columns and all(words.kind(column) == "category" for column in columns)
    ]
    if request.top and request.target is not None and len(kinds) == len(request.shown) == 1:
        top = next((item for item in words.items if item.has("tops")), None)
        named = (
            [i for i in words.after(top) if i.kind == "phrase" and not i.is_filler] if top else []
        )
        told = request.figures or request.order or request.having or request.facts or request.groups
        if named and kinds[0][0] in named[0].meanings.columns and not told:
            request.groups.append(request.shown.pop())
            request.order.append(Ordered(Asked("count", rows=request.target), request.top_down))
            request.target, request.top = None, False
            return
    others = [need for need in request.also if need != request.target]
    told = request.figures or request.order or request.having or request.facts or request.groups
    if request.top and request.target is not None and len(others) == 1 and not told:
        counted = Asked("count", rows=others[0], distinct=True)
        request.order.append(Ordered(counted, request.top_down))
        request.top = False


def rank_payers(model: DataModel, request: DataRequest) -> None:
    """The best customers are those who pay the most."""
    target, figures = request.target, request.figures or request.order or request.having
    earns = any(measure.kind == "money" for measure in model.measures)
    pays = target is not None and model.tables[target.table].pays
    if request.top and pays and earns and not (figures or request.shown):
        request.order.append(Ordered(Asked("sum", "money"), request.top_down))
        request.top = False


def order_rows(model: DataModel, request: DataRequest) -> None:
    """Rows that are listed, cheapest first: of the column that this is said of."""
    target, ends = request.target, request.by_ends
    _order_by_bound(model, request)
    figures = request.figures or request.order or request.groups or request.having
    if target is None or ends is None or figures:
        return
    days = any(kind_of(model, column) == "date" for columns in request.shown for column in columns)
    if request.by_days and (model.tables[target.table].date or request.shows_days or days):
        return  # newest first is of the day on which it happened
    own = [
        degree._replace(columns=tuple(c for c in degree.columns if c.table == target.table))
        for degree in ends.degrees
    ]
    degrees = tuple(degree for degree in own if degree.columns)
    if degrees:
        request.order.append(Ordered(Ends(degrees), descending=True))


def _order_by_bound(model: DataModel, request: DataRequest) -> None:
    """Freights above 500, highest first: by the amount that has the bound."""
    others = request.order or request.groups or request.figures or request.by_ends or request.sorts
    bounded = [
        tuple(c for c in one.columns if kind_of(model, c) in ("money", "number"))
        for one in request.conditions
        if one.comparison in ("more", "least", "less", "most")
    ]
    if request.direction and not (request.by_days or others) and len(bounded) == 1 and bounded[0]:
        request.order.append(Ordered(bounded[0], request.direction == "desc"))
