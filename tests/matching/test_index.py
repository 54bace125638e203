"""Vectors in a real Chroma stay in step with the library, and cost no more than they must."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from server.core.ports import Vectors
from server.errors import IndexUnavailable, ProviderUnavailable
from server.library.model import Library
from server.matching.index.store import TemplateStore, collection_name
from server.matching.index.template_index import SyncReport, TemplateIndex
from server.settings.models import VectorStoreSettings
from tests.matching.libraries import PLACES, library_of
from tests.support.fake_embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

TRAVEL = library_of(PLACES)
ALL = 15  # three templates of four examples, and what each says of itself


async def synced(
    library: Library, store: TemplateStore, embedder: FakeEmbedder, adapter: str = "travel"
) -> SyncReport:
    return await TemplateIndex(adapter, library, embedder.fingerprint, store).sync(embedder)


async def collections(store: TemplateStore) -> Mapping[str, int]:
    return await store.run(lambda c: {found.name: found.count() for found in c.list_collections()})


def with_examples(**examples: Sequence[str]) -> Library:
    return library_of({**PLACES, **examples})


async def test_an_unchanged_library_embeds_nothing(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    assert await synced(TRAVEL, store, embedder) == SyncReport(ALL, 0, 0)
    embedder.batches.clear()
    assert await synced(TRAVEL, store, embedder) == SyncReport(0, ALL, 0)
    assert embedder.batches == []


async def test_a_restart_finds_everything_where_it_was(tmp_path: Path) -> None:
    for expected in (SyncReport(ALL, 0, 0), SyncReport(0, ALL, 0)):
        store = TemplateStore(VectorStoreSettings(), tmp_path)
        assert await synced(TRAVEL, store, FakeEmbedder()) == expected
        await store.close()


async def test_a_changed_example_is_all_that_is_embedded(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    await synced(TRAVEL, store, embedder)
    embedder.batches.clear()
    changed = with_examples(weather=(*PLACES["weather"][:3], "Will it snow in Bern?"))
    assert await synced(changed, store, embedder) == SyncReport(1, ALL - 1, 1)
    assert embedder.batches == [("will it snow in bern?",)]


async def test_a_removed_template_disappears(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    await synced(TRAVEL, store, embedder)
    without = library_of({name: PLACES[name] for name in ("weather", "trains")})
    assert await synced(without, store, embedder) == SyncReport(0, 10, 5)
    assert list((await collections(store)).values()) == [10]


async def test_order_and_repetition_change_nothing(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    await synced(TRAVEL, store, embedder)
    turned = library_of({name: (*reversed(t), t[0]) for name, t in reversed(list(PLACES.items()))})
    assert await synced(turned, store, embedder) == SyncReport(0, ALL, 0)


async def test_another_encoder_or_domain_rebuilds_and_the_old_vectors_can_go(
    store: TemplateStore,
) -> None:
    first = FakeEmbedder()
    elsewhere = library_of(PLACES, domain="elsewhere")
    await synced(TRAVEL, store, first, "other")
    used = [collection_name("travel", "travel", first.fingerprint)]
    await synced(TRAVEL, store, first)
    for library, encoder in ((TRAVEL, FakeEmbedder(revision="2")), (elsewhere, first)):
        assert await synced(library, store, encoder) == SyncReport(ALL, 0, 0)
        used.append(collection_name("travel", library.domain.name, encoder.fingerprint))
    assert await store.drop_unused("travel", used) == []
    assert sorted(await store.drop_unused("travel", used[2:])) == sorted(used[:2])
    assert [store.generation(name) is None for name in used] == [True, True, False]
    kept = {used[2], collection_name("other", "travel", first.fingerprint)}
    assert set(await collections(store)) == kept


async def test_adapters_and_domains_do_not_share(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    elsewhere = library_of(PLACES, domain="elsewhere")
    assert await synced(TRAVEL, store, embedder, "one") == SyncReport(ALL, 0, 0)
    assert await synced(TRAVEL, store, embedder, "two") == SyncReport(ALL, 0, 0)
    assert await synced(elsewhere, store, embedder, "one") == SyncReport(ALL, 0, 0)
    assert list((await collections(store)).values()) == [ALL] * 3


@pytest.mark.parametrize("adapter", ["a", "été/../שלום", "x" * 100, "A.b-c_d", "--"])
async def test_any_adapter_can_have_a_collection(store: TemplateStore, adapter: str) -> None:
    assert (await synced(TRAVEL, store, FakeEmbedder(), adapter)).embedded == ALL


def test_names_that_read_alike_are_still_apart() -> None:
    named = [("a-b", "c", "d"), ("a_b", "c", "d"), ("A-b", "c", "d"), ("a-b", "cd", "")]
    assert len({collection_name(*parts) for parts in named}) == len(named)


async def test_vectors_come_back_as_they_were_made_and_in_order(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    index = TemplateIndex("travel", TRAVEL, embedder.fingerprint, store)
    await index.sync(embedder)
    made = await embedder.embed([entry.masked for entry in index.entries])
    np.testing.assert_array_equal(await index.vectors(), made)
    few = (index.ids[7], index.ids[2], index.ids[7])
    with pytest.raises(IndexUnavailable):
        await index.vectors(few)
    np.testing.assert_array_equal(await index.vectors(few[:2]), made[[7, 2]])


async def test_a_lost_vector_is_named_and_made_again(store: TemplateStore) -> None:
    embedder = FakeEmbedder()
    index = TemplateIndex("travel", TRAVEL, embedder.fingerprint, store)
    await index.sync(embedder)
    await store.run(lambda c: c.get_collection(index.name).delete(ids=[index.ids[3]]))
    with pytest.raises(IndexUnavailable, match="lost vectors"):
        await index.vectors()
    assert await index.sync(embedder) == SyncReport(1, ALL - 1, 0)
    assert len(await index.vectors()) == ALL


class Failing(FakeEmbedder):
    """Gives up after one batch."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.batches:
            raise ProviderUnavailable("gone")
        return await super().embed(texts)


