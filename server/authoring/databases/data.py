"""What tables hold in words, as the `data` of a domain: for questions that no template foresees."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from server.authoring.databases.things import Link, Property, Role, Thing
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import words
from server.authoring.phrases import said

_KINDS: Final[Mapping[Role, str]] = {
    "category": "category", "level": "number", "measure": "number", "flag": "flag", "date": "date",
    "text": "text", "name": "text", "contact": "contact", "key": "key",
}  # fmt: skip
_MONEY: Final = frozenset({
    "price", "total", "amount", "cost", "fee", "rate", "freight", "salary", "revenue", "payment",
    "budget", "balance", "fare", "rent", "wage",
})  # fmt: skip
_NO_PRICES: Final = frozenset({
    "replacement", "late", "damage", "penalty", "purchase", "delivery", "shipping", "deposit",
    "repair", "tax",
})  # fmt: skip
"""Of amounts that are no price of the thing itself."""
_HEADS: Final = frozenset({
    "price", "rate", "cost", "fee", "weight", "date", "limit", "amount", "total", "salary",
    "charge", "hours",
})  # fmt: skip
"""The last word of a name that is said alone, where a table has but one such column."""
_MOST_VALUES: Final = 40
_SHORTEST: Final = 4


def data_of(things: Sequence[Thing]) -> dict[str, Any]:
    """Tables, columns and links with what they are called, and what adds up."""
    tables = {thing.table.name: _table(thing) for thing in things}
    for name, short in _short_nouns(things).items():
        tables[name]["called"] += short
    measures = [*_measures(things)]
    more = {"measures": measures} if measures else {}
    return {"tables": tables, **more, "templates": "examples"}


def _short_nouns(things: Sequence[Thing]) -> dict[str, list[str]]:
    """For tables of two words the one that says enough: session, of class session."""
    nouns = {noun for thing in things for noun in (thing.noun, *thing.also)}
    found: dict[str, list[str]] = {}
    for thing in things:
        spoken = thing.noun.split(" ")
        if len(spoken) != 2 or thing.joins_two:
            continue
        for word in reversed(spoken):
            if word not in nouns and len(word) >= _SHORTEST:
                found.setdefault(thing.table.name, []).append(word)
    return found


def _table(thing: Thing) -> dict[str, Any]:
    known = words_of_columns()
    columns = {}
    for prop in thing.properties:
        if prop.role in _KINDS:
            columns[prop.name] = _column(prop, thing)
    done = known.done_with.get(thing.noun, "")
    date = thing.main_date
    names = (
        thing.names
        or tuple(
            p.name
            for p in thing.properties
            if p.label in ("name", "title", thing.noun) and not thing.joins_two
        )[:1]
    )
    data: dict[str, Any] = {
        "called": [thing.noun, *thing.also],
        "key": [*thing.key],
        "name": [*names],
        "people": thing.is_person and not thing.joins_two,
        "pays": bool({thing.noun, *thing.noun.split(" "), *thing.also} & known.payers),
        "done": [done] if done else [],
        "date": date.name if date is not None else "",
        "columns": columns,
        "links": [_link(link, thing) for link in thing.links],
    }
    return {name: part for name, part in data.items() if part or name == "called"}


def _column(prop: Property, thing: Thing) -> dict[str, Any]:
    known = words_of_columns()
    kind = _KINDS[prop.role]
    spoken = prop.spoken
    if (
        prop.role in ("measure", "level")
        and spoken & _MONEY
        and prop.column.column.kind != "integer"
    ):
        kind = "money"
    called = [prop.label, *known.fields.get(prop.label, ()), *_usual(prop, kind, thing)]
    whole = prop.column.plain
    if whole not in called and whole != prop.label:
        called.append(whole)
    data: dict[str, Any] = {"called": [*dict.fromkeys(called)], "kind": kind}
    if kind == "number" and (unit := _unit(prop, thing)):
        data["unit"] = unit
    if prop.role == "flag":
        data |= {"yes": prop.yes, "no": prop.no}
    if prop.role == "category":
        values = {
            value: [spoken_value]
            for value in prop.column.samples[:_MOST_VALUES]
            if isinstance(value, str)
            and (spoken_value := said(value)).lower() != value.lower()
            and spoken_value
        }
        if values:
            data["values"] = values
    return data


def _usual(prop: Property, kind: str, thing: Thing) -> Iterator[str]:
    """What people call such a column, whatever its name is."""
    spoken = prop.spoken
    prices = [p for p in thing.of_role("measure") if "price" in p.spoken]
    if kind == "number" and _unit(prop, thing):
        yield from ("length", "duration", "running time", "playing time")
    if "stock" in spoken:
        yield from ("in stock", "stock", "units left", "stock on hand", "in the warehouse")
        if thing.noun != "inventory":
            yield "inventory"
    if kind == "money" and thing.main_date is not None and spoken & {"total", "amount", "price"}:
        yield from ("amount", "total", "value")
    if prop.role == "key":
        yield from (f"{thing.noun} number", f"{thing.noun} no")
    if "stock" in spoken:
        yield from ("left", "on hand")
    if prop.label.startswith("ship "):
        rest = prop.label.removeprefix("ship ")
        yield from (f"destination {rest}", f"delivery {rest}")
    if prop.label.endswith(" on order"):
        yield from ("on order", "on the way", "on their way", "on its way", "coming in")
    if prop.role == "contact" and "street" in spoken:
        yield "address"
    head = prop.label.rpartition(" ")[2]
    alike = [p for p in thing.properties if p.label.rpartition(" ")[2] == head]
    if (
        head in _HEADS
        and not (kind == "money" and spoken & _NO_PRICES)
        and head != prop.label
        and len(alike) == 1
        and prop.role in ("measure", "level", "date")
    ):
        yield head
    is_price = spoken & {"rate", "fee", "cost"} and not spoken & _NO_PRICES
    if kind == "money" and not prices and is_price:
        last = prop.label.rpartition(" ")[0]
        yield from ("price", f"{last} price".strip(), f"{last} fee".strip())


def _unit(prop: Property, thing: Thing) -> str:
    spoken = {*prop.column.plain.split(" ")}
    if prop.role not in ("measure", "level"):
        return ""
    for unit in ("milliseconds", "seconds", "minutes", "hours", "days"):
        if unit in spoken or unit in prop.spoken:
            return unit
    compared = words_of_columns().compared(prop.label, thing.noun)
    return compared.unit if compared is not None else ""


def _link(link: Link, own: Thing) -> dict[str, Any]:
    called = [link.noun]
    role = own.table.columns[link.columns[-1]].plain.removesuffix(" id")
    for each in (words(link.columns[-1]).removesuffix(" id"), role):
        if each not in (*called, link.thing.noun, *link.thing.also, "id"):
            called.append(each)
    data: dict[str, Any] = {
        "columns": [*link.columns],
        "table": link.thing.table.name,
        "key": [*link.referred],
    }
    if called != [link.thing.noun]:
        data["called"] = called
    return data


def _measures(things: Sequence[Thing]) -> Iterator[dict[str, Any]]:
    """What is earned, at every table that tells it, how much is sold, and what is in stock."""
    known = words_of_columns()
    for thing in things:
        numbers = (*thing.of_role("measure"), *thing.of_role("level"))
        stock = next((p for p in numbers if "stock" in p.spoken), None)
        price = next((p for name in known.prices for p in numbers if p.label == name), None)
        if stock is not None and price is not None and thing.names:
            yield {
                "called": ["stock value"], "table": thing.table.name,
                "times": [price.name, stock.name], "kind": "stock",
            }  # fmt: skip
    for thing in things:
        line = _line(thing)
        if line is not None:
            quantity, price, discount = line
            times = [price.name, quantity.name] if quantity is not None else [price.name]
            found: dict[str, Any] = {
                "called": ["revenue"], "table": thing.table.name, "times": times, "kind": "money",
            }  # fmt: skip
            if discount is not None:
                found["less"] = discount.name
            yield found
            if discount is not None:
                yield {
                    "called": ["discount given"], "table": thing.table.name,
                    "times": [*times, discount.name], "kind": "discount",
                }  # fmt: skip
            if quantity is not None:
                yield {
                    "called": ["units sold"], "table": thing.table.name, "times": [quantity.name],
                }  # fmt: skip
            continue
        earned = {*known.money_first}
        if not earned & {*thing.noun.split(" "), *thing.also} or thing.main_date is None:
            continue
        amount = next(
            (
                p
                for name in (
                    "total",
                    "amount",
                    "total amount",
                    "price",
                    "fee",
                    "fare",
                    "total price",
                )
                for p in thing.of_role("measure")
                if p.label == name
            ),
            None,
        )
        if amount is not None:
            yield {
                "called": ["revenue"], "table": thing.table.name, "times": [amount.name],
                "kind": "money",
            }  # fmt: skip


def _line(thing: Thing) -> tuple[Property | None, Property, Property | None] | None:
    """How many, at what price and less which part: of one line of an order."""
    known = words_of_columns()
    if not thing.links or thing.names:
        return None
    numbers = (*thing.of_role("measure"), *thing.of_role("level"))
    quantity = next((p for p in numbers if p.label in known.quantities), None)
    price = next((p for n in known.prices for p in numbers if p.label == n), None)
    discount = next((p for p in numbers if p.label in known.discounts), None)
    if quantity is None or price is None:
        return None
    return quantity, price, discount
