"""What rows of a thing can be narrowed by: a parameter, its condition, and how it is said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from server.authoring.clauses import Clause, clause_of, is_quality
from server.authoring.databases.statements import Source, literal, when
from server.authoring.databases.things import Path, Property, Thing, is_sayable, paths_from
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, plural, said, with_article
from server.authoring.schema import ApiParameter

_MOST_FILTERS: Final = 10

Parameter = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Filter:
    parameter: Parameter
    sql: tuple[str, ...]
    """Conditions, each a line."""
    says: Callable[[int], Clause | None]
    """How it is said in a turn."""
    is_period: bool = False


def filters_of(source: Source) -> list[Filter]:
    """The filters of a thing: its kinds, flags and levels, kinds of what it refers to, its day."""
    found: dict[str, Filter] = {}
    for each in _all_filters(source):
        found.setdefault(each.parameter["name"], each)
    plain = [each for each in found.values() if not each.is_period][:_MOST_FILTERS]
    return plain + period_filters(source)


def _all_filters(source: Source) -> Iterator[Filter]:
    thing = source.thing
    for prop in thing.properties:
        made = _own(source, (), prop, "")
        if made is not None:
            yield made
    for path in paths_from(thing, 2):
        other = path[-1].thing
        if other.is_small and len(other.names) == 1:
            yield _by_small(source, path)
    for path in paths_from(thing, 2):
        other = path[-1].thing
        if other.table.rows > 1:
            for prop in other.of_role("category"):
                made = _own(source, path, prop, path[-1].noun)
                if made is not None:
                    yield made


def _own(source: Source, path: Path, prop: Property, owner: str) -> Filter | None:
    column = source.column(path, prop.name) if prop.role in ("category", "flag", "level") else ""
    name = identifier(f"{owner} {prop.label}" if owner else prop.label)
    about = f"{prop.label} of the {owner}" if owner else prop.label
    match prop.role:
        case "category":
            values = _values(prop)
            if not values and prop.column.samples:
                return None
            parameter: Parameter = {"name": name, "type": "string", "description": about}
            if owner:
                parameter["aliases"] = [prop.label]
            say = _category(name, prop.label, values, plural(owner) if owner else "")
        case "flag":
            yes, no = flag_words(prop.label)
            parameter = {
                "name": name,
                "type": "string",
                "description": f"{yes[0]} or {no[0]}",
                "enum": [yes[0], no[0]],
                "synonyms": {yes[0]: list(yes[1:]), no[0]: list(no[1:])},
            }
            is_yes = f"AND {column} = {literal(prop.yes)}"
            is_no = f"AND {column} = {literal(prop.no)}"
            sql = (when(f"{name} == '{yes[0]}'", is_yes), when(f"{name} == '{no[0]}'", is_no))
            return Filter(parameter | {"required": False}, sql, _flag(name, yes, no))
        case "level":
            kind = "integer"
            parameter = {"name": name, "type": kind, "description": about}
            samples = [v for v in prop.column.samples if isinstance(v, int)] or [2, 3]
            say = _level(name, prop.label, samples)
        case _:
            return None
    sql = (when(name, f"AND {column} = :{name}"),)
    return Filter(parameter | {"required": False}, sql, say)


def _by_small(source: Source, path: Path) -> Filter:
    """By the name of what there are few of: the genre of a track."""
    link = path[-1]
    name = identifier(link.noun)
    samples = tuple(s for s in link.thing.name_samples() if is_sayable(s))
    parameter = {
        "name": name,
        "type": "string",
        "description": f"{link.noun} by its name",
        "required": False,
    }
    if link.thing.also:
        parameter["aliases"] = list(link.thing.also)
    sql = (when(name, f"AND {source.name_of(path)} = :{name}"),)
    return Filter(parameter, sql, _lead(name, link.noun, samples))


def period_filters(source: Source) -> list[Filter]:
    """From a day, and until a day, of what such things are of."""
    dated = date_of(source.thing)
    if dated is None:
        return []
    path, date = dated
    day = source.day(path, date)
    times = words_of_columns().times

    def say(turn: int) -> Clause:
        return Clause({}, after=times[turn % len(times)])

    def unsaid(turn: int) -> None:  # noqa: ARG001  the first of both says it
        return None

    label = date.label if not path else f"{date.label} of the {path[-1].noun}"
    return [
        Filter(
            {"name": name, "type": "date", "description": f"{which} {label}", "required": False},
            (when(name, f"AND {day} {sign} :{name}"),),
            says,
            is_period=True,
        )
        for name, which, sign, says in (
            ("start_date", "first", ">=", say),
            ("end_date", "last", "<=", unsaid),
        )
    ]


def date_of(thing: Thing) -> tuple[Path, Property] | None:
    """The day of a thing, or else of the nearest thing that it belongs to."""
    if thing.main_date is not None:
        return (), thing.main_date
    if not (thing.joins_two or (thing.links and not thing.names)):
        return None
    for path in paths_from(thing, 2):
        date = path[-1].thing.main_date
        if date is not None and not path[-1].thing.names:
            return path, date
    return None


def flag_words(label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How it is said that a flag is so, and that it is not."""
    if is_quality(label.split(" ")[-1]):
        opposites = {"active": ("inactive",), "available": ("unavailable",), "paid": ("unpaid",)}
        return (label,), (f"not {label}", f"non-{label}", *opposites.get(label, ()))
    thing = label if plural(label) == label else with_article(label)
    own = [f"with {thing}", f"with {label}", f"have {thing}", f"having {thing}", label]
    return tuple(dict.fromkeys(own)), (f"without {thing}", f"without {label}", f"with no {label}")


