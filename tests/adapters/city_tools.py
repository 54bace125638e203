"""What the libraries of `tests.adapters.cities` call: thefts in two cities, made up."""

from typing import Any

REPORTED: list[str] = []
"""What was reported since the tests began."""


def count_toronto(kind: str, year: int) -> dict[str, Any]:
    return {"result": 1000 + year % 100, "kind": kind}


def count_ottawa(kind: str, year: int) -> dict[str, Any]:
    return {"result": 100 + year % 100, "kind": kind}


def newest() -> dict[str, Any]:
    return {"result": [{"theft_id": n, "where": street} for n, street in ((7, "King"), (8, "Bay"))]}


def details(theft_id: int) -> dict[str, Any]:
    return {"result": f"theft {theft_id}"}


def report(where: str) -> dict[str, Any]:
    REPORTED.append(where)
    return {"result": f"reported at {where}"}


def flights(city: str) -> dict[str, Any]:
    return {"result": f"flights to {city}"}


def count_parks() -> dict[str, Any]:
    return {"result": 12}
