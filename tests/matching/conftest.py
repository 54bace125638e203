"""A library small enough to read, a store in a fresh folder, and the real encoder."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from server.core.ports import Embedder
from server.matching.index.store import TemplateStore
from server.providers.embeddings.local import LocalEmbedder
from server.settings.models import VectorStoreSettings


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[TemplateStore]:
    opened = TemplateStore(VectorStoreSettings(), tmp_path)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def encoder() -> Iterator[Embedder]:
    """The default encoder; loading it takes a second, so all tests share one."""
    loaded = LocalEmbedder()
    yield loaded
    asyncio.run(loaded.close())
