"""The head of a library: from a question's meaning and words to a probability of each template.

Each word and pair of neighbours, weighted by how rare it is in the library, is hashed onto a few
places of a short vector. The inner product of two such sketches is close to the cosine of the
two bags of words, and needs no vocabulary to be kept.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.text.tokens import tokens

DIMENSIONS: Final = 512
BUCKETS: Final = 1 << 16
_PLACES: Final = 8
_SCALE: Final = 1 / sqrt(_PLACES)

# Odd multipliers, one a place: multiply-shift hashing gives each word its places and
# signs from its checksum alone, the same on every machine and in every release.
_MULTIPLIERS: Final = np.array([
    0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F, 0x165667B1, 0xD3A2646D, 0xFD7046C5, 0xB55A4F09,
], np.uint32)  # fmt: skip

Rarity = NDArray[np.float32]
"""(BUCKETS,) weight of the words that fall into each bucket, 1 for the commonest."""


def rarity(texts: Sequence[str]) -> Rarity:
    """How rare words are in `texts`; a word that is in none of them is the rarest."""
    return rarity_of(count_words(texts), len(texts))


def count_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """(BUCKETS,) how many of the texts have words of each bucket."""
    counts = np.zeros(BUCKETS, np.float32)
    for text in texts:
        counts[[*{gram % BUCKETS for gram in _hashes(text)}]] += 1
    return counts


def rarity_of(counts: NDArray[np.float32], texts: int) -> Rarity:
    """The same as `rarity`, from what was counted in so many texts."""
    return np.log((1 + texts) / (1 + counts)).astype(np.float32) + np.float32(1)


def sketch_text(texts: Sequence[str], weights: Rarity) -> Vectors:
    """Return (len(texts), DIMENSIONS) float32; rows have about unit length, or none at all."""
    sketches = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in zip(sketches, texts, strict=True):
        places, shares = hashed_features(text, weights)
        row += np.bincount(places, shares, DIMENSIONS).astype(np.float32)
    return sketches


def hashed_features(text: str, weights: Rarity) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """What a text's sketch is made of: places, and what is added there; a place may recur."""
    hashes = _hashes(text)
    grams = np.array(list(dict.fromkeys(hashes)), np.uint32)
    weight = weights.take(grams % BUCKETS)
    if len(grams) < len(hashes):
        weight *= np.array([1 + log(said) for said in Counter(hashes).values()], np.float32)
    if hashes:
        weight *= _SCALE / sqrt(weight.dot(weight))
    mixed = np.multiply.outer(grams, _MULTIPLIERS)
    shares = (mixed >> 15 & 2).astype(np.float32)
    shares -= 1
    shares *= weight[:, None]
    mixed >>= 23
    return mixed.ravel(), shares.ravel()


def _hashes(text: str) -> list[int]:
    words = [word.encode() for word in tokens(text)]
    return [*map(crc32, words), *map(crc32, map(b" ".join, pairwise(words)))]


Weights = NDArray[np.float32]

_CORRECTED_SHARE: Final = 0.7
"""Weight of the reading with corrected spelling, where there are two."""


def softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """Logits to probabilities along the last axis."""
    shares: NDArray[Any] = logits - logits.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def nearest_others(
    vectors: Vectors, shown: NDArray[np.bool_] | slice = np.s_[:]
) -> NDArray[np.float32]:
    """Cosine of each of the `shown` vectors to the nearest other one; none where it is alone."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    nearest: NDArray[np.float32] = cosines.max(axis=1)[shown]
    return nearest if len(vectors) > 1 else nearest[:0]


def combine_readings(masked: NDArray[Any], corrected: NDArray[Any]) -> NDArray[Any]:
    """Probabilities by both readings; the one with corrected spelling has more to say."""
    mixed: NDArray[Any] = (1 - _CORRECTED_SHARE) * masked + _CORRECTED_SHARE * corrected
    return mixed


@dataclass(frozen=True, slots=True)
class Head:
    """Calibrated weights of each answer, the last of which is "none of these".

    `meaning` is (d, templates + 1), `words` (sketch, templates + 1): few of its rows are read.
    """

    meaning: Weights
    words: Weights
    bias: NDArray[np.float32]
    rarity: Rarity

    @property
    def size(self) -> int:
        return int(self.meaning.size)

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        shares = []
        # One by one: a product with two rows of a large library takes longer than two with one.
        for vector, text in zip(vectors, texts, strict=True):
            places, weights = hashed_features(text, self.rarity)
            logits = vector.dot(self.meaning)
            logits += self.bias
            logits += weights.dot(self.words.take(places, axis=0))
            shares.append(softmax(logits))
        return shares[0] if len(shares) == 1 else combine_readings(*shares)
