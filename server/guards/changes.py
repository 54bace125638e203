"""Changes that operators make to a guard while it runs.

A change is never edited or removed: the guard is its packs with all changes applied in
their order, so that the list of changes is the audit as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from server.errors import RequestInvalid
from server.guards.model import Allowed, Category, GuardSet
from server.library.expressions import matches_nothing, pattern_problem
from server.text.normalizer import normalize_text

Kind = Literal[
    "set_threshold",
    "reset_threshold",
    "add_pattern",
    "remove_pattern",
    "add_example",
    "remove_example",
    "allow_question",
    "forget_question",
]

_MAX_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class Change:
    """One change. `number` is for thresholds, and for how similar an allowed question is.

    `by` is a key id, or who typed the command; `id` and `at` are the store's.
    """

    guard: str
    kind: Kind
    category: str = ""
    text: str = ""
    number: float | None = None
    by: str = ""
    id: int = 0
    at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"id": self.id, "guard": self.guard, "kind": self.kind}
        made = {"by": self.by or None, "at": self.at.isoformat() if self.at else None}
        return data | self.details() | {k: value for k, value in made.items() if value is not None}

    def details(self) -> dict[str, Any]:
        """Return what the kind of change needs."""
        given = {"category": self.category, "text": self.text, "number": self.number}
        return {name: value for name, value in given.items() if value not in ("", None)}

    def __str__(self) -> str:
        number = "" if self.number is None else f" {self.number:g}"
        words = " ".join(word for word in (self.category, self.text and repr(self.text)) if word)
        return f"{self.kind} {words}{number} (by {self.by or 'unknown'})"


@dataclass(frozen=True, slots=True)
class ChangedGuards:
    """A set with its changes. `unusable` ones no longer fit the packs, and do nothing."""

    guards: GuardSet
    thresholds: dict[str, float]
    active: tuple[Change, ...] = ()
    unusable: tuple[Change, ...] = ()


def with_changes(guards: GuardSet, changes: Iterable[Change]) -> ChangedGuards:
    """Return the set with `changes` applied in their order; one that no longer fits is left out."""
    thresholds: dict[str, float] = {}
    active, unusable = [], []
    for change in changes:
        try:
            guards = _apply(guards, thresholds, change)
        except RequestInvalid:
            unusable.append(change)
        else:
            active.append(change)
    return ChangedGuards(guards, thresholds, tuple(active), tuple(unusable))


def check_change(now: ChangedGuards, change: Change) -> None:
    """Raise `RequestInvalid` if a new change names what is not there, or cannot be used."""
    _apply(now.guards, dict(now.thresholds), change)


def _apply(guards: GuardSet, thresholds: dict[str, float], change: Change) -> GuardSet:
    if len(change.text) > _MAX_CHARS:
        raise RequestInvalid(f"a text of a guard has at most {_MAX_CHARS} characters")
    if change.kind in ("allow_question", "forget_question"):
        return _allow(guards, change)
    category = guards.category(change.category)
    if category is None:
        known = ", ".join(c.name for c in guards.categories)
        raise RequestInvalid(f"there is no category {change.category!r}; there are: {known}")
    if change.kind == "set_threshold":
        thresholds[category.name] = _share(change.number, "a threshold")
        return guards
    if change.kind == "reset_threshold":
        if thresholds.pop(category.name, None) is None:
            raise RequestInvalid(f"the threshold of {category.name!r} was not changed")
        return guards
    changed = _changed_category(category, change)
    rest = tuple(changed if c.name == changed.name else c for c in guards.categories)
    return replace(guards, categories=rest)


def _changed_category(category: Category, change: Change) -> Category:
    action, _, what = change.kind.partition("_")
    texts = category.patterns if what == "pattern" else category.examples
    if action == "remove":
        if change.text not in texts:
            raise RequestInvalid(f"category {category.name!r} has no {what} {change.text!r}")
        texts = tuple(text for text in texts if text != change.text)
    else:
        if what == "pattern":
            problem = pattern_problem(change.text)
            if problem is not None:
                raise RequestInvalid(f"pattern cannot be used: {problem}")
            if not change.text or matches_nothing(change.text):
                raise RequestInvalid("this pattern matches the empty text, so every question")
        elif not change.text.strip():
            raise RequestInvalid("an example cannot be empty")
        if change.text in texts:
            raise RequestInvalid(f"category {category.name!r} has this {what} already")
        texts = (*texts, change.text)
    if what == "pattern":
        return replace(category, patterns=texts)
    return replace(category, examples=texts)


def _allow(guards: GuardSet, change: Change) -> GuardSet:
    wanted = normalize_text(change.text)
    if not wanted:
        raise RequestInvalid("say which question")
    rest = tuple(a for a in guards.allowed if normalize_text(a.question) != wanted)
    if change.kind == "forget_question":
        if len(rest) == len(guards.allowed):
            raise RequestInvalid("this question is not on the allow-list")
        return replace(guards, allowed=rest)
    similarity = None if change.number is None else _share(change.number, "a similarity")
    return replace(guards, allowed=(*rest, Allowed(change.text, similarity)))


def _share(number: float | None, what: str) -> float:
    if number is None or not 0 <= number <= 1:
        raise RequestInvalid(f"{what} is a number between 0 and 1")
    return number
