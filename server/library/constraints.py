"""What a parameter asks of a value beyond its type: its enum, bounds, length and pattern."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import re2

from server.core.suggestions import join_words


@dataclass(frozen=True)
class Constraints:
    """Constraints on a value; each counts for the values that it can be asked of."""

    enum: tuple[Any, ...] = ()
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None

    @classmethod
    def of_schema(cls, schema: Mapping[str, Any]) -> "Constraints":
        """The constraints of a JSON Schema."""
        return cls(
            enum=tuple(schema.get("enum") or ()),
            ge=schema.get("minimum"),
            le=schema.get("maximum"),
            min_length=schema.get("minLength", schema.get("minItems")),
            max_length=schema.get("maxLength", schema.get("maxItems")),
            pattern=schema.get("pattern"),
        )

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with `value`, as `is below 5`, or None."""
        # True is 1 in Python, and is no member of a list of numbers.
        if self.enum and not any(
            listed == value and isinstance(listed, bool) == isinstance(value, bool)
            for listed in self.enum
        ):
            return f"is not one of {join_words(self.enum)}"
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            if self.ge is not None and value < self.ge:
                return f"is below {self.ge:g}"
            if self.le is not None and value > self.le:
                return f"is above {self.le:g}"
        if isinstance(value, str | list | tuple):
            unit = "characters" if isinstance(value, str) else "items"
            if self.min_length is not None and len(value) < self.min_length:
                return f"has fewer than {self.min_length} {unit}"
            if self.max_length is not None and len(value) > self.max_length:
                return f"has more than {self.max_length} {unit}"
        if isinstance(value, str) and self.pattern and not self._compiled.search(value):
            return f"does not match {self.pattern}"
        return None

    @cached_property
    def _compiled(self) -> Any:
        return re2.compile(self.pattern)
