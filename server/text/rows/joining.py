"""Conditions on rows, and how “and”, “or” and “not” join them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal


class Unclear(ValueError):
    """It is not said, or could be meant in two ways."""


@dataclass(slots=True)
class Condition:
    """One condition, what joins it to the one before, and whether its rows are left out."""

    test: dict[str, Any]
    joint: Literal["", "and", "or"]
    removed: bool = False


def joined(conditions: Sequence[Condition]) -> dict[str, Any]:
    """Conditions as one: “or” between two of one column binds them, else it stands alone."""
    joints = [one.joint for one in conditions[1:]]
    tests = [one.test for one in conditions]
    if "or" not in joints:
        return tests[0] if len(tests) == 1 else {"all": tests}
    if set(joints) == {"or"}:
        return {"any": tests}
    groups: list[list[dict[str, Any]]] = [[tests[0]]]
    for joint, test in zip(joints, tests[1:], strict=True):
        if joint == "or":
            if groups[-1][-1].get("field") != test.get("field"):
                raise Unclear
            groups[-1].append(test)
        else:
            groups.append([test])
    return {"all": [one[0] if len(one) == 1 else {"any": one} for one in groups]}


def either(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    if one.get("field") != other.get("field"):
        return None
    if {one.get("operator"), other.get("operator")} - {"eq", "in"}:
        return None
    values = [
        value
        for test in (one, other)
        for value in (test["value"] if test["operator"] == "in" else [test["value"]])
    ]
    if any(isinstance(value, bool) for value in values):
        raise Unclear
    return {"field": one["field"], "operator": "in", "value": values}


_OPPOSITES: Final = {"eq": "ne", "ne": "eq", "in": "not_in", "not_in": "in"}


def opposite(test: dict[str, Any]) -> dict[str, Any]:
    operator = test.get("operator")
    if operator in _OPPOSITES:
        return {**test, "operator": _OPPOSITES[operator]}
    return {"not": test}
