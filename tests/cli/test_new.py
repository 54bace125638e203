"""`new` and `demo-services`: from nothing or a description to something that runs."""

import asyncio
import os
import re
import shlex
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

COMMANDS = command_line("new", "init", "check")


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


def files_of(folder: Path) -> set[str]:
    """What is written by hand; `.orbit` holds what is generated."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in paths if ".orbit" not in path.parts}


OF_A_PROJECT = {"config/config.yaml", "README.md", ".env.example", ".gitignore"}


def of_an_adapter(name: str) -> set[str]:
    parts = ("adapter", "domain", "templates", "questions")
    return {f"adapters/{name}/{part}.yaml" for part in parts}


def test_a_new_project_is_named_after_its_folder_and_passes_check(tmp_path: Path) -> None:
    shop = tmp_path / "My Shop"
    done = run("new", str(shop))
    assert done.exit_code == 0, done.output
    assert files_of(shop) == OF_A_PROJECT | of_an_adapter("my-shop") | {"tools/shop_hours.py"}
    assert {str(Path(line).relative_to(shop)) for line in done.stdout.splitlines()} == files_of(
        shop
    )
    checked = run("check", "--quick", str(shop))
    assert checked.exit_code == 0, checked.output


def test_a_project_from_a_document_passes_check(tmp_path: Path) -> None:
    document = tmp_path / "books.yaml"
    document.write_text(OPENAPI_31_YAML)
    project = tmp_path / "books"
    done = run("new", str(project), "--from-openapi", str(document))
    assert done.exit_code == 0, done.output
    assert files_of(project) == OF_A_PROJECT | of_an_adapter("book-shop")
    assert "note: PUT /books/{bookId} is left out: it is deprecated" in done.stderr
    checked = run("check", "--quick", str(project))
    assert checked.exit_code == 0, checked.output


def test_a_project_takes_a_second_adapter_under_a_name_of_its_own(tmp_path: Path) -> None:
    document = tmp_path / "lights.yaml"
    document.write_text(SWAGGER_2_YAML)
    project = tmp_path / "home"
    assert run("new", str(project)).exit_code == 0
    before = {name: (project / name).read_text() for name in files_of(project)}
    options = ("--from-openapi", str(document), "--name", "lamps")
    done = run("new", str(project), *options)
    assert done.exit_code == 0, done.output
    assert files_of(project) - before.keys() == of_an_adapter("lamps")
    assert {name: (project / name).read_text() for name in before} == before
    assert 'name: "lamps"' in (project / "adapters/lamps/adapter.yaml").read_text()
    checked = run("check", "--quick", str(project))
    assert checked.exit_code == 0, checked.output


def test_lines_to_paste_are_quoted(tmp_path: Path) -> None:
    document = tmp_path / "books.yaml"
    document.write_text(OPENAPI_31_YAML)
    folder = tmp_path / "my books"
    done = run("new", str(folder), "--from-openapi", str(document))
    readme = (folder / "README.md").read_text()
    for text in (done.stderr, readme):
        lines = [line.strip() for line in text.splitlines() if line.strip().startswith("orbit ")]
        assert len(lines) >= 4
        for line in lines:
            assert str(folder) in shlex.split(line), line


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / "adapters" / "shop").mkdir(parents=True)
    mine = project / "adapters" / "shop" / "questions.yaml"
    mine.write_text("mine")
    refused = run("new", str(project))
    assert refused.exit_code == 1
    told = f"{mine} is there already, and nothing was written"
    assert told in " ".join(refused.stderr.split())
    assert files_of(project) == {"adapters/shop/questions.yaml"}


def test_init_is_another_name_of_new(tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "a"), "--name", "b").exit_code == 0
    assert (tmp_path / "a" / "adapters" / "b" / "domain.yaml").is_file()


def test_a_draft_from_an_address(tmp_path: Path) -> None:
    document = SWAGGER_2_YAML.replace("host: lights.example\n", "")
    answer = reply(body=document.encode(), content_type="application/yaml")
    with serving(always(answer)) as address:
        source = f"{address}/docs/swagger.yaml"
        done = run("new", str(tmp_path), "--from-openapi", source)
    assert done.exit_code == 0, done.output
    adapter = tmp_path / "adapters" / "lights"
    assert f"${{LIGHTS_API_URL:-{address}/hue}}" in (adapter / "domain.yaml").read_text()
    host = address.removeprefix("http://")
    assert f'private_hosts: ["{host}"]' in (adapter / "adapter.yaml").read_text()


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    out = str(tmp_path / "new")
    (tmp_path / "x.yaml").write_text("title: x\n")
    missing = run("new", out, "--from-openapi", str(tmp_path / "none.yaml"))
    other = run("new", out, "--from-openapi", str(tmp_path / "x.yaml"))
    with serving(always(reply({}, status=404))) as address:
        absent = run("new", out, "--from-openapi", address)
    refused = run("new", out, "--from-openapi", address)
    nowhere = run("new")
    assert [r.exit_code for r in (missing, other, absent, refused, nowhere)] == [1, 1, 1, 1, 1]
    assert "none.yaml cannot be read: No such file or directory" in missing.stderr
    assert "is not an OpenAPI document" in other.stderr
    assert f"{address} answered 404" in absent.stderr
    assert f"{address} cannot be read" in refused.stderr
    assert "which folder?" in nowhere.stderr
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
