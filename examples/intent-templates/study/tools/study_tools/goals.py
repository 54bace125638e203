"""Goals and priorities."""

import json
from typing import Any

from study_tools.material import TOPICS
from study_tools.store import connected, now


def generate_suggested_goals(user_id: str) -> dict[str, Any]:
    """Topics that have not been studied yet."""
    with connected() as connection:
        rows = connection.execute(
            "SELECT DISTINCT topic FROM artifacts WHERE user_id = ?", (user_id,)
        ).fetchall()
    done = {topic for (topic,) in rows}
    return {"suggestions": [topic for topic in TOPICS if topic not in done]}


def update_goal_progress(user_id: str, goal: str, progress: int) -> dict[str, Any]:
    """Set how far a goal is, in per cent."""
    with connected() as connection:
        connection.execute(
            "INSERT INTO goals (user_id, name, progress) VALUES (?, ?, ?)"
            " ON CONFLICT (user_id, name) DO UPDATE SET progress = excluded.progress",
            (user_id, goal, progress),
        )
    return {"goal": goal, "progress": progress}


def recalibrate_study_priorities(user_id: str, prioritized_topics: str) -> dict[str, Any]:
    """Set what comes first from now on."""
    topics = [topic.strip() for topic in prioritized_topics.split(",") if topic.strip()]
    with connected() as connection:
        connection.execute(
            "INSERT INTO priorities (user_id, topics, set_at) VALUES (?, ?, ?)"
            " ON CONFLICT (user_id) DO UPDATE SET topics = excluded.topics,"
            " set_at = excluded.set_at",
            (user_id, json.dumps(topics), now()),
        )
    return {"number": len(topics)}
