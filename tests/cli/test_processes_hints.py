"""Lines to paste are lines that a shell takes as they are meant."""

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.cli.options import DEFAULT_CONFIG, repeated
from server.cli.server_messages import curl, sample_key_command
from server.core.installation import command, install_command, program_name

printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]))


@given(key=printable, question=printable)
def test_a_curl_line_says_in_a_shell_what_was_meant(key: str, question: str) -> None:
    words = shlex.split(curl("http://localhost:8000", key, question))
    assert words[:4] == ["curl", "-X", "POST", "http://localhost:8000/chat"]
    assert words[4:-1] == [
        *("-H", f"Authorization: Bearer {key}"),
        *("-H", "Content-Type: application/json", "-d"),
    ]
    assert json.loads(words[-1]) == {"message": question}


def test_commands_are_named_as_they_were_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORBIT_COMMAND", raising=False)
    assert (command("stop"), program_name()) == ("orbit stop", "orbit")
    assert install_command("postgres") == "pip install 'orbit-server[postgres]'"
    monkeypatch.setenv("ORBIT_COMMAND", "../my orbit/bin/orbit.sh")
    assert command("ask", "two words") == "'../my orbit/bin/orbit.sh' ask 'two words'"
    assert install_command("postgres") == "'../my orbit/bin/orbit.sh' install postgres"
    assert program_name() == "orbit.sh"


def test_hints_repeat_what_was_given_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORBIT_HOME", raising=False)
    monkeypatch.delenv("ORBIT_COMMAND", raising=False)
    assert repeated(DEFAULT_CONFIG, None) == []
    given = repeated(tmp_path / "a b.yaml", Path("data"), port=8131)
    assert given == ["--config", f"{tmp_path}/a b.yaml", "--data", "data", "--port", "8131"]
    assert command("restart", *given) == (
        f"orbit restart --config '{tmp_path}/a b.yaml' --data data --port 8131"
    )
    assert sample_key_command("a", ["--data", "d"]) == "orbit keys sample --adapter a --data d"


def test_the_key_script_is_named_as_it_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "utils" / "scripts" / "generate-sample-api-keys.sh"
    monkeypatch.delenv("ORBIT_HOME", raising=False)
    monkeypatch.delenv("ORBIT_COMMAND", raising=False)
    assert sample_key_command("a") == "orbit keys sample --adapter a"
    script.parent.mkdir(parents=True)
    script.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORBIT_HOME", str(tmp_path))
    shown = {}
    for called in ("./bin/orbit.sh", str(tmp_path / "bin" / "orbit.sh"), "orbit"):
        monkeypatch.setenv("ORBIT_COMMAND", called)
        shown[called] = sample_key_command("a")
    assert list(shown.values()) == [
        "./utils/scripts/generate-sample-api-keys.sh --adapter a",
        f"{script} --adapter a",
        "./utils/scripts/generate-sample-api-keys.sh --adapter a",
    ]
    monkeypatch.chdir("/")
    assert sample_key_command("a") == f"{script} --adapter a"
