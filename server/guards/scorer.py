"""The probability that a question is of a category, learnt from a few examples of each.

Each category is a regression, over the distances between embeddings, towards 1 on its own
examples and 0 on everyone else's; far from all of them it says 0. Categories that do the same
with a question are also learnt together, as one side: a question between two of them is
restricted all the same, and the likelier one gives it its name. Ridge regression has its
leave-one-out predictions in closed form, so calibration needs no held-out data: they are
what the probability is fitted on, and what the threshold is chosen by.
"""

import asyncio
import hashlib
import logging
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Embedder, Vectors
from server.storage.arrays import ArrayStore
from server.storage.artefacts import ArtefactStore
from server.storage.files import written_whole

Numbers = NDArray[np.float64]

_SHARPNESS: Final = 2.0
_RIDGE: Final = 0.1
_FALSE_BLOCK_COST: Final = 4.0
"""The share of good questions refused, in shares of bad ones missed, when a threshold is
chosen. Shares, since a library has far more harmless questions than a category examples."""
_CUTS: Final = np.linspace(0.0, 1.0, 201)
_SPREAD: Final = 0.1
"""How far a probability may be off: no single example decides where a threshold lies."""
_LOWEST: Final = 0.6
_HIGHEST: Final = 0.9
_SAME: Final = 0.97
"""Cosine from which a question is as good as the example itself."""


@dataclass(frozen=True, slots=True)
class GuardScorer:
    """What was learnt. For column k, probability = sigmoid(slope[k] · f[k] + offset[k]).

    The first columns are the categories, the others their sides.
    """

    rows: Vectors
    owners: NDArray[np.int64]
    """For each row its category; -1 for what is harmless and in none."""
    sides: NDArray[np.int64]
    """For each category its side."""
    weights: Numbers
    slopes: Numbers
    offsets: Numbers
    thresholds: tuple[float, ...]
    """The calibrated threshold of each category."""

    def scores(self, vectors: Vectors) -> Numbers:
        """Return (categories,) probabilities; of several readings of a question, the likeliest."""
        cosines = (vectors @ self.rows.T).astype(np.float64)
        raw = np.exp(_SHARPNESS * (cosines - 1)) @ self.weights
        odds = _sigmoid(self.slopes * raw + self.offsets)
        found = self._by_side(odds[:, : len(self.sides)], odds[:, len(self.sides) :])
        for category in range(found.shape[1]):
            own = cosines[:, self.owners == category]
            if own.size:
                nearest = own.max(axis=1)
                same = nearest >= _SAME
                found[same, category] = np.maximum(found[same, category], nearest[same])
        return np.asarray(np.minimum(found.max(axis=0), 1.0))

    def _by_side(self, own: Numbers, together: Numbers) -> Numbers:
        """The likeliest category of a side is as likely as the side, no other is likelier."""
        found = np.minimum(own, together[:, self.sides])
        for side in range(together.shape[1]):
            members = np.flatnonzero(self.sides == side)
            likeliest = members[own[:, members].argmax(axis=1)]
            found[np.arange(len(own)), likeliest] = together[:, side]
        return found


def learn_scorer(rows: Vectors, owners: NDArray[np.int64], sides: Sequence[int]) -> GuardScorer:
    """Learn from `rows`, (n, d) unit rows, of which `owners` says the category, -1 for none.

    `sides` says for each category the side that it is on, counted from 0.
    """
    categories, side_of = len(sides), np.array(sides, np.int64)
    kernel = np.exp(_SHARPNESS * (rows.astype(np.float64) @ rows.T - 1))
    inverse = np.linalg.inv(kernel + _RIDGE * np.eye(len(rows)))
    own = owners[:, None] == np.arange(categories)[None, :]
    # Row -1 of the sides, that of the harmless, is on none.
    row_sides = np.append(side_of, -1)[owners]
    together = row_sides[:, None] == np.arange(side_of.max(initial=-1) + 1)[None, :]
    targets = np.hstack([own, together]).astype(np.float64)
    weights = inverse @ targets
    left_out = targets - weights / np.diag(inverse)[:, None]
    columns = targets.shape[1]
    slopes, offsets, cuts = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    for k in range(columns):
        slopes[k], offsets[k] = _fit(left_out[:, k], targets[:, k])
        odds = _sigmoid(slopes[k] * left_out[:, k] + offsets[k])
        cuts[k] = _threshold(odds, targets[:, k] > 0)
    thresholds = tuple(cuts[categories:][side_of].tolist())
    return GuardScorer(rows, owners, side_of, weights, slopes, offsets, thresholds)


