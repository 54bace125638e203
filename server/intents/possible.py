"""Whether an entity can ever have a value that somebody else asks it for."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from server.intents.entities import (
    DateRangeKind,
    Entity,
    EntityKind,
    NumberKind,
    PatternKind,
    SeriesKind,
    ValuesKind,
)
from server.intents.free_text import TextKind
from server.settings.wording import instead


def impossible(entity: Entity, value: Any) -> str | None:
    """Why `entity` never is `value`; None when a question may name it."""
    if entity.default is not None and value == entity.default:
        return None
    kind = entity.kind
    if not getattr(kind, "every", False):
        return _one(kind, value)
    if not isinstance(value, list) or not value:
        return "it is a list of values, so each value to compare with is a list too"
    return next((why for item in value if (why := _one(kind, item)) is not None), None)


def _one(kind: EntityKind, value: Any) -> str | None:
    match kind:
        case NumberKind():
            return _number(kind, value)
        case ValuesKind():
            constants = [capture.constant for capture in kind.patterns]
            return _listed(value, [*kind.values, *constants])
        case PatternKind():
            return _captured(kind, value)
        case TextKind():
            return None if isinstance(value, str) and value.strip() else "it is text"
        case DateRangeKind():
            return None if _is_range(value) else "it is {start: …, end: …}, dates in ISO 8601"
        case SeriesKind():
            return _series(kind, value)
    return None


def _listed(value: Any, known: Sequence[Any]) -> str | None:
    if value in known:
        return None
    return instead(value, list(dict.fromkeys(map(str, known))))


def _number(kind: NumberKind, value: Any) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return "it is a whole number"
    if kind.beyond(value):
        least = "" if kind.least is None else f" from {kind.least}"
        most = "" if kind.most is None else f" to {kind.most}"
        return f"it is a number{least}{most}"
    return None


def _captured(kind: PatternKind, value: Any) -> str | None:
    constants = [capture.constant for capture in kind.captures if capture.constant is not None]
    if value in constants:
        return None
    if len(constants) == len(kind.captures):
        return _listed(value, constants)
    if not isinstance(value, str):
        return "it is text"
    if kind.case != "as_written" and value != (cased := kind.cased(value)):
        return f"did you mean {cased!r}?"
    return None


def _is_range(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"start", "end"}:
        return False
    try:
        return all(date.fromisoformat(day).isoformat() == day for day in value.values())
    except (TypeError, ValueError):
        return False


def _series(kind: SeriesKind, value: Any) -> str | None:
    names = list(dict.fromkeys(series.name for series in kind.series))
    name, _, items = value.partition(":") if isinstance(value, str) else ("", "", "")
    if name not in names or "," not in items:
        return f"it is written as {names[0] if names else 'name'}:first,second"
    return None
