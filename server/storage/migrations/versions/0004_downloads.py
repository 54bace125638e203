"""Calls whose rows can be fetched by a link."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0004"
down_revision: Final = "0003"


def upgrade() -> None:
    op.create_table(
        "downloads",
        sa.Column("download_id", sa.String(64), primary_key=True),
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("adapter", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("library", sa.String(255), nullable=False),
        sa.Column("template_id", sa.String(255), nullable=False),
        sa.Column("template_hash", sa.String(64), nullable=False),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("intent", sa.String(255)),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_downloads_expires_at", "downloads", ["expires_at"])
    op.create_index("downloads_of_session", "downloads", ["key_id", "user_id", "session_id"])
