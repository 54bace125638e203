"""Learning the head of a large library, some templates at a time.

Directions are found in which the examples of one template lie close together and those of
different templates apart (Fisher's linear discriminant). Nothing is held of the examples but
their sums, so that a million of them take some minutes, and little memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.index.template_index import IndexEntry
from server.matching.large.head import Floats, ProjectedHead, Projection
from server.matching.large.index import AT_ONCE, LargeIndex
from server.matching.model.classifiers import ABSENT, INSIDE, NEARLY, OUTSIDE, HeldOut
from server.matching.model.head import DIMENSIONS, nearest_others
from server.matching.model.training import calibrate

_DIRECTIONS: Final = 128
_SHRINKAGE: Final = 0.6
_SCALE: Final = np.float32(0.03)
"""Brings the logits near those that calibration expects."""
_FEW: Final = 20_000
"""Texts that are so few are learnt from ten times more, each time without a tenth of them."""
_FOLDS: Final = 10
_MOST_HELD_OUT: Final = 2000
_WEIGHED: Final = 64
_ASKED_AT_ONCE: Final = 25
_SAMPLED_TEXTS: Final = 20_000
"""Texts by which it is judged how vectors are spread."""
_SAMPLED: Final = 20
"""Templates of each chunk by which it is judged how near examples usually are."""
_LEAST_KEPT: Final = 1 / 3
"""Share of the negatives that is kept whatever the library is about."""


class Stopped(Exception):
    """Whoever asked for the head does not want it any more."""


class _Means:
    """The means of all templates, which are put aside in a file that nobody else sees."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sizes, self._width = file, list[int](), 0

    def append(self, means: Vectors) -> None:
        self._width = means.shape[1]
        self._sizes.append(len(means))
        self._file.write(means.astype(np.float16).tobytes())

    def __iter__(self) -> Iterator[Vectors]:
        self._file.seek(0)
        for size in self._sizes:
            read = self._file.read(size * self._width * np.float16().itemsize)
            yield np.frombuffer(read, np.float16).reshape(size, self._width).astype(np.float32)


@dataclass(slots=True)
class _Sums:
    """What is kept of the rows of the templates."""

    within: NDArray[np.float64]
    between: NDArray[np.float64]
    total: NDArray[np.float64]
    means: _Means
    rows: int = 0


@dataclass(frozen=True, slots=True)
class _Data:
    """What is learnt from: the index, and texts that are for no template."""

    index: LargeIndex
    negatives: Sequence[str]
    vectors: Vectors
    projection: Projection
    stopped: Callable[[], bool]


def learn(
    index: LargeIndex, negatives: Sequence[str], vectors: Vectors, stopped: Callable[[], bool]
) -> ProjectedHead:
    """Learn and calibrate a head; `vectors` are those of the `negatives`. Blocks for minutes.

    Raises:
        Stopped: `stopped` came to be true.
        IndexUnavailable: the vectors cannot be read.
    """
    sample = index.vectors_at(index.spread(_SAMPLED_TEXTS))
    centre = sample.mean(axis=0)
    spread = np.float32(np.sqrt(np.square(sample - centre).sum() / len(sample)))
    nothing = np.zeros(0, np.float32)
    plain = Projection(centre, np.maximum(spread, np.float32(1e-3)), index.rarity, nothing, nothing)
    data = _Data(index, negatives, vectors, plain, stopped)
    random = np.random.default_rng(0)
    fold = _folds(index, random)
    turns = _FOLDS if len(index) <= _FEW else 1
    none_rows = _none_rows(data)
    none = none_rows.mean(axis=0)
    seen: list[HeldOut] = []
    for turn in range(turns):
        learnt = _fit(data, fold == turn)
        seen += _asked(learnt, none_rows, none, outside=turn == 0)
    if turns > 1:
        learnt = _fit(data, np.zeros(len(index), np.bool_))
    calibration = calibrate(_together(seen))
    projection = learnt.projection
    classes = np.vstack([learnt.classes, projection(none[None])])
    del learnt  # which has as much again
    scale = np.float32(calibration.scale) * _SCALE
    bias = -0.5 * np.einsum("ij,ij->i", classes, classes) * scale
    bias[-1] += np.float32(calibration.shift)
    classes *= scale
    return ProjectedHead(projection, classes, bias.astype(np.float32))


@dataclass(frozen=True, slots=True)
class _Learnt:
    """A projection, the templates in it, and the features of the examples it was not shown."""

    projection: Projection
    classes: Floats
    held: Vectors
    owners: NDArray[np.int64]
    changed: NDArray[np.int64]
    """The templates that examples were held out of."""
    lessened: Floats
    """Where these are without them."""

    def without(self) -> Floats:
        """`classes` less the examples that were held out."""
        found = self.classes.copy()
        found[self.changed] = self.lessened
        return found


