"""Values that stand in the data behind an adapter, as questions may name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ValueVocabulary = Mapping[str, Mapping[str, Sequence[str]]]
"""By template and parameter, the values that the data hold; there may be others."""


NameVocabulary = Mapping[tuple[str, tuple[str, ...]], Sequence[tuple[str, ...]]]
"""The values of columns, by table and columns; a name of two columns has two texts."""


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value as the data write it; None where they do not have it, with `near` ones instead."""

    value: str | None
    near: tuple[str, ...] = ()
