"""Government decisions over HTTP: search, count, compare and analyse."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .decisions_rows import TERMS, decisions

Row = dict[str, Any]

MOST = 1000
"""Decisions in one answer."""


def routes() -> list[Route]:
    return [
        Route("/decisions", search, methods=["GET"]),
        Route("/decisions/count", count, methods=["GET"]),
        Route("/decisions/compare", compare, methods=["GET"]),
        Route("/decisions/analysis", analyse, methods=["GET"]),
    ]


def search(request: Request) -> JSONResponse:
    """`{decisions, total}`, the newest first unless `sort=asc`; at most `limit`."""
    found = list(_filtered(request))
    if request.query_params.get("sort", "desc") == "desc":
        found.reverse()
    try:
        limit = min(int(request.query_params.get("limit", "10")), MOST)
    except ValueError:
        return _refused("limit is not a number")
    return JSONResponse({"decisions": found[:limit], "total": len(found)})


def count(request: Request) -> JSONResponse:
    return JSONResponse({"decisions": sum(1 for _ in _filtered(request))})


def analyse(request: Request) -> JSONResponse:
    """The decisions of a number, each with its requirements and whether they are met."""
    rows = [
        {**row, "requirements": requirements, "met": sum(each["met"] for each in requirements)}
        for row in _filtered(request)
        for requirements in [_requirements(row)]
    ]
    return JSONResponse({"decisions": rows[:MOST]})


def compare(request: Request) -> JSONResponse:
    """A row for each thing that `target` names: `governments:36,37`, `years:2020,2021` …"""
    kind, _, names = request.query_params.get("target", "").partition(":")
    belongs = BELONGS.get(kind)
    if belongs is None or not names:
        return _refused(f"target is none of {', '.join(BELONGS)}, each with names behind a colon")
    rows = list(_filtered(request))
    return JSONResponse(
        {
            "rows": [
                _summary(name, [r for r in rows if belongs(r, name)]) for name in names.split(",")
            ]
        }
    )


BELONGS: dict[str, Callable[[Row, str], bool]] = {
    "governments": lambda row, name: str(row["government"]) == name,
    "years": lambda row, name: row["date"].startswith(name),
    "topics": lambda row, name: _is_about(row, name),
    "ministries": lambda row, name: name in row["ministries"],
    "decisions": lambda row, name: str(row["number"]) == name,
}


def _filtered(request: Request) -> Iterable[Row]:
    asked = request.query_params
    ministries = asked.getlist("ministry")
    topic = asked.get("topic", "")
    for row in decisions():
        if asked.get("government", str(row["government"])) != str(row["government"]):
            continue
        if asked.get("number", str(row["number"])) != str(row["number"]):
            continue
        if not asked.get("from", "0000") <= row["date"] <= asked.get("to", "9999"):
            continue
        if topic and not _is_about(row, topic):
            continue
        if all(ministry in row["ministries"] for ministry in ministries):
            yield row


def _is_about(row: Row, topic: str) -> bool:
    """Whether it is the topic of a decision, or stands in its title as words of their own.

    Letters that are attached to a word may stand before it: water is no part of “barriers”.
    """
    if topic == row["topic"]:
        return True
    words = rf"(?<!\w)[ובלהמשכ]{{0,2}}{re.escape(topic)}(?!\w)"
    return re.search(words, row["title"]) is not None


def _requirements(row: Row) -> list[Row]:
    """What a decision can be judged by without its text: the fields, and what came later."""
    first, last = TERMS[row["government"]]
    action, _, subject = row["title"].partition(": ")
    later = [
        other["title"].partition(": ")[0]
        for other in decisions()
        if other["government"] == row["government"]
        and other["title"].endswith(f": {subject}")
        and other["date"] > row["date"]
    ]
    named = ", ".join(row["ministries"])
    found: list[tuple[str, bool]] = [
        (f"התקבלה בתקופת כהונתה של ממשלה {row['government']}",
         first.isoformat() <= row["date"] <= last.isoformat()),
        (f"נקבע משרד אחראי: {named}", bool(named)),
        ("מקור תקציבי: משרד האוצר שותף לה, או שהיא מקצה תקציב",
         "משרד האוצר" in row["ministries"] or action == "הקצאת תקציב"),
        ("יש לה מסגרת ביצוע: תוכנית או צוות", action.startswith(("תוכנית", "הקמת צוות"))),
        ("נקבע אחריה דיווח ומעקב באותו עניין", "דיווח ומעקב" in later),
        ("לא תוקנה מאז באותו עניין", "תיקון החלטת ממשלה" not in later),
    ]  # fmt: skip
    return [{"requirement": name, "met": met} for name, met in found]


def _summary(name: str, rows: list[Row]) -> Row:
    topics = [row["topic"] for row in rows]
    return {
        "name": name,
        "decisions": len(rows),
        "first": rows[0]["date"] if rows else None,
        "last": rows[-1]["date"] if rows else None,
        "main_topic": max(sorted(set(topics)), key=topics.count) if topics else None,
    }


def _refused(why: str) -> JSONResponse:
    return JSONResponse({"message": why}, status_code=400)


app = Starlette(routes=routes())