def _folds(index: LargeIndex, random: np.random.Generator) -> NDArray[np.int64]:
    """In which turn each text is held out; -1 for one that never is."""
    count = len(index)
    if count <= _FEW:
        return random.integers(0, _FOLDS, count)
    fold = np.full(count, -1)
    # The first text of a template is an example, where it has any: counters come last.
    templates = random.permutation(len(index.templates))[:_MOST_HELD_OUT]
    sizes = np.diff(index.kept.bounds)[templates]
    fold[index.kept.bounds[templates] + (random.random(len(sizes)) * (sizes - 1)).astype(int)] = 0
    return fold


def _fit(data: _Data, held: NDArray[np.bool_]) -> _Learnt:
    """Learn from the rows that are not `held`, and return those that are."""
    with TemporaryFile() as aside:
        return _fit_with(data, held, _Means(aside))


def _fit_with(data: _Data, held: NDArray[np.bool_], aside: _Means) -> _Learnt:
    size = data.index.dimensions + DIMENSIONS
    sums = _Sums(np.zeros((size, size)), np.zeros((size, size)), np.zeros(size), aside)
    changed, without = list[NDArray[np.int64]](), list[Vectors]()
    apart, owners = list[Vectors](), list[NDArray[np.int64]]()
    for chunk in data.index.chunks():
        if data.stopped():
            raise Stopped
        features = data.projection.features(data.index.vectors_at(chunk.rows), chunk.texts)
        own, some = chunk.kinds != "counter", held[chunk.rows] & (chunk.kinds == "example")
        places = chunk.owners - chunk.first
        count = int(places[-1]) + 1
        with_all = _means(features[own], places[own], count)
        shown = own & ~some
        means = _means(features[shown], places[shown], count)
        lacking = np.bincount(places[shown], minlength=count) == 0
        # A template without a text that is shown lies where none of its kind would be looked for.
        means[lacking] = with_all[lacking]
        residue = features[shown] - means[places[shown]]
        sums.within += residue.T @ residue
        sums.between += means.T @ means
        sums.total += means.sum(axis=0)
        sums.rows += int(shown.sum())
        sums.means.append(with_all)
        lessened = np.unique(places[some & ~lacking[places]])
        changed.append(lessened + chunk.first)
        without.append(means[lessened])
        kept = some & ~lacking[places]
        apart.append(features[kept])
        owners.append(chunk.owners[kept])
    projection = _projection(data.projection, sums, len(data.index.templates))

    classes = np.empty((len(data.index.templates), projection.axes.shape[1]), np.float32)
    first = 0
    for part in sums.means:
        classes[first : first + len(part)] = projection(part)
        first += len(part)
    held_rows, lessened = np.vstack(apart), projection(np.vstack(without))
    of_held, some = np.concatenate(owners), np.concatenate(changed)
    return _Learnt(projection, classes, held_rows, of_held, some, lessened)


def _means(features: Vectors, places: NDArray[np.int64], count: int) -> Vectors:
    # Rows of one template stand together, so that they are added up in one go.
    found = np.zeros((count, features.shape[1]), np.float32)
    if len(places):
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        found[places[firsts]] = np.add.reduceat(features, firsts, axis=0)
        found /= np.maximum(np.bincount(places, minlength=count), 1)[:, None]
    return found


def _projection(plain: Projection, sums: _Sums, templates: int) -> Projection:
    middle = sums.total / templates
    within = sums.within / max(sums.rows - templates, 1)
    size = len(middle)
    sphere = max(float(np.trace(within)) / size, 1e-6)
    within = (1 - _SHRINKAGE) * within + _SHRINKAGE * sphere * np.eye(size)
    whitened = np.linalg.cholesky(np.linalg.inv(within))
    if templates < size:
        # As many directions as there are templates, which are found among these.
        apart = (np.vstack(list(sums.means)) - middle) @ whitened
        lengths, mixed = np.linalg.eigh(apart @ apart.T)
        some = np.arange(max(1, templates - _DIRECTIONS), templates)
        axes = apart.T @ (mixed[:, some] / np.sqrt(np.maximum(lengths[some], 1e-9)))
    else:
        between = sums.between - templates * np.outer(middle, middle)
        _, mixed = np.linalg.eigh(whitened.T @ between @ whitened)
        axes = mixed[:, -_DIRECTIONS:]
    chosen = (whitened @ axes).astype(np.float32)
    return Projection(plain.centre, plain.spread, plain.rarity, middle.astype(np.float32), chosen)


