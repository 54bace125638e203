"""`ask`, `explain` and `talk` ask in the name of whom they are told to."""

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line
from tests.support.configuring import adapter, configure, write_library

pytestmark = pytest.mark.slow

WHO = {
    "id": "who_am_i",
    "nl_examples": ["who am I?", "what is my name", "tell me who I am"],
    "sql": "SELECT :caller_user_id AS user, :caller_role AS role",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    sqlite3.connect(tmp_path / "empty.db").close()
    library = write_library(tmp_path / "desk", [WHO])
    desk = adapter(
        "desk",
        library,
        implementation="retrievers.implementations.intent.IntentSQLRetriever",
        database=str(tmp_path / "empty.db"),
    )
    configure(tmp_path, [desk])
    return tmp_path


@pytest.mark.parametrize("command", ["ask", "explain"])
@pytest.mark.parametrize(
    ("options", "row"),
    [
        ([], {"user": "local", "role": "admin"}),
        (["--user", "ana"], {"user": "ana", "role": "admin"}),
        (["--user", "ana", "--role", "guest"], {"user": "ana", "role": "guest"}),
    ],
)
def test_templates_know_the_user_that_is_named(
    project: Path, command: str, options: list[str], row: dict[str, str]
) -> None:
    given = [command, "who am I?", str(project), "--json", *options]
    done = CliRunner().invoke(command_line(command), given, catch_exceptions=False)
    execution = json.loads(done.stdout)["metadata"]["tool_execution"]
    assert (execution["result"]["rows"], execution["parameters"]) == ([row], {})


def test_a_role_that_there_is_not_is_refused(project: Path) -> None:
    given = ["ask", "who am I?", str(project), "--role", "king"]
    done = CliRunner().invoke(command_line("ask"), given)
    assert (done.exit_code, "'king' is not among the roles guest, user" in done.stderr) == (1, True)


def test_a_conversation_is_held_as_the_user(project: Path) -> None:
    given = ["--config", str(project / "config.yaml"), "--user", "ana"]
    done = CliRunner().invoke(command_line("talk"), ["talk", *given], input="who am I?\n")
    assert "ana" in done.stdout
    given += ["--url", "http://127.0.0.1:9", "--key", "k"]
    refused = CliRunner().invoke(command_line("talk"), ["talk", *given], input="x\n")
    assert "the key decides who asks" in refused.stderr
