"""Guards as the server uses them: categories, and what one makes of a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Action = Literal["block", "route", "allow", "flag"]
Method = Literal["regex", "semantic", "allow_list", "default", "failure"]

FAILED: Final = "router_failure"
"""What stands for a category when a guard refuses because it could not judge."""

NOTHING: Final = "none"
"""What stands for a category when no category fits."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question goes instead: one of the two is set."""

    adapter: str | None = None
    template: str | None = None

    def to_dict(self) -> dict[str, str]:
        pairs = (("adapter", self.adapter), ("template", self.template))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of question, and what is done about it.

    `responses` are Jinja texts by language; those under `""` are for every language.
    """

    name: str
    action: Action
    description: str = ""
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    threshold: float | None = None
    route: Route | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """A question that passes whatever it is: exactly, or whatever is as similar."""

    question: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class GuardSet:
    """Categories in the order in which they are asked, and what they share."""

    name: str
    categories: tuple[Category, ...]
    threshold: float | None = None
    responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failure_responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allowed: tuple[Allowed, ...] = ()

    def category(self, name: str) -> Category | None:
        return next((c for c in self.categories if c.name == name), None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard makes of one question.

    `action` is None when no category fits. `confidence` is 1 for a pattern, and a
    calibrated probability for meaning. `enforced` is False in shadow mode: the turn goes
    on as if the action were None. `failures` are the stages that could not judge.
    """

    action: Action | None
    category: str = NOTHING
    method: Method = "default"
    confidence: float = 0.0
    why: str = ""
    response: str = ""
    route: Route | None = None
    enforced: bool = True
    failures: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """One word for counters: block, route, flag, allow, pass, or `would_…`."""
        if self.action is None:
            return "pass"
        if not self.enforced and self.action in ("block", "route"):
            return f"would_{self.action}"
        return self.action

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-ready data, without the words of the response."""
        data: dict[str, Any] = {
            "outcome": self.outcome,
            "category": self.category,
            "method": self.method,
            "confidence": round(self.confidence, 4),
        }
        if self.why:
            data["why"] = self.why
        if self.route is not None:
            data["route_to"] = self.route.to_dict()
        if self.failures:
            data["failed"] = list(self.failures)
        return data
