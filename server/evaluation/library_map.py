"""How the examples of a library lie to each other: a map of them, and templates that collide."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from server.chat.adapter import Adapter
from server.chat.sources import OpenTemplate
from server.core.ports import Vectors
from server.errors import RequestInvalid

MOST_EXAMPLES: Final = 5000
"""Examples that are compared; of a larger library, as many of each template as there is room."""

_MOST_KEPT: Final = 8
_MOST_NEAREST: Final = 8
_MOST_PAIRS: Final = 100
_MOST_SENTENCES: Final = 5
_MOST_OTHERS: Final = 3
"""Templates that one sentence can be said to be near."""
_MARGIN: Final = 0.05
"""A sentence is between two templates that is no nearer to the others of its own than by this."""
_LEAST_LIKE: Final = 0.6
"""What is less alike than this collides with nothing, however far the template's own are."""
_BLOCK: Final = 512
_SKETCH: Final = 10
_ROUNDS: Final = 12


class Sentence(NamedTuple):
    """An example, with its template as the adapter that was asked knows it."""

    template: str
    text: str


class Near(NamedTuple):
    sentence: Sentence
    similarity: float


@dataclass(frozen=True, slots=True)
class Plane:
    """The two directions in which vectors differ most, and the share of all that each shows."""

    mean: Vectors
    axes: Vectors
    explained: tuple[float, float]

    def places(self, vectors: Vectors) -> Vectors:
        """Where vectors (n, d) lie in the plane, (n, 2)."""
        return np.asarray((vectors - self.mean) @ self.axes.T, np.float32)


class Between(NamedTuple):
    """A sentence of one template, and one of another that is about as near as its own are."""

    sentence: Sentence
    near: Sentence
    similarity: float
    gap: float
    """How much nearer than the nearest of its own; below nothing where those are nearer."""


class Collision(NamedTuple):
    templates: tuple[str, str]
    sentences: tuple[Between, ...]


@dataclass
class ExampleSpace:
    """Examples that somebody may see, those of a template together, with their unit vectors."""

    sentences: Sequence[Sentence]
    vectors: Vectors
    left_out: tuple[str, ...] = ()
    """Adapters whose examples another encoder has read, so that they cannot be compared."""

    @cached_property
    def plane(self) -> Plane:
        """Blocks for up to a second when it is first asked for, as `collisions` does."""
        return _plane_of(self.vectors)

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        places = _rounded(self.plane.places(self.vectors))
        return [
            {"template": each.template, "example": each.text, "x": x, "y": y}
            for each, (x, y) in zip(self.sentences, places, strict=True)
        ]

    @cached_property
    def collisions(self) -> tuple[Collision, ...]:
        """Pairs of templates with the sentences between them, likeliest to be confused first."""
        return tuple(_collisions(self))

    def locate(self, readings: Vectors) -> tuple[tuple[float, float], list[Near]]:
        """Where a question lies in the plane, and the examples that are nearest to it.

        Of its `readings` (n, d), the one that is nearest to any example counts.
        """
        likeness = readings @ self.vectors.T
        best = int(likeness.max(axis=1).argmax())
        [(x, y)] = _rounded(self.plane.places(readings[best : best + 1]))
        first = np.argsort(-likeness[best], kind="stable")[:_MOST_NEAREST].tolist()
        near = [Near(self.sentences[at], round(float(likeness[best, at]), 4)) for at in first]
        return (x, y), near


def _rounded(places: Vectors) -> list[tuple[float, float]]:
    return [(round(x, 4), round(y, 4)) for x, y in places.tolist()]


