"""Columns whose values are dates in any of the ways that people write them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from server.errors import ArgumentsInvalid
from server.text.tokens import DateOrder
from server.tools.dates import DateReader
from server.tools.rows.fields import MISSING, NUMBER, Rank, rank

_SHORTEST, _LONGEST = 6, 40
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moments:
    """Reads the values of a column as dates, where all of them are."""

    def __init__(self, order: DateOrder) -> None:
        self._reader = DateReader(order, lambda: _EPOCH)

    def compared(self, values: Sequence[Any], target: Any) -> tuple[list[Any], Any]:
        """Return the values and what they are compared with, as ISO text where they are dates."""
        several = isinstance(target, list | tuple)
        asked = list(target) if several else [target]
        read = self._read(values)
        wanted = self._read(asked) if read is not None else None
        if read is None or wanted is None:
            return list(values), target
        return read, wanted if several else wanted[0]

    def ranks(self, values: Sequence[Any]) -> list[Rank]:
        """Return where each value stands among the others."""
        return [rank(value) for value in self._read(values) or values]

    def _read(self, values: Sequence[Any]) -> list[Any] | None:
        """The values as ISO text; None where one is no date, or there is none."""
        found: list[Any] = []
        any_date = False
        for value in values:
            if value is None or value is MISSING:
                found.append(value)
                continue
            text = self._iso(value)
            if text is None:
                return None
            any_date = True
            found.append(text)
        return found if any_date else None

    def _iso(self, value: Any) -> str | None:
        if isinstance(value, str):
            text = value.strip()
            if not _SHORTEST <= len(text) <= _LONGEST or not any(map(str.isdigit, text)):
                return None
            if text[0].isalpha() and not text[-1].isdigit():
                return None
            if rank(text)[0] == NUMBER:
                return None
            try:
                value = self._reader.read(text, "value").value
            except ArgumentsInvalid:
                return None
        if isinstance(value, datetime):
            if value.tzinfo is not None:
                value = value.astimezone(UTC).replace(tzinfo=None)
            return str(value.isoformat())
        return str(value.isoformat()) if isinstance(value, date) else None
