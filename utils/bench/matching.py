"""How long matching takes without embedding: `python -m utils.bench.matching [--json]`.

Libraries of ten examples a template, made up; vectors are made up too, so that neither a
model nor its speed plays a part. Prints what opening costs, cold and warm, and the time
of ranking and choosing once the question's vector is there.
"""

import argparse
import asyncio
import json
import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher, SearchMode
from server.matching.selection import choose_template
from server.providers.embeddings.factory import CachedEmbedder
from server.settings.models import VectorStoreSettings
from utils.bench._libraries import MadeUpEmbedder, code, library_of
from utils.bench._machine import describe_machine, percentiles


async def measure(templates: int, runs: int, searches: tuple[SearchMode, ...]) -> dict[str, Any]:
    """Milliseconds for one size of library, in each way of searching."""
    library = library_of(
        {
            f"template {code(t)}": [f"template {code(t)} example {code(e)}" for e in range(10)]
            for t in range(templates)
        }
    )
    embedder = CachedEmbedder(MadeUpEmbedder(), size=8)
    found: dict[str, Any] = {"templates": templates}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for search in searches:
            store = TemplateStore(VectorStoreSettings(), path)
            start = perf_counter()
            matcher = await Matcher.open(
                "bench", library, embedder, store, search=search, state_dir=path / "heads"
            )
            opened = perf_counter() - start
            found[search] = {
                "open_s": round(opened, 2),
                **matcher.stats(),
                "match_ms": await _time_ranking(matcher, templates, runs),
            }
            await store.close()
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


async def _time_ranking(matcher: Matcher, templates: int, runs: int) -> Mapping[str, float]:
    samples = []
    for run in range(runs + runs // 10):
        text = f"template {code(run * 7919 % templates)} example {code(run + 100)}"
        await matcher.rank(text, limit=5)  # from now on the question's vector is there
        start = perf_counter()
        ranking = await matcher.rank(text, limit=5)
        choose_template(ranking, {}, floor=0.6, margin=0.1)
        samples.append((perf_counter() - start) * 1000)
    return {name: round(ms, 4) for name, ms in percentiles(samples[runs // 10 :]).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[25, 150, 1000])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--search", nargs="+", default=["resident", "chroma"])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = [asyncio.run(measure(size, given.runs, tuple(given.search))) for size in given.sizes]
    if given.json:
        print(json.dumps({"machine": describe_machine(), "sizes": results}, indent=2))
        return
    for result in results:
        for search in given.search:
            one = result[search]
            match = one["match_ms"]
            print(
                f"{result['templates']:>6} templates, {search:<8}  p50 {match['p50']:7.3f} ms  "
                f"p99 {match['p99']:7.3f} ms  opened in {one['open_s']} s "
                f"({one['embedded']} embedded, head {one['head']})"
            )
        print(f"       peak memory {result['peak_mb']} MB")


if __name__ == "__main__":
    main()
