"""Templates without examples: how likely it is that a question means one, by its description.

Without example questions there is nothing to train on. Three features are left: how similar
the question is to the description in meaning, and how much of the template's name and of its
description it repeats. One logistic regression over them holds for every library.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.core.stems import stem
from server.library.model import Template
from server.text.tokens import word_set

# Fitted on function-calling questions, each with its own function and with another one, and on
# questions of whole libraries. Similarity is counted in standard deviations over everyday
# sentences, so that the weights hold for any library; two questions in three are assumed to
# be for the library.
_SIMILARITY: Final = 0.55
_NAME: Final = 2.9
_DESCRIPTION: Final = 2.15
_BIAS: Final = -4.0

_CORRECTED_SHARE: Final = 0.7
"""Weight of the reading with corrected spelling, where there are two."""
_LEAST_SPREAD: Final = 1e-3
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CAMEL_CASE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STOP_WORDS: Final = word_set(
    "the of to in is it an and or for on at by from with as be are was this that these those can "
    "which what who how when where will would should could do does did has have had not no if but "
    "me my you your we our us its their his her them they he she there here than then so such "
    "any all each some one into about over under between within using used use given"
)

Postings = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""For each word, the templates that contain it and its share of their total word weight."""


def stems(text: str) -> frozenset[str]:
    """Stems of the words of a text or an identifier, without stop words."""
    spaced = _CAMEL_CASE.sub(" ", text).replace("_", " ").lower()
    return frozenset(stem(word) for word in _WORD.findall(spaced) if word not in _STOP_WORDS)


class ZeroShotHead:
    """Scores templates by their descriptions alone.

    `vectors` are those of the descriptions, (n, d), rows of unit length. `negatives` are
    everyday sentences that mean no template, with their vectors; they show how similar any
    question is to a description by chance.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        vectors: Vectors,
        negatives: Sequence[str],
        negative_vectors: Vectors,
    ) -> None:
        by_chance = negative_vectors @ vectors.T
        self._vectors = vectors
        self._mean = by_chance.mean(axis=0)
        self._spread = np.maximum(by_chance.std(axis=0), _LEAST_SPREAD)
        names = [stems(f"{t.id} {t.function_name}") for t in templates]
        descriptions = [stems(t.description) for t in templates]
        both = [name | text for name, text in zip(names, descriptions, strict=True)]
        documents = [*map(stems, negatives), *both]
        counts = Counter(word for words in documents for word in words)
        idf = {word: log((len(documents) + 1) / (count + 0.5)) for word, count in counts.items()}
        self._words = (_postings(names, idf), _NAME), (_postings(descriptions, idf), _DESCRIPTION)

    @property
    def templates(self) -> int:
        """How many templates there are."""
        return len(self._vectors)

    @property
    def size(self) -> int:
        """How many weights there are to multiply."""
        return int(self._vectors.size)

    def logits(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        """(n,) log-odds that each of the templates is meant."""
        similarity = (self._vectors @ vector - self._mean) / self._spread
        logits: NDArray[np.float64] = _BIAS + _SIMILARITY * similarity.astype(np.float64)
        words = stems(text)
        for postings, weight in self._words:
            for word in words & postings.keys():
                templates, shares = postings[word]
                logits[templates] += weight * shares
        return logits

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n + 1,) probabilities of one question's readings, the last one that of no template."""
        shares = [_softmax(self.logits(v, t)) for v, t in zip(vectors, texts, strict=True)]
        if len(shares) == 1:
            return shares[0].astype(np.float32)
        mixed = (1 - _CORRECTED_SHARE) * shares[0] + _CORRECTED_SHARE * shares[1]
        return mixed.astype(np.float32)


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The softmax of the log-odds and of 0, which stands for no template."""
    with_none = np.append(logits, 0.0)
    weights = np.exp(with_none - with_none.max())
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _postings(texts: Iterable[frozenset[str]], idf: Mapping[str, float]) -> Postings:
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for template, words in enumerate(texts):
        total = sum(idf[word] for word in words)
        for word in words:
            found[word].append((template, idf[word] / total))
    return {
        word: (np.array([t for t, _ in held]), np.array([s for _, s in held]))
        for word, held in found.items()
    }