class LibraryMaps:
    """The examples of adapters as somebody saw them lately, until an adapter is reloaded."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, ExampleSpace] = OrderedDict()
        self._making = asyncio.Lock()

    async def of(
        self, adapter: Adapter, templates: Sequence[OpenTemplate], version: Hashable
    ) -> ExampleSpace:
        """Return the examples of templates, those of an adapter as of some `version` of it.

        Raises `IndexUnavailable`.
        """
        key = adapter.name, version, frozenset(each.id for each in templates)
        async with self._making:
            if key not in self._kept:
                self._kept[key] = await _space_of(templates)
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


async def readings_of(templates: Sequence[OpenTemplate], space: ExampleSpace, text: str) -> Vectors:
    """A question as each of the adapters would compare it, (n, d).

    Raises:
        RequestInvalid: there are no examples to compare it with.
        ProviderError: it cannot be embedded.
    """
    sources = {each.source.name: each.source for each in templates}
    matchers = [
        one.matcher
        for one in sources.values()
        if one.matcher is not None and one.name not in space.left_out
    ]
    vectors = await asyncio.gather(*(matcher.embed(text) for matcher in matchers))
    found = [each for each in vectors if len(each)]
    if not space.sentences or not found:
        raise RequestInvalid("this key may run no template with examples to compare 'message' with")
    return np.vstack(found)


async def _space_of(templates: Sequence[OpenTemplate]) -> ExampleSpace:
    by_source: dict[str, list[OpenTemplate]] = defaultdict(list)
    for each in templates:
        by_source[each.source.name].append(each)
    sizes: dict[str, int] = defaultdict(int)
    chosen = await asyncio.to_thread(_sampled, templates)
    for each, places in chosen:
        if each.source.matcher is not None:
            sizes[each.source.matcher.encoder] += len(places)
    if not sizes:
        return ExampleSpace((), np.zeros((0, 1), np.float32))
    encoder = max(sizes, key=lambda name: sizes[name])
    sentences, parts, left_out = list[Sentence](), list[Vectors](), list[str]()
    for name, group in groupby(chosen, key=lambda pair: pair[0].source.name):
        matcher, some = by_source[name][0].source.matcher, list(group)
        if matcher is None or matcher.encoder != encoder:
            left_out.append(name)
            continue
        parts.append(await matcher.vectors_at([place for _, places in some for place in places]))
        entries = matcher.entries
        sentences += [Sentence(one.id, entries[at].text) for one, places in some for at in places]
    return ExampleSpace(sentences, np.vstack(parts), tuple(left_out))


def _sampled(templates: Sequence[OpenTemplate]) -> list[tuple[OpenTemplate, Sequence[int]]]:
    """Templates, those of one source together, with the places of their examples in its index."""
    examples: dict[str, dict[str, list[int]]] = {}
    for source in {each.source.name: each.source for each in templates}.values():
        places = examples.setdefault(source.name, defaultdict(list))
        for at, entry in enumerate(source.matcher.entries if source.matcher is not None else ()):
            if entry.kind == "example":
                places[entry.template_id].append(at)
    found = [(each, examples[each.source.name].get(each.template.id, [])) for each in templates]
    found = [(each, places) for each, places in found if places][:MOST_EXAMPLES]
    room = _room_for_each([len(places) for _, places in found])
    order = {name: place for place, name in enumerate(examples)}
    found.sort(key=lambda pair: order[pair[0].source.name])
    return [(each, _spread(places, room)) for each, places in found]


def _room_for_each(counts: Sequence[int]) -> int:
    """How many examples of each template may stay, so that all together are not too many."""
    low, high = 1, max(counts, default=1)
    while low < high:
        middle = (low + high + 1) // 2
        fits = sum(min(count, middle) for count in counts) <= MOST_EXAMPLES
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _spread(places: Sequence[int], most: int) -> Sequence[int]:
    """At most so many of the places, from the first to the last."""
    if len(places) <= most:
        return places
    return [places[at * len(places) // most] for at in range(most)]


def _plane_of(vectors: Vectors) -> Plane:
    """The plane of the first two principal components.

    Found by iterating on a few directions at once: for long vectors that is a hundred times
    faster than taking all components apart, and as good for the first two.
    """
    mean = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], np.float32)
    centred = vectors - mean
    size = min(_SKETCH, *centred.shape)
    if not size:
        return Plane(mean, np.zeros((2, vectors.shape[1]), np.float32), (0.0, 0.0))
    basis = np.random.default_rng(1).standard_normal((centred.shape[1], size)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis, _ = np.linalg.qr(centred.T @ (centred @ basis))
    spread = centred @ basis
    strengths, turned = np.linalg.eigh(spread.T @ spread)
    axes = np.zeros((2, centred.shape[1]), np.float32)
    kept = (basis @ turned[:, ::-1][:, :2]).T
    axes[: len(kept)] = kept
    for axis in axes:
        # Either direction would do; a map that is drawn again shall look as it did.
        axis *= np.sign(axis[np.abs(axis).argmax()]) or 1
    whole = float((centred**2).sum()) or 1.0
    shares = [round(float(each) / whole, 4) for each in strengths[::-1][:2]]
    first, second = (*shares, 0.0, 0.0)[:2]
    return Plane(mean, axes, (first, second))


def _collisions(space: ExampleSpace) -> Iterator[Collision]:
    if not space.sentences:
        return
    names = [each.template for each in space.sentences]
    starts = [0, *(at for at in range(1, len(names)) if names[at] != names[at - 1])]
    bounds = list(zip(starts, [*starts[1:], len(names)], strict=True))
    owners = np.repeat(np.arange(len(starts)), [end - start for start, end in bounds])
    pairs: dict[tuple[int, int], list[Between]] = defaultdict(list)
    for first in range(0, len(names), _BLOCK):
        for row, other, own, likeness in _between(space.vectors, starts, owners, first):
            start, end = bounds[other]
            at = start + int(likeness[start:end].argmax())
            alike = float(likeness[at])
            found = Between(space.sentences[row], space.sentences[at], alike, alike - own)
            mine = int(owners[row])
            pairs[min(mine, other), max(mine, other)].append(found)
    ranked = sorted(pairs.items(), key=lambda pair: -sum(one.gap + _MARGIN for one in pair[1]))
    for (one, other), some in ranked[:_MOST_PAIRS]:
        closest = sorted(some, key=lambda each: -each.gap)[:_MOST_SENTENCES]
        yield Collision((names[starts[one]], names[starts[other]]), tuple(closest))


def _between(
    vectors: Vectors, starts: Sequence[int], owners: NDArray[np.intp], first: int
) -> Iterator[tuple[int, int, float, Vectors]]:
    """Sentences of a block with another template that is about as near as their own.

    With each goes how near the nearest of its own is, and its likeness to all sentences.
    """
    likeness = vectors[first : first + _BLOCK] @ vectors.T
    rows = np.arange(len(likeness))
    likeness[rows, first + rows] = -1.0  # each is like itself
    nearest = np.maximum.reduceat(likeness, starts, axis=1)
    mine = owners[first : first + _BLOCK]
    own = np.maximum(nearest[rows, mine], _LEAST_LIKE)
    nearest[rows, mine] = -1.0
    for row, others in enumerate(np.argsort(-nearest, axis=1, kind="stable")[:, :_MOST_OTHERS]):
        for other in others.tolist():
            if nearest[row, other] >= own[row] - _MARGIN:
                yield first + row, other, float(own[row]), likeness[row]


def describe_collisions(found: Sequence[Collision]) -> list[Mapping[str, Any]]:
    """Pairs of templates as data."""
    return [
        {
            "templates": list(pair.templates),
            "sentences": [
                {
                    "template": each.sentence.template,
                    "example": each.sentence.text,
                    "near": each.near.text,
                    "similarity": round(each.similarity, 4),
                }
                for each in pair.sentences
            ],
        }
        for pair in found
    ]
