"""The life of a server in the background, by the commands that people type."""

import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from server.cli.ports import PortUnusable, listen
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
QUESTION = {"message": "What is 15% of 200?"}

SMALL_CONFIG = """
adapters:
  - name: small
    config: {domain_config_path: domain.yaml, template_library_path: tools.yaml}
"""

SMALL_LIBRARY = """
templates:
  - id: now
    description: The time
    tool_type: function
    nl_examples: ["what time is it", "tell me the time"]
    tool_name: date_time
    tool_operation: now
"""


@dataclass(frozen=True, slots=True)
class Orbit:
    """Orbit with a data folder of its own, and the shipped configuration or another."""

    data_dir: Path
    config: Path = ROOT / "config" / "config.yaml"

    def run(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*args),
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def command(self, *args: str) -> list[str]:
        options = ("--data", str(self.data_dir), "--config", str(self.config))
        return [sys.executable, "-m", "server", *args, *options]

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("status", "--json").stdout)
        return found


@pytest.fixture
def small(tmp_path: Path) -> Orbit:
    """A server with one template, since these tests are about processes alone."""
    (tmp_path / "config.yaml").write_text(SMALL_CONFIG)
    (tmp_path / "domain.yaml").write_text("domain: {name: small}\n")
    (tmp_path / "tools.yaml").write_text(SMALL_LIBRARY)
    return Orbit(tmp_path / "data", tmp_path / "config.yaml")


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
    return kept | {"ORBIT_HOME": str(ROOT), "ORBIT_COMMAND": "./bin/orbit.sh"}


def ask(url: str, key: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", "/chat", json.dumps(QUESTION), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def orbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orbit]:
    orbit = Orbit(tmp_path_factory.mktemp("running") / "data")
    port = free_port()
    started = orbit.run("start", "--port", str(port))
    assert (started.returncode, started.stdout) == (0, ""), started.stderr
    # The person at the terminal is shown where it runs, and lines to paste: the same folder.
    assert f"Orbit is running at http://localhost:{port} (pid " in started.stderr
    same = shlex.join(["--data", str(orbit.data_dir)])
    assert f"  stop:    ./bin/orbit.sh stop {same}\n" in started.stderr
    assert f"  console: http://127.0.0.1:{port}/#link=" in started.stderr
    assert started.stderr.splitlines()[-2:] == [
        f"  ./utils/scripts/generate-sample-api-keys.sh --adapter intent-agent-example {same}",
        f'  curl -X POST http://localhost:{port}/chat -H "Authorization: Bearer agent" '
        '-H "Content-Type: application/json" -d \'{"message": "What is 15% of 200?"}\'',
    ]
    yield orbit
    orbit.run("stop")


@pytest.mark.slow
def test_the_lines_to_paste_work_as_they_are(orbit: Orbit) -> None:
    made = orbit.run("keys", "sample", "--adapter", "intent-agent-example")
    assert made.stdout == "agent\n"
    status, answer = ask(orbit.status()["url"], "agent")
    assert (status, answer["content"]) == (200, "15% of 200 is **30**")


@pytest.mark.slow
def test_starting_again_changes_nothing_and_says_where_it_runs(orbit: Orbit) -> None:
    before = orbit.status()
    again = orbit.run("start")
    assert (again.returncode, again.stdout) == (0, "")
    same = shlex.join(["--data", str(orbit.data_dir)])
    assert again.stderr == (
        f"Orbit is already running at {before['url']} (pid {before['pid']})\n"
        f"  console: ./bin/orbit.sh console --open {same}\n"
    )
    assert orbit.status() == before


@pytest.mark.slow
def test_starting_it_elsewhere_while_it_runs_is_refused(orbit: Orbit) -> None:
    refused = orbit.run("start", "--port", "1")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: Orbit is already running at http://localhost:")
    move = f"./bin/orbit.sh restart --data {shlex.quote(str(orbit.data_dir))} --port 1"
    assert refused.stderr.endswith(f", or move it: {move}\n")


@pytest.mark.slow
def test_a_server_that_does_not_watch_is_not_taken_for_one_that_does(orbit: Orbit) -> None:
    refused = orbit.run("start", "--watch")
    assert (refused.returncode, orbit.status()["watches"]) == (1, False)
    again = f"./bin/orbit.sh restart --data {shlex.quote(str(orbit.data_dir))} --watch"
    assert refused.stderr.endswith(f", and does not watch its files: {again}\n")


@pytest.mark.slow
def test_status_tells_people_and_programs(orbit: Orbit) -> None:
    told = orbit.status()
    assert (told["running"], told["status"], told["data_dir"]) == (
        True,
        "ready",
        str(orbit.data_dir),
    )
    assert [row["name"] for row in told["adapters"]] == [
        "intent-agent-example",
        "intent-http-example",
    ]
    shown = orbit.run("status")
    assert shown.returncode == 0
    assert shown.stdout.splitlines() == [
        f"Orbit is running at {told['url']} (pid {told['pid']}): ready",
        f"  since  {told['started_at']}",
        f"  log    {orbit.data_dir}/logs/server.log",
        "  ready  intent-agent-example",
        "  ready  intent-http-example",
    ]


@pytest.mark.slow
def test_a_second_server_on_the_same_port_is_told_who_has_it(orbit: Orbit, tmp_path: Path) -> None:
    told = orbit.status()
    port = urlsplit(told["url"]).port
    refused = Orbit(tmp_path).run("start", "--port", str(port))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"error: port {port} on 127.0.0.1 is taken by ")
    assert f"(pid {told['pid']})" in refused.stderr


