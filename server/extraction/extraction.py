"""What extraction hands on: arguments, where each came from, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.core.decision import Missing
from server.core.tools import Source


@dataclass(frozen=True, slots=True)
class Grounding:
    """How far a question speaks of a template, for choosing between templates.

    Of `required` parameters, `read` have a value that stands in the question. `unused`
    are the places of the question that hold a value (a number, a date, JSON …) which
    no parameter took.
    """

    required: int = 0
    read: int = 0
    unused: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every required argument was read from the question."""
        return self.read == self.required


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
    grounding: Grounding = Grounding()
