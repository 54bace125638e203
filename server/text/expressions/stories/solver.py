"""Finds the one way in which all numbers of a story lead to what is asked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Final, NamedTuple

from server.text.expressions.quantity import THING, Quantity, Unit, convert, is_convertible
from server.text.expressions.stories.facts import (
    ANY,
    COUNTED,
    EACH,
    LENGTH,
    MEASURED,
    MONEY,
    PACKED,
    PERCENT,
    PERSON,
    TIME,
    Answer,
    Asked,
    Fact,
    Story,
    is_money,
    is_noun,
)
from server.text.expressions.stories.percentages import solve_percentage
from server.text.expressions.tree import Literal, Node, Operation
from server.text.stems import singular

_MOST_NUMBERS: Final = 3
_MOST_MEANINGS: Final = 2000
_TIMES: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})


class Step(NamedTuple):
    """A fact, and what is done with it: `×`, `÷`, `+` or `−`."""

    sign: str
    fact: Fact


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to work it out."""

    value: Fraction
    thing: str
    steps: tuple[Step, ...]


def solve(story: Story, on_top: frozenset[str] = frozenset()) -> Answer | None:
    """Return what a story comes to; None where nothing, or more than one thing, can be meant."""
    if any(one.thing == PERCENT for one in story.facts):
        return solve_percentage(story, on_top)
    if story.marks or story.asked_marks or story.asked is None:
        return None
    unified = _unified(story.facts, story.asked)
    if unified is None or not 2 <= sum(one.numbers for one in story.facts) <= _MOST_NUMBERS:
        return None
    facts, asked = unified
    readings: dict[Fraction, Reading] = {}
    for meant in islice(_meanings(facts, asked), _MOST_MEANINGS):
        for reading in _readings(meant, asked):
            readings.setdefault(reading.value, reading)
            if len(readings) > 1:
                return None
    return next((_answer(one, asked, story.last) for one in readings.values()), None)


def _unified(facts: Sequence[Fact], asked: Asked) -> tuple[list[Fact], Asked] | None:
    """Return the facts with one name for each thing: AA batteries are batteries."""
    names = {t for one in facts for t in (one.thing, one.below_thing)} | {asked.thing, asked.below}
    kinds = Counter(name.partition(" ")[0] for name in names if " " in name)
    currencies = {name for name in names if is_money(name)} - {MONEY}
    if len(currencies) > 1 or any(count > 1 for count in kinds.values()):
        return None  # red pens and blue ones
    money = next(iter(currencies), MONEY)

    def name_of(thing: str) -> str:
        return money if thing == MONEY else thing.partition(" ")[0]

    return [
        one._replace(thing=name_of(one.thing), below_thing=name_of(one.below_thing))
        for one in facts
    ], asked._replace(thing=name_of(asked.thing), below=name_of(asked.below))


def _meanings(facts: Sequence[Fact], asked: Asked) -> Iterator[tuple[Fact, ...]]:
    """Return what the facts may mean: things without a name, each, a box, weeks in days."""
    things = [t for one in facts for t in (one.thing, one.below_thing)] + [asked.thing, asked.below]
    known = [t for t in dict.fromkeys(things) if t and t[0] not in "?*" and t != MONEY]
    money = next((thing for thing in known if is_money(thing)), MONEY)
    named = [*known, *([] if money in known else [money])]
    yield from product(*(tuple(_meant(one, facts, asked, named)) for one in facts))


def _meant(fact: Fact, facts: Sequence[Fact], asked: Asked, named: Sequence[str]) -> Iterator[Fact]:
    things: Sequence[str] = (fact.thing,)
    if fact.thing == ANY:
        things = named
    elif fact.thing == PACKED:
        told = {one.below_thing for one in facts} | {one.thing for one in facts}
        things = [asked.below] if is_noun(asked.below) and asked.below not in told else ()
    belows: Sequence[str] = (fact.below_thing,)
    if fact.below_thing == EACH:
        belows = [one for one in named if not is_money(one)]
    elif fact.is_optional:
        belows = ("", fact.below_thing)
    for thing, below in product(things, belows):
        if thing != below:
            yield from _converted(fact._replace(thing=thing, below_thing=below), facts, asked)


