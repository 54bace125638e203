"""Templates without examples: how likely a question means one that only describes itself.

Nothing can be learnt where there are no questions to learn from. What is left is how near
a question is to the description in meaning, and how much of the template's name and
description it repeats. Three numbers say so, whatever the library is about, and one
logistic rule makes a probability of them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.core.stems import stem, word_set
from server.library.model import Template

# Fitted on function-calling questions, for the function they came with and for another, and
# on questions of libraries, for their own and for each other's. They hold for any library,
# since nearness is counted in deviations from what is said to anyone. Two questions of
# three are taken to be for the library.
_NEARNESS: Final = 0.55
_OF_NAME: Final = 2.9
_OF_DESCRIPTION: Final = 2.15
_BIAS: Final = -4.0

_REREAD_SHARE: Final = 0.7
_LEAST_SPREAD: Final = 1e-3
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IDLE: Final = word_set(
    "the of to in is it an and or for on at by from with as be are was this that these those can "
    "which what who how when where will would should could do does did has have had not no if but "
    "me my you your we our us its their his her them they he she there here than then so such "
    "any all each some one into about over under between within using used use given"
)

Postings = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""For each word the templates that have it, and what share of their words it is."""


def stems(text: str) -> frozenset[str]:
    """The telling words of a text or a name, cut down to their stems."""
    parted = _HUMP.sub(" ", text).replace("_", " ").lower()
    return frozenset(stem(word) for word in _WORD.findall(parted) if word not in _IDLE)


class DescribedHead:
    """Odds of templates that have a description and no examples.

    `vectors` are those of their descriptions, (n, d), rows of unit length; `strange` those
    of the background, which say how near any question is to a description by chance.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        vectors: Vectors,
        strangers: Sequence[str],
        strange: Vectors,
    ) -> None:
        near = strange @ vectors.T
        self._vectors = vectors
        self._usual = near.mean(axis=0)
        self._spread = np.maximum(near.std(axis=0), _LEAST_SPREAD)
        names = [stems(f"{t.id} {t.function_name}") for t in templates]
        texts = [stems(t.description) for t in templates]
        spoken = [
            *map(stems, strangers),
            *(name | text for name, text in zip(names, texts, strict=True)),
        ]
        heard = Counter(word for words in spoken for word in words)
        weights = {word: log((len(spoken) + 1) / (count + 0.5)) for word, count in heard.items()}
        self._names = _postings(names, weights)
        self._texts = _postings(texts, weights)

    @property
    def templates(self) -> int:
        """How many templates there are."""
        return len(self._vectors)

    @property
    def size(self) -> int:
        """How many weights there are to multiply."""
        return int(self._vectors.size)

    def logits(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        """(n,) logarithms of the odds that each of the templates is meant."""
        nearness = (self._vectors @ vector - self._usual) / self._spread
        said = stems(text)
        logits: NDArray[np.float64] = _BIAS + _NEARNESS * nearness.astype(np.float64)
        for postings, worth in ((self._names, _OF_NAME), (self._texts, _OF_DESCRIPTION)):
            for word in said & postings.keys():
                places, shares = postings[word]
                logits[places] += worth * shares
        return logits

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n + 1,) probabilities of one question's readings, the last one that of none."""
        shares = [_shares(self.logits(v, t)) for v, t in zip(vectors, texts, strict=True)]
        mixed = shares[0]
        if len(shares) > 1:
            mixed = (1 - _REREAD_SHARE) * shares[0] + _REREAD_SHARE * shares[1]
        return mixed.astype(np.float32)


def _shares(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The softmax of the odds, none of them being even."""
    most = max(float(logits.max(initial=0.0)), 0.0)
    weights = np.exp(np.append(logits, 0.0) - most)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _postings(texts: Iterable[frozenset[str]], weights: Mapping[str, float]) -> Postings:
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, words in enumerate(texts):
        total = sum(weights[word] for word in words)
        for word in words:
            found[word].append((place, weights[word] / total))
    return {
        word: (np.array([p for p, _ in held]), np.array([s for _, s in held]))
        for word, held in found.items()
    }