def _none_rows(data: _Data) -> Vectors:
    """The features of texts that are for no template.

    What the library itself is about is left out; counter examples are as near to it as
    can be, and stay.
    """
    index = data.index
    nearest = np.full(len(data.negatives), -1, np.float32)
    usual, counters = list[Floats](), list[Vectors]()
    for first in range(0, len(index.templates), AT_ONCE):
        if data.stopped():
            raise Stopped
        some = index.templates[first : first + AT_ONCE]
        start, end = index.rows_of(first).start, index.rows_of(first + len(some) - 1).stop
        vectors = index.vectors_at(slice(start, end))
        np.maximum(nearest, (data.vectors @ vectors.T).max(axis=1), out=nearest)
        for place, template in enumerate(some, first):
            own = index.rows_of(place)
            if place < first + _SAMPLED:
                usual.append(nearest_others(vectors[own.start - start : own.stop - start]))
            if template.counter_examples:
                counters += _counters(data, index.entries_of(template), vectors, own.start - start)
    near = np.concatenate(usual)
    inside = nearest - (float(np.quantile(near, 0.25)) if len(near) else 1.0)
    kept = inside <= max(0.0, float(np.quantile(inside, _LEAST_KEPT)))
    texts = [text for text, keep in zip(data.negatives, kept, strict=True) if keep]
    return np.vstack([data.projection.features(data.vectors[kept], texts), *counters])


def _counters(
    data: _Data, entries: Sequence[IndexEntry], vectors: Vectors, start: int
) -> Iterator[Vectors]:
    """The features of a template's counter examples, less those that are also its examples."""
    examples = {entry.masked for entry in entries if entry.kind == "example"}
    for at, entry in enumerate(entries, start):
        if entry.kind == "counter" and entry.masked not in examples:
            yield data.projection.features(vectors[at : at + 1], [entry.masked])


def _asked(learnt: _Learnt, none_rows: Vectors, none: Floats, *, outside: bool) -> list[HeldOut]:
    """What the head says of what it was not shown; of the `none_rows` too, if `outside`.

    Each of the latter is judged by the mean of the others.
    """
    without = learnt.without()
    asked = _asked_inside(learnt, without, learnt.projection(none[None])[0])
    if outside and len(none_rows) > 1:
        others = (none * len(none_rows) - none_rows) / (len(none_rows) - 1)
        rows, means = map(learnt.projection, (none_rows, others.astype(np.float32)))
        some = range(0, len(rows), _ASKED_AT_ONCE)
        # A few at a time: each has a logit for every template.
        asked_of = (rows[at : at + _ASKED_AT_ONCE] for at in some)
        best = np.vstack([_best(_logits(each, without), _WEIGHED) for each in asked_of])
        own = (rows * means).sum(axis=1) - 0.5 * np.square(means).sum(axis=1)
        found = np.column_stack([best, own * _SCALE])
        last = np.full(len(rows), found.shape[1] - 1)
        asked.append(HeldOut(found, last, np.full(len(rows), OUTSIDE)))
    return asked


def _asked_inside(learnt: _Learnt, without: Floats, none: Floats) -> list[HeldOut]:
    asked = list[HeldOut]()
    for start in range(0, len(learnt.held), _ASKED_AT_ONCE):
        owners = learnt.owners[start : start + _ASKED_AT_ONCE]
        rows = learnt.projection(learnt.held[start : start + _ASKED_AT_ONCE])
        logits, index = _logits(rows, without), np.arange(len(rows))
        right = logits[index, owners]
        logits[index, owners] = ABSENT
        others = _best(logits, _WEIGHED)
        nothing = _logits(rows, none[None])[:, 0]
        width, lowest = others.shape[1], others.argmin(axis=1)
        nearly = np.column_stack([others, nothing])
        inside = nearly.copy()
        inside[index, lowest] = right
        asked.append(HeldOut(inside, lowest, np.full(len(rows), INSIDE)))
        asked.append(HeldOut(nearly, np.full(len(rows), width), np.full(len(rows), NEARLY)))
    return asked


def _logits(rows: Vectors, classes: Floats) -> Floats:
    lengths = np.einsum("ij,ij->i", classes, classes)
    logits: Floats = (rows @ classes.T - 0.5 * lengths) * _SCALE
    return logits


def _best(logits: Floats, count: int) -> Floats:
    """The highest logits of each row, so many, padded where there are fewer."""
    found = np.full((len(logits), count), ABSENT, np.float32)
    count = min(count, logits.shape[1])
    found[:, :count] = -np.partition(-logits, count - 1, axis=1)[:, :count]
    return found


def _together(parts: Sequence[HeldOut]) -> HeldOut:
    return HeldOut(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.kinds for part in parts]),
    )
