"""How near single words are in meaning to those of a library, by its own encoder."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.matching.index.template_index import digest_of
from server.storage.arrays import ArrayStore

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

    def __init__(
        self,
        vectors: Vectors,
        places: Mapping[str, int],
        telling: Callable[[str], Sequence[str]],
    ) -> None:
        """`places` are the rows of the words; `telling` gives the words of a template."""
        self._vectors, self._places, self._telling = vectors, places, telling

    @classmethod
    async def learn(
        cls, words: Mapping[str, Sequence[str]], embedder: Embedder, kept: ArrayStore, name: str
    ) -> Self:
        """Embed the words of each template, or read what was embedded before.

        Raises:
            ProviderError: a word could not be embedded.
            NotKept: they were not embedded before, and are not to be now.
        """
        every = {word for some in words.values() for word in some}
        return await cls.learn_words(
            sorted(every), lambda each: words.get(each, ()), embedder, kept, name
        )

    @classmethod
    async def learn_words(
        cls,
        words: Iterable[str],
        telling: Callable[[str], Sequence[str]],
        embedder: Embedder,
        kept: ArrayStore,
        name: str,
    ) -> Self:
        """The same for `words` of which the first are embedded, and `telling` those of one."""
        every = list(islice(words, _MOST_WORDS))
        key = digest_of((embedder.fingerprint, *every))
        vectors = (await kept.read(f"{name}.words", key) or {}).get("vectors")
        if vectors is None or len(vectors) != len(every):
            kept.check_may_make()
            vectors = await embedder.embed(every) if every else np.zeros((0, 1), np.float32)
            await kept.write(f"{name}.words", key, vectors=vectors)
        return cls(vectors, {word: place for place, word in enumerate(every)}, telling)

    def near(self, vectors: Vectors, template: str) -> list[Nearness]:
        """Return how near each of the vectors (n, d) is to a template's words, and to others'."""
        words = self._telling(template)
        if not len(self._vectors) or not words:
            return [Nearness(0.0, 0.0) for _ in vectors]
        mask = np.zeros(len(self._vectors), np.bool_)
        mask[[self._places[w] for w in words if w in self._places]] = True
        cosines = vectors @ self._vectors.T
        own = cosines[:, mask].max(axis=1, initial=0.0)
        other = cosines[:, ~mask].max(axis=1, initial=0.0)
        return [Nearness(float(a), float(b)) for a, b in zip(own, other, strict=True)]
