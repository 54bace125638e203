"""The parts of a YAML document."""

from dataclasses import dataclass
from typing import Any

from server.core.problems import Problem


class Unresolved(str):
    """Text that could not be made into its value; already reported as a problem."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Node:
    """One part of a document; `parts` are its entries by key, or its items."""

    line: int
    value: Any = None
    parts: dict[str, "Node"] | list["Node"] | None = None
    weight: int = 1

    def child(self, key: str | int) -> "Node | None":
        if isinstance(self.parts, dict):
            return self.parts.get(str(key))
        if isinstance(self.parts, list) and isinstance(key, int) and 0 <= key < len(self.parts):
            return self.parts[key]
        return None


@dataclass(slots=True)
class Tree:
    """`root` is None when the text could not be read; the problems say why."""

    root: Node | None
    placed: tuple[tuple[tuple[str | int, ...], Problem], ...]
    from_environment: frozenset[str]
