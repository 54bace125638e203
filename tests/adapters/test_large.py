"""A library that is large by its settings, opened and asked as any other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.project import open_project

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

STUDY = Path(__file__).parents[2] / "examples" / "intent-templates" / "study"


def project(folder: Path, **matching: Any) -> Path:
    folder.mkdir()
    config = {
        "domain_config_path": str(STUDY / "domain.yaml"),
        "template_library_path": [str(STUDY / "templates.yaml")],
    }
    written = {
        "data_dir": str(folder / "data"),
        "matching": matching,
        "python_tools": {"paths": [str(STUDY / "tools")], "modules": ["study_tools"]},
        "adapters": [{"name": "study", "config": config}],
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(written))
    return folder / "config.yaml"


async def answers(path: Path, *, wait: bool) -> Mapping[str, Any]:
    """What each question of the library comes to: its template with its arguments, if any."""
    listed = yaml.safe_load((STUDY / "questions.yaml").read_text())["questions"]
    async with open_project(path) as study:
        if wait:
            await study.learnt()
        return {
            one["ask"]: (answer.template_id, answer.metadata.get("arguments"))
            for one in listed
            for answer in [await study.ask(one["ask"])]
        }


async def test_a_large_library_answers_as_one_that_is_held_in_memory(tmp_path: Path) -> None:
    small = await answers(project(tmp_path / "small"), wait=False)
    large = await answers(project(tmp_path / "large", large_from=2), wait=True)
    alike = sum(large[text] == answer for text, answer in small.items())
    wrong = sum(
        large[text][0] not in (None, template) for text, (template, _) in small.items() if template
    )
    assert alike >= 0.9 * len(small)
    assert wrong <= 0.02 * len(small)


async def test_the_trace_and_the_details_say_that_neighbours_answer_until_the_head_is_learnt(
    tmp_path: Path,
) -> None:
    said = "nearest examples, while the head is being learnt"
    async with open_project(project(tmp_path / "large", large_from=2)) as study:
        first = await study.ask("What is the weather?", explain=True)
        await study.learnt()
        then = await study.ask("What is the weather?", explain=True)
    matched = [
        next(stage for stage in answer.trace or () if stage["stage"] == "match")
        for answer in (first, then)
    ]
    assert [stage.get("by") for stage in matched] == [said, None]
