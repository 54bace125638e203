"""Turns counted by key, adapter and day."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"

_COUNTS: Final = (
    "turns", "answered", "asked_back", "declined", "blocked", "failed",
    "tool_calls", "tool_failures", "writes_confirmed", "prompt_tokens", "completion_tokens",
    "within_10_ms", "within_25_ms", "within_50_ms", "within_100_ms", "within_250_ms",
    "within_500_ms", "within_1000_ms", "within_2500_ms", "within_5000_ms", "within_10000_ms",
    "within_30000_ms", "slower",
)  # fmt: skip


def upgrade() -> None:
    op.create_table(
        "usage_counts",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("key_id", sa.String(64), primary_key=True),
        sa.Column("adapter", sa.String(255), primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _COUNTS),
    )
