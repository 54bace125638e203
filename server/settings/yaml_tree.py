"""YAML text to a tree of nodes, each with its value and its line.

Built from parser events rather than with a YAML loader: only so are lines kept for
every node, keys counted, depth bounded before the interpreter's stack is, and tags
that name Python objects never looked at.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from server.errors import Fix, Location, Problem

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_MAX_DEFAULTS: Final = 3


def _default(depth: int) -> str:
    """The pattern of a default that holds placeholders, and they theirs, so many deep."""
    plain = r"[^}$]|\$(?!\{)"
    if depth == 0:
        return f"(?:{plain})*"
    return rf"(?:{plain}|\$\{{{_NAME}(?::-{_default(depth - 1)})?\}})*"


_PLACEHOLDER: Final = re.compile(
    r"(?P<escaped>\$\$\{)"
    rf"|\$\{{(?P<name>{_NAME})(?::-(?P<default>{_default(_MAX_DEFAULTS)}))?\}}"
    # `${{ price }}` is a dollar sign before a Jinja expression, not a placeholder.
    r"|(?P<malformed>\$\{(?!\{))"
)


class Gap(NamedTuple):
    """A placeholder that could not be filled: `token` as it stands in the file, and why."""

    token: str
    kind: str
    why: str


def fill_placeholders(
    text: str, environ: Mapping[str, str], used: set[str], gaps: list[Gap]
) -> str:
    """Return `text` with its placeholders filled; `$${` stands for a literal `${`.

    Values of the environment are added to `used`. What could not be filled stays as it was
    written, and is added to `gaps`.
    """
    if "${" not in text:
        return text

    def replacement(found: re.Match[str]) -> str:
        token = found.group()
        if found["escaped"]:
            return "${"
        if found["malformed"]:
            why = "'${' is not followed by a NAME and '}'; write '$${' for the characters '${'"
            gaps.append(Gap(token, "bad-placeholder", why))
            return token
        value, default = environ.get(found["name"], ""), found["default"]
        if value:
            used.add(value)
            return value
        if default is not None:
            return fill_placeholders(default, environ, used, gaps)
        state = "is set but empty" if found["name"] in environ else "is not set"
        why = (
            f"environment variable {found['name']} {state}; "
            f"set it, or write ${{{found['name']}:-default}}"
        )
        gaps.append(Gap(token, "missing-variable", why))
        return token

    return _PLACEHOLDER.sub(replacement, text)


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


Scalar = str | int | float | bool | None

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]{1,64}|0x[0-9a-fA-F]{1,64}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS: Final = 300
"""Longer runs of digits are identifiers, not quantities, and Python refuses to read
those of more than 4,300 digits: they stay text."""


def plain_value(text: str) -> Scalar:
    """Return what unquoted `text` means."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] not in "+-.0123456789" or len(text) > _MAX_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text


_HINTS: Final = {
    "mapping values are not allowed in this context": (
        "put the text in quotes when it holds ': ', and check the indentation"
    ),
    "found unknown escape character": (
        r"in double quotes a backslash is written twice ('\\d'); single quotes take it as it is"
    ),
    "found unexpected end of stream": "what opens here is never closed",
    "found character that cannot start any token": (
        "text that begins with '@', '`' or '%' needs quotes"
    ),
    "did not find expected key": "check the indentation of this line and the one before",
    "did not find expected '-' indicator": "check the indentation of this line",
}


