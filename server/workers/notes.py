"""Values that all workers see at once, until one of them has written them to the database."""

from dataclasses import dataclass, field
from typing import Final

_MOST_WAITING: Final = 50_000
_MOST_AT_ONCE: Final = 500


@dataclass(slots=True)
class _Kind:
    waiting: dict[str, str] = field(default_factory=dict)
    under_way: dict[str, str] = field(default_factory=dict)
    writer: int | None = None


class Notes:
    """The latest value of each key, by kind. One worker at a time writes those of a kind."""

    def __init__(self, *, most: int = _MOST_WAITING) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._most = most
        self.lost = 0
        """Values that were not written, since more came than could be."""

    def put(self, kind: str, key: str, value: str) -> None:
        waiting = self._of(kind).waiting
        waiting[key] = value
        if len(waiting) > self._most:
            del waiting[next(iter(waiting))]
            self.lost += 1

    def get(self, kind: str, key: str) -> str | None:
        """Return what may not be in the database yet."""
        of_kind = self._of(kind)
        return of_kind.waiting.get(key, of_kind.under_way.get(key))

    def take(self, kind: str, writer: int) -> list[tuple[str, str]] | None:
        """Return what is to be written, until `give_back`; None while somebody else writes."""
        of_kind = self._of(kind)
        if of_kind.writer is not None:
            return None
        taken = list(of_kind.waiting.items())[:_MOST_AT_ONCE]
        for key, _ in taken:
            del of_kind.waiting[key]
        of_kind.under_way = dict(taken)
        of_kind.writer = writer if taken else None
        return taken

    def give_back(self, kind: str, writer: int, *, written: bool) -> None:
        """End what `take` began; what is not `written` waits again, unless it was replaced."""
        of_kind = self._of(kind)
        if of_kind.writer != writer:
            return
        if not written:
            of_kind.waiting = of_kind.under_way | of_kind.waiting
        of_kind.under_way, of_kind.writer = {}, None

    def lose(self, writer: int) -> None:
        """Take back what a worker that ended was writing."""
        for kind in self._kinds:
            self.give_back(kind, writer, written=False)

    def drop(self, kind: str, key: str) -> bool:
        """Forget what waits, and return whether no write of it is under way."""
        of_kind = self._of(kind)
        of_kind.waiting.pop(key, None)
        return key not in of_kind.under_way

    @property
    def unwritten(self) -> int:
        """How many values are not in the database, those that were lost included."""
        every = self._kinds.values()
        return self.lost + sum(len(each.waiting) + len(each.under_way) for each in every)

    def _of(self, kind: str) -> _Kind:
        return self._kinds.setdefault(kind, _Kind())
