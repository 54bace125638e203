"""The best way to give values to parameters, each to one at most."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)

_MOST_TRIED: Final = 5_000
"""Ways that are looked at; more parameters and values than that are given away greedily."""

_SWAPPED: Final = 0.4
"""What it costs that a value stands before that of an earlier parameter."""


class Placed(Protocol):
    """Anything that has a place in a question."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


P = TypeVar("P", bound=Placed)


class Offer(NamedTuple):
    """The value of an index, and how well it fits."""

    points: float
    place: int


def best_assignment(
    offers: Mapping[str, Sequence[Offer]], places: Sequence[Placed]
) -> dict[str, int]:
    """For each parameter the index of its value, so that the points add up to the most.

    Values that overlap are never both given away. `offers` has what each parameter
    may take at all. Where the points leave it open, values go in order of mention to the
    parameters in the order of `offers`.
    """
    keys = [key for key in offers if offers[key]]
    ranked = {key: sorted(offers[key], key=lambda offer: -offer.points)[:8] for key in keys}
    search = _Search(keys, ranked, places)
    search.go(0, 0.0, {})
    return search.best


class _Search:
    def __init__(
        self, keys: Sequence[str], ranked: Mapping[str, Sequence[Offer]], places: Sequence[Placed]
    ) -> None:
        self._keys, self._ranked, self._places = keys, ranked, places
        self._tried = 0
        self._most = -1.0
        self.best: dict[str, int] = {}
        # What all later parameters could bring at most, to give up early.
        self._rest = [0.0] * (len(keys) + 1)
        for at in range(len(keys) - 1, -1, -1):
            self._rest[at] = self._rest[at + 1] + max(0.0, ranked[keys[at]][0].points)

    def go(self, at: int, points: float, taken: dict[str, int]) -> None:
        if points > self._most:
            self._most, self.best = points, dict(taken)
        if at == len(self._keys) or self._tried > _MOST_TRIED:
            return
        if points + self._rest[at] <= self._most:
            return
        key = self._keys[at]
        for offer in self._ranked[key]:
            self._tried += 1
            if offer.points > 0 and self._free(offer.place, taken):
                start = self._places[offer.place].start
                before = sum(self._places[other].start > start for other in taken.values())
                taken[key] = offer.place
                self.go(at + 1, points + offer.points - _SWAPPED * before, taken)
                del taken[key]
        self.go(at + 1, points, taken)

    def _free(self, index: int, taken: Mapping[str, int]) -> bool:
        mine = self._places[index]
        return not any(
            mine.start < self._places[other].end and self._places[other].start < mine.end
            for other in taken.values()
        )
