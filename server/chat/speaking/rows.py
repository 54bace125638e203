"""Whether a sentence keeps the rows of a result apart, in their order, and tells of them all."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from server.chat.speaking.atoms import Atom
from server.chat.speaking.facts import Facts, atoms_in, leaves
from server.chat.speaking.wordlists import word_lists

_MOST_ROWS = 200


class Rows:
    """The rows of a result by the values that tell them apart."""

    def __init__(self, facts: Facts) -> None:
        self._count = facts.count
        self._of: dict[Any, set[int]] = {}
        connecting = word_lists().connecting
        self._size = min(len(facts.rows), _MOST_ROWS)
        for index, row in enumerate(facts.rows[:_MOST_ROWS]):
            for _, leaf in leaves(row if isinstance(row, Mapping | list) else [row]):
                for atom in atoms_in(leaf, facts.order):
                    if atom.kind not in ("stop", "sign") and atom.value not in connecting:
                        self._of.setdefault(atom.value, set()).add(index)
        for value in facts.asked:
            self._of.pop(value, None)  # what was asked for tells no rows apart
        self._of = {v: rows for v, rows in self._of.items() if len(rows) < self._size}
        self._named = any(isinstance(row, Mapping) for row in facts.rows)

    def told(self, atoms: Sequence[Atom]) -> tuple[str | None, set[int]]:
        """Why the sentence mixes rows up, if it does, and which rows it tells of."""
        told: list[int] = []
        current: set[int] = set()
        named = True
        for atom in atoms:
            rows = self._of.get(atom.value)
            if rows is None:
                continue
            is_name = atom.kind in ("word", "code")
            if current & rows:
                current &= rows
                named = named or is_name
                continue
            if not named:
                return f"{atom.value} is said beside another row", set()
            _close(current, told)
            current, named = set(rows), is_name or not self._has_names
        if not named:
            return "a value is said without the row it belongs to", set()
        _close(current, told)
        if told != sorted(told):
            return "the rows are told in another order", set()
        return None, set(told)

    def is_complete(self, told: set[int]) -> bool:
        """Whether each row is told of."""
        return len(told) == self._size

    def is_stated(self, told: set[int], atoms: Sequence[Atom]) -> bool:
        """Whether each row is told of, or how many there are is said."""
        counted = any(a.kind == "number" and a.value == self._count for a in atoms)
        return (counted and Decimal(self._count or 0) not in self._of) or self.is_complete(told)

    @property
    def _has_names(self) -> bool:
        return self._named and any(isinstance(value, str) for value in self._of)


def _close(rows: set[int], told: list[int]) -> None:
    """Take note of the row that was told of; among several that fit, the first is meant."""
    if rows:
        fitting = [row for row in sorted(rows) if row not in told]
        told += (fitting or sorted(rows))[:1]
