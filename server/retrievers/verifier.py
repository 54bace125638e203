"""How likely a call is what was asked for: one small model over what speaks for and against it.

It is a logistic regression over the features of `evidence`, which name no word and no library.
`utils/train` makes its numbers, which ship beside this file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any, Final, Self

from server.retrievers.evidence import FEATURES

_SHIPPED: Final = Path(__file__).with_name("verifier.json")
_SUREST: Final = 0.99
_PLACES: Final = {name: at for at, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class Verifier:
    """Weights of the features, and what share of calls was wrong at which threshold.

    `risk` are pairs of a threshold and the share of questions that were answered wrongly over it,
    on libraries that the weights had not seen; thresholds ascend. `scale` and `shift` put the
    logarithm of the odds right for one library, as its own questions have shown.
    """

    weights: tuple[float, ...]
    bias: float
    risk: tuple[tuple[float, float], ...]
    scale: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Return the verifier that a file describes; a feature it does not name weighs nothing."""
        weights = data["weights"]
        return cls(
            weights=tuple(float(weights.get(name, 0.0)) for name in FEATURES),
            bias=float(data["bias"]),
            risk=tuple((float(at), float(wrong)) for at, wrong in data["risk"]),
        )

    def score(self, values: Sequence[float]) -> float:
        """Return the logarithm of the odds that a call with these features is right."""
        return self.bias + sum(w * v for w, v in zip(self.weights, values, strict=True) if v)

    def change(self, before: Mapping[str, float], after: Mapping[str, float]) -> float:
        """Return what it does to the score that the features `before` become those `after`."""
        weights = self.weights
        return sum(weights[_PLACES[name]] * (after[name] - before[name]) for name in after)

    def probability(self, score: float) -> float:
        """Return how likely a call with this score is right, in this library."""
        return probability(self.scale * score + self.shift)

    def threshold(self, max_wrong: float) -> float:
        """Return the least probability at which no more than `max_wrong` of questions go wrong."""
        least = _SUREST
        for at, wrong in reversed(self.risk):
            if wrong > max_wrong:
                break
            least = at
        return least


def probability(score: float) -> float:
    """Return the probability that goes with the logarithm of odds."""
    return 1 / (1 + exp(-score)) if score > 0 else exp(score) / (1 + exp(score))


@cache
def shipped_verifier() -> Verifier:
    """Return the verifier that ships. Blocks on first use."""
    return Verifier.of(json.loads(_SHIPPED.read_text(encoding="utf-8")))
