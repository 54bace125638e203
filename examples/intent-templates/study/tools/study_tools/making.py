"""Flashcards, quizzes and exams."""

from typing import Any

from study_tools.material import pick
from study_tools.store import keep_artifact


def create_study_flashcards(
    user_id: str, topic: str, level: str = "N5", count: int = 5
) -> dict[str, Any]:
    """Make flashcards and keep them."""
    cards = [{"front": front, "back": back} for front, back in pick(topic, level, count)]
    return keep_artifact(user_id, "flashcards", topic, level, cards) | _shortage(
        topic, cards, count
    )


def create_study_quiz(
    user_id: str, topic: str, level: str = "N5", count: int = 3
) -> dict[str, Any]:
    """Make a quiz and keep it."""
    asked = [
        {"question": f"What does {front} mean?", "answer": back}
        for front, back in pick(topic, level, count)
    ]
    return keep_artifact(user_id, "quiz", topic, level, asked) | _shortage(topic, asked, count)


async def create_practice_exam(user_id: str, level: str = "N5") -> dict[str, Any]:
    """Make an exam over grammar and vocabulary, and keep it."""
    parts = [*pick("grammar", level, 3), *pick("vocabulary", level, 3)]
    asked = [{"question": f"Use {front} in a sentence.", "hint": back} for front, back in parts]
    return keep_artifact(user_id, "exam", "grammar and vocabulary", level, asked)


def _shortage(topic: str, made: list[dict[str, str]], asked_for: int) -> dict[str, str]:
    """Why there are fewer than were asked for, as a note; empty when there are as many."""
    if len(made) >= asked_for:
        return {"note": ""}
    return {"note": f" There are only {len(made)} on {topic}, and {asked_for} were asked for."}
