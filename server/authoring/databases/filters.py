"""What rows of a thing can be narrowed by: a parameter, its condition, and how it is said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from server.authoring.clauses import Clause, clause_of, is_quality
from server.authoring.databases.statements import Source, choice, literal, when
from server.authoring.databases.things import Link, Path, Property, Thing, is_sayable, paths_from
from server.authoring.databases.words import Compared, words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, plural, said, with_article
from server.authoring.schema import ApiParameter

_MOST_FILTERS: Final = 14

_OTHER: Final = "other_number"
LACKING: Final = "lacking"
"""The parameter that says what is missing."""
Parameter = dict[str, Any]
COMPARISONS: Final[Mapping[str, str]] = {
    "above": ">",
    "no_lower": ">=",
    "below": "<",
    "no_higher": "<=",
    "exactly": "=",
}
"""How a number compares, by the value of the argument that says it."""
_DAY_WORDS: Final = frozenset({"date", "day", "time", "on", "at"})


class Amount(Protocol):
    """What is known of a number of a thing."""

    @property
    def value(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def expression(self) -> Callable[[Source], str]: ...
    @property
    def samples(self) -> tuple[Any, ...]: ...
    @property
    def whole(self) -> bool: ...


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
    near = {link.thing.stem for link in (*thing.links, *thing.across)} | {thing.stem}
    ways = [p for p in paths_from(thing, 3) if len(p) == 1 or p[-1].thing.stem not in near]
    places = words_of_columns().places
    for prop in thing.of_role("category"):
        yield from _own(source, (), prop, "")
    for path in ways:
        if len(path) == 1 and path[-1].thing.names:
            yield _by_name(source, path)
    for link in thing.across:
        yield _by_name(source, (link,))
    for prop in thing.of_role("flag", "level"):
        yield from _own(source, (), prop, "")
    yield from _lacking(source)
    for path in ways:
        is_place = bool({*path[-1].noun.split(" ")} & places)
        is_near = len(path) == 2 or (is_place and len(path) == 3)
        if is_near and path[-1].thing.names:
            yield _by_name(source, path)
        elif len(path) == 1 and path[-1].thing.is_numbered:
            yield _by_number(source, path)
    for path in ways:
        other = path[-1].thing
        if other.table.rows > 1 and len(path) < 3:
            for prop in other.of_role("category"):
                if prop.spoken & words_of_columns().told_of_others:
                    yield from _own(source, path, prop, path[-1].noun)


def _own(source: Source, path: Path, prop: Property, owner: str) -> Iterator[Filter]:
    column = source.column(path, prop.name) if prop.role in ("category", "flag", "level") else ""
    name = identifier(f"{owner} {prop.label}" if owner else prop.label)
    about = f"{prop.label} of the {owner}" if owner else prop.label
    match prop.role:
        case "category":
            values = _values(prop)
            if not values and prop.column.samples:
                return
            parameter: Parameter = {"name": name, "type": "string", "description": about}
            if owner:
                parameter["aliases"] = [prop.label]
            if values:
                parameter["example"] = values[0]
            says = words_of_columns().living if source.thing.is_person and not owner else ()
            say = _category(name, prop.label, values, plural(owner) if owner else "", says)
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
            yield Filter(parameter | {"required": False}, sql, _flag(name, yes, no))
            return
        case "level":
            kind = "integer"
            parameter = {"name": name, "type": kind, "description": about}
            samples = [v for v in prop.column.samples if isinstance(v, int)] or [2, 3]
            say = _level(name, prop.label, samples)
        case _:
            return
    yield Filter(parameter | {"required": False}, (when(name, f"AND {column} = :{name}"),), say)


def _by_name(source: Source, path: Path) -> Filter:
    """By the name of what a thing refers to: the genre of a track."""
    link = path[-1]
    name = identifier(link.noun)
    samples = tuple(s for s in link.thing.name_samples() if is_sayable(s))
    parameter = {
        "name": name,
        "type": "string",
        "description": link.noun,
        "required": False,
    }
    if samples:
        parameter["example"] = samples[0]
    if link.thing.also:
        parameter["aliases"] = list(link.thing.also)
    condition = (
        f"AND {source.name_of(path)} = :{name}"
        if link.through is None
        else f"AND {joined_with(source, link, lambda inner, to: f'{inner.name_of(to)} = :{name}')}"
    )
    return Filter(parameter, (when(name, condition),), _lead(name, link.noun, samples))


def _lacking(source: Source) -> Iterator[Filter]:
    """By what is missing: the day it was shipped, its website, what is left of it."""
    lacking: dict[str, tuple[tuple[str, ...], str]] = {}
    for prop in source.thing.properties:
        if prop.role not in ("date", "reference", "text", "contact", "category"):
            continue
        if not prop.column.filled or prop.column.filled >= source.thing.table.looked_at:
            continue
        if prop.role == "category" and prop.spoken & words_of_columns().places:
            continue
        name, words = _said_lacking(prop, source.thing)
        lacking.setdefault(name, (words, f"{source.column((), prop.name)} IS NULL"))
    lacking |= _short_of(source)
    if not lacking:
        return
    names = list(lacking)
    condition = choice(LACKING, [(name, lacking[name][1]) for name in names])
    parameter = {
        "name": LACKING,
        "type": "string",
        "description": "what is missing",
        "required": False,
        "enum": names,
        "synonyms": {name: [w for w in lacking[name][0] if w != name] for name in names},
    }

    def say(turn: int) -> Clause:
        name = names[turn % len(names)]
        words = (name, *lacking[name][0])
        return Clause({LACKING: name}, after=words[turn // len(names) % len(words)])

    yield Filter(parameter, (when(LACKING, f"AND {condition}"),), say)


def _said_lacking(prop: Property, thing: Thing) -> tuple[str, tuple[str, ...]]:
    """How it is said that a column is empty, in short and in other words."""
    link = next((each for each in thing.links if prop.name in each.columns), None)
    label = link.noun if link is not None else prop.label
    done = words_of_columns().done_on(prop.label) if prop.role == "date" else ""
    empty = (f"without {with_article(label)}", f"with no {label}", f"have no {label}")
    if done:
        undone = (f"not yet {done}", f"never {done}", f"not been {done}", f"still not {done}")
        return f"not {done}", (*undone, f"un{done}", *empty)
    return f"no {label}", (*empty, f"without {label}", f"missing {with_article(label)}")


def _short_of(source: Source) -> dict[str, tuple[tuple[str, ...], str]]:
    """What there is none left of, and what there is less of than there should be."""
    known = words_of_columns()
    measures = source.thing.of_role("measure")
    least = next((p for p in measures if p.spoken & known.least_stocks), None)
    stocks = (p for p in measures if p.spoken & {"stock", "inventory"} and p is not least)
    stock = next(stocks, None)
    if stock is None:
        return {}
    column = source.column((), stock.name)
    none_left = ("sold out", "with no stock", "with no stock left", "have no stock")
    found: dict[str, tuple[tuple[str, ...], str]] = {"out of stock": (none_left, f"{column} <= 0")}
    if least is not None:
        below = f"below {least.label}"
        label = least.label
        words = (f"below their {label}", f"below the {label}", f"under their {label}",
                 f"under the {label}", "to be reordered", "need to be reordered")  # fmt: skip
        found[below] = words, f"{column} < {source.column((), least.name)}"
    return found


def _by_number(source: Source, path: Path) -> Filter:
    """By the number of what has no name: the store of a customer."""
    link = path[-1]
    key = link.thing.of_column(link.thing.key[0])
    name = identifier(f"{link.noun} number")
    known = [*(key.column.samples if key else ()), 1, 2]
    parameter = {
        "name": name,
        "type": "integer",
        "description": f"number of the {link.noun}",
        "required": False,
        "aliases": [link.noun],
        "example": known[0],
    }
    column = source.column((), link.columns[0])

    def say(turn: int) -> Clause:
        value = known[turn % len(known)]
        lead = ("of", "in", "from")[turn % 3]
        return Clause({name: value}, after=f"{lead} {link.noun} {value}")

    return Filter(parameter, (when(name, f"AND {column} = :{name}"),), say)


def joined_with(source: Source, link: Link, says: Callable[[Source, Path], str]) -> str:
    """That a table between joins the thing with something of which a condition holds."""
    if link.through is None:
        raise ValueError(f"nothing stands between {source.thing.noun} and {link.noun}")
    inner = Source(link.through.thing, source.kind)
    condition = says(inner, (link.through.theirs,))
    pairs = zip(link.through.mine.columns, link.columns, strict=True)
    on = " AND ".join(f"{inner.column((), a)} = {source.column((), b)}" for a, b in pairs)
    return f"EXISTS (SELECT 1 {' '.join(inner.text().split())} WHERE {on} AND {condition})"


def period_filters(source: Source) -> list[Filter]:
    """From a day, and until a day, of what such things are of; of several days, the one named."""
    dated = date_of(source.thing)
    if dated is None:
        return []
    path, date = dated
    known = words_of_columns()
    days = {} if path else _days_of(source.thing, date)
    day = source.day(path, date)
    if days:  # the first of them where none is named
        day = choice("dated", [(n, source.day((), d)) for n, d in reversed(days.items())])
    done = known.done_on(date.label) if not path else ""
    named = [*days]

    def say(turn: int) -> Clause:
        time = known.times[turn % len(known.times)]
        joining = known.joining if source.thing.is_person else ()
        if turn % 3 == 1 and joining and done in ("created", "registered", "joined"):
            return Clause({}, after=joining[turn // 3 % len(joining)].format(time=time))
        if turn % 3 == 1 and len(named) > 1:
            name = named[(1 + turn // 3) % len(named)]
            return Clause({"dated": name}, after=f"{name} {time}")
        return Clause({}, after=f"{done} {time}" if done and turn % 2 == 0 else time)

    def unsaid(turn: int) -> None:  # noqa: ARG001  the first of both says it
        return None

    label = date.label if not path else f"{date.label} of the {path[-1].noun}"
    filters = [
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
    if days:
        parameter: Parameter = {
            "name": "dated",
            "type": "string",
            "description": "which day is meant",
            "required": False,
            "enum": named,
            "synonyms": {
                n: [w for w in (d.label, f"{d.label} is", f"with {d.label}") if w != n]
                for n, d in days.items()
            },
        }
        filters.append(Filter(parameter, (), unsaid, is_period=True))
    return filters


def _days_of(thing: Thing, main: Property) -> dict[str, Property]:
    """The days of a thing by what was done on each, the main one first; empty for a single one."""
    found: dict[str, Property] = {}
    dates = [p for p in thing.of_role("date") if not p.column.is_contact]
    for prop in (main, *(p for p in dates if p is not main)):
        bare = " ".join(w for w in prop.label.split(" ") if w not in _DAY_WORDS) or prop.label
        found.setdefault(words_of_columns().done_on(prop.label) or bare, prop)
    return found if len(found) > 1 else {}


def number_filters(source: Source, numbers: Sequence[Amount]) -> list[Filter]:
    """Each number of the thing, as it is or compared; how it compares is said once."""
    if not numbers:
        return []

    def say(turn: int) -> Clause:
        return compare(numbers, turn, of_own)

    def unsaid(turn: int) -> None:  # noqa: ARG001  the first says them all
        return None

    of_own = own_words(numbers, source.thing)
    filters = [
        Filter(comparison_choice(numbers, ranges=True) | {"required": False}, (), say),
    ]
    for number in sorted(numbers, key=lambda n: n.value not in of_own):
        condition = f"AND {_compared(number.expression(source), number.value)}"
        parameter = _number(number, of_own.get(number.value))
        filters.append(Filter(parameter, (when(number.value, condition),), unsaid))
    other = {"name": _OTHER, "type": "number", "description": "what follows and"}
    filters.append(Filter(other | {"required": False, "aliases": ["and"]}, (), unsaid))
    return filters


def _compared(column: str, name: str) -> str:
    """A number compared as it is said; a range may be told from either end."""
    signs = [(n, f"{column} {s} :{name}") for n, s in COMPARISONS.items() if s != "="]
    ends = f":{name} AND :{_OTHER}", f":{_OTHER} AND :{name}"
    between = " OR ".join(f"{column} BETWEEN {one}" for one in ends)
    signs += [("between", f"({between})"), ("exactly", f"{column} = :{name}")]
    return choice("comparison", signs)


def own_words(numbers: Sequence[Amount], thing: Thing) -> dict[str, Compared]:
    """The words that tell of a number without its name; of two alike, the shorter one has them."""
    found: dict[str, Compared] = {}
    taken: set[str] = set()
    for number in sorted(numbers, key=lambda n: len(n.label.split(" "))):
        special = words_of_columns().compared(number.label, thing.noun)
        if special is not None and taken.isdisjoint(special.more):
            found[number.value] = special
            taken |= {*special.more}
    return found


def _number(number: Amount, special: Compared | None) -> Parameter:
    aliases = [number.label, *number.words]
    about = number.label
    if special is not None:
        aliases += special.telling(words_of_columns().comparison_words)
        if special.unit and special.unit not in number.label.split(" "):
            about = f"{about} in {special.unit}"
    own = number.value.replace("_", " ")
    return {
        "name": number.value,
        "type": "integer" if number.whole else "number",
        "description": about,
        "required": False,
        "example": round_between(number, 0),
        "aliases": [a for a in dict.fromkeys(aliases) if a != own],
    }


def comparison_choice(numbers: Sequence[Amount] = (), *, ranges: bool = False) -> Parameter:
    """How a number compares, in the words for all numbers and in those for such as these."""
    known = words_of_columns()
    names = [*COMPARISONS, *(["between"] if ranges else [])]
    words = {name: [*known.comparison_words[name]] for name in names}
    for special in filter(None, (known.compared(n.label) for n in numbers)):
        words["above"] += special.more
        words["below"] += special.less
    return {
        "name": "comparison",
        "type": "string",
        "description": "how the number compares",
        "enum": names,
        "synonyms": {name: [*dict.fromkeys(said)] for name, said in words.items()},
    }


def number_choice(name: str, about: str, numbers: Sequence[Amount]) -> Parameter:
    synonyms: dict[str, list[str]] = {}
    taken = {n.value.lower() for n in numbers}
    for number in numbers:
        kept = [w for w in dict.fromkeys((number.label, *number.words)) if w.lower() not in taken]
        taken |= {word.lower() for word in kept}
        if kept:
            synonyms[number.value] = kept
    return {
        "name": name,
        "type": "string",
        "description": about,
        "default": numbers[0].value,
        "enum": [n.value for n in numbers],
        "synonyms": synonyms,
    }


def compare(numbers: Sequence[Amount], turn: int, special_of: Mapping[str, Compared]) -> Clause:
    """`over 1500`, `with fewer than 100 units in stock`, `longer than 45 minutes`."""
    measure = numbers[turn % len(numbers)]
    value = round_between(measure, turn)
    number = f"{value:g}" if isinstance(value, float) else str(value)
    signs = (
        ("above", "over", "more than"),
        ("below", "under", "fewer than"),
        ("above", "above", "more than"),
        ("no_lower", "of at least", "at least"),
        ("below", "below", "less than"),
        ("no_higher", "of at most", "at most"),
        ("above", "greater than", "more than"),
    )
    if turn % 8 == 7:
        return _between(measure, turn)
    sign, of_amount, of_many = signs[turn % len(signs)]
    given = {"comparison": sign, measure.value: value}
    label = measure.label
    special = special_of.get(measure.value)
    more = sign == "above"
    if special is not None and turn % 3 != 2:
        words = (special.more if more else special.less) if sign in ("above", "below") else ()
        if words:
            unit = f" {special.unit}" if special.unit else ""
            return Clause(given, after=f"{words[turn % len(words)]} {number}{unit}")
    if plural(label) == label or label.split(" ")[0] == "units":
        return Clause(given, after=f"with {of_many} {number} {label}")
    if (measure is numbers[0] and turn % 2 == 0) or (len(numbers) == 1 and turn % 3 == 0):
        return Clause(given, after=f"{of_amount} {number}")
    return Clause(given, after=f"with {with_article(label)} {of_amount} {number}")


def _between(measure: Amount, turn: int) -> Clause:
    low, high = sorted((round_between(measure, turn), round_between(measure, turn + 1)))
    high = high if high > low else low + 1
    given = {"comparison": "between", measure.value: low, _OTHER: high}
    return Clause(given, after=f"with {with_article(measure.label)} between {low} and {high}")


def round_between(measure: Amount, turn: int) -> float:
    """A round number that some rows are above, and some below."""
    low, high = (measure.samples or (None, None))[:2]
    if not isinstance(low, int | float) or not isinstance(high, int | float) or high <= low:
        low, high = 0, 200
    share = (0.5, 0.3, 0.7, 0.4, 0.6)[turn % 5]
    value = low + (high - low) * share
    if high - low >= 5 or measure.whole:
        digits = max(1, len(str(int(abs(high - low)))) - 1)
        step = 10 ** (digits - 1)
        return int(round(float(value) / step) * step)
    return round(float(value), 1)


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
    return next(
        (each.values for each in phrases().values if each.words & spoken), ("Alpha", "Bravo")
    )


def _category(
    name: str, label: str, values: Sequence[str], of: str, living: Sequence[str]
) -> Callable[[int], Clause | None]:
    """`cancelled`, `in Leeds`, `with job title Chef`."""
    known = values or _pool(label)
    spoken = {*label.split(" ")}
    states = (
        phrases().states
        | phrases().levels
        | phrases().nouns_of_kind
        | {"category", "make", "brand", "gender", "form"}
    )
    adjective = bool(spoken & states) and not of

    def say(turn: int) -> Clause | None:
        value = known[turn % len(known)]
        parameter = ApiParameter(
            name=identifier(label),
            wire=label,
            place="query",
            type="string",
            enum=tuple(known) if adjective else (),
            example=value,
        )
        led = words_of_columns().said_of_values(label)
        if spoken & words_of_columns().places:
            led = (*led, *living)
        if led and (living or turn % 2 == 0):
            return Clause(
                {name: value},
                after=led[turn // (1 if living else 2) % len(led)].format(value=said(value)),
            )
        clause = clause_of(parameter, turn, value, {})
        if clause is None:
            clause = Clause({}, after=f"with {label} {said(value)}")
        if clause.after.startswith("called "):
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
        if where == "with" and turn % 2:
            return Clause({name: value}, after=f"with {with_article(label)} of {value}")
        return Clause({name: value}, after=f"{where} {label} {value}")

    return say


def _flag(name: str, yes: Sequence[str], no: Sequence[str]) -> Callable[[int], Clause | None]:
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
    is_kind = bool(
        {*noun.split(" ")} & (phrases().nouns_of_kind | {"category", "genre", "specialty"})
    )

    def say(turn: int) -> Clause:
        value = known[turn % len(known)]
        if is_kind and turn % 2 == 0:
            return Clause({name: value}, before=value)
        if turn % 3 == 1:
            return Clause(
                {name: value},
                after=f"{leads[0].split(' ')[0]} the {noun} {value}"
                if leads[0].startswith(("in", "on"))
                else f"of {noun} {value}",
            )
        return Clause({name: value}, after=leads[turn % len(leads)].format(value=value))

    return say


def spoken_filter(
    filters: Sequence[Filter], turn: int, *, most: int = 2
) -> tuple[str, str, Mapping[str, Any], bool]:
    """What is said before and after the noun, its arguments, and whether a time is said."""
    sayable = [each for each in filters if each.says(0) is not None]
    if not sayable:
        return "", "", {}, False
    first = sayable[turn % len(sayable)]
    chosen = [first]
    if most > 1 and turn >= len(sayable) and len(sayable) > 1:
        second = sayable[(turn + 1 + turn // len(sayable)) % len(sayable)]
        if second is not first:
            chosen = [second, first] if first.is_period else [first, second]
    before: list[str] = []
    after: list[str] = []
    arguments: dict[str, Any] = {}
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
