"""Progress, habits and history: these only read."""

from typing import Any

from study_tools.store import connected


def audit_study_progress(user_id: str) -> dict[str, Any]:
    """How much of what has been studied."""
    with connected() as connection:
        rows = connection.execute(
            "SELECT kind, COUNT(*) FROM artifacts WHERE user_id = ? GROUP BY kind ORDER BY kind",
            (user_id,),
        ).fetchall()
    return {"made": dict(rows), "total": sum(number for _, number in rows)}


def get_habit_consistency_report(user_id: str) -> dict[str, Any]:
    """On how many days something was studied."""
    with connected() as connection:
        (days,) = connection.execute(
            "SELECT COUNT(DISTINCT substr(made_at, 1, 10)) FROM artifacts WHERE user_id = ?",
            (user_id,),
        ).fetchone()
    return {"days": days}


def query_learning_records(user_id: str, count: int = 10) -> dict[str, Any]:
    """What was studied last, newest first."""
    with connected() as connection:
        rows = connection.execute(
            "SELECT id, kind, level, topic FROM artifacts WHERE user_id = ?"
            " ORDER BY id DESC LIMIT ?",
            (user_id, count),
        ).fetchall()
    names = ("artifact_id", "kind", "level", "topic")
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return {"records": records, "total": len(records)}
