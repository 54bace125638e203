"""The unit that `install-service` writes, and when it writes none."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from server.cli import install_service
from server.cli.main import command_line
from server.cli.systemd_unit import Service, unit_word, unreadable

SYSTEMD = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here"
)
CALLS = """#!/bin/sh
echo "$@" >>"{calls}"
exit {code}
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with systemd, whose units are in a folder of the test."""
    for name in ("booted", "system"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(install_service, "BOOTED", tmp_path / "booted")
    monkeypatch.setattr(install_service, "SYSTEM_UNITS", tmp_path / "system")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    for name in ("ORBIT_HOME", "ORBIT_COMMAND", "ORBIT_DATA"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "my shop"
    assert CliRunner().invoke(command_line("new"), ["new", str(project)]).exit_code == 0
    monkeypatch.chdir(project)
    return tmp_path


def run(*words: str) -> Result:
    name = "install-service"
    return CliRunner().invoke(command_line(name), [name, *words], prog_name="orbit")


def systemctl(folder: Path, monkeypatch: pytest.MonkeyPatch, *, code: int = 0) -> Path:
    """Put a systemctl in front that writes down what it is asked, and return where."""
    program, calls = folder / "bin" / "systemctl", folder / "calls"
    program.parent.mkdir()
    program.write_text(CALLS.format(calls=calls, code=code))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return calls


def lines_of(unit: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{key}=")]


def test_a_service_of_ones_own_is_written_and_removed(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = machine / "own" / "systemd" / "user" / "orbit.service"
    written = run("--port", "8123")
    assert written.exit_code == 0, written.stderr
    assert written.stderr.splitlines()[0] == f"{unit} was written"
    assert "systemctl --user enable --now orbit" in written.stderr
    (command,) = lines_of(unit.read_text(), "ExecStart")
    config = machine / "my shop" / "config" / "config.yaml"
    data = machine / "my shop" / ".orbit"
    assert command.endswith(f'-P -m server serve --config "{config}" --data "{data}" --port 8123')
    assert lines_of(unit.read_text(), "User") == []
    assert f"{unit} was replaced" in run("--port", "8124").stderr
    calls = systemctl(machine, monkeypatch)
    assert "was stopped" in run("--remove").stderr
    assert not unit.exists()
    assert calls.read_text() == "--user disable --now orbit.service\n--user daemon-reload\n"
    assert run("--remove").stderr == f"error: there is no {unit}\n"


def test_one_with_workers_replaces_them_when_it_is_reloaded(machine: Path) -> None:
    shown = run("--workers", "2", "--print").stdout
    assert lines_of(shown, "ExecStart")[0].endswith(" --workers 2")
    assert lines_of(shown, "ExecReload") == ["/bin/kill -HUP $MAINPID"]
    assert lines_of(run("--print").stdout, "ExecReload") == []
    configured = machine / "my shop" / "config" / "config.yaml"
    configured.write_text(configured.read_text().replace("server:\n", "server:\n  workers: 2\n"))
    assert lines_of(run("--print").stdout, "ExecReload") == ["/bin/kill -HUP $MAINPID"]


def test_one_of_the_machine_runs_as_a_user_of_its_own(machine: Path) -> None:
    shown = run("--system", "--name", "shop", "--print").stdout
    assert lines_of(shown, "User") == ["shop"]
    assert lines_of(shown, "StateDirectory") == ["shop"]
    assert lines_of(shown, "ProtectSystem") == ["strict"]
    assert lines_of(shown, "CapabilityBoundingSet") == [""]
    assert lines_of(shown, "WantedBy") == ["multi-user.target"]
    assert " --data /var/lib/shop" in lines_of(shown, "ExecStart")[0]
    other = run("--system", "--user", "ann", "--data", str(machine / "kept"), "--print").stdout
    assert lines_of(other, "User") == ["ann"]
    assert lines_of(other, "ReadWritePaths") == [str(machine / "kept")]
    assert lines_of(other, "StateDirectory") == []
    assert list((machine / "system").iterdir()) == []


@pytest.mark.parametrize("option", ["--print", "--dry-run"])
def test_printing_writes_nothing_and_needs_no_systemd(machine: Path, option: str) -> None:
    (machine / "booted").rmdir()
    shown = run(option)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("# Written by Orbit.")
    assert not (machine / "own").exists()


def test_what_cannot_be_is_refused_and_says_why(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "'Shop!' is no name of a service" in run("--name", "Shop!").stderr
    assert "add --system" in run("--user", "ann").stderr
    unit = machine / "own" / "systemd" / "user" / "orbit.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\nDescription=mine\n")
    for words in ((), ("--remove",)):
        assert "was not written by Orbit" in run(*words).stderr
    assert unit.read_text() == "[Unit]\nDescription=mine\n"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "as root: use sudo" in run("--system").stderr
    (machine / "booted").rmdir()
    assert "systemd does not run here" in run().stderr
    (Path.cwd() / "config" / "config.yaml").write_text("server: {prot: 1}\n")
    assert "unknown key 'prot'" in run("--print").stderr


def test_what_systemctl_says_is_said(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    systemctl(machine, monkeypatch, code=5)
    removed = run("--remove")
    assert removed.exit_code == 1
    assert "systemctl --user disable --now orbit.service: " in removed.stderr
    assert (machine / "own" / "systemd" / "user" / "orbit.service").exists()


def test_what_the_services_user_cannot_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    closed, config = tmp_path / "closed", tmp_path / "closed" / "config.yaml"
    closed.mkdir(mode=0o700)
    config.write_text("")
    config.chmod(0o640)
    above = {path for path in tmp_path.parents if path != path.parent}
    found = [path for path in unreadable([config], "no-such-user") if path not in above]
    assert found == [closed, config]
    closed.chmod(0o711)
    config.chmod(0o644)
    assert [path for path in unreadable([config], "no-such-user") if path not in above] == []
    found = [path for path in unreadable([closed], "no-such-user") if path not in above]
    assert found == [closed]  # whose files are looked for


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/opt/orbit", "/opt/orbit"),
        ("/my shop", '"/my shop"'),
        ("100%", "100%%"),
        ("$HOME", "$$HOME"),
        ('a"b\\', '"a\\"b\\\\"'),
    ],
)
def test_words_mean_the_same_to_systemd(text: str, written: str) -> None:
    assert unit_word(text) == written


@SYSTEMD
@pytest.mark.parametrize("user", [None, "daemon"])
def test_systemd_takes_the_units_and_finds_that_of_the_machine_well_confined(
    tmp_path: Path, user: str | None
) -> None:
    folder = tmp_path / "a b"
    service = Service(
        name="orbit", command=["/bin/sh", "-c", 'echo "$HOME" 100%'], config=folder / "c.yaml",
        data_dir=folder, remove="orbit install-service --remove", stop_s=20, user=user,
        reads=[Path("/opt")], environment={"ORBIT_COMMAND": "/my bin/orbit.sh"},
    )  # fmt: skip
    unit = tmp_path / "orbit.service"
    unit.write_text(service.text())
    judged = ["verify"], ["security", "--offline=true", "--threshold=15"]
    for words in judged if user else judged[:1]:
        done = subprocess.run(
            ["systemd-analyze", *words, str(unit)], capture_output=True, text=True, check=False
        )
        if "unrecognized option" in done.stderr:  # of before 250
            pytest.skip("this systemd-analyze cannot judge a file")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
