"""What asking several adapters costs beside asking one: `python -m utils.bench.composite [--json]`.

The questions of the agent that ships are asked of it alone, and of an adapter before it and two
others that ship. The two are measured in turns. Vectors are known, as after a first round: what
is told is what deciding costs, and of new questions the encoder's time comes on top, once.
"""

import argparse
import asyncio
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import yaml

from examples.services.app import ADDRESSES
from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from server.evaluation.questions import load_questions
from server.settings.models import Settings
from utils.bench._machine import describe_machine, percentiles
from utils.bench._turns import OWN_ADDRESSES, ROOT, Opened, read_settings, services

LIBRARIES = {"agent": "agent-template", "posts": "jsonplaceholder", "decisions": "gov-decisions"}
_TEMPLATES = {"agent": "tools.yaml"}
_BEFORE = "everything"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=100, help="how many different ones")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="orbit-bench-") as data, services() as address:
        environ = {**os.environ, **dict.fromkeys((*ADDRESSES, *OWN_ADDRESSES), address)}
        settings, _ = read_settings(_written(Path(data)), environ)
        figures = asyncio.run(measure(settings, environ, options.questions, options.rounds))
    figures = {"machine": describe_machine(), **figures}
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def _written(data: Path) -> Path:
    """A configuration of the libraries and the adapter before them."""
    folders = {name: ROOT / "examples" / "intent-templates" / f for name, f in LIBRARIES.items()}
    adapters: list[dict[str, Any]] = [
        {
            "name": name,
            "config": {
                "domain_config_path": str(folder / "domain.yaml"),
                "template_library_path": str(folder / _TEMPLATES.get(name, "templates.yaml")),
            },
        }
        for name, folder in folders.items()
    ]
    before = {
        "name": _BEFORE,
        "implementation": "IntentCompositeRetriever",
        "config": {"child_adapters": list(folders)},
    }
    path = data / "config.yaml"
    path.write_text(yaml.safe_dump({"data_dir": str(data), "adapters": [*adapters, before]}))
    return path


async def measure(
    settings: Settings, environ: dict[str, str], questions: int, rounds: int
) -> dict[str, Any]:
    folder = ROOT / "examples" / "intent-templates" / LIBRARIES["agent"]
    texts = [q.ask for q in load_questions(folder / "questions.yaml")[0]][:questions]
    chosen = next(each for each in settings.adapters if each.name == _BEFORE)
    async with open_adapter(settings, environ, chosen) as before:
        assert before.resolve_adapter is not None
        alone = before.resolve_adapter("agent")
        times_ms: dict[str, list[float]] = {"alone": [], "of three": []}
        same = 0
        for number in range(rounds + 1):
            for text in texts:
                one_ms, one = await _ask(alone, settings, text)
                all_ms, other = await _ask(before, settings, text)
                if number:  # the first round is for what is kept
                    times_ms["alone"].append(one_ms)
                    times_ms["of three"].append(all_ms)
                    same += one == other
    asked = len(texts) * rounds
    return {
        "questions": len(texts),
        **{name: percentiles(each) for name, each in times_ms.items()},
        "same_template": round(same / asked, 4),
    }


async def _ask(adapter: Adapter, settings: Settings, text: str) -> tuple[float, Any]:
    asking = Opened(adapter, settings.access.roles.names[-1])
    begin = perf_counter()
    answer = await asking.ask(text)
    return (perf_counter() - begin) * 1000, answer.metadata.get("template_id")


def as_text(figures: dict[str, Any]) -> str:
    lines = [f"{figures['questions']} questions of one library, per question:"]
    for name in ("alone", "of three"):
        told = ", ".join(f"{key} {figures[name][key]:.2f} ms" for key in ("p50", "p90", "p99"))
        lines.append(f"  {name:10} {told}")
    lines.append(f"  the same template for {figures['same_template']:.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
