"""The tables as they were made before there were versions, each by its own store.

So any of them may be there already, with rows; what is there stays, and what is missing is made.
"""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from server.errors import StoreUnavailable

revision: Final = "0001"
down_revision: Final = None

_TIME: Final = sa.DateTime(timezone=True)


def upgrade() -> None:
    _make_table(
        "api_keys",
        sa.Column("key_id", sa.String(32), primary_key=True),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("adapter", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255)),
        sa.Column("role", sa.String(255), nullable=False),
        sa.Column("limits", sa.JSON, nullable=False),
        sa.Column("label", sa.String(255), nullable=False),
        sa.Column("sample", sa.Boolean, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME),
        sa.Column("last_used_at", _TIME),
        sa.Column("revoked_at", _TIME),
    )
    _make_table(
        "audit_entries",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("adapter", sa.String(255), nullable=False),
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(255)),
        sa.Column("template_id", sa.String(255), nullable=False),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        ix_audit_entries_at=["at"],
    )
    _make_table(
        "audit_end",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
    )
    _make_table(
        "conversations",
        *_conversation(primary_key=True),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        conversations_of_key=["key_id", "updated_at"],
        ix_conversations_updated_at=["updated_at"],
    )
    _make_table(
        "proposals",
        sa.Column("proposal_id", sa.String(32), primary_key=True),
        *_conversation(nullable=False),
        sa.Column("library", sa.String(255), nullable=False),
        sa.Column("template_id", sa.String(255), nullable=False),
        sa.Column("template_hash", sa.String(64), nullable=False),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("intent", sa.String(255), nullable=False),
        sa.Column("target", sa.Text),
        sa.Column("detected", sa.String(255)),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("proposed_by", sa.String(16), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("state_at", _TIME, nullable=False),
        sa.Column("owner", sa.String(32)),
        sa.Column("outcome", sa.String(64), nullable=False, server_default=""),
        proposals_of_key=["key_id", "state", "created_at"],
        proposals_by_state=["state", "expires_at"],
    )
    _make_table(
        "commit_events",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("intent", sa.String(255), nullable=False),
        sa.Column("target", sa.Text),
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("due_at", _TIME),
        sa.Column("leased_by", sa.String(32)),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("delivered_at", _TIME),
        sa.Column("failure", sa.Text, nullable=False, server_default=""),
        ix_commit_events_at=["at"],
        ix_commit_events_due_at=["due_at"],
    )
    _make_table(
        "guard_changes",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("by", sa.String(255), nullable=False),
        sa.Column("guard", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("category", sa.String(255), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("number", sa.Float),
        ix_guard_changes_guard=["guard"],
    )
    _make_table(
        "guard_counts",
        sa.Column("guard", sa.String(255), primary_key=True),
        sa.Column("category", sa.String(255), primary_key=True),
        sa.Column("method", sa.String(32), primary_key=True),
        sa.Column("outcome", sa.String(32), primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
    )
    _make_table(
        "guard_decisions",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("guard", sa.String(255), nullable=False),
        sa.Column("turn", sa.String(64), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("verdict", sa.JSON, nullable=False),
        sa.Column("other", sa.JSON),
        ix_guard_decisions_guard=["guard"],
    )


def _conversation(**how: Any) -> list[sa.Column[str]]:
    sizes = {"key_id": 64, "adapter": 255, "user_id": 255, "session_id": 128}
    return [sa.Column(name, sa.String(size), **how) for name, size in sizes.items()]


def _make_table(name: str, *columns: sa.Column[Any], **indexes: list[str]) -> None:
    there = sa.inspect(op.get_bind())
    if there.has_table(name):
        found = {column["name"] for column in there.get_columns(name)}
        if lacking := [column.name for column in columns if column.name not in found]:
            raise StoreUnavailable(
                f"the database at {there.engine.url.render_as_string(hide_password=True)} has a "
                f"table {name!r} that Orbit did not make, without {', '.join(lacking)}: give "
                "Orbit a database, or a schema, of its own"
            )
    op.create_table(name, *columns, if_not_exists=True)
    for index, of in indexes.items():
        op.create_index(index, name, of, if_not_exists=True)
