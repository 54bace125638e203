"""Government decisions over HTTP: search, count and compare."""

from collections.abc import Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .decisions_rows import decisions

Row = dict[str, Any]

MOST = 100
"""Decisions in one answer."""


def routes() -> list[Route]:
    return [
        Route("/decisions", search, methods=["GET"]),
        Route("/decisions/count", count, methods=["GET"]),
        Route("/decisions/compare", compare, methods=["GET"]),
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
    "topics": lambda row, name: row["topic"] == name,
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
        if topic and topic != row["topic"] and topic not in row["title"]:
            continue
        if all(ministry in row["ministries"] for ministry in ministries):
            yield row


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
