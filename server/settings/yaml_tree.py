"""YAML text to a tree of nodes, each with its value and its line.

Built from parser events rather than with a YAML loader: only so are lines kept for
every node, keys counted, depth bounded before the interpreter's stack is, and tags
that name Python objects never looked at.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from server.errors import Location, Problem

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


@dataclass(frozen=True, slots=True)
class Gap:
    """A placeholder that could not be filled: `token` as it stands in the file, and why."""

    token: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class FilledText:
    """Text with its placeholders filled.

    `from_environment` are the values that were put in, and `gaps` what could not be
    filled; such a placeholder stays in `text` as it was written.
    """

    text: str
    from_environment: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def fill_placeholders(text: str, environ: Mapping[str, str]) -> FilledText:
    """Fill every placeholder in `text`; `$${` stands for a literal `${`."""
    if "${" not in text:
        return FilledText(text)
    used: list[str] = []
    gaps: list[Gap] = []

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
            used.append(value)
            return value
        if default is not None:
            inner = fill_placeholders(default, environ)
            used.extend(inner.from_environment)
            gaps.extend(inner.gaps)
            return inner.text
        state = "is set but empty" if found["name"] in environ else "is not set"
        why = (
            f"environment variable {found['name']} {state}; "
            f"set it, or write ${{{found['name']}:-default}}"
        )
        gaps.append(Gap(token, "missing-variable", why))
        return token

    return FilledText(_PLACEHOLDER.sub(replacement, text), tuple(used), tuple(gaps))


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
    if line < len(lines) and "\t" in _indentation(lines[line]):
        return line + 1, "tab", "a tab indents this line; YAML takes only spaces"
    hint = _HINTS.get(said, broken.context or "")
    if said.startswith("did not find expected ','") and line < len(lines) and "${" in lines[line]:
        hint = "inside { } and [ ], a ${NAME} needs quotes"
    return line + 1, "yaml-syntax", f"is not valid YAML: {said}" + (f"; {hint}" if hint else "")


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


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


def build_tree(text: str, file: str, environ: Mapping[str, str]) -> Tree:
    """Read `text` as one YAML document."""
    builder = _TreeBuilder(text, file, environ)
    try:
        for event in yaml.parse(text, Loader=_Parser):
            builder.take(event)
    except yaml.YAMLError as broken:
        line, kind, why = explain_syntax(broken, text)
        builder.complain(kind, why, line, top=True)
    except _Refused:
        pass
    else:
        return Tree(builder.root, tuple(builder.placed), frozenset(builder.from_environment))
    return Tree(None, tuple(builder.placed), frozenset(builder.from_environment))


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


class _TreeBuilder:
    def __init__(self, text: str, file: str, environ: Mapping[str, str]) -> None:
        self.root = Node(1)
        self.placed: list[tuple[tuple[str | int, ...], Problem]] = []
        self.from_environment: set[str] = set()
        self._text, self._file, self._environ = text, file, environ
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._lines: list[str] | None = None
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
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
                self.complain("yaml-syntax", why, _line_of_event(event), top=True)
                raise _Refused

    def complain(self, kind: str, why: str, line: int, *, top: bool = False) -> None:
        keys = () if top else self._keys()
        self.placed.append((keys, Problem(why, Location(self._file, line), kind)))

    def _keys(self) -> tuple[str | int, ...]:
        return tuple(
            len(level.node.parts) if isinstance(level.node.parts, list) else level.key or ""
            for level in self._open
        )

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
        filled = fill_placeholders(event.value, self._environ)
        self.from_environment.update(filled.from_environment)
        for gap in filled.gaps:
            self.complain(gap.kind, gap.why, self._line_of(gap.token, event))
        if filled.gaps:
            return Unresolved(filled.text)
        plain = event.tag is None and event.implicit[0]
        if plain:
            # A lone placeholder stands for what it brings, as if that had been written.
            return plain_value(filled.text)
        if event.tag in {None, "!", _TAG + "str"}:
            return filled.text
        value = plain_value(filled.text)
        if event.tag not in _SCALAR_TAGS:
            self._refuse_tag(event)
        elif not isinstance(value, _SCALAR_TAGS[event.tag]):
            what = f"{filled.text!r} is not what the tag {_short_tag(event.tag)} says"
            self.complain("yaml-tag", what, _line_of_event(event))
            return Unresolved(filled.text)
        return value

    def _refuse_tag(self, event: yaml.NodeEvent) -> None:
        tag = _short_tag(getattr(event, "tag", ""))
        self.complain("yaml-tag", f"the tag {tag} cannot be used", _line_of_event(event), top=True)
        raise _Refused

    def _line_of(self, token: str, event: yaml.ScalarEvent) -> int:
        """The line of `token` in a scalar that may span many lines."""
        if self._lines is None:
            self._lines = self._text.splitlines()
        first = _line_of_event(event)
        last = event.end_mark.line + 1 if event.end_mark is not None else first
        for number in range(first, min(last, len(self._lines)) + 1):
            if token in self._lines[number - 1]:
                return number
        return first

    def _alias(self, event: yaml.AliasEvent) -> None:
        target = self._anchors.get(event.anchor or "")
        if target is None:
            still_open = any(level.anchor == event.anchor for level in self._open)
            why = (
                "contains itself"
                if still_open
                else "names no anchor; put text that begins with '*' in quotes"
            )
            self.complain("bad-alias", f"*{event.anchor} {why}", _line_of_event(event))
            target = Node(_line_of_event(event), Unresolved())
        if not self._took_key(str(target.value), event):
            self._place(Node(_line_of_event(event), target.value, target.parts, target.weight))

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        line = _line_of_event(event)
        if len(self._open) >= MAX_DEPTH:
            self.complain("too-large", f"is nested more than {MAX_DEPTH} deep", line, top=True)
            raise _Refused
        if self._open and self._open[-1].awaits_key:
            why = "a key must be one word; put text that begins with '{' or '[' in quotes"
            self.complain("yaml-syntax", why, line, top=True)
            raise _Refused
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
            self.complain("alias-bomb", why, node.line, top=True)
            raise _Refused
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
            self.complain("duplicate-key", why, level.key_line)
        else:
            parent.value[key] = node.value
            parts[key] = Node(level.key_line, node.value, node.parts, node.weight)


def _mappings(node: Node) -> list[Node] | None:
    """The mappings that a merge key brings in, or None when it names something else."""
    found = node.parts if isinstance(node.parts, list) else [node]
    return found if all(isinstance(part.parts, dict) for part in found) else None


def _short_tag(tag: str) -> str:
    return tag.replace(_TAG, "!!")


def _line_of_event(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1