def explain_syntax(broken: yaml.YAMLError, text: str) -> tuple[int, str, str]:
    """Return line, problem kind and sentence for a parser's complaint."""
    if isinstance(broken, yaml.reader.ReaderError):
        # libyaml counts bytes and PyYAML characters; lines before it are the same.
        position = broken.position
        before = text.encode()[:position].decode(errors="ignore")
        return before.count("\n") + 1, "yaml-syntax", "holds a character that YAML does not allow"
    if not isinstance(broken, yaml.MarkedYAMLError):
        return 1, "yaml-syntax", "is not valid YAML"
    said = broken.problem or "cannot be read"
    mark = broken.problem_mark or broken.context_mark
    if said == "found unexpected end of stream" and broken.context_mark is not None:
        mark = broken.context_mark  # where the quote opened, not where the file ends
    line = mark.line if mark is not None else 0
    lines = text.splitlines()
    written = lines[line] if line < len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return line + 1, "tab", "a tab indents this line; YAML takes only spaces"
    hint = _HINTS.get(said, broken.context or "")
    if said.startswith("did not find expected ','") and "${" in written:
        hint = "inside { } and [ ], a ${NAME} needs quotes"
    return line + 1, "yaml-syntax", f"is not valid YAML: {said}" + (f"; {hint}" if hint else "")


MAX_DEPTH: Final = 100
MAX_NODES: Final = 2_000_000
"""Counting a part again wherever an alias repeats it."""

_Parser: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_SCALAR_TAGS: Final[Mapping[str, tuple[type, ...]]] = {
    _TAG + "int": (int,),
    _TAG + "float": (int, float),
    _TAG + "bool": (bool,),
    _TAG + "null": (type(None),),
}
_COLLECTION_TAGS: Final = frozenset({None, "!", _TAG + "map", _TAG + "seq"})


class _Refused(Exception):
    """The document is too much to read; the problem has been recorded."""


@dataclass(slots=True)
class _Open:
    """A collection whose end has not been seen. `key` is set while its value is awaited."""

    node: Node
    anchor: str | None
    key: str | None = None
    key_line: int = 0
    awaits_value: bool = False
    merged: list[Node] = field(default_factory=list)

    @property
    def awaits_key(self) -> bool:
        return isinstance(self.node.parts, dict) and not self.awaits_value


