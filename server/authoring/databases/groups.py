"""What rows can be counted and summed by, and the amounts that they have."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from server.authoring.databases.filters import date_of
from server.authoring.databases.statements import Source, written
from server.authoring.databases.things import Path, Property, Thing, paths_from
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import plural

_MOST_GROUPS: Final = 14


@dataclass(frozen=True, slots=True)
class Group:
    """One way to put rows together: by what it is called, and its SQL."""

    value: str
    """Its value as an argument."""
    noun: str
    words: tuple[str, ...]
    """Other words for it."""
    columns: Callable[[Source], tuple[str, ...]]
    """What is selected, each with the name it is shown by."""
    by: Callable[[Source], tuple[str, ...]]
    path: Path = ()
    is_time: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """An amount: a column, or what a line comes to."""

    value: str
    label: str
    words: tuple[str, ...]
    expression: Callable[[Source], str]
    adds_up: bool
    whole: bool = False
    samples: tuple[Any, ...] = ()
    prop: Property | None = None
    earns: bool = True
    """Whether it may be called by words that several amounts have: revenue."""

    def of_another(self, noun: str) -> "Measure":
        """The same, where the revenue is the amount of another thing."""
        if self.prop is None:
            return replace(self, label="amount", words=("value", "order value"), earns=False)
        own = (f"{noun} revenue", f"{noun} sales") if "revenue" in sums(self) else ()
        return replace(self, words=(*self.words, *own), earns=False)


def groups_of(thing: Thing) -> list[Group]:
    """The groups of a thing, nearest first, each by another word."""
    found: dict[str, Group] = {}
    taken: set[str] = {thing.noun, thing.nouns}
    for each in _all_groups(thing):
        if each.value in found or each.noun in taken or len(found) >= _MOST_GROUPS:
            continue
        words = tuple(w for w in each.words if w not in taken and w != each.noun)
        taken |= {each.noun, *words}
        found[each.value] = Group(
            each.value, each.noun, words, each.columns, each.by, each.path, each.is_time
        )
    return list(found.values())


def _all_groups(thing: Thing) -> Iterator[Group]:
    for path in paths_from(thing, 1):
        if path[-1].thing.names or path[-1].thing.is_numbered:
            yield _by_thing(path)
    for link in thing.across:
        yield _by_thing((link,))
    for prop in thing.of_role("category", "level", "flag"):
        yield _by_column((), prop, prop.label)
    dated = date_of(thing)
    if dated is not None:
        for unit in ("month", "year"):
            yield _by_time(*dated, unit)
    for path in paths_from(thing, 3):
        if len(path) > 1 and path[-1].thing.names:
            yield _by_thing(path)
    own = {p.label for p in thing.of_role("category", "level", "flag")}
    for path in paths_from(thing, 3):
        for prop in path[-1].thing.of_role("category"):
            noun = f"{path[-1].noun} {prop.label}"
            if not prop.spoken & words_of_columns().told_of_others:
                continue
            if prop.label in own:
                yield _by_column(path, prop, noun)
            else:
                own.add(prop.label)
                yield _by_column(path, prop, prop.label, noun)


def _by_thing(path: Path) -> Group:
    link = path[-1]
    alias = identifier(link.noun)
    words = [*link.thing.also]
    short = link.noun.split(" ")[-1]
    if short != link.noun:
        words.append(short)

    def columns(source: Source) -> tuple[str, ...]:
        shown = source.name_of(path) or source.key_of(path)[0]
        return (f"{shown} AS {written(alias, source.kind)}",)

    def by(source: Source) -> tuple[str, ...]:
        names = tuple(source.column(path, name) for name in link.thing.names)
        return tuple(dict.fromkeys((*source.key_of(path), *names)))

    return Group(f"by_{alias}", link.noun, tuple(words), columns, by, path)


def _by_column(path: Path, prop: Property, noun: str, also: str = "") -> Group:
    alias = identifier(noun)
    words = [also] if also else []
    short = noun.split(" ")[-1]
    if short != noun:
        words.append(short)

    def columns(source: Source) -> tuple[str, ...]:
        return (f"{source.column(path, prop.name)} AS {written(alias, source.kind)}",)

    def by(source: Source) -> tuple[str, ...]:
        return (source.column(path, prop.name),)

    return Group(f"by_{alias}", noun, tuple(words), columns, by, path)


def _by_time(path: Path, date: Property, unit: str) -> Group:
    def columns(source: Source) -> tuple[str, ...]:
        return (f"{source.period(path, date, unit)} AS {unit}",)

    def by(source: Source) -> tuple[str, ...]:
        return (source.period(path, date, unit),)

    return Group(f"by_{unit}", unit, (), columns, by, path, is_time=True)


def measures_of(thing: Thing) -> list[Measure]:
    """The amounts of a thing; those that say how much of it there is come first."""
    known = words_of_columns()
    happens = date_of(thing) is not None
    found = [_of_column(prop, happens=happens) for prop in thing.of_role("measure")]
    line = _line_amount(thing)
    if line is not None:
        prices = {*known.prices}
        found = [
            line,
            *(m for m in found if m.label not in prices and not m.label.endswith("price")),
        ]
    return sorted(found, key=lambda m: not m.adds_up)


def levels_of(thing: Thing) -> list[Measure]:
    """The numbers of a thing that say how it is: ratings, years."""
    return [_of_column(prop, happens=False) for prop in thing.of_role("level")]


def _of_column(prop: Property, *, happens: bool) -> Measure:
    known = words_of_columns()
    spoken = {*prop.label.split(" ")}

    def expression(source: Source) -> str:
        return source.column((), prop.name)

    plain = " ".join(
        w for w in prop.label.split(" ") if w not in ("total", "unit", "base", "net", "gross")
    )
    short = (
        prop.label.split(" ")[0]
        if prop.label.split(" ")[-1] in ("minutes", "km", "hours", "days")
        else ""
    )
    words = [plain, short, plural(prop.label), plural(plain)]
    label = plain if plain and "unit" in spoken else prop.label
    return Measure(
        identifier(prop.label),
        label,
        tuple(dict.fromkeys(w for w in words if w and w != label)),
        expression,
        adds_up=happens and bool(spoken & known.additive),
        whole=prop.column.column.kind == "integer",
        samples=(prop.column.least, prop.column.most, *prop.column.samples[:5]),
        prop=prop,
    )


def _line_amount(thing: Thing) -> Measure | None:
    """What a line comes to: how many, at what each costs, less its discount."""
    known = words_of_columns()
    if not thing.links or thing.names:
        return None
    columns = {p.label: p for p in thing.of_role("measure")}
    many = next((p for label, p in columns.items() if label in known.quantities), None)
    price = next((columns[label] for label in known.prices if label in columns), None)
    if many is None or price is None:
        return None
    less = next((p for label, p in columns.items() if label in known.discounts), None)
    share = less is not None and isinstance(less.column.most, int | float) and less.column.most <= 1

    def expression(source: Source) -> str:
        text = f"{source.column((), many.name)} * {source.column((), price.name)}"
        return (
            f"{text} * (1 - {source.column((), less.name)})" if less is not None and share else text
        )

    return Measure(
        "revenue",
        "revenue",
        ("sales", "turnover", "value", "income", "total", "amount"),
        expression,
        adds_up=True,
    )


def superlatives(measure: Measure) -> tuple[Sequence[str], Sequence[str]]:
    """The words for the greatest and the smallest of an amount."""
    spoken = {
        *measure.label.split(" "),
        *(w for word in measure.words[:1] for w in word.split(" ")),
    }
    found = next((s for s in words_of_columns().superlatives if s.words & spoken), None)
    return (found.most, found.least) if found else ((), ())


def sums(measure: Measure) -> tuple[str, ...]:
    spoken = {*measure.label.split(" ")}
    if not measure.adds_up or not measure.earns:
        return ()
    return next((m.sum for m in words_of_columns().measures if m.words & spoken), ())


def earner(things: Sequence[Thing]) -> Thing | None:
    """The thing whose amounts are the revenue."""
    earning = [
        thing
        for thing in things
        if any(
            (m.adds_up and {*sums(m)} & {"revenue"}) or m.value == "revenue"
            for m in measures_of(thing)
        )
    ]
    first = words_of_columns().money_first
    ranked = [
        t for noun in first for t in earning if t.noun.split(" ")[-1] == noun and not t.joins_two
    ]
    return ranked[0] if ranked else earning[0] if earning else None
