"""How many entries a second the audit of one PostgreSQL takes, by writers and batches.

    .venv/bin/python -m utils.cluster.audit [--writers 1 2 4] [--batches 1 20 200]
        [--seconds 3] [--json]

Each writer is a process with a connection of its own, as each replica is. The audit is one chain:
who appends locks its head until it has committed, so that writers wait for each other. One entry
at a time is what a call that changes something writes before it runs; batches are what everything
else comes in, five a second and replica. For comparison, each writer has a chain of its own: here
by a schema of its own, whose tables nobody else writes to.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from server.audit.entry import AuditSeal
from server.audit.table import TableSink
from tests.support import postgresql
from utils.bench._machine import describe_machine, percentiles

_SEAL = AuditSeal(b"s" * 32)
_ENTRY = {
    "at": "2026-03-04T10:00:00.123+00:00", "adapter": "shop", "key_id": "k" * 16, "user_id": "ana",
    "template_id": "cancel_order", "outcome": "success", "call_id": "0123456789ab-1234",
    "tool": "http", "operation": "cancel_order", "arguments": {"order": 1234}, "role": "user",
    "request_id": "r" * 32, "confidence": 0.9731, "reason": None, "duration_ms": 12.5,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 20, 200])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    machine = describe_machine()
    if why := postgresql.why_not():
        raise SystemExit(why)
    with postgresql.mortal_postgresql(durable=True) as server:
        urls = _schemas(server.url, max(options.writers))
        rows = [
            _appended([url] * writers, batch, options.seconds, chains=1)
            for batch in options.batches
            for writers in options.writers
            for url in urls[:1]
        ]
        rows += [
            _appended(urls[:writers], batch, options.seconds, chains=writers)
            for batch in options.batches
            for writers in options.writers
            if writers > 1
        ]
    figures = {"machine": machine, "rows": rows}
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def _schemas(url: str, count: int) -> list[str]:
    """Make schemas with the tables of Orbit, and return the URL of each."""
    engine = sa.create_engine(url)
    urls = []
    for number in range(count):
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(f"chain{number}"))
        place = engine.url.update_query_dict({"options": f"-csearch_path=chain{number}"})
        urls.append(place.render_as_string(hide_password=False))
        TableSink(urls[-1], _SEAL).close()
    engine.dispose()
    return urls


def _appended(urls: Sequence[str], batch: int, seconds: float, *, chains: int) -> dict[str, Any]:
    processes = multiprocessing.get_context("spawn")
    writers = len(urls)
    with processes.Pool(writers) as pool:
        # First all of them are there; a task goes to whoever is free.
        pool.starmap(_append, [(url, batch, 0.2) for url in urls], chunksize=1)
        taken = pool.starmap(_append, [(url, batch, seconds) for url in urls], chunksize=1)
    every = [each for samples in taken for each in samples]
    return {
        "chains": chains,
        "writers": writers,
        "batch": batch,
        "appends_per_second": round(len(every) / seconds, 1),
        "entries_per_second": round(len(every) * batch / seconds, 1),
        "ms": percentiles(every),
    }


def _append(url: str, batch: int, seconds: float) -> list[float]:
    """Milliseconds of each append of a writer."""
    sink, taken = TableSink(url, _SEAL), []
    entries: Sequence[Mapping[str, Any]] = [_ENTRY] * batch
    try:
        end = time.perf_counter() + seconds
        while (since := time.perf_counter()) < end:
            sink.append(entries)
            taken.append((time.perf_counter() - since) * 1000)
    finally:
        sink.close()
    return taken


def as_text(figures: Mapping[str, Any]) -> str:
    lines = [
        str(figures["machine"]),
        "",
        "| entries at once | writers | chains | appends/s | entries/s | p50 ms | p99 ms |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['batch']} | {row['writers']} | {row['chains']} | {row['appends_per_second']:.0f} "
        f"| {row['entries_per_second']:.0f} | {row['ms']['p50']:.1f} | {row['ms']['p99']:.1f} |"
        for row in figures["rows"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