async def test_what_was_embedded_before_a_failure_is_kept(
    store: TemplateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.matching.index.template_index._EMBEDDED_AT_ONCE", 6)
    with pytest.raises(ProviderUnavailable):
        await synced(TRAVEL, store, Failing())
    assert await synced(TRAVEL, store, FakeEmbedder()) == SyncReport(ALL - 6, 6, 0)


DYING = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from server.matching.index import template_index as index
    from server.matching.index.store import TemplateStore
    from tests.support.fake_embedder import FakeEmbedder
    from server.settings.models import VectorStoreSettings
    from tests.matching.libraries import PLACES, library_of

    class Dying(FakeEmbedder):
        async def embed(self, texts):
            if self.batches:
                os._exit(9)
            return await super().embed(texts)

    index._EMBEDDED_AT_ONCE = 6
    store = TemplateStore(VectorStoreSettings(), Path(sys.argv[1]))
    embedder = Dying()
    made = index.TemplateIndex("travel", library_of(PLACES), embedder.fingerprint, store)
    asyncio.run(made.sync(embedder))
    """
)


def _run_dying(folder: Path) -> int:
    command = [sys.executable, "-c", DYING, str(folder)]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": "."}).returncode


async def test_a_process_that_dies_halfway_leaves_what_can_be_repaired(tmp_path: Path) -> None:
    assert await asyncio.to_thread(_run_dying, tmp_path) == 9
    store = TemplateStore(VectorStoreSettings(), tmp_path)
    assert await synced(TRAVEL, store, FakeEmbedder()) == SyncReport(ALL - 6, 6, 0)
    await store.close()


async def test_a_template_without_examples_or_words_is_found_by_its_name(
    store: TemplateStore,
) -> None:
    bare = library_of({"cancel_my-order": ()})
    index = TemplateIndex("a", bare, "fake", store)
    assert [(entry.kind, entry.masked) for entry in index.entries] == [
        ("description", "cancel my order")
    ]


async def test_the_same_text_in_two_templates_has_two_vectors(store: TemplateStore) -> None:
    twice = library_of({"a": ("same",), "b": ("same",)})
    index = TemplateIndex("a", twice, "fake", store)
    assert len(set(index.ids)) == len(index.entries) == 4
    described = replace(twice.templates["a"], description="same")
    both = TemplateIndex("a", replace(twice, templates={"a": described}), "fake", store)
    assert len(set(both.ids)) == 2
