"""What the rule engine makes of a question."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

IntentMethod = Literal["keyword", "regex", "semantic", "default"]

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Intent(NamedTuple):
    """A detected intent. `confidence` is 0 to 1, and `explanation` is for people.

    `route` is the intent that a reference to an earlier answer turns into once it is
    known what it refers to. `ask` is what to ask back instead of acting on it, empty when
    it can be acted on. `places` are where in the question each entity was read, as
    (start, end) in characters; an entity that nobody named has none.
    """

    name: str
    confidence: float
    method: IntentMethod
    entities: Mapping[str, Any] = _NONE
    flags: Mapping[str, bool] = _NONE
    explanation: str = ""
    route: str | None = None
    ask: str = ""
    places: Mapping[str, tuple[tuple[int, int], ...]] = _NONE
