"""What docs/python.md shows runs as it stands there, and prints what it says."""

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, get_args

import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.client import Client, Outcome
from server.settings.models import Settings
from tests.support.api import running, served_on_loopback
from tests.support.configuring import adapter, configure, write_library
from tests.support.sql_shop import DOMAIN, TEMPLATES, make_shop

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SAID = re.compile(r"^\s*print\(.*\)  # (.+)$", re.MULTILINE)
SECRET = "a secret that the gateway and the server share"
ADDRESS = "http://127.0.0.1:8000"


def write_shop(folder: Path, **sections: Any) -> Settings:
    folder.mkdir(exist_ok=True)
    shop = adapter(
        "shop",
        write_library(folder / "library", TEMPLATES, DOMAIN),
        implementation="retrievers.implementations.intent.IntentSQLRetriever",
        database=str(make_shop(folder / "shop.db")),
    )
    return configure(folder, [shop], **sections).settings


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str, str]]:
    """A shop on loopback, in a thread of its own: its address, a key, and that of a gateway."""
    told = asyncio.Queue[Any]()
    loop, end = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        before = write_shop(folder)
        store = await KeyStore.open(before.database_url, before.secret_path)
        (key, _), (gate, record) = [await store.create(NewKey("shop")) for _ in range(2)]
        await store.close()
        (folder / "shop.db").unlink()
        gateway = {"secret": SECRET, "keys": [record.key_id]}
        settings = write_shop(folder, access={"gateway": gateway})
        async with running(settings, {}) as app, served_on_loopback(app) as url:
            await app.state.api.adapters.every_one_tried()
            await told.put((url, key, gate))
            await end.wait()

    thread = Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    yield asyncio.run_coroutine_threadsafe(told.get(), loop).result(60)
    loop.call_soon_threadsafe(end.set)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    with served(tmp_path_factory.mktemp("served") / "shop") as address:
        yield address


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().splitlines()[-1].strip())
def test_a_block_prints_what_it_says(
    block: str,
    shop: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, key, gate = shop
    write_shop(tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORBIT_URL", url)
    monkeypatch.setenv("ORBIT_API_KEY", key)
    monkeypatch.setenv("GATEWAY_KEY", gate)
    monkeypatch.setenv("GATEWAY_SECRET", SECRET)
    source = block.replace(f'"{ADDRESS}", key="agent"', f'"{url}", key="{key}"')
    code = compile(source, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "docs"}
    ended = eval(code, names)
    if inspect.iscoroutine(ended):
        asyncio.run(ended)
    assert capsys.readouterr().out.splitlines() == SAID.findall(block)
    assert SAID.search(block)


def test_the_tables_name_all_there_is() -> None:
    client = PAGE.split("\n## A client\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", client, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)\(", row)}
    assert named == {name for name in vars(Client) if not name.startswith("_")} | {"aclose"}
    answers = PAGE.split("\n## Answers\n")[1].split("\n## ")[0]
    outcomes = re.findall(r"^\| (`.+?) \|", answers.split("| `outcome` | |")[1], re.MULTILINE)
    named = {name for row in outcomes for name in re.findall(r"`(\w+)`", row)}
    assert named == set(get_args(Outcome))