def _converted(fact: Fact, facts: Sequence[Fact], asked: Asked) -> Iterator[Fact]:
    """Return a fact, and what it is in other units that the story has rates in."""
    yield fact
    if fact.is_rate or not is_convertible(((fact.thing, 1),)):
        return
    others = {t for one in facts if one.is_rate for t in (one.thing, one.below_thing)}
    for other in sorted(others | {asked.thing} - {fact.thing}):
        if other and is_convertible(((other, 1),)):
            found = convert(Quantity(fact.value, ((fact.thing, 1),)), ((other, 1),))
            if found is not None:
                yield fact._replace(value=found.value, thing=other)


def _readings(facts: Sequence[Fact], asked: Asked) -> Iterator[Reading]:
    if asked.is_left or (asked.is_total and any(one.role in ("minus", "plus") for one in facts)):
        yield from _changed(facts, asked)
        for at, change in enumerate(facts):
            rest = [*facts[:at], *facts[at + 1 :]]
            if change.role in ("minus", "plus") and not change.is_rate and len(rest) > 1:
                for made in _products(rest, asked):
                    yield from _after_change(made, change, asked)
    if not asked.is_left:
        yield from _products(facts, asked)
        if asked.is_total:
            yield from _summed(facts, asked)


def _changed(facts: Sequence[Fact], asked: Asked) -> Iterator[Reading]:
    """Read what was had, and what came and went."""
    first, *changes = facts
    if first.role == "minus" or not changes or any(one.is_rate or one.is_asked for one in facts):
        return
    value, steps = first.value, [Step("", first)]
    for change in changes:
        if change.role not in ("minus", "plus") or change.thing != first.thing:
            return
        if first.who in ("teller", "other") and change.who not in (first.who, ""):
            return
        sign = "−" if change.role == "minus" else "+"
        value += change.value if sign == "+" else -change.value
        steps.append(Step(sign, change))
    if asked.is_left and all(one.role == "plus" for one in changes):
        return
    if value >= 0 and not asked.below and _names(asked.thing, first.thing):
        yield from _whole(Reading(value, first.thing, tuple(steps)))


def _after_change(made: Reading, change: Fact, asked: Asked) -> Iterator[Reading]:
    if change.thing != made.thing or (asked.is_left and change.role == "plus"):
        return
    sign = "−" if change.role == "minus" else "+"
    value = made.value + (change.value if sign == "+" else -change.value)
    if value >= 0:
        yield from _whole(Reading(value, made.thing, (*made.steps, Step(sign, change))))


def _summed(facts: Sequence[Fact], asked: Asked) -> Iterator[Reading]:
    """Read what there is of one thing in several places."""
    first = facts[0]
    if any(one.is_rate or one.role == "minus" or one.thing != first.thing for one in facts):
        return
    if is_noun(first.thing) and _names(asked.thing, first.thing) and not asked.below:
        steps = (Step("", first), *(Step("+", one) for one in facts[1:]))
        yield Reading(sum((one.value for one in facts), Fraction(0)), first.thing, steps)


def _products(facts: Sequence[Fact], asked: Asked) -> Iterator[Reading]:
    """Read rates and amounts whose units leave what is asked for: pages a minute × minutes."""
    paired = _paired(facts)
    if paired is not None and _names(TIME, asked.thing):
        return  # 6 workers take 3 days: how long do 9 take?
    for signs in product((1, -1), repeat=len(facts)):
        if 1 not in signs or (paired and signs[paired[0]] == signs[paired[1]]):
            continue
        unit: Counter[str] = Counter()
        value = Fraction(1)
        for sign, one in zip(signs, facts, strict=True):
            if not one.value and sign < 0:
                break
            value *= (one.value / one.below) ** sign
            unit[one.thing] += sign
            unit[one.below_thing] -= sign
        else:
            del unit[""]
            thing = _result(unit, asked)
            if thing:
                steps = _in_order(signs, facts)
                yield from _whole(Reading(value, thing, steps), is_share=bool(asked.below))