def _sigmoid(values: Numbers) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))


def _fit(values: Numbers, targets: Numbers) -> tuple[float, float]:
    """Return slope and offset of a logistic curve, both sides weighing the same (Newton)."""
    positives = max(targets.sum(), 1.0)
    negatives = max(len(targets) - targets.sum(), 1.0)
    shares = np.where(targets > 0, 0.5 / positives, 0.5 / negatives)
    # Targets short of 0 and 1, as Platt has them: few examples are no certainty.
    wanted = np.where(targets > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    features = np.stack([values, np.ones_like(values)], axis=1)
    line = np.array([4.0, -2.0])
    for _ in range(50):
        guess = _sigmoid(features @ line)
        slope = features.T @ (shares * (guess - wanted)) + 1e-4 * line
        curve = features.T @ (features * (shares * guess * (1 - guess))[:, None])
        step = np.linalg.solve(curve + 1e-4 * np.eye(2), slope)
        line = line - step
        if float(np.abs(step).max()) < 1e-8:
            break
    return max(float(line[0]), 1e-6), float(line[1])


def _threshold(odds: Numbers, own: NDArray[np.bool_]) -> float:
    if own.all() or not own.any():
        return _HIGHEST

    def share_below(values: Numbers) -> Numbers:
        """For each cut the share of values below it, each taken for a hill and not for a point."""
        return np.asarray(_sigmoid((_CUTS[:, None] - values[None, :]) / _SPREAD).mean(axis=1))

    costs = share_below(odds[own]) + _FALSE_BLOCK_COST * (1 - share_below(odds[~own]))
    return float(np.clip(_CUTS[costs.argmin()], _LOWEST, _HIGHEST))


_log = logging.getLogger(__name__)

_MOST_KEPT: Final = 5_000

_WORTH_SHARING: Final = 32
"""Examples that are embedded at once; an operator's single new one is not worth a row."""


class ExampleVectors:
    """Vectors of examples as one encoder makes them, in a folder: those that were used last.

    Guards share the file, so that none of them knows which vectors no guard needs any more.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, shared: ArtefactStore | None = None
    ) -> None:
        """What another machine has `shared` is not embedded again."""
        name = hashlib.blake2b(embedder.fingerprint.encode(), digest_size=8).hexdigest()
        self._path = folder / f"{name}.npz"
        self._shared = ArrayStore(folder, shared)
        self._name = f"guards-{name}"
        self._embedder = embedder
        self._known: dict[str, Vectors] | None = None

    async def of(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), d) unit rows, in their order, or raise `ProviderError`."""
        if self._known is None:
            self._known = await asyncio.to_thread(self._read)
        keys = [_key(text) for text in texts]
        rows = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if missing:
            new = await self._shared_or_embedded(missing)
            rows |= zip(missing, new, strict=True)
            others = [(key, row) for key, row in self._known.items() if key not in rows]
            self._known = dict(others[max(0, len(rows) + len(others) - _MOST_KEPT) :]) | rows
            await asyncio.to_thread(self._write, self._known)
        if not texts:
            return np.empty((0, 0), np.float32)
        return np.vstack([rows[key] for key in keys]).astype(np.float32)

    async def _shared_or_embedded(self, missing: Mapping[str, str]) -> Vectors:
        key = _key("\n".join(missing))
        found = (await self._shared.read_shared(self._name, key) or {}).get("rows")
        if found is not None and found.ndim == 2 and len(found) == len(missing):
            return np.asarray(found, np.float32)
        made = await self._embedder.embed(list(missing.values()))
        if len(missing) >= _WORTH_SHARING:
            await self._shared.share(self._name, key, rows=made)
        return made

    def _read(self) -> dict[str, Vectors]:
        try:
            with np.load(self._path, allow_pickle=False) as kept:
                keys, rows = kept["keys"], kept["rows"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as broken:
            _log.warning("%s cannot be read, so its vectors are made again: %s", self._path, broken)
            return {}
        if rows.ndim != 2 or len(keys) != len(rows) or not np.isfinite(rows).all():
            _log.warning("%s is damaged, so its vectors are made again", self._path)
            return {}
        return {str(key): row for key, row in zip(keys, rows, strict=True)}

    def _write(self, known: dict[str, Vectors]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(self._path) as file:
                np.savez(file, keys=np.array(list(known)), rows=np.vstack(list(known.values())))
        except OSError as refused:
            _log.warning("%s cannot be written: %s", self._path, refused)


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
