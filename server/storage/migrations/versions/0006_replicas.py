"""What several processes on one database share: announcements, artefacts, leases, the secret.

And which of the requests that confirm a proposal has it.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"


def upgrade() -> None:
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("instance", sa.String(32), nullable=False),
        sa.Column("origin", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_announcements_at", "announcements", ["at"])
    op.create_table(
        "artefacts",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("parts", sa.Integer, nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_artefacts_used_at", "artefacts", ["used_at"])
    op.create_table(
        "leases",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("holder", sa.String(32), nullable=False),
        sa.Column("until_s", sa.Float, nullable=False),
    )
    op.create_table(
        "installation",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.String(255), nullable=False),
        sa.Column("origin", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.add_column("proposals", sa.Column("claim", sa.String(16)))
