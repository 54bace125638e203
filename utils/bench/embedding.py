"""What an encoder costs: `python -m utils.bench.embedding [--model NAME] [--threads N] [--json]`.

Prints what loading takes, one question at a time, a library's worth in batches, and how
many questions a second many clients get when each waits for its own answer.
"""

import argparse
import asyncio
import json
import resource
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from server.core.ports import Embedder
from server.providers.embeddings.factory import build_embedder
from server.settings.models import EmbeddingsSettings
from utils.bench._machine import describe_machine, percentiles

CLIENTS = 16


def questions(count: int) -> list[str]:
    """Questions of everyday length, no two the same."""
    things = ("invoices", "trains", "lamps", "the weather", "my orders", "two numbers")
    verbs = ("show me", "what about", "how many are", "please sort", "when is", "add up")
    places = ("in london", "of last week", "by price", "for my team", "from the list", "tomorrow")
    return [
        f"{verbs[n % 6]} {things[n // 6 % 6]} {places[n // 36 % 6]} {hex(n)}" for n in range(count)
    ]


async def measure(
    provider: str, model: str | None, threads: int | None, many: int
) -> dict[str, Any]:
    """Every figure of one encoder, without the cache of questions."""
    settings = EmbeddingsSettings.model_validate(
        {"local": {"threads": threads}, "query_cache_size": 0}
    )
    embedder = build_embedder(provider, model, settings)
    try:
        start = perf_counter()
        await embedder.warm()
        loaded = perf_counter() - start
        return {
            "encoder": embedder.name,
            "load_s": round(loaded, 2),
            "one_ms": await _one_at_a_time(embedder, questions(max(1, many * 3 // 10))),
            "batched_per_s": await _batched(embedder, questions(many)),
            f"{CLIENTS}_clients_per_s": await _clients(embedder, questions(many)),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
    finally:
        await embedder.close()


async def _one_at_a_time(embedder: Embedder, texts: Sequence[str]) -> dict[str, float]:
    samples = []
    for text in texts:
        start = perf_counter()
        await embedder.embed([text])
        samples.append((perf_counter() - start) * 1000)
    return {name: round(ms, 3) for name, ms in percentiles(samples).items()}


async def _batched(embedder: Embedder, texts: Sequence[str]) -> float:
    start = perf_counter()
    await embedder.embed(texts)
    return round(len(texts) / (perf_counter() - start), 1)


async def _clients(embedder: Embedder, texts: Sequence[str]) -> float:
    async def client(own: Sequence[str]) -> None:
        for text in own:
            await embedder.embed([text])

    start = perf_counter()
    await asyncio.gather(*(client(texts[n::CLIENTS]) for n in range(CLIENTS)))
    return round(len(texts) / (perf_counter() - start), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", default=None)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--questions", type=int, default=1024)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(measure(given.provider, given.model, given.threads, given.questions))
    if given.json:
        print(json.dumps({"machine": describe_machine(), **found}, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<22} {value}")


if __name__ == "__main__":
    main()
