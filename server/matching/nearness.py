"""How near single words are in meaning to those of a library, by its own encoder."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.matching.index.template_index import digest_of, read_arrays, write_arrays

_MOST_WORDS: Final = 20_000


class Nearness(NamedTuple):
    """Cosines of a word to the nearest word of a template, and of the library's other templates.

    `without` is how much nearer the question is to the template when the word is left out.
    """

    own: float
    other: float
    without: float = 0.0


class LibraryVectors:
    """Vectors of the telling words of each template."""

    def __init__(self, vectors: Vectors, places: Mapping[str, Sequence[int]]) -> None:
        self._vectors = vectors
        self._own: dict[str, np.ndarray] = {}
        for template, members in places.items():
            mask = np.zeros(len(vectors), np.bool_)
            mask[list(members)] = True
            self._own[template] = mask

    @classmethod
    async def learn(
        cls, words: Mapping[str, Sequence[str]], embedder: Embedder, state_dir: Path, name: str
    ) -> Self:
        """Embed the words of each template, or read what was embedded before.

        Raises:
            ProviderError: a word could not be embedded.
        """
        every = sorted({word for some in words.values() for word in some})[:_MOST_WORDS]
        places = {word: place for place, word in enumerate(every)}
        key, path = digest_of((embedder.fingerprint, *every)), state_dir / f"{name}.words.npz"
        stored = await asyncio.to_thread(read_arrays, path, key)
        vectors = (stored or {}).get("vectors")
        if vectors is None or len(vectors) != len(every):
            vectors = await embedder.embed(every) if every else np.zeros((0, 1), np.float32)
            await asyncio.to_thread(write_arrays, path, key, vectors=vectors)
        owned = {
            template: [places[word] for word in some if word in places]
            for template, some in words.items()
        }
        return cls(vectors, owned)

    def near(self, vectors: Vectors, template: str) -> list[Nearness]:
        """Return how near each of the vectors (n, d) is to a template's words, and to others'."""
        if not len(self._vectors) or template not in self._own:
            return [Nearness(0.0, 0.0) for _ in vectors]
        cosines, mask = vectors @ self._vectors.T, self._own[template]
        own = cosines[:, mask].max(axis=1, initial=0.0)
        other = cosines[:, ~mask].max(axis=1, initial=0.0)
        return [Nearness(float(a), float(b)) for a, b in zip(own, other, strict=True)]
