"""Chroma in the process and Chroma on a server, and what is said when neither answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from server.errors import IndexUnavailable
from server.matching.index.store import TemplateStore
from server.matching.index.template_index import SyncReport, TemplateIndex
from server.matching.matcher import Matcher
from server.settings.models import VectorStoreSettings
from tests.matching.libraries import PLACES, library_of
from tests.support.chroma import chroma_server
from tests.support.fake_embedder import FakeEmbedder
from tests.support.ports import free_port

pytestmark = pytest.mark.anyio

TRAVEL = library_of(PLACES)


@pytest.fixture(scope="module")
def chroma_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with chroma_server(tmp_path_factory.mktemp("chroma")) as (port, _):
        yield port


def on_server(port: int, tmp_path: Path, **more: object) -> TemplateStore:
    given = {"mode": "server", "host": "127.0.0.1", "port": port, **more}
    return TemplateStore(VectorStoreSettings.model_validate(given), tmp_path)


async def test_a_server_keeps_vectors_between_clients(chroma_port: int, tmp_path: Path) -> None:
    for expected in (SyncReport(15, 0, 0), SyncReport(0, 15, 0)):
        store = on_server(chroma_port, tmp_path, headers={"X-Token": "t"})
        embedder = FakeEmbedder()
        index = TemplateIndex("kept", TRAVEL, embedder.fingerprint, store)
        assert await index.sync(embedder) == expected
        assert (await index.vectors()).shape == (15, 64)
        await store.close()
    assert not (tmp_path / "chroma").exists()


async def test_on_a_server_the_vectors_of_another_encoder_stay(
    chroma_port: int, tmp_path: Path
) -> None:
    store = on_server(chroma_port, tmp_path)
    for revision in ("1", "2", "1"):
        embedder = FakeEmbedder(revision=revision)
        report = await TemplateIndex("both", TRAVEL, embedder.fingerprint, store).sync(embedder)
    assert report == SyncReport(0, 15, 0)
    await store.close()


async def test_a_server_answers_questions_as_memory_does(chroma_port: int, tmp_path: Path) -> None:
    store, embedder = on_server(chroma_port, tmp_path), FakeEmbedder()
    answers = [
        await (
            await Matcher.open(
                "asked", TRAVEL, embedder, store, search=search, state_dir=tmp_path / "heads"
            )
        ).rank("is there a train to Rome", limit=2)
        for search in ("chroma", "resident")
    ]
    assert answers[0] == answers[1]
    await store.close()


async def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    port = free_port()
    store = on_server(port, tmp_path)
    with pytest.raises(IndexUnavailable, match=f"ChromaDB at 127.0.0.1:{port} cannot be opened"):
        await store.warm()
    await store.close()


async def test_a_server_that_goes_away_is_named(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "served") as (port, server):
        store = on_server(port, tmp_path)
        await store.warm()
        server.terminate()
        server.wait()
        with pytest.raises(IndexUnavailable, match="cannot be used"):
            await store.run(lambda client: client.list_collections())
    await store.close()


async def test_a_key_for_the_server_is_in_no_message(tmp_path: Path) -> None:
    store = on_server(free_port(), tmp_path, headers={"X-Token": SecretStr("hush")})
    with pytest.raises(IndexUnavailable) as failed:
        await store.warm()
    assert "hush" not in str(failed.value)
    await store.close()


async def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("in the way")
    store = TemplateStore(VectorStoreSettings(), tmp_path)
    with pytest.raises(IndexUnavailable, match="cannot be opened"):
        await store.warm()
    await store.close()


async def test_closing_twice_or_unopened_is_fine(tmp_path: Path) -> None:
    store = TemplateStore(VectorStoreSettings(), tmp_path)
    await store.close()
    await store.close()
