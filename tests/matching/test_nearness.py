"""How near words are in meaning to those of a library, by the real encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from server.core.ports import Embedder, Vectors
from server.extraction.extractor import Extractor
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.matching.nearness import LibraryVectors, Nearness
from server.storage.arrays import ArrayStore
from tests.matching.libraries import PLACES, library_of

pytestmark = pytest.mark.anyio

TELLING = {"weather": ("rain", "forecast", "warm"), "trains": ("train", "platform")}


class Counting:
    """The real encoder, and how many texts it was given."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self.fingerprint = encoder.fingerprint
        self.name = encoder.name
        self.texts = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return await self._encoder.embed(texts)

    async def warm(self) -> None:
        await self._encoder.warm()

    async def close(self) -> None:
        """The real one belongs to the fixture."""


async def test_a_word_is_nearest_to_the_template_it_means(
    encoder: Embedder, tmp_path: Path
) -> None:
    learnt = await LibraryVectors.learn(TELLING, encoder, ArrayStore(tmp_path), "travel")
    asked = await encoder.embed(["rainfall", "train"])
    rainfall, train = learnt.near(asked, "weather")
    assert rainfall.own > rainfall.other
    assert train.other == pytest.approx(1.0, abs=1e-3)
    assert learnt.near(asked, "trains")[1].own == pytest.approx(1.0, abs=1e-3)


async def test_words_are_embedded_once(encoder: Embedder, tmp_path: Path) -> None:
    first, again = Counting(encoder), Counting(encoder)
    learnt = await LibraryVectors.learn(TELLING, first, ArrayStore(tmp_path), "travel")
    read = await LibraryVectors.learn(TELLING, again, ArrayStore(tmp_path), "travel")
    assert (first.texts, again.texts) == (5, 0)
    asked = await encoder.embed(["snow"])
    assert learnt.near(asked, "weather") == read.near(asked, "weather")


async def test_other_words_are_embedded_anew(encoder: Embedder, tmp_path: Path) -> None:
    await LibraryVectors.learn(TELLING, encoder, ArrayStore(tmp_path), "travel")
    counting = Counting(encoder)
    await LibraryVectors.learn(
        {"weather": ("rain", "snow")}, counting, ArrayStore(tmp_path), "travel"
    )
    assert counting.texts == 2


async def test_nothing_is_near_a_template_without_words(encoder: Embedder, tmp_path: Path) -> None:
    asked = await encoder.embed(["rain", "snow"])
    empty = await LibraryVectors.learn({}, encoder, ArrayStore(tmp_path), "none")
    assert empty.near(asked, "weather") == [Nearness(0.0, 0.0)] * 2
    learnt = await LibraryVectors.learn(TELLING, encoder, ArrayStore(tmp_path), "travel")
    assert learnt.near(asked, "hotels") == [Nearness(0.0, 0.0)] * 2


async def test_one_template_alone_has_no_others(encoder: Embedder, tmp_path: Path) -> None:
    alone = await LibraryVectors.learn({"weather": ("rain",)}, encoder, ArrayStore(tmp_path), "one")
    (rain,) = alone.near(await encoder.embed(["rain"]), "weather")
    assert (round(rain.own, 3), rain.other) == (1.0, 0.0)


async def test_leaving_out_a_word_that_does_not_belong_brings_a_question_nearer(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    library = library_of(PLACES)
    extractor = Extractor(library.domain)
    extractor.prepare(tuple(library.templates.values()))
    matcher = await Matcher.open(
        "travel", library, encoder, store, state_dir=tmp_path, telling=extractor.telling_words()
    )
    text = "Give me the forecast for New York telepathically"
    found = await matcher.nearness(text, ["telepathically", "forecast"], ["weather"])
    words = found["weather"]
    assert words["telepathically"].without > 0 > words["forecast"].without
    assert words["forecast"].own > words["telepathically"].own
    assert all(isinstance(one.own, float) and np.isfinite(one.own) for one in words.values())