class YamlTree:
    """`text` read as one YAML document; `root` is None when it cannot be, and `placed` says why."""

    def __init__(self, text: str, file: str, environ: Mapping[str, str]) -> None:
        self.root: Node | None = Node(1)
        self.placed: list[tuple[tuple[str | int, ...], Problem]] = []
        self.from_environment: set[str] = set()
        self._text, self._file, self._environ = text, file, environ
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0
        try:
            for event in yaml.parse(text, Loader=_Parser):
                self._take(event)
        except yaml.YAMLError as broken:
            line, kind, why = explain_syntax(broken, text)
            self._complain(kind, why, line, at=())
            self.root = None
        except _Refused:
            self.root = None

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                why = "a second document begins here ('---'); keep one document in a file"
                self._refuse("yaml-syntax", why, _line_of_event(event))

    def _complain(
        self, kind: str, why: str, line: int, at: tuple[str | int, ...] | None = None
    ) -> None:
        """Record a problem `at` these keys, or where the reading is."""
        if at is None:
            at = tuple(
                len(level.node.parts) if isinstance(level.node.parts, list) else level.key or ""
                for level in self._open
            )
        fix = Fix("indent") if kind == "tab" else None
        self.placed.append((at, Problem(why, Location(self._file, line), kind, fix=fix)))

    def _refuse(self, kind: str, why: str, line: int) -> NoReturn:
        self._complain(kind, why, line, at=())
        raise _Refused

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._took_key(event.value, event):
            return
        node = Node(_line_of_event(event), self._value(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._place(node)

    def _took_key(self, key: str, event: yaml.Event) -> bool:
        """Take `key` as the next key, if the open collection awaits one."""
        if not self._open or not self._open[-1].awaits_key:
            return False
        level = self._open[-1]
        level.key, level.key_line, level.awaits_value = key, _line_of_event(event), True
        return True

    def _value(self, event: yaml.ScalarEvent) -> Scalar:
        gaps: list[Gap] = []
        text = fill_placeholders(event.value, self._environ, self.from_environment, gaps)
        for gap in gaps:
            self._complain(gap.kind, gap.why, self._line_of(gap.token, event))
        if gaps:
            return Unresolved(text)
        if event.tag is None and event.implicit[0]:
            # A lone placeholder stands for what it brings, as if that had been written.
            return plain_value(text)
        if event.tag in {None, "!", _TAG + "str"}:
            return text
        value = plain_value(text)
        if event.tag not in _SCALAR_TAGS:
            self._refuse_tag(event)
        elif not isinstance(value, _SCALAR_TAGS[event.tag]):
            what = f"{text!r} is not what the tag {_short_tag(event.tag)} says"
            self._complain("yaml-tag", what, _line_of_event(event))
            return Unresolved(text)
        return value

    def _refuse_tag(self, event: yaml.NodeEvent) -> None:
        tag = _short_tag(getattr(event, "tag", ""))
        self._refuse("yaml-tag", f"the tag {tag} cannot be used", _line_of_event(event))

    def _line_of(self, token: str, event: yaml.ScalarEvent) -> int:
        first = _line_of_event(event)
        last = event.end_mark.line + 1 if event.end_mark is not None else first
        lines = self._text.splitlines()[first - 1 : last]
        return next((first + n for n, line in enumerate(lines) if token in line), first)

    def _alias(self, event: yaml.AliasEvent) -> None:
        target = self._anchors.get(event.anchor or "")
        if target is None:
            why = "names no anchor; put text that begins with '*' in quotes"
            if any(level.anchor == event.anchor for level in self._open):
                why = "contains itself"
            self._complain("bad-alias", f"*{event.anchor} {why}", _line_of_event(event))
            target = Node(_line_of_event(event), Unresolved())
        if not self._took_key(str(target.value), event):
            self._place(Node(_line_of_event(event), target.value, target.parts, target.weight))

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        line = _line_of_event(event)
        if len(self._open) >= MAX_DEPTH:
            self._refuse("too-large", f"is nested more than {MAX_DEPTH} deep", line)
        if self._open and self._open[-1].awaits_key:
            why = "a key must be one word; put text that begins with '{' or '[' in quotes"
            self._refuse("yaml-syntax", why, line)
        if event.tag not in _COLLECTION_TAGS:
            self._refuse_tag(event)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = Node(line, {} if is_mapping else [], {} if is_mapping else [])
        self._open.append(_Open(node, event.anchor))

    def _end(self) -> None:
        level = self._open.pop()
        node = level.node
        for merged in level.merged:
            for key, part in (merged.parts or {}).items():  # type: ignore[union-attr]
                if key not in node.value:
                    node.value[key] = part.value
                    node.parts[key] = part  # type: ignore[index]
        if level.anchor is not None:
            self._anchors[level.anchor] = node
        self._place(node)

    def _place(self, node: Node) -> None:
        """Put a finished node where it belongs: into its parent, or at the top."""
        if not self._open:
            self.root = node
            return
        level = self._open[-1]
        parent = level.node
        parent.weight += node.weight
        if parent.weight > MAX_NODES:
            why = f"aliases make this more than {MAX_NODES:,} values"
            self._refuse("alias-bomb", why, node.line)
        if isinstance(parent.parts, list):
            parent.parts.append(node)
            parent.value.append(node.value)
        elif parent.parts is not None:
            self._entry(level, parent, parent.parts, node)

    def _entry(self, level: _Open, parent: Node, parts: dict[str, Node], node: Node) -> None:
        key, level.awaits_value = level.key or "", False
        if key == "<<" and (merged := _mappings(node)) is not None:
            level.merged.extend(merged)
        elif key in parts:
            why = f"{key!r} is written twice; the first is in line {parts[key].line}"
            self._complain("duplicate-key", why, level.key_line)
        else:
            parent.value[key] = node.value
            parts[key] = Node(level.key_line, node.value, node.parts, node.weight)


def _mappings(node: Node) -> list[Node] | None:
    found = node.parts if isinstance(node.parts, list) else [node]
    return found if all(isinstance(part.parts, dict) for part in found) else None


def _short_tag(tag: str) -> str:
    return tag.replace(_TAG, "!!")


def _line_of_event(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1