@pytest.mark.slow
def test_a_printed_link_signs_in_once(orbit: Orbit) -> None:
    printed = orbit.run("console")
    address, _, token = printed.stdout.strip().partition("#link=")
    assert printed.stderr == ""
    answers = []
    for _ in range(2):
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request("POST", "/admin/sign-in", json.dumps({"link": token}))
        response = connection.getresponse()
        answers.append((response.status, json.loads(response.read())))
        connection.close()
    (first, made), (again, refused) = answers
    assert (first, made["role"], made["label"]) == (201, "admin", "console")
    assert (again, refused["error"]["code"]) == (401, "link_invalid")
    assert token not in orbit.run("logs", "-n", "1000").stdout


@pytest.mark.slow
def test_a_revoke_reaches_the_running_server(orbit: Orbit) -> None:
    made = json.loads(
        orbit.run("keys", "create", "--adapter", "intent-agent-example", "--json").stdout
    )
    url = orbit.status()["url"]
    assert ask(url, made["key"])[0] == 200
    assert orbit.run("keys", "revoke", made["key_id"]).returncode == 0
    while (answer := ask(url, made["key"]))[0] == 200:
        time.sleep(0.1)
    assert (answer[0], answer[1]["error"]["code"]) == (401, "key_revoked")


@pytest.mark.slow
def test_logs_show_what_the_server_wrote(orbit: Orbit) -> None:
    shown = orbit.run("logs", "-n", "1000")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Serving on http://127.0.0.1:" in shown.stdout
    following = subprocess.Popen(
        orbit.command("logs", "-f", "-n", "1000"),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        # Tests may run where Ctrl-C is ignored, as in the background of a shell.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with following:
        assert following.stdout is not None
        while b"Serving on" not in following.stdout.readline():
            assert following.poll() is None
        following.send_signal(signal.SIGINT)
    assert following.returncode == 0


def test_from_start_to_stop(small: Orbit) -> None:
    """Restarts where it was, finishes what it began, and leaves nothing behind."""
    orbit = small
    port = free_port()
    assert orbit.run("start", "--port", str(port)).returncode == 0
    first = orbit.status()
    restarted = orbit.run("restart")
    assert restarted.returncode == 0, restarted.stderr
    second = orbit.status()
    assert (first["url"], first["pid"] != second["pid"]) == (second["url"], True)

    body = json.dumps(QUESTION).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/chat")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:5])
    while ask(second["url"], "not-a-key")[0] != 401:
        pass  # by now the half request has been read
    stopping = subprocess.Popen(
        orbit.command("stop"), cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True
    )
    while _accepts(port):
        time.sleep(0.02)
    connection.send(body[5:])
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]["code"]) == (401, "key_missing")
    connection.close()
    _, said = stopping.communicate()
    assert stopping.returncode == 0
    assert said.splitlines()[-1] == f"Orbit (pid {second['pid']}) has stopped"

    none = orbit.run("status")
    assert (none.returncode, none.stdout) == (
        3,
        f"Orbit is not running (data folder {orbit.data_dir})\n",
    )
    again = orbit.run("stop")
    assert (again.returncode, again.stderr) == (
        0,
        f"Orbit is not running (data folder {orbit.data_dir})\n",
    )
    assert not (orbit.data_dir / "run" / "server.json").exists()


def _accepts(port: int) -> bool:
    try:
        listen("127.0.0.1", port).close()
    except PortUnusable:
        return True
    return False


@pytest.mark.slow
def test_a_server_in_the_foreground_is_seen_and_stopped_too(small: Orbit) -> None:
    orbit = small
    serving = subprocess.Popen(
        orbit.command("serve", "--port", "0"),
        cwd=ROOT,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (told := orbit.status())["running"]:
        assert serving.poll() is None
    assert told["pid"] == serving.pid
    assert orbit.run("stop").returncode == 0
    serving.communicate()
    assert (serving.returncode, orbit.run("status").returncode) == (0, 3)


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    orbit = Orbit(tmp_path / "data")
    orbit.data_dir.mkdir()
    (orbit.data_dir / "secret").write_text("short")
    failed = orbit.run("start", "--port", str(free_port()))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "error: the server ended while starting (exit code 1). The end of its log" in (
        failed.stderr
    )
    assert "the secret that protects keys cannot be used: it holds 5 bytes" in failed.stderr
    assert orbit.run("status").returncode == 3


def test_there_is_no_log_before_the_first_start(tmp_path: Path) -> None:
    none = Orbit(tmp_path / "data").run("logs")
    assert none.returncode == 1
    assert none.stderr == (
        f"error: there is no log at {tmp_path}/data/logs/server.log: no server was started with "
        "this data folder\n"
    )
