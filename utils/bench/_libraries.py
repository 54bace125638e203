"""Libraries made for benchmarks: nothing to run, only texts to match."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from server.core.ports import Vectors
from server.library.model import BuiltinExecution, Domain, Library, Template


def library_of(examples: Mapping[str, Sequence[str]]) -> Library:
    """One template for each name, described by its name in words."""
    return Library(
        Domain("bench"),
        {
            name: Template(
                id=name,
                description=name.replace("_", " "),
                kind="function",
                nl_examples=tuple(texts),
                parameters=(),
                execution=BuiltinExecution("calculator", "add"),
            )
            for name, texts in examples.items()
        },
    )


class MadeUpEmbedder:
    """Vectors without a model: those of one template lie about a direction of its own.

    Texts are `template abc example xyz`; anything else lies anywhere.
    """

    def __init__(self, dimensions: int = 512) -> None:
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        return "made up"

    @property
    def fingerprint(self) -> str:
        return f"made-up:{self._dimensions}"

    async def warm(self) -> None:
        return None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([self._row(text) for text in texts], np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    async def close(self) -> None:
        return None

    def _row(self, text: str) -> np.ndarray:
        words = text.split()
        own = _noise(words, self._dimensions)
        if len(words) > 1 and words[0] == "template":
            return _noise(words[:2], self._dimensions) + 0.7 * own
        return own


def code(number: int) -> str:
    """A number as three letters: digits would be masked, and longer words spell-checked."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(letters[number // 26**place % 26] for place in (2, 1, 0))


def _noise(words: Iterable[str], dimensions: int) -> np.ndarray:
    seed = int.from_bytes(" ".join(words).encode()[-16:], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)
