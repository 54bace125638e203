"""What the rule engine makes of a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

IntentMethod = Literal["keyword", "regex", "semantic", "default"]


@dataclass(frozen=True, slots=True)
class Intent:
    """A detected intent. `confidence` is 0 to 1, and `explanation` is for people.

    `route` is the intent that a reference to an earlier answer turns into once it is
    known what it refers to. `ask` is what to ask back instead of acting on it, empty when
    it can be acted on. `places` are where in the question each entity was read, as
    (start, end) in characters; an entity that nobody named has none.
    """

    name: str
    confidence: float
    method: IntentMethod
    entities: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    explanation: str = ""
    route: str | None = None
    ask: str = ""
    places: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
