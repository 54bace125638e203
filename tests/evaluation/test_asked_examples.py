"""Examples are asked while they are left out, and what fails is named with what would help."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from server.cli.check import Checked, ask_all, check_library_folder
from server.cli.main import command_line
from server.errors import Problem
from tests.support.configuring import NOW, PERCENTAGE, write_library

pytestmark = pytest.mark.slow

COMMANDS = command_line("check")


def parcel(name: str, description: str, examples: list[str], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "description": description,
        "nl_examples": examples,
        "method": "GET",
        "endpoint": "http://127.0.0.1:9/{parcel}",
        "parameters": [{"name": "parcel", "type": "string", "pattern": "^P-[0-9]{4}$"}],
        **more,
    }


LOCATION = parcel(
    "parcel_location",
    "Where a parcel is",
    [
        "where is parcel P-1041", "where is my parcel P-2207 now", "find parcel P-3318",
        "locate parcel P-4420", "show me where parcel P-5531 is",
        "whereabouts of parcel P-1042",
    ],
)  # fmt: skip
LABEL = parcel(
    "parcel_label",
    "The shipping label of a parcel",
    [
        "print the label of parcel P-1041", "label for parcel P-2207",
        "print the shipping label for P-3318", "I need the label of P-4420",
        "show the label of parcel P-5531", "find me the label of P-1043",
    ],
)  # fmt: skip


def asked(folder: Path, *templates: Any, strict: bool = False) -> list[Problem]:
    library = write_library(folder, templates)
    found: list[Checked] = []
    assert not any(problem.is_error for problem in check_library_folder(library, found))
    return asyncio.run(ask_all(found, strict=strict))


def test_what_every_example_says_alike_needs_none_of_them(tmp_path: Path) -> None:
    assert asked(tmp_path, PERCENTAGE, NOW, LABEL) == []


def test_an_example_in_words_of_its_own_is_named_with_them(tmp_path: Path) -> None:
    odd = {**LOCATION, "nl_examples": [*LOCATION["nl_examples"], "has the courier lost P-9999"]}
    (refused,) = (p for p in asked(tmp_path, odd, LABEL) if p.kind == "example-refused")
    assert refused.template == "parcel_location"
    assert "“has the courier lost P-9999”" in refused.what
    assert "“courier lost”" in refused.what


def test_templates_that_say_the_same_collide(tmp_path: Path) -> None:
    other = parcel("parcel_position", "Position of a parcel", LOCATION["nl_examples"][:-1])
    caught = [p for p in asked(tmp_path, LOCATION, other, LABEL) if p.kind == "example-caught"]
    assert {p.template for p in caught} <= {"parcel_location", "parcel_position"}
    assert any("'parcel_location'" in p.what and "'parcel_position'" in p.what for p in caught)


def test_what_is_proposed_is_what_helps(tmp_path: Path) -> None:
    odd = {**LOCATION, "nl_examples": [*LOCATION["nl_examples"][:-1], "consignment P-9999"]}
    proposed = [p.what for p in asked(tmp_path / "before", odd, LABEL) if p.kind == "proposal"]
    assert len(proposed) == 1
    assert 'synonyms: {"parcel": ["consignment"]}' in proposed[0]
    domain = {
        "domain": {"name": "parcels", "version": "1.0"},
        "vocabulary": {"synonyms": {"parcel": ["consignment"]}},
    }
    found: list[Checked] = []
    check_library_folder(write_library(tmp_path / "after", [odd, LABEL], domain), found)
    after = asyncio.run(ask_all(found, strict=False))
    assert not [problem for problem in after if "P-9999" in problem.what]


def test_the_same_answer_by_another_template_is_no_mistake(tmp_path: Path) -> None:
    twice = {**PERCENTAGE, "id": "part_of"}
    assert [p for p in asked(tmp_path, PERCENTAGE, twice) if p.kind == "example-caught"] == []


@pytest.mark.parametrize(
    ("options", "kinds", "code"),
    [([], {"warning"}, 0), (["--strict"], {"error"}, 1), (["--quick"], set(), 0)],
)
def test_the_command_warns_refuses_or_leaves_them_unasked(
    tmp_path: Path, options: list[str], kinds: set[str], code: int
) -> None:
    odd = {**LOCATION, "nl_examples": [*LOCATION["nl_examples"], "has the courier lost P-9999"]}
    library = write_library(tmp_path, [odd, LABEL])
    found = CliRunner().invoke(COMMANDS, ["check", str(library), "--json", *options])
    said = yaml.safe_load(found.stdout)
    assert {p["severity"] for p in said if p["kind"] == "example-refused"} == kinds
    assert found.exit_code == code
