"""The types that a parameter may have: a class for each, and one table of them all.

Whatever differs from type to type is asked of its `ParameterType`: what YAML may call it,
its JSON Schema, what in a question can fill it, how a written value is read and checked,
and what it is called when somebody is asked for it. `docs/extending.md` adds one.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from email.utils import parseaddr
from functools import cached_property
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

import re2

from server.core.suggestions import format_value, join_words
from server.core.tools import JsonType
from server.settings.yaml_tree import plain_value
from server.text.expressions import read_expression

ValueKind = Literal[
    "number", "percentage", "money", "currency", "date", "written_date", "datetime", "time",
    "duration", "timezone", "country", "date_format", "email", "url", "shaped", "code", "boolean",
    "choice", "choices", "numbers", "records", "object", "strings", "field", "fields", "cell",
    "custom", "rows_query", "text", "expression",
]  # fmt: skip
"""How the values of a parameter are recognised in a question.

`integer` is a `number` that must be whole, and a `written_date` a date as it was written. A
`choice` is a value of the enum or of an entity. `records` and `object` are JSON, a `field` is a
key of the JSON data, a `cell` what a field is compared with, and a `rows_query` all that is asked
about the rows beside it. `custom` is what patterns find,
`shaped` what the parameter's own `pattern` describes, and a `code` what letters and digits together
make, as in SH-100245.
"""


class ParameterType:
    """A type of parameter: what stands here, and `read`, is all that a new one needs."""

    name: ClassVar[str]
    """What YAML calls it."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names that mean the same."""
    json_type: ClassVar[JsonType] = "string"
    """Its type in JSON Schema."""
    formats: ClassVar[tuple[str, ...]] = ()
    """Its `format` in JSON Schema, and others that mean the same."""
    kind: ClassVar[ValueKind] = "custom"
    """How its values are recognised in a question."""
    patterns: ClassVar[tuple[str, ...]] = ()
    """What values of the kind `custom` look like: RE2, of which group 1 or all is the value."""
    noun: ClassVar[str] = "text"
    """What it is called when one is asked for or refused: `a whole number`."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Values as people write them; the first is shown where one is asked for or refused."""

    def read(self, text: str) -> Any:
        """Return the value that `text` writes, as tools take it.

        Raises:
            ValueError: it writes none.
        """
        return text

    def belongs(self, value: Any) -> bool:
        """Whether `value` is one of this type, as tools take it."""
        return isinstance(value, str) and self._reads(value)

    def normalize(self, value: Any) -> Any:
        """Return what a text writes, where it writes one of this type; else `value` itself."""
        return self.read(value) if isinstance(value, str) and self._reads(value) else value

    def expected(self, value: Any) -> str | None:
        """Return what should stand instead of `value`, or None when it belongs to the type."""
        if self.belongs(value):
            return None
        if self.is_numeric and isinstance(value, float | Decimal) and not math.isfinite(value):
            return "a finite number"
        return f"{self.noun} as {self.examples[0]}" if self.examples else self.noun

    def render(self, value: Any) -> str:
        """Return `value` as people read it, where they confirm a call."""
        return format_value(value)

    @property
    def is_numeric(self) -> bool:
        return self.json_type in ("number", "integer")

    def _reads(self, text: str) -> bool:
        try:
            self.read(text)
        except ValueError:
            return False
        return True


class StringType(ParameterType):
    name = "string"
    aliases = ("str", "text")
    kind = "text"


class _NumericType(ParameterType):
    noun = "a number"

    def read(self, text: str) -> Any:
        written = plain_value(text.strip() or "~")
        if not self.belongs(written):
            raise ValueError(f"{text!r} is not {self.noun}")
        return written

    def belongs(self, value: Any) -> bool:
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return is_number and (isinstance(value, int) or math.isfinite(value))


class NumberType(_NumericType):
    name = "number"
    aliases = ("float", "double", "decimal", "numeric")
    json_type = "number"
    kind = "number"


class IntegerType(_NumericType):
    name = "integer"
    aliases = ("int", "long")
    json_type = "integer"
    kind = "number"
    noun = "a whole number"

    def belongs(self, value: Any) -> bool:
        return super().belongs(value) and value == int(value)

    def normalize(self, value: Any) -> Any:
        """As for other types; and 5.0 is 5."""
        found = super().normalize(value)
        return int(found) if isinstance(found, float) and found.is_integer() else found


class PercentageType(_NumericType):
    name = "percentage"
    json_type = "number"
    aliases = ("percent",)
    kind = "percentage"


class MoneyType(_NumericType):
    name = "money"
    json_type = "number"
    aliases = ("amount",)
    kind = "money"


class BooleanType(ParameterType):
    name = "boolean"
    aliases = ("bool",)
    json_type = "boolean"
    kind = "boolean"
    noun = "true or false"

    def read(self, text: str) -> Any:
        written = plain_value(text.strip() or "~")
        if not isinstance(written, bool):
            raise ValueError(f"{text!r} is not {self.noun}")
        return written

    def belongs(self, value: Any) -> bool:
        return isinstance(value, bool)


class ArrayType(ParameterType):
    name = "array"
    aliases = ("list",)
    json_type = "array"
    kind = "records"
    noun = "a list"

    def read(self, text: str) -> Any:
        return _read_json(text, list)

    def belongs(self, value: Any) -> bool:
        return isinstance(value, list | tuple)


