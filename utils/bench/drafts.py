"""How many questions a draft from a database answers rightly, as it was drafted.

    .venv/bin/python -m utils.bench.drafts --database shop.db --questions questions.jsonl
        [--today 2026-11-23] [--errors] [--json]

Each line of the questions is `{"ask": …, "sql": …}`: the SQL gives the rows of the right answer,
several of it where a question may be read in several ways, and null what has to be declined. An
answer is right if its rows are those, whatever else stands in them; where a line has `ordered`,
in that order. SQLite only.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from server.authoring.databases.draft import draft_from_database
from server.authoring.databases.survey import LookedAt
from server.core.decision import Answer
from server.tools.sql.address import read_address
from server.tools.sql.databases import open_database
from utils.bench._machine import describe_machine
from utils.bench._turns import open_library

Verdict = Literal["right", "silent", "wrong", "declined", "needless"]
"""Of what the data answer, the first three; of the rest, whether it was declined."""

_NEAR: Final = 0.011
Row = tuple[Any, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--today", type=date.fromisoformat, default=date(2026, 11, 23))
    parser.add_argument("--errors", action="store_true", help="show what is not right")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line.strip()]
    judged = asyncio.run(ask_all(options.database.resolve(), questions, options.today))
    figures = figures_of([verdict for _, verdict, _ in judged])
    if options.json:
        print(json.dumps({"machine": describe_machine(), **figures}, indent=2))
        return
    if options.errors:
        for question, verdict, answer in judged:
            if verdict not in ("right", "declined"):
                told = answer.metadata.get("template_id") or ""
                said = " ".join(answer.content.split())[:160]
                print(f"{verdict:9}{question['ask']}\n         {told}: {said}")
    print(json.dumps(figures))


def figures_of(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Right, silent and wrong of what the data answer; wrong of all, needless answers among it."""
    counts = Counter(verdicts)
    asked = counts["right"] + counts["silent"] + counts["wrong"]
    wrong = counts["wrong"] + counts["needless"]
    return {
        "asked": len(verdicts),
        "right": round(counts["right"] / max(asked, 1), 3),
        "silent": round(counts["silent"] / max(asked, 1), 3),
        "wrong_of_all": round(wrong / max(len(verdicts), 1), 3),
        "needless": counts["needless"],
    }


async def ask_all(
    database: Path, questions: Sequence[Mapping[str, Any]], today: date
) -> list[tuple[Mapping[str, Any], Verdict, Answer]]:
    """Draft a library, open it, and ask everything."""
    judged: list[tuple[Mapping[str, Any], Verdict, Answer]] = []
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        library = Path(folder) / "library"
        await draft_into(library, database)
        more = {
            "database": str(database),
            "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
        }
        data = Path(folder) / "data"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            async with open_library(library, data, today=today, runs=True, **more) as opened:
                for question in questions:
                    answer = await opened.ask(question["ask"])
                    judged.append((question, judge(question, answer, connection), answer))
    return judged


async def draft_into(folder: Path, database: Path) -> None:
    """Write what `new --from-database` would."""
    opened = open_database(read_address(f"sqlite:///{database}"), pool_size=1)
    try:
        draft = await draft_from_database(opened, "drafted", LookedAt())
    finally:
        await opened.close()
    for name, part in (
        ("domain", draft.domain), ("templates", draft.templates), ("questions", draft.questions)
    ):  # fmt: skip
        write(folder / f"{name}.yaml", part)


def write(path: Path, part: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(part, sort_keys=False))


def judge(question: Mapping[str, Any], answer: Answer, connection: sqlite3.Connection) -> Verdict:
    """What an answer is worth, by its rows."""
    ran = answer.metadata.get("tool_execution") or {}
    result = ran.get("result") if ran.get("status") == "success" else None
    if question["sql"] is None:
        return "declined" if result is None else "needless"
    if result is None:
        return "silent"
    found = [tuple(row.values()) for row in result["rows"]]
    texts = question["sql"] if isinstance(question["sql"], list) else [question["sql"]]
    golds = [connection.execute(text).fetchall() for text in texts]
    ordered = bool(question.get("ordered"))
    return "right" if any(is_same(found, gold, ordered=ordered) for gold in golds) else "wrong"


def is_same(found: Sequence[Row], wanted: Sequence[Row], *, ordered: bool) -> bool:
    """Whether the rows are those that are wanted, each with all of its values."""
    if len(wanted) == 1 and not found and all(value in (0, None) for value in wanted[0]):
        return True
    if len(found) != len(wanted):
        return False
    if ordered and not _is_tied(wanted):
        return all(map(_covers, found, wanted))
    left = sorted(found, key=len)
    for row in sorted(wanted, key=lambda row: -len(str(row))):
        whole = (each for each in left if Counter(map(_plain, row)) <= Counter(map(_plain, each)))
        fitting = next(whole, None) or next((each for each in left if _covers(each, row)), None)
        if fitting is None:
            return False
        left.remove(fitting)
    return True


def _is_tied(rows: Sequence[Row]) -> bool:
    """Whether rows of the right answer may stand in another order as well."""
    last = [row[-1] for row in rows]
    return len(set(last)) < len(last)


def _covers(row: Row, wanted: Row) -> bool:
    left = [_plain(value) for value in row]
    text = " ".join(str(value) for value in left if isinstance(value, str))
    for value in map(_plain, wanted):
        if value in left:
            left.remove(value)
        elif isinstance(value, str) and value in text:
            continue
        elif isinstance(value, float):
            near = (v for v in left if isinstance(v, float) and abs(v - value) <= _NEAR)
            other = next(near, None)
            if other is None:
                return False
            left.remove(other)
        else:
            return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return round(float(value), 2)


if __name__ == "__main__":
    main()
