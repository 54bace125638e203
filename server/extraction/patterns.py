"""Patterns that find values, and the steps that turn a match into a value.

Patterns run on RE2: no pattern and no text can make one slow. A normalizer takes what the step
before it returned and the options of its entry as keyword arguments. It refuses what it cannot
read with `ValueError`; the match then counts for nothing. Its parameters `now` and `date_order`
are the time of the question and the domain's date order, unless its options say otherwise.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

import re2

from server.errors import PluginInvalid
from server.library.model import NormalizerStep
from server.plugins import resolve
from server.text.decimals import Number, as_decimal, plain_number, read_plain
from server.text.parsed_text import ParsedText

_MAX_MATCHES: Final = 200


class Pattern:
    """One pattern, ready to search; letters match in either case.

    It captures the group called like the parameter or `value`, else the first group that took
    part, else the whole match.
    """

    def __init__(self, source: str, parameter: str = "value") -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        self._pattern = re2.compile(source, options)
        names = self._pattern.groupindex
        named: int = names.get(parameter) or names.get("value") or 0
        self._groups = (named,) if named else (*range(1, self._pattern.groups + 1), 0)

    def captures(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the value stands, for each match that captures anything, in order."""
        matches: Any = self._pattern.finditer(text)
        for match in islice(matches, _MAX_MATCHES):
            spans = map(match.span, self._groups)
            start, end = next((span for span in spans if span[0] >= 0), (-1, -1))
            if start < end:
                yield start, end


_CONTEXT: Final = frozenset({"now", "date_order"})

Step = tuple[str, Callable[..., Any], frozenset[str]]


def remove_commas(value: Any) -> Any:
    """`1,500` → `1500`."""
    return value.replace(",", "") if isinstance(value, str) else value


def to_int(value: Any) -> int:
    """`1500` → 1500; refuses 2.5."""
    number = to_float(value)
    if not isinstance(number, int):
        raise ValueError(f"{value} is not a whole number")
    return number


def to_float(value: Any) -> Number:
    """`2.50` → 2.5, and `200` → 200: a whole number stays one, 0.1 stays exactly 0.1."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = plain_number(as_decimal(value))
    else:
        number = read_plain(str(value).strip())
    if number is None:
        raise ValueError(f"{value} is not a number")
    return number


def parse_date(
    value: Any, *, date_order: Literal["mdy", "dmy"] = "mdy", now: datetime | None = None
) -> str:
    """`March 5, 2025` → `2025-03-05`; `tomorrow` counts from `now`."""
    if isinstance(value, date):
        return value.isoformat()[:10]
    text = str(value).strip()
    reading = ParsedText(text, now or datetime.now(UTC), date_order)
    for kind in ("datetime", "date", "offset"):
        for span in reading.of(kind):
            if span.start == 0 and span.end == len(text):
                found: str = span.value.isoformat()[:10]
                return found
    raise ValueError(f"{text} is not a date")


def lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def strip(value: Any) -> Any:
    """Without the spaces and punctuation around it."""
    return value.strip(" \t\r\n.,;:!?") if isinstance(value, str) else value


def compile_steps(normalizers: Sequence[NormalizerStep]) -> tuple[Step, ...]:
    """Return the named functions with their options, or raise `PluginInvalid`."""
    return tuple(_step(normalizer) for normalizer in normalizers)


def _step(normalizer: NormalizerStep) -> Step:
    function = resolve("normalizer", normalizer.type)
    try:
        signature = inspect.signature(function)
        wanted = (_CONTEXT & signature.parameters.keys()) - normalizer.options.keys()
        signature.bind("", **normalizer.options, **dict.fromkeys(wanted))
    except (TypeError, ValueError) as unfit:
        raise PluginInvalid(f"normalizer {normalizer.type!r}: {unfit}") from None
    return normalizer.type, partial(function, **normalizer.options), wanted


def run_steps(steps: Sequence[Step], text: str, context: Mapping[str, Any]) -> Any:
    """Return what the steps make of `text`.

    Raise the `ValueError` of a step that refuses it, `PluginInvalid` for any other failure.
    """
    value: Any = text
    for name, function, wanted in steps:
        try:
            value = function(value, **{key: context[key] for key in wanted})
        except ValueError:
            raise
        except Exception as broken:
            raise PluginInvalid(f"normalizer {name!r} failed on {value!r}: {broken}") from broken
    return value
