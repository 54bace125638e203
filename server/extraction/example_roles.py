"""Which value is whose in the examples of a template, and what arrangements that teaches."""

from collections.abc import Mapping, Sequence
from typing import Final

from server.extraction.arrangements import Arrangements, Grade, Roles, roles_in, unknowns
from server.extraction.assignment import ContextWords, Place
from server.extraction.plan import TemplatePlan
from server.extraction.slot_filling import ExampleContexts, SlotFilling
from server.extraction.value_kinds import Group

_GROUPS: Final[tuple[Group, ...]] = ("claim", "date", "amount")


def learn_arrangements(
    plan: TemplatePlan, examples: Sequence[SlotFilling], words: Mapping[str, ContextWords]
) -> dict[Group, Arrangements]:
    """Learn how values that could be taken for one another are arranged in the examples.

    `words` are those that stand beside values in the examples.
    """
    groups = [group for group in _GROUPS if len(plan.groups[group]) > 1]
    if "amount" not in groups and plan.groups["amount"]:
        groups.append("amount")  # what the examples ask for is learned for a single one as well
    learned = {group: Arrangements() for group in groups}
    for example in examples if groups else ():
        again = SlotFilling(plan, example.reading, ExampleContexts(words), example.synonyms)
        again.fill_from_patterns()
        again.fill_recognized(texts=False)
        for group in groups:
            _learn(learned[group], again, group)
    return learned


def _learn(learned: Arrangements, example: SlotFilling, group: Group) -> None:
    learned.asked |= unknowns(example.reading.tokens)
    plans = example.plan.groups[group]
    found = {one.key: example.found[one.key] for one in plans if one.key in example.found}
    places = example.places(group, {one.key: example.scored(one) for one in plans})
    roles = roles_in(found, places)
    if len(places) < 2 or len(set(roles) - {""}) < 2:
        return
    shown = {key for key in found if key in example.sure or found[key].kind == "template_pattern"}
    grade = Grade.SHOWN
    if len(found.keys() - shown) > 1:
        by_value = _by_example_value(example, places, roles, shown)
        roles, grade = (by_value, Grade.VALUE) if by_value else (roles, Grade.ORDER)
    learned.add(example.shape(group, places, None), roles, grade)


def _by_example_value(
    example: SlotFilling, places: Sequence[Place], roles: Roles, shown: set[str]
) -> Roles | None:
    """The roles, where values are those that parameters have for examples; None where none is."""
    open_keys = [key for key in roles if key and key not in shown]
    plans = {one.key: one for one in example.plan.parameters if one.key in open_keys}
    placed: dict[int, str] = {}
    for key, plan in plans.items():
        wanted = plan.parameter.example
        same = [c for c in example.candidates_of(plan) if not c.problem and c.value == wanted]
        at = [n for n, place in enumerate(places) if any(c.first == place[0] for c in same)]
        if wanted is not None and len(at) == 1 and roles[at[0]] in open_keys:
            if at[0] in placed:
                return None  # two parameters have the same value for an example
            placed[at[0]] = key
    if len(placed) < len(open_keys) - 1:
        return None
    left = iter([key for key in open_keys if key not in placed.values()])
    return tuple(
        role if role not in open_keys else placed.get(at) or next(left)
        for at, role in enumerate(roles)
    )
