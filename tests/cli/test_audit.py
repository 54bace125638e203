"""`audit`: what it shows, finds and reports."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from server.audit.entry import AuditSeal, change_event, to_row
from server.audit.table import TableSink
from server.cli.audit import audit_app
from server.core.turn import Caller
from server.storage.files import load_or_create_secret
from tests.audit.test_audit import EVENT


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A configuration with a trail of three entries."""
    (tmp_path / "config.yaml").write_text("data_dir: data\n")
    (tmp_path / "data").mkdir(mode=0o700)
    found, _ = load_or_create_secret(tmp_path / "data" / "secret")
    sink = TableSink(f"sqlite:///{tmp_path / 'data' / 'orbit.db'}", AuditSeal(found))
    events = [
        EVENT,
        replace(EVENT, user_id="bob", outcome="role_forbids", reason="no\x1b[31m way"),
        replace(EVENT, at=EVENT.at.replace(month=4), template_id="u"),
    ]
    older = {k: v for k, v in to_row(EVENT).items() if k not in ("kind", "call_id")}
    sink.append([older, *(to_row(event) for event in events[1:])])
    sink.close()
    return tmp_path


def run(place: Path, *words: str) -> Any:
    return CliRunner().invoke(audit_app, [*words, "--config", str(place / "config.yaml")])


def numbers(place: Path, *words: str) -> list[int]:
    result = run(place, *words, "--json")
    assert result.exit_code == 0, result.output
    return [entry["number"] for entry in json.loads(result.stdout)["entries"]]


def test_tail_shows_the_last_entries(place: Path) -> None:
    assert numbers(place, "tail", "--lines", "2") == [2, 3]


def test_what_was_asked_moves_no_terminal(place: Path) -> None:
    line = run(place, "tail").stdout.splitlines()[1]
    assert line == ("2  2025-03-04T10:00:00.123+00:00  role_forbids  t  bob  user  k  no�[31m way")


def test_a_change_is_shown_with_what_it_was(place: Path) -> None:
    ada = Caller("k1", "a", user_id="ada", role="admin")
    asked = {"key_id": "k2", "limits": ["5/second"], "label": ""}
    event = replace(
        change_event(ada, "keys", "create", "error", adapter="a", arguments=asked),
        reason="key_unchangeable",
    )
    sink = TableSink(
        f"sqlite:///{place / 'data' / 'orbit.db'}",
        AuditSeal(load_or_create_secret(place / "data" / "secret")[0]),
    )
    sink.append([to_row(replace(event, at=EVENT.at))])
    sink.close()
    assert numbers(place, "search", "--kind", "change") == [4]
    assert numbers(place, "search", "--kind", "call") == [1, 2, 3]
    assert run(place, "tail", "--lines", "1").stdout == (
        "4  2025-03-04T10:00:00.123+00:00  error  keys create  ada  admin  k1  "
        'adapter=a key_id=k2 limits=["5/second"] (key_unchangeable)\n'
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--user", "bob"), [2]),
        (("--outcome", "success"), [1, 3]),
        (("--template", "u"), [3]),
        (("--outcome", "success", "--template", "t"), [1]),
        (("--since", "2025-04-01T00:00+00:00"), [3]),
        (("--until", "2025-04-01T00:00+00:00"), [1, 2]),
        (("--adapter", "other"), []),
    ],
)
def test_search_shows_what_fits_everything(
    place: Path, words: tuple[str, ...], found: list[int]
) -> None:
    assert numbers(place, "search", *words) == found


def test_verify_says_that_a_trail_is_whole(place: Path) -> None:
    result = run(place, "verify")
    assert (result.exit_code, result.stdout) == (
        0, "3 entries, and all of them are as they were written\n"
    )  # fmt: skip


def test_verify_finds_what_was_removed(place: Path) -> None:
    connection = sqlite3.connect(place / "data" / "orbit.db")
    connection.execute("DELETE FROM audit_entries WHERE number = 2")
    connection.commit()
    connection.close()
    result = run(place, "verify")
    assert result.exit_code == 1
    assert result.stdout == "between entries 1 and 3 some are missing\n"


def test_verify_finds_that_all_of_it_was_removed_with_its_seal(place: Path) -> None:
    connection = sqlite3.connect(place / "data" / "orbit.db")
    for table in ("audit_entries", "audit_end"):
        connection.execute(f"DELETE FROM {table}")
    connection.commit()
    connection.close()
    for _ in range(2):  # looking changes nothing
        result = run(place, "verify")
        assert (result.exit_code, result.stdout) == (
            1,
            "the seal of the trail's end is missing\n"
            "all 3 entries are missing: the trail has its head kept with the keys at entry 3\n",
        )


def test_a_trail_that_is_not_kept_is_said(place: Path) -> None:
    (place / "config.yaml").write_text("data_dir: data\naccess: {audit: {sink: 'off'}}\n")
    assert run(place, "tail").exit_code == 1
