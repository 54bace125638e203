"""`migrate`, and what every command says of a schema that it cannot use."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from server.storage.schema import MIGRATIONS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONFIG = """
data_dir: state
access: {migrate: never}
adapters:
  - {name: sums, config: {domain_config_path: domain.yaml, template_library_path: tools.yaml}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose database may be made by nobody but `migrate`."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text(CONFIG)
    (tmp_path / "tools.yaml").write_text("templates: [{id: area, nl_examples: [area?]}]")
    return tmp_path


def orbit(project: Path, *args: str) -> Result:
    config = str(project / "config" / "config.yaml")
    return CliRunner().invoke(command_line(args[0]), [*args, "--config", config])


def test_what_is_to_be_done_is_shown_then_done_then_no_more(project: Path) -> None:
    pending = [f"{version}  {about}" for version, about in MIGRATIONS.versions.items()]
    newest = MIGRATIONS.newest
    for args, code, lines, says in (
        (["--check"], 3, pending, "is none; to be done:"),
        ([], 0, pending, f"was none and is {newest} now; done:"),
        (["--check"], 0, [], f"is {newest}, the newest that this version knows."),
        ([], 0, [], f"is {newest}, the newest that this version knows."),
    ):
        ran = orbit(project, "migrate", *args)
        assert (ran.exit_code, ran.stdout.splitlines()) == (code, lines)
        assert ran.stderr.rstrip().endswith(says)


def test_as_json_it_says_where_the_schema_stands(project: Path) -> None:
    versions, newest = list(MIGRATIONS.versions), MIGRATIONS.newest
    place = f"sqlite:///{project / 'state' / 'orbit.db'}"
    said = [
        json.loads(orbit(project, "migrate", *args, "--json").stdout) for args in (["--check"], [])
    ]
    common = {"database": place, "newest": newest}
    assert said == [
        {**common, "schema": None, "pending": versions, "done": []},
        {**common, "schema": newest, "pending": [], "done": versions},
    ]


def test_a_database_that_may_not_be_migrated_is_refused_until_it_was(project: Path) -> None:
    refused = orbit(project, "keys", "list")
    assert refused.exit_code == 1
    assert refused.stderr.endswith(
        f"needs {MIGRATIONS.newest}: run 'orbit migrate', since access.migrate is never\n"
    )
    assert orbit(project, "migrate").exit_code == 0
    assert orbit(project, "keys", "list").exit_code == 0


@pytest.mark.parametrize(
    "args",
    [["migrate"], ["migrate", "--check"], ["keys", "list"], ["audit", "tail"], ["ask", "5?"],
     ["serve", "--port", "0"]],
)  # fmt: skip
def test_a_newer_schema_is_an_error_and_no_traceback(project: Path, args: list[str]) -> None:
    assert orbit(project, "migrate").exit_code == 0
    file = project / "state" / "orbit.db"
    database = sqlite3.connect(file)
    database.execute("UPDATE orbit_schema_version SET version_num = '0777'")
    database.commit()
    database.close()
    command = [sys.executable, "-m", "server", *args, "--config", "config/config.yaml"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    ran = subprocess.run(
        command, cwd=project, env=environ, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1] == (
        f"error: the database at sqlite:///{file} has schema 0777, which this version of Orbit "
        f"does not know; its newest is {MIGRATIONS.newest}: upgrade Orbit, or restore the backup "
        "that was made before the database was upgraded"
    )
    assert "Traceback" not in ran.stderr
