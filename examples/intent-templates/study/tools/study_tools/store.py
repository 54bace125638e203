"""The database of the study tools."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS artifacts (
    id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, kind TEXT NOT NULL, topic TEXT NOT NULL,
    level TEXT NOT NULL, items TEXT NOT NULL, made_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS goals (
    user_id TEXT NOT NULL, name TEXT NOT NULL, progress INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
);
CREATE TABLE IF NOT EXISTS priorities (
    user_id TEXT PRIMARY KEY, topics TEXT NOT NULL, set_at TEXT NOT NULL
);
"""


def database_path() -> Path:
    """The file named by STUDY_DATABASE, or one in the project's data folder."""
    named = os.environ.get("STUDY_DATABASE")
    return Path(named) if named else Path(__file__).parents[5] / "data" / "study.db"


@contextmanager
def connected() -> Iterator[sqlite3.Connection]:
    """One transaction on the database, which is made when there is none."""
    path = database_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=5)) as connection:
        connection.executescript(_SCHEMA)
        with connection:
            yield connection


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def keep_artifact(
    user_id: str, kind: str, topic: str, level: str, items: list[dict[str, Any]]
) -> dict[str, Any]:
    """Write down what was made, and return it with its id and title."""
    with connected() as connection:
        cursor = connection.execute(
            "INSERT INTO artifacts (user_id, kind, topic, level, items, made_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (user_id, kind, topic, level, json.dumps(items, ensure_ascii=False), now()),
        )
    title = f"{level} {topic}"
    return {"artifact_id": cursor.lastrowid, "title": title, "count": len(items), "items": items}