class ObjectType(ParameterType):
    name = "object"
    aliases = ("dict", "map", "json")
    json_type = "object"
    kind = "object"
    noun = "an object"

    def read(self, text: str) -> Any:
        return _read_json(text, dict)

    def belongs(self, value: Any) -> bool:
        return isinstance(value, Mapping)


class RowsQueryType(ParameterType):
    """What is asked about the rows beside it, in the form of `json_transform query`."""

    name = "rows_query"
    json_type = "object"
    kind = "rows_query"
    noun = "what to do with the rows"

    def read(self, text: str) -> Any:
        return _read_json(text, dict)

    def belongs(self, value: Any) -> bool:
        return isinstance(value, Mapping)


_MAX_JSON_CHARS: Final = 20_000


def _read_json(text: str, wanted: type) -> Any:
    try:
        value = json.loads(text) if len(text) <= _MAX_JSON_CHARS else None
    except RecursionError:
        value = None
    if not isinstance(value, wanted):
        raise ValueError("not the JSON that is wanted")
    return value


class DateType(ParameterType):
    name = "date"
    formats = ("date",)
    kind = "date"
    noun = "a date"
    examples = ("2025-03-04", "2025-06-01", "2025-11-30")

    def read(self, text: str) -> str:
        date.fromisoformat(text)
        return text


class DatetimeType(ParameterType):
    name = "datetime"
    aliases = ("timestamp",)
    formats = ("date-time",)
    kind = "datetime"
    noun = "a date and time"
    examples = ("2025-03-04T10:30", "2025-06-01T12:00", "2025-11-30T18:45")

    def read(self, text: str) -> str:
        datetime.fromisoformat(text)
        return text


class TimeType(ParameterType):
    name = "time"
    formats = ("time",)
    kind = "time"
    noun = "a time"
    examples = ("10:30", "12:00", "18:45")

    def read(self, text: str) -> str:
        time.fromisoformat(text)
        return text


class DurationType(ParameterType):
    name = "duration"
    formats = ("duration",)
    kind = "duration"
    noun = "a duration"
    examples = ("PT30M", "PT2H", "P3D")


class EmailType(ParameterType):
    name = "email"
    formats = ("email",)
    kind = "email"
    noun = "an e-mail address"
    examples = ("ada@example.org", "bruno@example.org", "carla@example.org")

    def read(self, text: str) -> str:
        spaced = any(map(str.isspace, text))
        if spaced or text.count("@") != 1 or parseaddr(text) != ("", text):
            raise ValueError(f"{text!r} is not {self.noun}")
        return text


class UrlType(ParameterType):
    name = "url"
    aliases = ("uri",)
    formats = ("uri", "url")
    kind = "url"
    noun = "an address"
    examples = ("https://example.org", "https://example.org/a", "https://example.org/b")

    def read(self, text: str) -> str:
        parts = urlsplit(text)
        spaced = any(map(str.isspace, text))
        if spaced or not parts.scheme or not (parts.netloc or parts.path):
            raise ValueError(f"{text!r} is not {self.noun}")
        return text


class CurrencyType(ParameterType):
    name = "currency"
    formats = ("currency",)
    kind = "currency"
    noun = "a currency"
    examples = ("EUR", "USD", "GBP")


class TimezoneType(ParameterType):
    name = "timezone"
    formats = ("timezone",)
    kind = "timezone"
    noun = "a city or a time zone"
    examples = ("Europe/Paris", "Asia/Tokyo", "America/New_York")


class CountryType(ParameterType):
    name = "country"
    formats = ("country",)
    kind = "country"
    noun = "a country"
    examples = ("Germany", "Japan", "Canada")


class ExpressionType(ParameterType):
    """A sum in digits or in words, as it was written: 20% off 80."""

    name = "expression"
    formats = ("expression",)
    kind = "expression"
    noun = "something to work out"
    examples = ("20% off 80", "(2 + 3) × 4", "half of 90")

    def read(self, text: str) -> str:
        read_expression(text)
        return text


class CustomType(ParameterType):
    """A type of a domain's own: a name in its `parameter_patterns` or `entities`."""

    name = "custom"
    noun = "one value"

    def belongs(self, value: Any) -> bool:
        return isinstance(value, str | int | float | Decimal)


CUSTOM: Final = CustomType()

PARAMETER_TYPES: Final[dict[str, ParameterType]] = {
    each.name: each
    for each in (
        StringType(), NumberType(), IntegerType(), BooleanType(), ArrayType(), ObjectType(),
        DateType(), DatetimeType(), TimeType(), DurationType(), EmailType(), UrlType(),
        PercentageType(), MoneyType(), CurrencyType(), TimezoneType(), CountryType(),
        ExpressionType(), RowsQueryType(),
    )
}  # fmt: skip
"""Every type an author may write, by name."""


def canonical(name: str) -> str:
    """The known name of a type that goes by several; any other name as it is."""
    lowered = name.lower()
    if lowered in PARAMETER_TYPES:
        return lowered
    return next((each.name for each in PARAMETER_TYPES.values() if lowered in each.aliases), name)


def type_of_format(name: object) -> ParameterType | None:
    """The type whose values are texts of that JSON Schema `format`, if there is one."""
    return next((each for each in PARAMETER_TYPES.values() if name in each.formats), None)


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
