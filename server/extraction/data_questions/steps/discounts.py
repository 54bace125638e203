"""Discounts: what was given away in them, and what was sold at one."""

from server.extraction.data_questions.asked import Asked, Condition, DataRequest, Unclear
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, use
from server.library.data_query import Comparison

_NEAR = 4
"""So far a part of a price stands from the discount that it is."""


def read_discounts(words: Words, request: DataRequest) -> None:
    """20 % or more off, items at a discount, how much was given away in discounts."""
    columns = tuple(
        Column(measure.table, measure.less) for measure in words.model.measures if measure.less
    )
    if not columns:
        return
    for item in words.left():
        if item.kind == "percent":
            _read_percent(words, request, item, columns)
    for item in words.left():
        if _names_discount(item, columns) and _is_given_away(words, item):
            use(item, role="operator")
            request.figures.append(Asked("sum", "discount"))
        elif item.has("reduced") and not _says_how_much(words):
            use(item)
            request.conditions.append(Condition(columns, "more", 0))


def _names_discount(item: Item, columns: Columns) -> bool:
    return any(column._replace(rank=0) in columns for column in item.meanings.columns)


def _says_how_much(words: Words) -> bool:
    """Whether an amount of money is asked for, of which discounts are taken off."""
    return any(item.has("money", "money_done") and not item.names_table for item in words.items)


def _read_percent(words: Words, request: DataRequest, item: Item, columns: Columns) -> None:
    near = words.items[max(0, item.place - _NEAR) : item.place + _NEAR]
    said = [i for i in near if not i.role and (_names_discount(i, columns) or i.has("reduced"))]
    if not said:
        return
    comparison: Comparison = "is"
    lead, tail = words.free(item, -1), words.free(item, 1)
    if lead is not None and lead.has("more", "less", "at_least", "at_most"):
        use(lead, role="operator")
        kinds: dict[str, Comparison] = {
            "more": "more", "less": "less", "at_least": "least", "at_most": "most",
        }  # fmt: skip
        comparison = next(kind for tag, kind in kinds.items() if lead.has(tag))
    elif tail is not None and tail.has("or_more", "or_less"):
        use(tail, role="operator")
        comparison = "least" if tail.has("or_more") else "most"
    use(item, role="value")
    use(*said[:1])
    request.conditions.append(Condition(columns, comparison, float(item.value) / 100))


def _is_given_away(words: Words, item: Item) -> bool:
    """Whether the sum of a discount in money is asked for: how much we gave away in discounts."""
    clause = [other for other in words.before(item) if other.clause == item.clause]
    asks = [i for i in clause if not i.role and (i.has("totals", "money") or words.is_how_much(i))]
    given = [i for i in words.items if not i.role and i.spoken in words.language.given_away]
    if not asks or not given:
        return False
    if any(measure.kind == "discount" for measure in words.model.measures):
        use(*asks, *given)
        return True
    raise Unclear("shares are not added up")
