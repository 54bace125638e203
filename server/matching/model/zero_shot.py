"""Templates without examples: how likely it is that a question means one, by its description.

One logistic regression holds for every library. Its features are how similar the question is
to the description, and how much of the name and of the description it repeats.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.library.model import Template
from server.matching.model.head import Head, combine_readings, nearest_others, softmax
from server.text.language import load_language
from server.text.stems import stem

# Fitted on function-calling questions, each with its own function and with another one, and on
# questions of whole libraries. Similarity is counted in standard deviations over everyday
# sentences, so that the weights hold for any library; two questions in three are assumed to
# be for the library.
_SIMILARITY: Final = 0.55
_NAME: Final = 2.9
_DESCRIPTION: Final = 2.15
_BIAS: Final = -4.0

_LEAST_SPREAD: Final = 1e-3
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CAMEL_CASE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STOP_WORDS: Final = load_language("en").function_words

Postings = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""For each word, the templates that contain it and its share of their total word weight."""


def stems(text: str) -> frozenset[str]:
    """Stems of the words of a text or an identifier, without stop words."""
    spaced = _CAMEL_CASE.sub(" ", text).replace("_", " ").lower()
    return frozenset(stem(word) for word in _WORD.findall(spaced) if word not in _STOP_WORDS)


class Scorer(Protocol):
    """Probabilities of every template of a library, and of none of them."""

    @property
    def size(self) -> int:
        """How many weights a question is multiplied with."""

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""


class ZeroShotHead:
    """Scores templates by their descriptions alone.

    `vectors` are those of the descriptions, (n, d). `negatives` are everyday sentences, which show
    how similar any question is to a description by chance.
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
        self.templates, self.size = len(vectors), int(vectors.size)
        self._mean = by_chance.mean(axis=0)
        self._spread = np.maximum(by_chance.std(axis=0), _LEAST_SPREAD)
        names = [stems(f"{t.id} {t.function_name}") for t in templates]
        descriptions = [stems(t.description) for t in templates]
        both = [name | text for name, text in zip(names, descriptions, strict=True)]
        documents = [*map(stems, negatives), *both]
        counts = Counter(word for words in documents for word in words)
        idf = {word: log((len(documents) + 1) / (count + 0.5)) for word, count in counts.items()}
        self._words = (_postings(names, idf), _NAME), (_postings(descriptions, idf), _DESCRIPTION)

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
        readings = zip(vectors, texts, strict=True)
        # The odds of no template are 1.
        shares = [softmax(np.append(self.logits(v, t), 0.0)) for v, t in readings]
        found = shares[0] if len(shares) == 1 else combine_readings(*shares)
        return found.astype(np.float32)


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


_TRUST: Final = 2.0
"""By how much, in logarithms of odds, descriptions must outdo what examples say."""
_FARTHEST, _NEAREST = -3.0, 1.0
_LEAST_SPREAD_WITHIN: Final = 0.03
_MOST: Final = 30.0


class MixedHead:
    """A learnt head for templates with examples, and odds for those that have none.

    The head would give a question for the latter to a neighbour. So each of them is held against
    the likeliest of the others, description against description, and takes its part of what that
    one was given: the more, the further the question is from the other's examples.
    """

    def __init__(
        self, learnt: Head, zero_shot: ZeroShotHead, examples: Mapping[int, Vectors]
    ) -> None:
        """`examples` are vectors, by the place of a template in the library."""
        self._learnt = learnt
        self._zero_shot = zero_shot
        self.size = learnt.size + zero_shot.size
        self._examples = examples
        self._silent = np.array(
            [place for place in range(zero_shot.templates) if place not in examples], np.int64
        )
        within = {place: nearest_others(vectors) for place, vectors in examples.items()}
        known = np.concatenate([*within.values(), np.zeros(0)])
        usual = float(known.mean()) if len(known) else 1.0
        self._usual = {p: float(w.mean()) if len(w) else usual for p, w in within.items()}
        self._spread = max(float(known.std()) if len(known) else 0.0, _LEAST_SPREAD_WITHIN)

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        shares = self._learnt.probabilities(vectors, texts)
        odds = self._zero_shot.logits(vectors[-1], texts[-1])
        silent = self._silent
        shares[-1] += shares[silent].sum()
        shares[silent] = 0.0
        best = int(shares[:-1].argmax())
        beyond = odds[silent] - odds[best] - self._trust(best, vectors[-1])
        shares[silent] = shares[best] * np.exp(np.minimum(beyond, _MOST))
        shares[silent] += shares[-1] * np.exp(np.minimum(odds[silent], _MOST))
        mixed: NDArray[np.float32] = shares / shares.sum()
        return mixed

    def _trust(self, place: int, vector: NDArray[np.float32]) -> float:
        near = float((self._examples[place] @ vector).max())
        deviation = (near - self._usual[place]) / self._spread
        return _TRUST + min(max(deviation, _FARTHEST), _NEAREST)
