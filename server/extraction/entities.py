"""Filling parameters with the entities that a rule pack found."""

from collections.abc import Mapping
from typing import Any, Final

from server.core.tools import Source
from server.core.turn import Intent
from server.extraction.plan import NUMERIC, ParameterPlan
from server.extraction.slot_filling import SlotFilling
from server.extraction.values import Candidate, InvalidValue, number
from server.library.model import Parameter

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "start": ("start", "start_date", "date_from", "from_date", "from"),
    "end": ("end", "end_date", "date_to", "to_date", "to"),
}
"""Names of parameters that take an end of a range, besides `<entity>_<part>`."""


def fill_entities(slots: SlotFilling, intent: Intent) -> None:
    """Give each parameter the entity of its name, unless it has a value already.

    An entity fills a parameter of its own name, or its parts fill `<entity>_<part>` or the part's
    own name. A value of another type is passed over; one that breaks a bound is a problem.
    """
    plans = {plan.key: plan for plan in slots.plan.parameters}
    for entity, value in intent.entities.items():
        places = intent.places.get(entity, ())
        plan = plans.get(entity)
        if plan is not None and _fill_parameter(slots, plan, value, places):
            continue
        if isinstance(value, Mapping):
            for part, inner in value.items():
                names = (f"{entity}_{part}", *_SPELLINGS.get(part, (part,)))
                if (name := next(filter(plans.__contains__, names), None)) is not None:
                    _fill_parameter(slots, plans[name], inner, places)


def _fill_parameter(
    slots: SlotFilling, plan: ParameterPlan, value: Any, places: tuple[tuple[int, int], ...]
) -> bool:
    """Return whether the value is one for the parameter, be it in bounds or not."""
    if plan.key in slots.found:
        return False
    try:
        fitting = _as_typed(plan, value)
    except InvalidValue:
        return False
    try:
        plan.checker.check(fitting)
    except InvalidValue as refused:
        slots.problems[plan.key] = str(refused)
        return True
    slots.problems.pop(plan.key, None)
    start, end = places[0] if places else (0, 0)
    slots.found[plan.key] = Candidate(start, end, 0, 0, fitting, "intent")
    text = slots.reading.text[start:end] if places else None
    slots.sources[plan.key] = Source("intent", places[0] if places else None, text)
    for first, last in places:
        if slots.taken.is_free(first, last):
            slots.taken.add(first, last)
    return True


def _as_typed(plan: ParameterPlan, value: Any) -> Any:
    """Return `value` as the parameter's type, or raise `InvalidValue`."""
    parameter = plan.parameter
    json_type = parameter.descriptor.json_type
    if plan.role in NUMERIC or parameter.descriptor.is_numeric:
        found = number(value)
        expected = parameter.descriptor.expected(found)
        if expected is not None:
            raise InvalidValue(f"{found} is not {expected}")
        return found
    match json_type, value:
        case "string", str():
            return _enum_value(parameter, value)
        case "boolean", bool():
            return value
        case "array", list() | tuple():
            return [_enum_value(parameter, one) if isinstance(one, str) else one for one in value]
        case "object", Mapping():
            return dict(value)
    raise InvalidValue(f"{value!r} is not of type {json_type}")


def _enum_value(parameter: Parameter, value: str) -> Any:
    return value if value in parameter.enum else parameter.choices.get(value.lower(), value)
