"""Starting and ending a process: what is left behind, and what is not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from server.cli import launcher
from server.cli.launcher import (
    ServerReadiness,
    StartFailed,
    ask_readiness,
    launch,
    stop_process,
)
from server.cli.ports import check_free
from server.cli.runfile import Launch, Running, read_running
from tests.support.ports import free_port

STANDIN = Path(__file__).with_name("standin.py")


class Yard:
    """A data folder, and the processes that were started for it."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.port = free_port()
        self.wanted = Launch(
            host="127.0.0.1",
            port=self.port,
            config=folder / "config.yaml",
            data_dir=self.data_dir,
            shutdown_grace_s=0.2,
            asked_port=self.port,
        )

    def command(self, behaviour: str) -> list[str]:
        return [sys.executable, str(STANDIN), str(self.port), behaviour]

    def launch(self, behaviour: str) -> tuple[Running, ServerReadiness]:
        return launch(self.wanted, self.command(behaviour))


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    yard = Yard(tmp_path)
    yield yard
    left = read_running(yard.data_dir)
    if left is not None:
        os.kill(left.pid, signal.SIGKILL)


def test_it_returns_once_all_adapters_are_settled(yard: Yard) -> None:
    running, readiness = yard.launch("opening")
    assert readiness == ServerReadiness("ready", ({"name": "good", "state": "ready"},))
    assert running == read_running(yard.data_dir)
    assert (running.url, running.asked_host, running.asked_port) == (
        f"http://localhost:{yard.port}",
        None,
        yard.port,
    )
    assert running.log == str(yard.data_dir / "logs" / "server.log")


def test_an_adapter_that_does_not_serve_is_told_and_the_others_serve(yard: Yard) -> None:
    _, readiness = yard.launch("degraded")
    assert (readiness.serves, readiness.adapters_that_are("ready")) == (True, ("good",))
    assert tuple(readiness.complaints()) == (
        "adapter bad is unavailable: no such file @ tools.yaml:3",
    )


def test_a_server_with_no_adapter_that_serves_is_left_running(yard: Yard) -> None:
    running, readiness = yard.launch("unavailable")
    assert (readiness.serves, running.is_alive()) == (False, True)


def test_a_server_that_dies_is_told_with_the_end_of_its_log(yard: Yard) -> None:
    log = yard.data_dir / "logs" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text("a line of the last time\n")
    with pytest.raises(StartFailed) as failed:
        yard.launch("dies")
    assert str(failed.value) == (
        f"the server ended while starting (exit code 7). The end of its log, {log}:\n"
        "  loading\n  Traceback: the disk is on fire"
    )
    assert read_running(yard.data_dir) is None


def test_a_server_that_never_answers_is_given_up_and_ended(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_SILENCE_S", 0.5)
    with pytest.raises(StartFailed, match=r"did not answer within 0 s and has been stopped; it"):
        yard.launch("silent")
    assert read_running(yard.data_dir) is None
    assert check_free("127.0.0.1", yard.port) == yard.port


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_the_wait_leaves_no_orphan(yard: Yard, number: signal.Signals) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from server.cli.launcher import StartInterrupted, launch\n"
        "from server.cli.runfile import Launch\n"
        "data, port, *command = sys.argv[1:]\n"
        "wanted = Launch('127.0.0.1', int(port), Path('c'), Path(data), 1.0)\n"
        "try: launch(wanted, command)\n"
        "except StartInterrupted as interrupted: sys.exit(interrupted.exit_code)\n"
    )
    arguments = [str(yard.data_dir), str(yard.port), *yard.command("for-ever")]
    starting = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{yard.port}"
    while ask_readiness(url) is None or (running := read_running(yard.data_dir)) is None:
        assert starting.poll() is None
        time.sleep(0.02)
    starting.send_signal(number)
    assert starting.wait() == 128 + number
    assert not running.is_alive()
    assert read_running(yard.data_dir) is None


def test_ending_asks_first(yard: Yard) -> None:
    running, _ = yard.launch("ready")
    assert (stop_process(running), running.is_alive()) == ("stopped", False)


def test_what_does_not_listen_is_killed_after_the_grace(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_WIND_DOWN_S", 0.1)
    running, _ = yard.launch("deaf")
    assert (stop_process(running), running.is_alive()) == ("killed", False)


def test_what_drains_is_given_the_time_for_it(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_WIND_DOWN_S", 0.1)
    yard.wanted = replace(yard.wanted, drain_s=1.5)
    running, _ = yard.launch("drains")  # for a second, longer than all but that
    assert (stop_process(running), running.is_alive()) == ("stopped", False)


def test_another_process_with_the_same_pid_is_never_signalled(yard: Yard) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stale = Running(
        pid=bystander.pid,
        token="another boot:1",
        host="127.0.0.1",
        port=yard.port,
        config="c",
        started_at="2025-01-01T00:00:00+00:00",
        shutdown_grace_s=1.0,
    )
    assert (stale.is_alive(), stop_process(stale)) == (False, "stopped")
    assert bystander.poll() is None
    bystander.communicate(b"\n")
    assert bystander.returncode == 0
