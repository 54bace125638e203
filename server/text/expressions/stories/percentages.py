"""Stories of one amount and a percentage: “dinner was $112, total with a 20% tip?”"""

from fractions import Fraction
from typing import Final, Literal

from server.text.expressions.quantity import THING, Quantity, Unit
from server.text.expressions.stories.facts import (
    ANY,
    COUNTED,
    MEASURED,
    PERCENT,
    Answer,
    Asked,
    Fact,
    Story,
    is_money,
    is_noun,
)
from server.text.expressions.tree import Literal as Number
from server.text.expressions.tree import Operation

_CHARGE: Final = "charge "
_ONE: Final = Number(Quantity(Fraction(1)))

Wanted = Literal["raised", "reduced", "share", "net", "share of net", ""]


def solve_percentage(story: Story, on_top: frozenset[str]) -> Answer | None:
    """Return what the story comes to; None unless its words say one thing only.

    `on_top` are the charges that a total has beside the price, such as a tip.
    """
    percents = [one for one in story.facts if one.thing == PERCENT]
    amounts = [one for one in story.facts if one.thing != PERCENT]
    asked = story.asked
    if len(percents) != 1 or len(amounts) != 1 or asked is None or asked.below:
        return None
    (percent,), (amount,) = percents, amounts
    if (amount.is_rate and not amount.is_optional) or not _may_be(asked, amount):
        return None
    wanted = _wanted(story, asked, percent, on_top)
    whole = Number(Quantity(amount.value, _unit(asked, amount)))
    share = Number(Quantity(percent.value, percent=True))
    told, part = amount.shown, percent.shown
    net = Operation("divide", (whole, Operation("add", (_ONE, share))))
    if wanted == "raised":
        node, text = Operation("add", (whole, share)), f"{told} + {part}"
    elif wanted == "reduced":
        node, text = Operation("subtract", (whole, share)), f"{told} − {part}"
    elif wanted == "share":
        node, text = Operation("part_of", (share, whole)), f"{part} of {told}"
    elif wanted == "net":
        node, text = net, f"{told} ÷ (1 + {part})"
    elif wanted == "share of net":
        node, text = Operation("subtract", (whole, net)), f"{told} − {told} ÷ (1 + {part})"
    else:
        return None
    factor = {"raised": 1 + percent.value, "reduced": 1 - percent.value, "share": percent.value}
    result = amount.value * factor.get(wanted, Fraction(1))
    if result < 0 or (is_noun(amount.thing) and result.denominator != 1):
        return None
    return Answer(node, text, story.last)


def _wanted(story: Story, asked: Asked, percent: Fact, on_top: frozenset[str]) -> Wanted:
    """Return what is asked for; empty where the words say nothing, or two things."""
    told = {mark for mark in story.marks if not mark.startswith(_CHARGE)}
    named = {mark.removeprefix(_CHARGE) for mark in story.marks - told} - {""}
    if percent.below_shown == "down" or (percent.role == "minus" and not percent.is_asked):
        told.add("down")
    elif percent.below_shown:
        named.add(percent.below_shown)
    asks = {mark for mark in story.asked_marks if not mark.startswith(_CHARGE)}
    charges = {mark.removeprefix(_CHARGE) for mark in story.asked_marks - asks}
    named, charges = _alike(named, charges)
    asked_with = "with" in asks
    told, asks = told - {"with"}, asks - {"with"}
    included = "included" in told | asks
    if len(named | charges) > 1 or len(told) > 1 or percent.role == "plus":
        return ""
    if "without" in asks:
        return (
            "net" if included and asks <= {"without", "included"} and told <= {"included"} else ""
        )
    if asks - {"included"}:
        return ""
    if included:
        return "share of net" if charges and not asked.is_total else ""
    if told:
        if charges or percent.is_asked or not named <= (on_top if told == {"up"} else set()):
            return ""
        return "raised" if told == {"up"} else "reduced"
    if asked.is_total or asked_with:
        return "raised" if named | charges and named | charges <= on_top else ""
    return "share" if charges else ""


def _alike(named: set[str], charges: set[str]) -> tuple[set[str], set[str]]:
    """Return two sets of charges with the shorter name for both: sales tax is a tax."""
    short = {
        one
        for one in named | charges
        if any(o != one and o.endswith(f" {one}") for o in named | charges)
    }

    def shortened(names: set[str]) -> set[str]:
        return {next((s for s in short if one.endswith(f" {s}")), one) for one in names}

    return shortened(named), shortened(charges)


def _may_be(asked: Asked, amount: Fact) -> bool:
    if is_noun(asked.thing):
        return asked.thing == amount.thing or (amount.thing == ANY and asked.is_total)
    if asked.thing == COUNTED:
        return not is_money(amount.thing) and amount.thing != ANY
    if asked.thing == MEASURED or is_money(asked.thing):
        return not is_noun(amount.thing)
    return asked.thing in ("", ANY, amount.thing)


def _unit(asked: Asked, amount: Fact) -> Unit:
    if amount.thing == ANY and not is_noun(asked.thing):
        return ()
    if amount.thing != ANY and not is_noun(amount.thing):
        return ((amount.thing, 1),)
    return ((THING + (asked.name or amount.shown.partition(" ")[2]), 1),)
