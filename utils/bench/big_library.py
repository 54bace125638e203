"""How a library of many thousand templates opens, learns and answers.

`python -m utils.bench.big_library [--templates 100000] [--folder DIR] [--questions 1000] [--json]`

The library is made up (`_big_libraries`), written to DIR, or to a folder that is deleted in the
end, and opened twice, each time by a process of its own: first without anything kept, when it is
embedded and its head is learnt while questions are asked, and then from what was kept. Nothing is
called: questions come to a call, and the call fails. Where DIR has been used before, the first
start goes on with what is there.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import yaml

from server.project import Project, open_project
from utils.bench._big_libraries import Question, write_library
from utils.bench._machine import describe_machine, percentiles

_NAME: Final = "big"
_WARM: Final = 20


def prepare(folder: Path, templates: int, questions: int, large_from: int | None) -> None:
    """Write library, questions and configuration, where they are not there."""
    if (folder / "questions.json").exists():
        return
    asked = write_library(folder / "library", templates, questions=questions)
    config: dict[str, Any] = {
        "data_dir": str(folder / "data"),
        "adapters": [
            {
                "name": _NAME,
                "config": {
                    "domain_config_path": str(folder / "library" / "domain.yaml"),
                    "template_library_path": [str(folder / "library" / "templates-*.yaml")],
                },
            }
        ],
    }
    if large_from is not None:
        config["matching"] = {"large_from": large_from}
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    listed = [[each.text, each.template] for each in asked]
    (folder / "questions.json").write_text(json.dumps(listed), encoding="utf-8")


async def measure(folder: Path) -> dict[str, Any]:
    """Open the library in this process, and ask the questions, also while the head is learnt."""
    listed = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    questions = [Question(text, template) for text, template in listed]
    found: dict[str, Any] = {}
    start = perf_counter()
    async with open_project(folder / "config.yaml") as project:
        found["open_s"] = round(perf_counter() - start, 1)
        found["open_cpu_s"] = round(process_time(), 1)
        found["opened_mb"] = _memory("VmRSS")
        adapter = project._opened.get(_NAME)
        assert adapter.matcher is not None
        if adapter.matcher.is_learning:
            found["while_learning"] = await _ask(project, questions[: len(questions) // 4])
            await project.learnt()
        found["learnt"] = await _ask(project, questions)
        found["details"] = adapter.details
    found["mb"], found["peak_mb"] = _memory("VmRSS"), _memory("VmHWM")
    return found


async def _ask(project: Project, questions: Sequence[Question]) -> dict[str, Any]:
    for question in questions[-_WARM:]:
        await project.ask(question.text)
    took, right, wrong, silent = list[float](), 0, 0, 0
    for question in questions[:-_WARM]:
        start = perf_counter()
        answer = await project.ask(question.text)
        took.append((perf_counter() - start) * 1000)
        template = answer.template_id
        right += template is not None and template == question.template
        silent += template is None and question.template is None
        wrong += template not in (None, question.template)
    inside = sum(each.template is not None for each in questions[:-_WARM])
    return {
        "questions": len(took),
        "template_accuracy": round(right / max(1, inside), 3),
        "abstain_recall": round(silent / max(1, len(took) - inside), 3),
        "wrong_call_rate": round(wrong / max(1, len(took)), 3),
        "ms": {name: round(value, 1) for name, value in percentiles(took).items()},
    }


def _memory(name: str) -> int | None:
    """Megabytes that this process has in memory, or had at the most; None where nothing tells."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith(name)), None)


def _in_its_own_process(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "utils.bench.big_library", "--measure", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder, given.templates, given.questions, given.large_from)
    first = _in_its_own_process(folder)
    return {"templates": given.templates, "first": first, "again": _in_its_own_process(folder)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--templates", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=1200)
    parser.add_argument("--folder", type=Path, help="where everything is kept for a next time")
    parser.add_argument("--large-from", type=int, help="the setting matching.large_from")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(asyncio.run(measure(given.measure))))
        return
    if given.folder is not None:
        found = run(given.folder, given)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder), given)
    if given.json:
        print(json.dumps({"machine": describe_machine(), **found}, indent=2))
        return
    print(f"{found['templates']:,} templates")
    for name in ("first", "again"):
        one = found[name]
        details = one["details"]
        print(
            f"{name}: open in {one['open_s']} s, {one['open_cpu_s']} s of processor "
            f"({details['embedded']:,} texts embedded, "
            f"head {details['head']}); {one['mb']} MB, at the most {one['peak_mb']} MB"
        )
        if "learnt_s" in details:
            print(f"   head learnt in {details['learnt_s']} s beside questions")
        for when in ("while_learning", "learnt"):
            if when in one:
                print(f"   {when}: {json.dumps(one[when])}")


if __name__ == "__main__":
    main()