def _paired(facts: Sequence[Fact]) -> tuple[int, int] | None:
    """Return the two amounts that one clause sets against each other: 3 pens cost 4.50."""
    if len(facts) < 3:
        return None
    plain = [at for at, one in enumerate(facts) if not one.is_rate and not one.is_asked]
    if len(plain) != 2 or facts[plain[0]].clause != facts[plain[1]].clause:
        return None
    return plain[0], plain[1]


def _result(unit: Counter[str], asked: Asked) -> str:
    """Return the thing that a unit is of, where it is the one that is asked for."""
    above = [name for name, power in unit.items() if power == 1]
    below = [name for name, power in unit.items() if power == -1]
    others = [name for name, power in unit.items() if power not in (0, 1, -1)]
    if others or len(above) != 1 or len(below) != bool(asked.below):
        return ""
    if below and not (below[0] == asked.below or (asked.below == PERSON and is_noun(below[0]))):
        return ""
    return above[0] if _names(asked.thing, above[0]) else ""


def _names(asked: str, thing: str) -> bool:
    """Whether what is asked for may be this thing."""
    if asked == COUNTED:
        return not is_money(thing)
    if asked == MEASURED:
        return not is_noun(thing)
    if asked == TIME:
        return thing in _TIMES
    if asked == LENGTH:
        return convert(Quantity(Fraction(1), ((thing, 1),)), (("m", 1),)) is not None
    return asked in (ANY, thing)


def _whole(reading: Reading, *, is_share: bool = False) -> Iterator[Reading]:
    """Nobody has 2.5 boxes."""
    if reading.value.denominator == 1 or not is_noun(reading.thing):
        yield reading


def _in_order(signs: Sequence[int], facts: Sequence[Fact]) -> tuple[Step, ...]:
    pairs = list(zip(signs, facts, strict=True))
    above = sorted((one for one in pairs if one[0] > 0), key=lambda one: not one[1].is_rate)
    below = [one for one in pairs if one[0] < 0]
    (_, first), *rest = above
    return (
        Step("", first),
        *(Step("÷", one) for _, one in below),
        *(Step("×", one) for _, one in rest),
    )


_OPERATIONS: Final = {"×": "multiply", "÷": "divide", "+": "add", "−": "subtract"}


def _answer(reading: Reading, asked: Asked, last: int) -> Answer:
    unit = _unit(reading, asked)
    node: Node | None = None
    text = ""
    mixed = {step.sign in "+−" for step in reading.steps if step.sign}
    for sign, fact in reading.steps:
        literal_unit = unit if not sign or sign in "+−" else ()
        literal = Literal(Quantity(fact.value / fact.below, literal_unit))
        shown = _shown(fact, unit if sign in "+−" and not is_noun(reading.thing) else ())
        if node is None:
            node, text = literal, shown
        else:
            node = Operation(_OPERATIONS[sign], (node, literal))
            text = f"{text} {sign} {shown}"
    assert node is not None
    del mixed
    return Answer(node, text, last)


def _shown(fact: Fact, unit: Unit) -> str:
    shown = str(Quantity(fact.value, unit)) if unit and fact.shown[-1].isdigit() else fact.shown
    if not fact.below_shown or (fact.is_optional and not fact.below_thing):
        return shown
    if fact.below_shown == "each":
        return f"{shown} each"
    return f"{shown} per {fact.below_shown}"


def _unit(reading: Reading, asked: Asked) -> Unit:
    thing = reading.thing
    if thing == MONEY or not thing:
        return ()
    if not is_noun(thing):
        return ((thing, 1),)
    named = next((s.fact.shown for s in reading.steps if s.fact.thing == thing), "")
    name = asked.name or named.partition(" ")[2]
    if not name:
        return ()
    if reading.value == 1:
        name = singular(name)
    return ((THING + name, 1),)
