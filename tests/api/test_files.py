"""Files of a library over HTTP: shown, checked, tried and saved, or left as they were."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.adapters import manager, watch
from server.adapters.build import build_adapter
from server.settings.models import Settings
from tests.e2e.test_reloading import SUMS, Server, serving
from tests.support.audit import audited
from tests.support.configuring import NOW, PERCENTAGE, adapter, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TIME = "What time is it?"
QUESTIONS = {
    "questions": [
        {"ask": "what is 12% of 50", "template": "calculate_percentage"},
        {"ask": TIME, "template": "current_time"},
    ]
}
FILES = ["sums/domain.yaml", "sums/tools.yaml", "sums/questions.yaml"]
TOOLS = "sums/tools.yaml"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    (library / "questions.yaml").write_text(yaml.safe_dump(QUESTIONS))
    async with serving(tmp_path, adapter("sums", library)) as found:
        yield found


async def call(
    server: Server, method: str, path: str = "", body: Any = None, name: str = "sums"
) -> httpx.Response:
    return await server.client.request(
        method,
        f"/admin/adapters/{name}/{path}".rstrip("/"),
        json=body,
        headers={"X-API-Key": server.admin},
    )


async def version(server: Server, file: str = TOOLS) -> str:
    found = await call(server, "GET", f"files/content?id={file}")
    return str(found.json()["version"])


def written(*templates: Mapping[str, Any]) -> str:
    return "# mine\n" + yaml.safe_dump({"templates": list(templates)})


async def save(server: Server, text: str, **more: Any) -> httpx.Response:
    row = {"id": TOOLS, "text": text, "version": await version(server)} | more
    return await call(server, "PUT", "files", {"changes": [row]})


def on_disk(server: Server) -> dict[str, bytes]:
    return {file: (server.folder / file).read_bytes() for file in FILES}


async def test_the_files_of_an_adapter_are_listed_and_shown_as_written(server: Server) -> None:
    tools = server.folder / TOOLS
    tools.write_text(tools.read_text().replace("percentage of", "${HOME} of"))
    listed = (await call(server, "GET", "files")).json()["files"]
    assert [(row["id"], row["kind"], row["writable"]) for row in listed] == [
        ("sums/domain.yaml", "domain", True),
        (TOOLS, "templates", True),
        ("sums/questions.yaml", "questions", True),
    ]
    shown = await call(server, "GET", f"files/content?id={TOOLS}")
    assert shown.json()["text"] == tools.read_text()
    assert "${HOME} of" in shown.json()["text"]
    assert shown.json()["version"] == listed[1]["version"]
    assert shown.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "file",
    [
        "config.yaml",
        "../secret.yaml",
        "sums/../config.yaml",
        "data/secret",
        "/etc/passwd",
        "sums/tools.yaml\x00",
        "",
    ],
)
async def test_no_other_file_is_shown_checked_or_written(server: Server, file: str) -> None:
    before = on_disk(server)
    shown = await server.client.get(
        "/admin/adapters/sums/files/content",
        params={"id": file},
        headers={"X-API-Key": server.admin},
    )
    row = {"id": file, "text": "a: 1"}
    checked = await call(server, "POST", "files/check", {"changes": [row]})
    saved = await call(server, "PUT", "files", {"changes": [row | {"version": "0"}]})
    for response in (shown, checked, saved):
        assert (response.status_code, response.json()["error"]["code"]) == (404, "file_unknown")
    assert on_disk(server) == before


async def test_a_link_is_shown_and_never_written(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    real = tmp_path / "elsewhere.yaml"
    (library / "tools.yaml").rename(real)
    (library / "tools.yaml").symlink_to(real)
    async with serving(tmp_path, adapter("sums", library)) as server:
        rows = (await call(server, "GET", "files")).json()["files"]
        assert [row.get("why") for row in rows] == [None, "it is a link to another file"]
        before = real.read_bytes()
        refused = await save(server, written(PERCENTAGE, NOW))
        assert refused.json()["error"]["code"] == "file_not_writable"
        assert (real.read_bytes(), (library / "tools.yaml").is_symlink()) == (before, True)


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("templates:\n  - id: [a\n", "yaml-syntax", 3),
        ("templates:\n  - id: a\n    nl_exmaples: [x]\n", "unknown-key", 3),
        (written({**PERCENTAGE, "tool_operation": "percent"}), "unknown-operation", None),
        (
            "a: &a [x, x]\n"
            + "".join(f"{n}: &{n} [{', '.join(['*' + p] * 9)}]\n" for p, n in pairwise("abcdefgh")),
            "alias-bomb",
            None,
        ),
        ("[" * 3000, "too-large", 1),
        ("", "empty-library", None),
    ],
)
async def test_a_draft_is_checked_beside_what_runs(
    server: Server, text: str, rule: str, line: int | None
) -> None:
    before = on_disk(server)
    found = await call(server, "POST", "files/check", {"changes": [{"id": TOOLS, "text": text}]})
    rows = [row for row in found.json()["problems"] if row["rule"] == rule]
    assert rows
    assert (rows[0]["id"], rows[0]["kind"]) == (TOOLS, "error")
    assert line is None or rows[0]["line"] == line
    assert on_disk(server) == before
    assert await server.ask(SUMS) == "5% of 80 is **4**"
    refused = await save(server, text)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "files_refused")
    assert any(row["kind"] == rule for row in refused.json()["error"]["details"])
    assert on_disk(server) == before
    assert not (server.folder / "data" / "backups").exists()


async def test_a_hint_says_what_mends_a_problem(server: Server) -> None:
    text = written(PERCENTAGE).replace("nl_examples", "nl_exmaples")
    found = await call(server, "POST", "files/check", {"changes": [{"id": TOOLS, "text": text}]})
    hints = [row.get("hint") for row in found.json()["problems"]]
    assert "write 'nl_examples' for 'nl_exmaples'" in hints


async def test_a_draft_is_tried_beside_what_runs(server: Server) -> None:
    before = on_disk(server)
    index = server.folder / "data"
    kept = sorted(path.name for path in index.iterdir())
    draft = {"changes": [{"id": TOOLS, "text": written(PERCENTAGE, NOW)}]}
    tried = (await call(server, "POST", "files/try", draft)).json()
    assert tried["counts"] == {"asked": 2, "broken": 0, "fixed": 1, "changed": 0, "same": 1}
    (change,) = tried["changed"]
    assert (change["ask"], change["kind"]) == (TIME, "fixed")
    assert change["before"]["decision"] == "declined"
    assert change["after"]["template"] == "current_time"
    own = {"questions": [{"ask": SUMS}, {"ask": "current time please"}]}
    tried = (await call(server, "POST", "files/try", draft | own)).json()
    assert [(row["ask"], row["kind"]) for row in tried["changed"]] == [
        ("current time please", "changed"),
        (SUMS, "same"),
    ]
    same = tried["changed"][1]
    assert same["before"]["template"] == same["after"]["template"] == "calculate_percentage"
    assert tried["counts"] == {"asked": 2, "broken": 0, "fixed": 0, "changed": 1, "same": 1}
    assert "nearest" in await server.ask(TIME)
    assert on_disk(server) == before
    assert sorted(path.name for path in index.iterdir()) == kept
    unusable = {"changes": [{"id": TOOLS, "text": "templates: ["}]}
    tried = (await call(server, "POST", "files/try", unusable)).json()
    assert (tried["tried"], tried["changed"]) == (False, [])
    assert tried["problems"][0]["id"] == TOOLS


async def test_one_draft_is_tried_at_a_time(server: Server) -> None:
    draft = {"changes": [{"id": TOOLS, "text": written(PERCENTAGE, NOW)}]}
    first, second, answer = await asyncio.gather(
        call(server, "POST", "files/try", draft),
        call(server, "POST", "files/try", draft),
        server.ask(SUMS),
    )
    assert sorted([first.status_code, second.status_code]) == [200, 409]
    busy = first if first.status_code == 409 else second
    assert busy.json()["error"]["code"] == "draft_busy"
    assert answer == "5% of 80 is **4**"
    assert (await call(server, "POST", "files/try", draft)).status_code == 200


async def test_what_is_saved_answers_and_leaves_a_backup(server: Server) -> None:
    tools = server.folder / TOOLS
    tools.chmod(0o640)
    before, text = tools.read_bytes(), written(PERCENTAGE, NOW)
    saved = await save(server, text)
    assert (saved.status_code, saved.json()["state"]) == (200, "ready")
    assert tools.read_text() == text
    assert tools.stat().st_mode & 0o777 == 0o640
    assert saved.json()["versions"] == {TOOLS: await version(server)}
    backup = Path(saved.json()["backup"])
    assert backup.parent == server.folder / "data" / "backups" / "sums"
    assert (backup / TOOLS).read_bytes() == before
    assert os.stat(backup).st_mode & 0o077 == 0
    assert "nearest" not in await server.ask(TIME)


async def test_what_somebody_else_changed_is_not_written_over(server: Server) -> None:
    tools, old = server.folder / TOOLS, await version(server)
    tools.write_text(written(PERCENTAGE) + "# theirs\n")
    refused = await save(server, written(PERCENTAGE, NOW), version=old)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (409, "file_changed")
    assert error["details"] == [{"id": TOOLS, "version": await version(server)}]
    assert tools.read_text().endswith("# theirs\n")


async def test_of_two_that_save_at_once_one_learns_of_the_other(server: Server) -> None:
    texts = [written(PERCENTAGE, NOW) + f"# {who}\n" for who in "ab"]
    row = {"id": TOOLS, "version": await version(server)}
    done = await asyncio.gather(
        *(call(server, "PUT", "files", {"changes": [row | {"text": text}]}) for text in texts)
    )
    codes = [response.status_code for response in done]
    assert sorted(codes) == [200, 409]
    assert (server.folder / TOOLS).read_text() == texts[codes.index(200)]


async def test_a_file_keeps_its_line_breaks_and_its_mark(server: Server) -> None:
    tools = server.folder / TOOLS
    tools.write_bytes(b"\xef\xbb\xbf" + written(PERCENTAGE).replace("\n", "\r\n").encode())
    shown = (await call(server, "GET", f"files/content?id={TOOLS}")).json()["text"]
    assert shown.startswith("# mine\r\n")
    assert (await save(server, shown.replace("\r\n", "\n"))).status_code == 200
    assert tools.read_bytes() == b"\xef\xbb\xbf" + shown.encode()


async def test_a_full_disk_changes_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = "sums/domain.yaml"
    before, written_so_far = on_disk(server), list[int]()

    def full(descriptor: int) -> None:
        written_so_far.append(descriptor)
        if len(written_so_far) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("server.adapters.authored.os.fsync", full)
    rows = [
        {"id": TOOLS, "text": written(PERCENTAGE, NOW), "version": await version(server)},
        {
            "id": domain,
            "text": (server.folder / domain).read_text() + "# more\n",
            "version": await version(server, domain),
        },
    ]
    refused = await call(server, "PUT", "files", {"changes": rows})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (503, "files_unwritable")
    assert error["message"].endswith("are as they were: No space left on device")
    assert on_disk(server) == before
    assert sorted(os.listdir(server.folder / "sums")) == [
        "domain.yaml",
        "questions.yaml",
        "tools.yaml",
    ]
    assert "nearest" in await server.ask(TIME)


async def test_what_cannot_be_reloaded_is_put_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = on_disk(server)

    async def broken(*args: Any, **options: Any) -> Any:
        from server.errors import ProviderUnavailable

        raise ProviderUnavailable("the encoder is down")

    monkeypatch.setattr(manager, "build_adapter", broken)
    refused = await save(server, written(PERCENTAGE, NOW))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "provider_unavailable")
    assert on_disk(server) == before
    status = (await call(server, "GET")).json()
    assert status["state"] == "ready"
    assert "not_reloaded" not in status["details"]
    monkeypatch.setattr(manager, "build_adapter", build_adapter)
    assert await server.ask(SUMS) == "5% of 80 is **4**"
    assert (await save(server, written(PERCENTAGE, NOW))).status_code == 200


async def test_an_error_that_was_there_before_keeps_nobody_from_mending_others(
    tmp_path: Path,
) -> None:
    broken = {**NOW, "id": "broken", "tool_operation": "later"}
    library = write_library(tmp_path / "sums", [PERCENTAGE, broken])
    async with serving(tmp_path, adapter("sums", library)) as server:
        assert (await save(server, written(PERCENTAGE, NOW, broken))).status_code == 200
        assert "nearest" not in await server.ask(TIME)
        worse = await save(server, written(PERCENTAGE, broken, {**broken, "id": "another"}))
        assert worse.status_code == 409
        assert len(worse.json()["error"]["details"]) == 1
        assert worse.json()["error"]["details"][0]["id"] == TOOLS


async def test_an_adapter_that_could_not_be_opened_is_mended(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [{**PERCENTAGE, "tool_operation": "percent"}])
    async with serving(tmp_path, adapter("sums", library)) as server:
        draft = {"changes": [{"id": TOOLS, "text": written(PERCENTAGE)}]}
        assert (await call(server, "POST", "files/check", draft)).json() == {"problems": []}
        tried = await call(server, "POST", "files/try", draft)
        assert tried.json()["error"]["code"] == "adapter_unavailable"
        assert (await save(server, written(PERCENTAGE))).status_code == 200
        assert await server.ask(SUMS) == "5% of 80 is **4**"


async def test_a_guard_pack_of_all_adapters_is_among_the_files(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    pack = tmp_path / "guard.yaml"
    pack.write_text("name: g\ncategories:\n  x: {patterns: [qqq], response: No.}\n")
    async with serving(tmp_path, adapter("sums", library), guards={"packs": [str(pack)]}) as server:
        rows = (await call(server, "GET", "files")).json()["files"]
        assert [(row["id"], row["kind"]) for row in rows][-1] == ("guard.yaml", "guards")
        row = {"id": "guard.yaml", "version": await version(server, "guard.yaml")}
        text = pack.read_text().replace("qqq", "'80'")
        saved = await call(server, "PUT", "files", {"changes": [row | {"text": text}]})
        assert saved.status_code == 200
        assert await server.ask(SUMS) == "No."


async def test_who_has_no_library_has_no_files(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    both = {
        "name": "both",
        "implementation": "retrievers.implementations.intent.IntentCompositeRetriever",
        "config": {"child_adapters": ["sums"]},
    }
    async with serving(tmp_path, adapter("sums", library), both) as server:
        assert (await call(server, "GET", "files", name="both")).json() == {"files": []}
        refused = await call(server, "POST", "files/check", {"changes": []}, name="both")
        assert refused.status_code == 400
        assert refused.json()["error"]["message"].endswith("name one behind it: sums")


async def test_adapters_that_share_a_file_are_all_reloaded(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    rows = adapter("sums", library), adapter("twin", library)
    async with serving(tmp_path, *rows) as server:
        assert (await save(server, written(PERCENTAGE, NOW))).status_code == 200
        twin = (await call(server, "GET", name="twin")).json()
        assert twin["details"]["templates"] == 2


async def test_a_save_is_one_reload_for_whoever_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_WATCHING_S", 0.02)
    said: list[str] = []
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    async with serving(tmp_path, adapter("sums", library), said=said) as server:
        opened: list[str] = []

        async def slow(*args: Any, **options: Any) -> Any:
            opened.append(args[0].name)
            await asyncio.sleep(0.3)
            return await build_adapter(*args, **options)

        monkeypatch.setattr(manager, "build_adapter", slow)
        assert (await save(server, written(PERCENTAGE, NOW))).status_code == 200
        await asyncio.sleep(0.3)
        assert (opened, said) == (["sums"], [])


async def test_a_huge_text_is_refused_before_it_is_read(server: Server) -> None:
    refused = await save(server, "# " + "x" * 300_000)
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "files", None),
        ("GET", f"files/content?id={TOOLS}", None),
        ("POST", "files/check", {"changes": []}),
        ("POST", "files/try", {"changes": []}),
        ("PUT", "files", {"changes": []}),
        ("POST", "library/changes", {"changes": []}),
    ],
)
async def test_files_are_for_authors_alone(
    server: Server, method: str, path: str, body: Any
) -> None:
    url = f"/admin/adapters/sums/{path}"
    far = {"X-API-Key": server.admin, "X-Forwarded-For": "192.0.2.7"}
    refused = await server.client.request(method, url, json=body, headers=far)
    assert refused.json()["error"]["code"] == "authoring_off"
    refused = await server.client.request(method, url, json=body, headers={"X-API-Key": server.key})
    assert refused.json()["error"]["code"] == "key_foreign"
    unknown = await call(server, method, path, {"changes": [{}]} if body else None, name="none")
    assert unknown.status_code in (404, 422)


async def test_saves_are_audited_without_their_texts(server: Server) -> None:
    old = await version(server)
    assert (await save(server, written(PERCENTAGE, NOW))).status_code == 200
    rows = audited(Settings(data_dir=server.folder / "data"), tool="files")
    assert [(row["operation"], row["outcome"]) for row in rows] == [
        ("save", "started"),
        ("save", "success"),
    ]
    assert rows[0]["arguments"] == {
        "files": {TOOLS: {"before": old, "after": await version(server)}}
    }
