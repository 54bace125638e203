"""YAML files as plain data that remembers where every part of it was written.

Nothing here raises for what a file holds: whatever is wrong becomes a `Problem` with
its line, so that an author sees all of them at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from server.core.suggestions import surely_meant
from server.errors import Fix, Location, Problem
from server.settings.yaml_tree import Node, YamlTree

MAX_BYTES: Final = 32 * 1024 * 1024
"""A library of 100,000 examples is a tenth of this."""

Keys = tuple[str | int, ...]
"""A way into a document: mapping keys and list indices, from the top."""


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML file, read.

    `data` is made of dicts with text keys, lists, text, numbers, booleans and None.
    Parts that YAML anchors share are shared in `data` too: do not change it.
    `from_environment` are the values that placeholders brought in; they may be
    secrets, so messages and logs leave them out. `raw` is the file as it was read.
    """

    file: str
    data: Any = None
    placed: tuple[tuple[Keys, Problem], ...] = ()
    from_environment: frozenset[str] = frozenset()
    root: Node = field(default_factory=lambda: Node(1), repr=False, compare=False)
    raw: bytes = field(default=b"", repr=False, compare=False)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong with the file as a file, in the order it was found."""
        return tuple(problem for _, problem in self.placed)

    @property
    def readable(self) -> bool:
        """Whether `data` can be judged: the file was there, and was the YAML asked for."""
        return self.data is not None

    def where(self, keys: Sequence[str | int] = ()) -> Location:
        """Where the part at `keys` begins; for a part that is not there, its parent.

        An entry of a mapping begins at its key, an item of a list at its first word.
        """
        node = self.root
        for key in keys:
            child = node.child(key)
            if child is None:
                break
            node = child
        return Location(self.file, node.line)

    def node(self, keys: Sequence[str | int]) -> Node | None:
        node: Node | None = self.root
        for key in keys:
            node = node.child(key) if node is not None else None
        return node

    def at(self, keys: Sequence[str | int]) -> Any:
        node = self.node(keys)
        return self.data if not keys else node.value if node is not None else None

    def renaming(self, keys: Sequence[str | int], known: Iterable[str]) -> Fix | None:
        """What mends the unknown key at `keys`: the known one that it must mean, if none has it."""
        *above, key = keys
        written, names = self.at(above), list(known)
        if not isinstance(written, dict) or not isinstance(key, str):
            return None
        meant = surely_meant(key, names)
        others = [surely_meant(other, names) for other in written if other not in (key, *names)]
        if meant is None or meant in written or meant in others:
            return None
        return Fix("rename", key, meant)

    def problems_outside(self, parts: Sequence[Keys]) -> Iterator[Problem]:
        """The file's problems, without the missing variables inside `parts`.

        What is switched off needs no secrets.
        """
        for keys, problem in self.placed:
            within = any(keys[: len(part)] == part for part in parts)
            if not (within and problem.kind == "missing-variable"):
                yield problem


_INSTEAD: Final[ContextVar[Mapping[Path, bytes]]] = ContextVar("_INSTEAD")


@contextmanager
def reading_instead(texts: Mapping[Path, bytes]) -> Iterator[None]:
    """Let texts stand for files, by their absolute paths, for whoever reads within the block.

    So it is in tasks and in `asyncio.to_thread` that begin there, and nowhere else.
    """
    token = _INSTEAD.set(texts)
    try:
        yield
    finally:
        _INSTEAD.reset(token)


def read_yaml(
    path: Path, environ: Mapping[str, str], *, top: tuple[type, ...] = (dict,)
) -> Document:
    """Read one YAML file; `top` says what it may be at the top: dict, list, or both."""
    file = shown_path(path)

    def refused(kind: str, why: str) -> Document:
        return Document(file, placed=(((), Problem(why, Location(file), kind)),))

    instead = _INSTEAD.get({}).get(path.absolute())
    if instead is not None:
        return parse_yaml(instead, file, environ, top=top)
    if not path.exists():
        return refused("not-found", "there is no such file")
    if not path.is_file():
        return refused("unreadable", "this is not a regular file")
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as unreadable:
        return refused("unreadable", f"cannot be read: {unreadable.strerror}")
    if len(raw) > MAX_BYTES:
        return refused("too-large", f"is larger than {MAX_BYTES // 2**20} MiB")
    return parse_yaml(raw, file, environ, top=top)


def parse_yaml(
    raw: bytes, file: str, environ: Mapping[str, str], *, top: tuple[type, ...] = (dict,)
) -> Document:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as broken:
        line = raw.count(b"\n", 0, broken.start) + 1
        problem = Problem("is not UTF-8 text", Location(file, line), "not-utf8")
        return Document(file, placed=(((), problem),), raw=raw)
    tree = YamlTree(text, file, environ)
    placed, from_environment = tuple(tree.placed), frozenset(tree.from_environment)
    if tree.root is None:
        return Document(file, None, placed, from_environment, raw=raw)
    data = tree.root.value
    if data is None:
        data = {} if dict in top else []
        empty = Problem("is empty", Location(file), "empty-file", "warning")
        placed = (*placed, ((), empty))
    elif not isinstance(data, top):
        data = None
        names = " or ".join("a list" if kind is list else "`name: value` lines" for kind in top)
        where = Location(file, tree.root.line)
        placed = (*placed, ((), Problem(f"expected {names} at the top", where, "wrong-type")))
    return Document(file, data, placed, from_environment, tree.root, raw)


def shown_path(path: Path) -> str:
    """The path as people read it: relative to the working folder when it lies below it."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
