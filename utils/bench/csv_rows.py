"""How a server grows while it sends a long result as CSV, and how fast that goes.

    .venv/bin/python -m utils.bench.csv_rows [--rows 1000000] [--postgresql URL] [--json]

Starts a server of its own over a table of so many rows in SQLite, in DuckDB where its driver is
installed, and in PostgreSQL where a URL of a database that may be written to is given. It grows
by the most memory that it holds at any time, less what it held before.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from utils.bench._machine import describe_machine
from utils.bench.chat import make_key, resident_mb, start, stop
from utils.bench.databases import CITIES, shops

QUESTION: Final = "list every order there is"
TEMPLATE: Final = {
    "id": "every_order",
    "description": "List every order",
    "nl_examples": [QUESTION, "show all orders", "give me the whole list of orders"],
    "sql": "SELECT id, city, total FROM orders",
}
_LOOK_EVERY_S: Final = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgresql", metavar="URL", help="it gets a table named orders")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {"machine": describe_machine(), "rows": options.rows}
    rows = [(n, CITIES[n % len(CITIES)], n % 997) for n in range(1, options.rows + 1)]
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        made = [each[:2] for each in shops(Path(folder), rows, options.postgresql)]
        del rows
        for name, database in made:
            figures[name] = sent(Path(folder) / name, database, options.rows)
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def sent(place: Path, database: str, rows: int) -> dict[str, Any]:
    """What it takes to send all rows of a database."""
    server = ["--data", str(place / "data"), "--config", str(written(place, database))]
    _, process, url = start(server)
    try:
        return asyncio.run(watched(url, make_key(server, "shop"), process.pid, rows))
    finally:
        stop(process)


def written(place: Path, database: str) -> Path:
    """A configuration of one adapter over a database."""
    place.mkdir()
    (place / "domain.yaml").write_text(yaml.safe_dump({"domain_name": "Shop"}))
    (place / "templates.yaml").write_text(yaml.safe_dump({"templates": [TEMPLATE]}))
    listed = {
        "name": "shop",
        "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
        "database": database,
        "config": {
            "domain_config_path": str(place / "domain.yaml"),
            "template_library_path": str(place / "templates.yaml"),
            "sql": {"max_rows": 10},
        },
    }
    (place / "config.yaml").write_text(yaml.safe_dump({"adapters": [listed]}))
    return place / "config.yaml"


async def watched(url: str, key: str, pid: int, rows: int) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}", "accept": "text/csv"}
    async with httpx.AsyncClient(headers=headers, timeout=600) as client:
        body = {"message": QUESTION}
        # A cut answer before it, so that all that a question needs is there already.
        (await client.post(f"{url}/chat", json=body, headers={"accept": "*/*"})).raise_for_status()
        before, most, lines, size = resident_mb(pid), 0.0, 0, 0
        begin = looked = time.perf_counter()
        async with client.stream("POST", f"{url}/chat", json=body) as response:
            assert response.headers["content-type"].startswith("text/csv")
            async for piece in response.aiter_bytes():
                lines, size = lines + piece.count(b"\n"), size + len(piece)
                if time.perf_counter() - looked > _LOOK_EVERY_S:
                    looked, most = time.perf_counter(), max(most, resident_mb(pid))
        taken_s, most = time.perf_counter() - begin, max(most, resident_mb(pid))
    assert lines == rows + 1, f"{lines} lines came of {rows} rows"
    return {
        "before_mb": round(before, 1),
        "grown_mb": round(most - before, 1),
        "seconds": round(taken_s, 2),
        "rows_a_second": round(rows / taken_s),
        "sent_mb": round(size / 1_000_000, 1),
    }


def as_text(figures: dict[str, Any]) -> str:
    lines: Sequence[str] = [
        f"{name:<11}grows by {of['grown_mb']:.1f} MB from {of['before_mb']:.0f}; "
        f"{of['sent_mb']:.1f} MB in {of['seconds']:.1f} s ({of['rows_a_second']:,} rows/s)"
        for name in ("sqlite", "duckdb", "postgresql")
        if (of := figures.get(name))
    ]
    return "\n".join([f"{figures['machine']}; {figures['rows']:,} rows", *lines])


if __name__ == "__main__":
    main()
