"""Servers on one PostgreSQL, each with a folder of its own: what one leaves to the next."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.process import Server
from tests.support.chroma import chroma_server
from tests.support.configuring import adapter, configure, write_library
from tests.support.postgresql import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SECRET = "the secret of one installation, as it is mounted"
OTHER = "the secret of another one, which has nothing to do here"


def replica(folder: Path, name: str, url: str, chroma_port: int, secret: str = SECRET) -> Server:
    """A server with an empty folder, and files as they are deployed to each."""
    place = folder / name
    library = write_library(place / "library")
    (place / "mounted").write_text(secret)
    configure(
        place,
        [adapter("sums", library)],
        access={"database_url": url, "secret_file": str(place / "mounted")},
        vector_store={"mode": "server", "host": "127.0.0.1", "port": chroma_port},
    )
    return Server(place / "config.yaml", place / "data")


async def details_of(server: Server) -> dict[str, Any]:
    """What it says of its adapter when that is open; the server ends."""
    server.start()
    try:
        assert await server.ready(), server.said()
        return details(server)
    finally:
        server.stop()


def details(server: Server) -> dict[str, Any]:
    (row,) = httpx.get(f"{server.url}/ready", timeout=10).json()["adapters"]
    return {name: row["details"][name] for name in ("embedded", "reused", "head")}


async def test_what_one_learnt_the_next_reads_and_needs_no_vector_store_for_it(
    postgresql_url: str, tmp_path: Path
) -> None:
    with chroma_server(tmp_path / "chroma") as (port, _):
        first = await details_of(replica(tmp_path, "one", postgresql_url, port))
    second = await details_of(replica(tmp_path, "two", postgresql_url, port))
    assert first == {"embedded": 8, "reused": 0, "head": "learnt"}
    assert second == {"embedded": 0, "reused": 8, "head": "read"}


async def test_one_with_another_secret_does_not_start(postgresql_url: str, tmp_path: Path) -> None:
    with chroma_server(tmp_path / "chroma") as (port, _):
        await details_of(replica(tmp_path, "one", postgresql_url, port))
    stranger = replica(tmp_path, "two", postgresql_url, port, OTHER)
    stranger.start()
    assert stranger.process is not None
    assert stranger.process.wait(60) == 1
    said = stranger.said()
    assert "is used with another secret, first by process " in said
    assert str(tmp_path / "two" / "mounted") in said
    assert [each for each in (SECRET, OTHER, PASSWORD) if each in said] == []
