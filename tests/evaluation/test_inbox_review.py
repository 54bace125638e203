"""The inbox in clusters, and what would help, tried out."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from server.conversation.inbox import InboxStore, InboxTurn
from server.evaluation.inbox import clusters_of, merge_near
from server.settings.models import InboxSettings
from server.storage.database import Database
from tests.evaluation.test_asked_examples import LABEL, LOCATION
from tests.support.configuring import adapter, write_library

pytestmark = pytest.mark.slow

COMMANDS = command_line("inbox")
T0 = datetime.now(UTC)
TURN = InboxTurn("k", "parcels", "", "s", "r", "parcels", T0, "declined", "")
PLACE = {"template_id": "parcel_location"}


def turn(question: str, **more: Any) -> InboxTurn:
    return replace(TURN, request_id=f"{question[:50]}.{len(more)}", question=question, **more)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    library = write_library(tmp_path / "parcels", [LOCATION, LABEL])
    asked = [
        {"ask": "where is P-7777", "template": "parcel_location"},
        {"ask": "tell me a joke", "template": None},
    ]
    (library / "questions.yaml").write_text(yaml.safe_dump({"questions": asked}))
    config = {"inbox": {"enabled": True}, "adapters": [adapter("parcels", library)]}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def put(project: Path, turns: Sequence[InboxTurn]) -> None:
    async def work() -> None:
        url = f"sqlite:///{project / 'data' / 'orbit.db'}"
        store = InboxStore(Database.open(url), InboxSettings())
        for each in turns:
            store.note(each)
        await store.close(with_database=True)

    asyncio.run(work())


def inbox(project: Path, *words: str) -> Result:
    where = ["--config", str(project / "config.yaml"), "--data", str(project / "data")]
    return CliRunner().invoke(COMMANDS, ["inbox", *words, *where])


def clusters(project: Path) -> list[dict[str, Any]]:
    done = inbox(project, "list", "--json")
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["clusters"]
    return found


def test_a_declined_question_becomes_a_synonym(project: Path) -> None:
    put(project, [turn("consignment P-4141", **PLACE)])
    (found,) = clusters(project)
    assert found["kinds"] == {"declined": 1}
    assert found["proposal"]["add"] == 'synonyms: {"parcel": ["consignment"]}'
    (change,) = found["would_change"]["changes"]
    assert (change["ask"], change["how"]) == ("consignment P-4141", "changed")
    assert change["new"]["template"] == "parcel_location"


def test_what_a_person_chose_says_which_template_was_meant(project: Path) -> None:
    chosen = turn("has the courier lost P-9999", kind="asked_back", expected="parcel_location")
    put(project, [replace(chosen, template_id="parcel_label")])
    (found,) = clusters(project)
    assert (found["template"], found["expected"]) == ("parcel_location", True)
    assert found["proposal"] == {
        "place": "'parcel_location'",
        "add": 'nl_examples: ["has the courier lost P-9999"]',
    }
    (change,) = [c for c in found["would_change"]["changes"] if "courier" in c["ask"]]
    assert change["new"] == {
        "decision": "call",
        "template": "parcel_location",
        "arguments": {"parcel": "P-9999"},
    }


def test_a_call_that_was_marked_wrong_becomes_a_counter_example(project: Path) -> None:
    asked = "where is parcel P-1111 going"
    put(project, [turn(asked, kind="answered", verdict="wrong", **PLACE)])
    (found,) = clusters(project)
    assert found["kinds"] == {"marked wrong": 1}
    assert found["proposal"] == {
        "place": "'parcel_location'",
        "add": f'counter_examples: ["{asked}"]',
    }
    changed = {change["ask"]: change for change in found["would_change"]["changes"]}
    assert changed[asked]["new"].get("template") != "parcel_location"


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (turn("tell me a joke", **PLACE), "not clear"),
        (turn("where is parcel P-1041", **PLACE), "understood by now"),
        (turn("", masked=True, **PLACE), "words that were not kept"),
        (turn("print P-1", kind="asked_back", **PLACE), "not clear"),
        (turn("tell me a joke", kind="answered", verdict="wrong", **PLACE), "not taken for it"),
        (turn("sing", expected="gone", template_id="gone"), "not clear"),
    ],
)
def test_nothing_is_proposed_without_a_reason(project: Path, one: InboxTurn, why: str) -> None:
    put(project, [one])
    (found,) = clusters(project)
    assert "proposal" not in found
    assert why in found["why"]


def test_a_cluster_is_shown_whole_and_dropped_by_its_number(project: Path) -> None:
    jokes = ["tell me a joke", "tell me a good joke", "tell me another joke"]
    put(project, [turn(text, comment="it should", verdict="wrong", **PLACE) for text in jokes])
    (found,) = clusters(project)
    assert (found["turns"], list(found["questions"])) == (3, jokes)
    shown = inbox(project, "show", str(found["number"])).stdout
    assert all(f"“{text}”" in shown for text in jokes)
    assert "said of it: it should" in shown
    refused = inbox(project, "drop", "999")
    assert (refused.exit_code, "no cluster has the number 999" in refused.stderr) == (1, True)
    assert "3 turns deleted" in inbox(project, "drop", str(found["number"])).stderr
    assert inbox(project, "list").stdout == "The inbox is empty\n"


def test_questions_apart_are_clusters_of_their_own() -> None:
    vectors = {"a": (1.0, 0.0), "b": (0.8, 0.6), "c": (0.0, 1.0)}

    async def embed(texts: Sequence[str]) -> Any:
        return np.array([vectors[text] for text in texts], np.float32)

    turns = [replace(turn(text), number=n) for n, text in enumerate("abca", start=1)]
    first, second = asyncio.run(clusters_of(turns, embed))
    assert (first.number, dict(first.questions), first.central) == (1, {"a": 2, "b": 1}, "a")
    assert (second.number, dict(second.questions)) == (3, {"c": 1})


@pytest.mark.parametrize(
    ("cosines", "groups"),
    [
        ([[1.0]], [[0]]),
        ([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], [[0, 1], [2]]),
        ([[1, 0.1, 0.2], [0.1, 1, 0.9], [0.2, 0.9, 1]], [[0], [1, 2]]),
        ([[1, 0.7, 0.7], [0.7, 1, 0.7], [0.7, 0.7, 1]], [[0, 1, 2]]),
        ([[1, 0.9, 0.9], [0.9, 1, 0.1], [0.9, 0.1, 1]], [[0, 1], [2]]),
    ],
)
def test_groups_are_merged_by_their_mean_cosine(cosines: Any, groups: list[list[int]]) -> None:
    found = merge_near(np.array(cosines, np.float32), 0.6)
    assert sorted(found) == groups
