"""What the HTTP engine costs: `python -m utils.bench.http [--runs N] [--json]`.

Calls a service on loopback, once with httpx alone and once through the engine, in turns,
so that both meet the same machine; and makes 32 calls at once to a service that takes a
second for each. Times are percentiles of single calls.
"""

import argparse
import asyncio
import json
from time import perf_counter
from typing import Any

from server.library.http_model import HttpExecution, HttpRequest, parse_endpoint
from server.responses.mapping import ResponseMapping
from server.tools.http.egress import EgressPolicy, open_client
from server.tools.http.engine import HttpEngine
from utils.bench._machine import describe_machine, percentiles

HERE = EgressPolicy(private_hosts=frozenset({"127.0.0.1"}))

AT_ONCE = 32
SLOW_S = 1.0

_BODY = json.dumps({"results": [{"id": n, "name": f"thing {n}"} for n in range(20)], "total": 20})
_ANSWER = (
    f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(_BODY)}\r\n\r\n"
    f"{_BODY}"
).encode()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            if b"/slow" in head:
                await asyncio.sleep(SLOW_S)
            writer.write(_ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        writer.close()


def _execution(origin: str, path: str) -> HttpExecution:
    place = parse_endpoint(path, origin)
    return HttpExecution(
        operation="bench",
        request=HttpRequest("GET", place.origin, place.path, place.query),
        mapping=ResponseMapping("results", {"id": "id", "name": "name"}, "total"),
    )


async def _overhead(origin: str, runs: int) -> dict[str, Any]:
    engine, client = HttpEngine(egress=HERE), open_client(egress=HERE)
    execution = _execution(origin, "/things/{number}?q={q}&limit=20")
    arguments = {"number": 7, "q": "a b"}
    samples: dict[str, list[float]] = {"httpx": [], "engine": []}
    try:
        for number in range(runs + runs // 10):
            start = perf_counter()
            answer = await client.get(f"{origin}/things/7?q=a%20b&limit=20")
            answer.json()
            between = perf_counter()
            await engine.run(execution, arguments)
            end = perf_counter()
            if number >= runs // 10:  # the first ones open connections and warm up
                samples["httpx"].append(between - start)
                samples["engine"].append(end - between)
    finally:
        await engine.close()
        await client.aclose()
    found = {name: percentiles(values) for name, values in samples.items()}
    added = sorted(
        engine - raw for engine, raw in zip(samples["engine"], samples["httpx"], strict=True)
    )
    return {**found, "added_p50_ms": round(added[len(added) // 2] * 1000, 3)}


async def _at_once(origin: str) -> float:
    engine = HttpEngine(egress=HERE)
    execution = _execution(origin, "/slow")
    try:
        start = perf_counter()
        await asyncio.gather(*(engine.run(execution, {}) for _ in range(AT_ONCE)))
        return perf_counter() - start
    finally:
        await engine.close()


async def measure(runs: int) -> dict[str, Any]:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        return {
            "machine": describe_machine(),
            "one_call": await _overhead(origin, runs),
            f"{AT_ONCE}_calls_of_{SLOW_S:g}_s": round(await _at_once(origin), 3),
        }
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(measure(options.runs))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(found["machine"])
    for name in ("httpx", "engine"):
        p50, p99 = (found["one_call"][name][p] * 1000 for p in ("p50", "p99"))
        print(f"{name:8} p50 {p50:.2f} ms, p99 {p99:.2f} ms")
    print(f"the engine adds {found['one_call']['added_p50_ms']} ms (p50)")
    print(f"{AT_ONCE} calls of {SLOW_S:g} s each: {found[f'{AT_ONCE}_calls_of_{SLOW_S:g}_s']} s")


if __name__ == "__main__":
    main()
