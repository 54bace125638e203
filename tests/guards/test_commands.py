"""The `guards` commands, on a data folder that no server uses."""

import getpass
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.guards import guards_app
from tests.guards.desk import FOLDER, settings_in
from tests.support.audit import audited


def run(data: Path, *arguments: str) -> tuple[int, str]:
    options = ("--config", str(FOLDER / "config.yaml"), "--data", str(data))
    result = CliRunner().invoke(guards_app, [*arguments, *options])
    return result.exit_code, result.output


def test_changes_are_made_checked_and_listed(tmp_path: Path) -> None:
    code, said = run(tmp_path, "add", "competitor_attack", "--pattern", "zebra")
    assert (code, "add_pattern competitor_attack 'zebra'" in said) == (0, True)
    assert run(tmp_path, "threshold", "price_speculation", "0.7")[0] == 0
    assert run(tmp_path, "allow", "Will Litecoin go up?", "--similarity", "0.9")[0] == 0
    assert run(tmp_path, "remove", "competitor_attack", "--pattern", "zebra")[0] == 0
    rows = json.loads(run(tmp_path, "changes", "--json")[1])["changes"]
    assert [(row["kind"], row.get("text"), row.get("number")) for row in rows] == [
        ("add_pattern", "zebra", None),
        ("set_threshold", None, 0.7),
        ("allow_question", "Will Litecoin go up?", 0.9),
        ("remove_pattern", "zebra", None),
    ]
    assert all(row["by"].startswith("command of ") for row in rows)
    events = audited(settings_in(tmp_path), kind="change", tool="guards", outcome="success")
    assert [(e["adapter"], e["operation"], e["arguments"]) for e in events] == [
        (row["guard"], row["kind"], {k: row[k] for k in ("category", "text", "number") if k in row})
        for row in rows
    ]
    assert {e["user_id"] for e in events} == {getpass.getuser()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "nonsense", "--pattern", "x"), "there is no category 'nonsense'"),
        (("add", "general_chat", "--pattern", "("), "pattern cannot be used"),
        (("add", "general_chat"), "say either --pattern or --example"),
        (("threshold", "general_chat"), "the threshold of 'general_chat' was not changed"),
        (("forget", "hello"), "this question is not on the allow-list"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_kept(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, output = run(tmp_path, *arguments)
    assert (code, said in output) == (1, True), output
    assert json.loads(run(tmp_path, "changes", "--json")[1]) == {"changes": []}


def test_a_question_is_tried_and_the_labelled_set_measured(data: Path) -> None:
    trial = ("try", "the zebra way", "--category", "competitor_attack", "--pattern", "zebra")
    tried = json.loads(run(data, *trial)[1])
    assert (tried["now"]["outcome"], tried["then"]["outcome"]) == ("pass", "block")
    measured = json.loads(run(data, "measure", str(FOLDER / "labelled.yaml"), "--json")[1])
    assert (measured["questions"], measured["to_stop"], measured["to_pass"]) == (272, 122, 150)
    # Looser than what was measured, so that another processor's last bit decides nothing.
    assert measured["missed_block_rate"] < 0.05
    assert measured["false_block_rate"] < 0.02
    counts = json.loads(run(data, "counts", "--json")[1])
    assert counts == {"counts": []}
