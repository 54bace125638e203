"""Keys as a table: plain columns, one key a line, fit for a terminal and for grep."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from server.access.records import KeyRecord

_HEADINGS: Final = (
    "KEY ID", "STATE", "ADAPTER", "USER", "ROLE", "LIMITS", "EXPIRES", "LAST USED", "LABEL",
)  # fmt: skip


def table_of(records: Sequence[KeyRecord], now: datetime) -> str:
    """Every record on a line of its own, times in UTC."""
    rows = [_HEADINGS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _row(record: KeyRecord, now: datetime) -> tuple[str, ...]:
    return (
        record.key_id,
        record.state(now),
        record.adapter,
        record.user_id or "-",
        record.role,
        ", ".join(record.limits) or "-",
        _minute(record.expires_at, "never"),
        _minute(record.last_used_at, "never"),
        record.label or "-",
    )


def _minute(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else f"{moment:%Y-%m-%d %H:%M}"
