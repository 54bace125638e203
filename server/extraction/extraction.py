"""What extraction hands on: arguments, where each came from, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.core.decision import Missing
from server.core.grounding import Grounding
from server.core.tools import Source

__all__ = ["Extraction", "Grounding", "Placed"]


@dataclass(frozen=True, slots=True)
class Extraction:
    """The arguments a question gives to a template.

    `arguments` and `sources` have the same keys, in the order of the parameters.
    `missing` has what must still be asked for: required parameters without a value,
    and parameters whose value cannot be used, which then say why in `problem`. `sure` are
    those whose value the words around it, or a pattern, gave to them and no other.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    grounding: Grounding = field(default_factory=Grounding)
    sure: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class Placed:
    """What stands at a place of a text, read as a value of one parameter.

    `problem` says why it cannot be used. Free text is a text; its examples tell whether it
    is a sentence, or a name that is written with a capital letter.
    """

    value: Any
    problem: str
    span: tuple[int, int]
    is_text: bool = False
    is_sentence: bool = False
    is_name: bool = False
