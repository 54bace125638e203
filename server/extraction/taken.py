"""Which places of a question already belong to an argument."""

from bisect import bisect_left, insort
from collections.abc import Iterator


class Taken:
    """Places in a text, none overlapping another."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> None:
        insort(self._places, (start, end))

    def free(self, start: int, end: int) -> bool:
        """Whether nothing between `start` and `end` is taken."""
        at = bisect_left(self._places, (start, start))
        if at < len(self._places) and self._places[at][0] < end:
            return False
        return at == 0 or self._places[at - 1][1] <= start

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._places)
