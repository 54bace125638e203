"""The process file, the port, and the log."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli import logs
from server.cli.launcher import ask_readiness
from server.cli.logs import follow_log, last_lines, log_path, make_room
from server.cli.main import command_line
from server.cli.output import failures_as_messages
from server.cli.ports import PortUnusable, check_free, listen
from server.cli.runfile import (
    IN_BACKGROUND,
    AlreadyRunning,
    Launch,
    Running,
    _from_ps,
    describe_process,
    forget_running,
    one_at_a_time,
    process_token,
    read_running,
    recorded,
    url_of,
    write_running,
)


def this_process() -> Running:
    launch = Launch("0.0.0.0", 8000, Path("c"), Path("data"), 10)
    running = describe_process(os.getpid(), launch)
    assert running is not None
    return running


def test_a_process_file_reads_back_while_its_process_lives(tmp_path: Path) -> None:
    write_running(tmp_path, this_process())
    assert read_running(tmp_path) == this_process()
    forget_running(tmp_path, os.getpid())
    assert read_running(tmp_path) is None


@pytest.mark.parametrize(
    "content", ["", "12345", "[]", "{", '{"pid": 1}', "\x00\xff", '{"pid": 1, "extra": 2}']
)
def test_a_process_file_that_makes_no_sense_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "server.json").write_text(content)
    assert read_running(tmp_path) is None


def test_a_pid_that_passed_to_another_process_counts_as_none(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    token = process_token(ended.pid)
    ended.wait()
    assert token is not None
    assert process_token(ended.pid) is None
    file = tmp_path / "run" / "server.json"
    write_running(tmp_path, this_process())
    file.write_text(json.dumps(json.loads(file.read_text()) | {"token": token}))
    assert read_running(tmp_path) is None
    forget_running(tmp_path, 1)
    assert not file.exists()


def test_a_process_that_ended_but_was_not_waited_for_is_not_alive() -> None:
    zombie = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert zombie.stdout is not None
    zombie.stdout.read()  # returns when it ends
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    assert process_token(zombie.pid) is None
    assert _from_ps(zombie.pid) is None
    zombie.communicate()


def test_where_there_is_no_proc_ps_tells_processes_apart() -> None:
    mine = _from_ps(os.getpid())
    assert mine is not None
    assert mine == _from_ps(os.getpid())
    assert _from_ps(2**22 + 1) is None


def test_the_foreground_is_on_record_while_it_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(IN_BACKGROUND, raising=False)
    with recorded(Launch("::", 9, Path("c"), tmp_path, 1)):
        running = read_running(tmp_path)
        assert running is not None
        assert (running.pid, running.url, running.log) == (os.getpid(), "http://[::1]:9", None)
    assert read_running(tmp_path) is None


def test_two_servers_never_share_a_data_folder(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from server.cli.runfile import Launch, recorded\n"
        "with recorded(Launch('h', 7, Path('c'), Path(sys.argv[1]), 1)):\n"
        "    print('serving', flush=True); input()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "serving\n"
    with (
        pytest.raises(AlreadyRunning, match=rf"at http://h:7 \(pid {other.pid}\)"),
        recorded(Launch("h", 8, Path("c"), tmp_path, 1)),
    ):
        pass
    other.communicate("\n")
    assert read_running(tmp_path) is None


def test_one_start_at_a_time(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with one_at_a_time(tmp_path):
            order.append("second")

    with one_at_a_time(tmp_path):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.1)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://localhost:80"),
        ("0.0.0.0", "http://localhost:80"),
        ("::", "http://[::1]:80"),
        ("192.0.2.7", "http://192.0.2.7:80"),
        ("2001:db8::1", "http://[2001:db8::1]:80"),
    ],
)
def test_the_url_is_one_that_a_client_here_can_reach(host: str, url: str) -> None:
    assert url_of(host, 80) == url


def test_a_taken_port_is_named_with_the_process_that_has_it() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortUnusable) as refused:
            check_free("127.0.0.1", port)
    message = str(refused.value)
    assert message.startswith(f"port {port} on 127.0.0.1 is taken by ")
    assert f"(pid {os.getpid()}): end that, or choose another with --port" in message
    assert check_free("127.0.0.1", port) == port


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "1.2.3.4.5"])
def test_an_address_of_another_machine_is_named(host: str) -> None:
    with pytest.raises(PortUnusable, match=f"^{host!r} is no address of this machine"):
        check_free(host, 0)


def test_something_else_on_the_port_is_not_taken_for_a_server() -> None:
    with listen("127.0.0.1", 0) as other:
        port = other.getsockname()[1]

        def answer() -> None:
            connection, _ = other.accept()
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n[1, 2]")
            connection.close()

        answering = threading.Thread(target=answer)
        answering.start()
        assert ask_readiness(f"http://127.0.0.1:{port}") is None
        answering.join()
    assert ask_readiness(f"http://127.0.0.1:{port}") is None


def test_the_end_of_a_log_is_read_without_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_BLOCK_BYTES", 7)
    log = tmp_path / "log"
    log.write_text("one\ntwo\nthrée\nfour\n")
    assert last_lines(log, 2) == ["thrée", "four"]
    assert last_lines(log, 9) == ["one", "two", "thrée", "four"]
    assert last_lines(log, 9, since=8) == ["thrée", "four"]
    assert last_lines(log, 0) == []
    log.write_bytes(b"no newline at the end \xff")
    assert last_lines(log, 1) == ["no newline at the end \N{REPLACEMENT CHARACTER}"]


def test_a_large_log_is_put_aside_and_three_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_LARGEST_BYTES", 4)
    log = log_path(tmp_path)
    assert make_room(log) == 0
    for text in ("aaaa", "bbbb", "cccc", "dddd", "eeee"):
        log.write_text(text)
        assert make_room(log) == 0
    log.write_text("f")
    assert make_room(log) == 1
    assert {file.name: file.read_text() for file in log.parent.iterdir()} == {
        "server.log": "f",
        "server.log.1": "eeee",
        "server.log.2": "dddd",
        "server.log.3": "cccc",
    }


def test_a_log_is_followed_through_rotation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"old\n")
    lines = follow_log(log, start=4)
    with log.open("ab") as file:
        file.write(b"new\n")
    assert next(lines) == b"new\n"
    log.replace(tmp_path / "log.1")
    log.write_bytes(b"next file\n")
    assert next(lines) == b"next file\n"
    lines.close()


def test_the_port_is_free_again_at_once_after_a_connection_was_closed() -> None:
    with listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            accepted, _ = server.accept()
            accepted.close()
    assert check_free("127.0.0.1", port) == port


def test_a_folder_that_cannot_be_written_is_named_and_not_thrown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    app = command_line("logs")
    stopped = CliRunner().invoke(app, ["logs", "--data", str(tmp_path / "file" / "data")])
    assert stopped.stderr.startswith("error: there is no log at ")

    def run() -> None:
        with failures_as_messages(), one_at_a_time(tmp_path / "file" / "data"):
            pass

    app.command("lock")(run)
    refused = CliRunner().invoke(app, ["lock"])
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"error: {tmp_path}/file/data: Not a directory\n",
    )
