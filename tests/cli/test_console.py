"""`console`: a link for the running server, and where there can be none."""

import json
import os
import stat
import threading
import webbrowser
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import typer

from server.access.sign_in import LinkIssuer
from server.cli.console import console, start_line
from server.cli.runfile import Launch, Running, describe_process, write_running
from server.settings.loader import load_settings
from server.settings.models import Settings
from server.storage.files import load_or_create_secret

CONFIG = """
data_dir: state
{more}
adapters: []
"""


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"status": "ok", "instance": "one"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


class Yard:
    """A configuration, and a server that seems to run with it."""

    def __init__(self, folder: Path, port: int, more: str = "", host: str = "127.0.0.1") -> None:
        self.config = folder / "config.yaml"
        self.config.write_text(CONFIG.format(more=more))
        settings = load_settings(self.config, {}).settings
        assert settings is not None
        self.settings: Settings = settings
        launch = Launch(host, port, self.config, settings.data_dir, 1.0)
        running = describe_process(os.getpid(), launch)
        assert running is not None
        self.running: Running = running
        write_running(settings.data_dir, running)

    def signs_in(self, link: str, port: int) -> bool:
        address, _, token = link.partition("#link=")
        secret, created = load_or_create_secret(self.settings.secret_path)
        LinkIssuer(secret).check(token, "one")
        return not created and address == f"http://127.0.0.1:{port}/"


def test_each_link_is_a_fresh_one_for_that_server(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    yard = Yard(tmp_path, port)
    links = []
    for _ in range(2):
        console(config=yard.config)
        links.append(capsys.readouterr().out.rstrip("\n"))
    assert all(yard.signs_in(link, port) for link in links)
    assert links[0] != links[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_start_prints_a_link_for_a_server_of_this_machine_alone(
    tmp_path: Path, port: int, host: str
) -> None:
    yard = Yard(tmp_path, port, host=host)
    line = start_line(yard.running, yard.settings)
    if host == "0.0.0.0":
        assert line == f"http://127.0.0.1:{port}/"
    else:
        link, _, when = line.partition("  ")
        assert (yard.signs_in(link, port), when) == (True, "(signs in once, within ten minutes)")


@pytest.mark.parametrize(
    ("more", "host", "address"),
    [
        ("access: {roles: {names: [guest, root]}}", "127.0.0.1", "http://127.0.0.1:{}/"),
        ("", "192.0.2.7", "http://192.0.2.7:{}/"),
    ],
)
def test_where_nobody_can_sign_in_by_link_it_is_the_address_alone(
    tmp_path: Path,
    port: int,
    more: str,
    host: str,
    address: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    yard = Yard(tmp_path, port, more, host)
    console(config=yard.config)
    told = capsys.readouterr()
    assert told.out == address.format(port) + "\n"
    assert told.err == "This address signs nobody in: the page asks for a key.\n"
    assert start_line(yard.running, yard.settings) == address.format(port)


def test_without_a_page_or_a_server_there_is_no_link(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORBIT_COMMAND", raising=False)
    yard = Yard(tmp_path, port, "console: {enabled: false}")
    with pytest.raises(typer.Exit):
        console(config=yard.config)
    assert "console.enabled is false" in capsys.readouterr().err
    assert start_line(yard.running, yard.settings) == ""
    (yard.settings.data_dir / "run" / "server.json").unlink()
    with pytest.raises(typer.Exit):
        console(config=yard.config)
    said = capsys.readouterr().err
    assert said == (
        f"error: Orbit is not running (data folder {yard.settings.data_dir}): "
        f"orbit start --config {yard.config}\n"
    )


def test_a_browser_opens_a_private_file_and_no_command_line_has_the_link(
    tmp_path: Path,
    port: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    def browser(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", browser)
    yard = Yard(tmp_path, port)
    console(opens=True, config=yard.config)
    link = capsys.readouterr().out.rstrip("\n")
    page = yard.settings.data_dir / "run" / "console.html"
    assert opened == [page.as_uri()]
    assert f'content="0; url={link}"' in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
