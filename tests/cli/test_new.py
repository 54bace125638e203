"""`init` and `demo-services`: from a description or a clone to something that runs."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from tests.authoring.documents import OPENAPI_31_YAML, SWAGGER_2_YAML
from tests.tools.http.upstream import Answering, always, reply, upstream

COMMANDS = command_line("init", "check")


def run(*args: str) -> Result:
    return CliRunner().invoke(COMMANDS, list(args))


@contextmanager
def serving(answering: Answering) -> Iterator[str]:
    """A service in a thread of its own; yields its address."""
    started, address = threading.Event(), [""]
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        async with upstream(answering) as service:
            address[0] = service.origin
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    started.wait()
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def test_a_draft_from_a_file_passes_check(tmp_path: Path) -> None:
    document = tmp_path / "books.yaml"
    document.write_text(OPENAPI_31_YAML)
    done = run("init", "--from-openapi", str(document), "--out", str(tmp_path / "books"))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        str(tmp_path / "books" / name)
        for name in ("domain.yaml", "templates.yaml", "questions.yaml")
    ]
    assert "note: PUT /books/{bookId} is left out: it is deprecated" in done.stderr
    checked = run("check", str(tmp_path / "books"))
    assert checked.exit_code == 0, checked.output


def test_a_draft_from_an_address(tmp_path: Path) -> None:
    document = SWAGGER_2_YAML.replace("host: lights.example\n", "")
    answer = reply(body=document.encode(), content_type="application/yaml")
    with serving(always(answer)) as address:
        source = f"{address}/docs/swagger.yaml"
        done = run("init", "--from-openapi", source, "--out", str(tmp_path / "lights"))
    assert done.exit_code == 0, done.output
    domain = (tmp_path / "lights" / "domain.yaml").read_text()
    assert f"${{LIGHTS_API_URL:-{address}/hue}}" in domain


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    out = str(tmp_path / "new")
    (tmp_path / "x.yaml").write_text("title: x\n")
    missing = run("init", "--from-openapi", str(tmp_path / "none.yaml"), "--out", out)
    other = run("init", "--from-openapi", str(tmp_path / "x.yaml"), "--out", out)
    with serving(always(reply({}, status=404))) as address:
        absent = run("init", "--from-openapi", address, "--out", out)
    refused = run("init", "--from-openapi", address, "--out", out)
    assert [r.exit_code for r in (missing, other, absent, refused)] == [1, 1, 1, 1]
    assert "none.yaml cannot be read: No such file or directory" in missing.stderr
    assert "is not an OpenAPI document" in other.stderr
    assert f"{address} answered 404" in absent.stderr
    assert f"{address} cannot be read" in refused.stderr
    assert not Path(out).exists()


@pytest.mark.parametrize(("options", "status"), [([], 200), (["--fail-with", "503"], 503)])
def test_the_stand_ins_say_where_they_are(options: list[str], status: int) -> None:
    command = [sys.executable, "-m", "server", "demo-services", "--port", "0", *options]
    root = Path(__file__).parents[2]
    environ = {**os.environ, "ORBIT_HOME": str(root), "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stderr is not None
            address = ""
            while not address:
                found = re.search(r"export DEMO_SERVICES_URL=(\S+)", process.stderr.readline())
                address = found[1] if found else ""
            answer = httpx.get(f"{address}/users/1", timeout=30)
            assert answer.status_code == status
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