def _values(prop: Property) -> tuple[str, ...]:
    return tuple(str(v) for v in prop.column.samples if is_sayable(str(v)))


def _pool(label: str) -> tuple[str, ...]:
    spoken = {*label.split(" ")}
    return next((each.values for each in phrases().values if each.words & spoken), ("Alpha", "Bravo"))


def _category(
    name: str, label: str, values: Sequence[str], of: str
) -> Callable[[int], Clause | None]:
    """`cancelled`, `in Leeds`, `with job title Chef`."""
    known = values or _pool(label)
    spoken = {*label.split(" ")}
    states = phrases().states | phrases().levels | phrases().nouns_of_kind | {"category", "make", "brand", "gender", "form"}
    adjective = bool(spoken & states) and not of

    def say(turn: int) -> Clause | None:
        value = known[turn % len(known)]
        parameter = ApiParameter(
            name=identifier(label), wire=label, place="query", type="string",
            enum=tuple(known) if adjective else (), example=value,
        )  # fmt: skip
        clause = clause_of(parameter, turn, value, {})
        if clause is None:
            clause = Clause({}, after=f"with {label} {said(value)}")
        if of and clause.after:
            clause = Clause({}, after=f"of {of} {clause.after}" if turn % 2 else clause.after)
        return replace(clause, arguments={name: value})

    return say


def _level(name: str, label: str, samples: Sequence[int]) -> Callable[[int], Clause | None]:
    places = {"floor", "level", "deck"}

    def say(turn: int) -> Clause:
        value = samples[turn % len(samples)]
        where = "on" if {*label.split(" ")} & places else "with"
        if "year" in label.split(" "):
            return Clause({name: value}, after=(f"from {value}", f"with {label} {value}")[turn % 2])
        return Clause({name: value}, after=f"{where} {label} {value}")

    return say


def _flag(
    name: str, yes: Sequence[str], no: Sequence[str]
) -> Callable[[int], Clause | None]:
    def say(turn: int) -> Clause:
        is_yes = turn % 3 != 2
        value, words = (yes[0], yes) if is_yes else (no[0], no)
        text = words[0]
        if text.startswith(("with", "have")):
            return Clause({name: value}, after=text)
        return Clause({name: value}, before=text)

    return say


def _lead(name: str, noun: str, samples: Sequence[str]) -> Callable[[int], Clause | None]:
    known = samples or _pool(noun)
    leads = words_of_columns().lead_to(noun)
    is_kind = bool({*noun.split(" ")} & (phrases().nouns_of_kind | {"category", "genre", "specialty"}))

    def say(turn: int) -> Clause:
        value = known[turn % len(known)]
        if is_kind and turn % 2 == 0:
            return Clause({name: value}, before=value)
        if turn % 3 == 1:
            return Clause({name: value}, after=f"in the {noun} {value}" if leads[0].startswith("in") else f"of {noun} {value}")
        return Clause({name: value}, after=leads[turn % len(leads)].format(value=value))

    return say


def spoken_filter(
    filters: Sequence[Filter], turn: int, *, most: int = 2
) -> tuple[str, str, Mapping[str, Any], bool]:
    """What stands before and after the noun in a turn, its arguments, and whether a time is said."""
    sayable = [each for each in filters if each.says(0) is not None]
    if not sayable:
        return "", "", {}, False
    first = sayable[turn % len(sayable)]
    chosen = [first]
    if most > 1 and turn >= len(sayable) and len(sayable) > 1:
        second = sayable[(turn + 1 + turn // len(sayable)) % len(sayable)]
        if second is not first:
            chosen = [second, first] if first.is_period else [first, second]
    before, after, arguments = [], [], {}
    timed = False
    for each in chosen:
        clause = each.says(turn // len(sayable) if len(sayable) > 1 else turn)
        if clause is None:
            continue
        timed |= each.is_period
        arguments |= dict(clause.arguments)
        if clause.before and not before:
            before.append(clause.before)
        elif clause.after:
            after.append(clause.after)
        elif clause.before:
            after.append(f"that are {clause.before}")
    return " ".join(before), " ".join(after), arguments, timed
