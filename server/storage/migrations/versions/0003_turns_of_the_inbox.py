"""Turns that somebody should look at."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"


def upgrade() -> None:
    op.create_table(
        "inbox_turns",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("adapter", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("answered_by", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("masked", sa.Boolean, nullable=False),
        sa.Column("follows", sa.Boolean, nullable=False),
        sa.Column("template_id", sa.String(255)),
        sa.Column("expected", sa.String(255)),
        sa.Column("verdict", sa.String(8)),
        sa.Column("comment", sa.Text, nullable=False),
    )
    op.create_index("ix_inbox_turns_at", "inbox_turns", ["at"])
    op.create_index("inbox_turns_of_request", "inbox_turns", ["key_id", "user_id", "request_id"])
    op.create_index("inbox_turns_of_session", "inbox_turns", ["key_id", "user_id", "session_id"])
