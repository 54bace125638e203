"""What extraction hands on: arguments, where each came from, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.core.decision import Missing
from server.core.grounding import Grounding
from server.core.tools import Source

__all__ = ["Extraction", "Grounding"]


@dataclass(frozen=True, slots=True)
class Extraction:
    """The arguments a question gives to a template.

    `arguments` and `sources` have the same keys, in the order of the parameters.
    `missing` has what must still be asked for: required parameters without a value,
    and parameters whose value cannot be used, which then say why in `problem`.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    grounding: Grounding = field(default_factory=Grounding)
