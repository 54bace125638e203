"""Shares of few questions with their intervals, and how far confidence is from truth."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final, NamedTuple, Self

import numpy as np

_SURE: Final = 1.959964
"""Standard deviations that 95 % of a normal distribution lie within."""
_BINS: Final = 10
_RESAMPLES: Final = 1000


class Interval(NamedTuple):
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some questions."""

    hits: int
    of: int

    @classmethod
    def of_all(cls, hits: Iterable[bool]) -> Self:
        counted = list(hits)
        return cls(sum(counted), len(counted))

    @property
    def value(self) -> float | None:
        """0 to 1; None of no questions."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval, which holds for few questions and for shares near 0 and 1."""
        if not self.of:
            return None
        n, p = self.of, self.hits / self.of
        scale = 1 + _SURE**2 / n
        middle = (p + _SURE**2 / (2 * n)) / scale
        half = _SURE * sqrt(p * (1 - p) / n + _SURE**2 / (4 * n * n)) / scale
        return Interval(max(0.0, middle - half), min(1.0, middle + half))

    def to_dict(self) -> dict[str, Any]:
        return _as_dict(self.value, self.interval) | {"hits": self.hits, "of": self.of}

    def __str__(self) -> str:
        return _shown(self.value, self.interval)


class Judged(NamedTuple):
    """A confidence, 0 to 1, and whether what it stood for was right."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """How far confidence is from the share that is right, over ten bins, by their size.

    The interval is a bootstrap's. Noise only adds to such an error, so of few questions it lies
    somewhat too high.
    """

    value: float | None
    interval: Interval | None
    of: int

    @classmethod
    def of_all(cls, judged: Sequence[Judged], *, seed: int = 7) -> Self:
        if not judged:
            return cls(None, None, 0)
        confidence = np.array([one.confidence for one in judged])
        gap = confidence - np.array([one.right for one in judged], dtype=float)
        bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)

        def error(drawn: np.ndarray) -> float:
            sums = np.bincount(bins[drawn], weights=gap[drawn], minlength=_BINS)
            return float(np.abs(sums).sum() / len(drawn))

        count, chance = len(judged), np.random.default_rng(seed)
        again = [error(chance.integers(count, size=count)) for _ in range(_RESAMPLES)]
        low, high = np.quantile(again, [0.025, 0.975])
        return cls(error(np.arange(count)), Interval(float(low), float(high)), count)

    def to_dict(self) -> dict[str, Any]:
        return _as_dict(self.value, self.interval) | {"of": self.of}

    def __str__(self) -> str:
        return _shown(self.value, self.interval)


def _as_dict(value: float | None, interval: Interval | None) -> dict[str, Any]:
    ends = None if interval is None else [round(end, 4) for end in interval]
    return {"value": None if value is None else round(value, 4), "interval": ends}


def _shown(value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return "–"
    return f"{value:.3f} [{interval.low:.2f} {interval.high:.2f}]"
