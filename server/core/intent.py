"""What the rule engine makes of a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

IntentMethod = Literal["keyword", "regex", "semantic", "default"]


@dataclass(frozen=True, slots=True)
class Intent:
    """A detected intent. `confidence` is 0 to 1, and `explanation` is for people.

    `route` is the intent that a reference to an earlier answer turns into once it is
    known what it refers to.
    """

    name: str
    confidence: float
    method: IntentMethod
    entities: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    explanation: str = ""
    route: str | None = None
