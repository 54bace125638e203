"""Change lists of texts in a YAML file, and leave every other character of it as it is.

What was made is read again by the loader's own reader: unless the file then says what it said
before, with exactly the change, nothing is changed and the reason is given.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import yaml

from server.errors import EditRefused
from server.settings.yaml_tree import YamlTree, plain_value

Keys = tuple[str | int, ...]

_BREAK: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_NOTHING_MORE: Final = re.compile(
    r"[ \t]*(?:#[^\n\r\x85\u2028\u2029]*)?(?=[\n\r\x85\u2028\u2029]|\Z)"
)
_PLAIN: Final = re.compile(r"[^\W_](?:[\w .?!%/()=+*'\"$€£-]|,(?=\S)|, )*")
_INSIDE_FLOW: Final = re.compile(r"[^,\[\]{}]*")
_RAW: Final = frozenset("\u200c\u200d")
"""Joiners, which words of some scripts are written with."""
_NO_VARIABLES: Final[Mapping[str, str]] = {}

Style = Literal["'", '"', ""]


class _Insertion(NamedTuple):
    """Text that takes the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def add_text(text: str, keys: Keys, value: str, *, after: str = "") -> str:
    """Return the file with `value` at the end of the list at `keys`, which is made where it lacks.

    A key that is new stands behind the key `after`, if that is there, and else behind the last.
    Raises `EditRefused`: the list cannot be changed without touching anything else.
    """
    before = _read(text)
    expected = _with_appended(before.value, keys, value)
    tree = _parts(text)
    last: EditRefused | None = None
    for style in _styles(tree, keys, after):
        try:
            changed = _applied(text, _appended(text, tree, keys, _Value(value, style), after))
            return _verified(changed, before, expected)
        except EditRefused as refused:
            last = refused
    raise last or EditRefused(_NOT_SAFELY)


def remove_text(
    text: str, keys: Keys, value: str, environ: Mapping[str, str] = _NO_VARIABLES
) -> str:
    """Return the file without the first `value` of the list at `keys`.

    What a file takes from `environ` is compared as the server reads it. Raises `EditRefused`:
    it is not there, or cannot be taken out without touching anything else.
    """
    before = _read(text)
    filled = YamlTree(text, "", environ).root
    items = _at(filled.value if filled is not None else None, keys)
    if not isinstance(items, list) or value not in items:
        raise EditRefused("it does not stand there (any more)")
    number = items.index(value)
    expected = _without(before.value, keys, number)
    return _verified(_applied(text, _cut(text, _parts(text), keys, number)), before, expected)


_NOT_SAFELY: Final = (
    "this place of the file cannot be changed without changing more; edit the file itself"
)
_SHARED: Final = "it is shared with another part of the file (&{name}); edit the file itself"
_MERGED: Final = "it may come from elsewhere in the file (<<); edit the file itself"


# What is read, and what should be.


class _Before(NamedTuple):
    value: Any
    problems: int


def _read(text: str) -> _Before:
    tree = YamlTree(text, "", _NO_VARIABLES)
    if tree.root is None:
        what = tree.placed[-1][1].what if tree.placed else "cannot be read"
        raise EditRefused(f"the file {what}")
    return _Before(tree.root.value, len(tree.placed))


def _verified(changed: str, before: _Before, expected: Any) -> str:
    try:
        now = _read(changed)
    except EditRefused:
        raise EditRefused(_NOT_SAFELY) from None
    if _exact(now.value) != _exact(expected) or now.problems > before.problems:
        raise EditRefused(_NOT_SAFELY)
    return changed


def _exact(data: Any) -> str:
    """All of it but the order of keys; `1`, `1.0` and `true` are not the same."""
    if isinstance(data, dict):
        return f"{{{', '.join(f'{key!r}: {_exact(data[key])}' for key in sorted(data))}}}"
    if isinstance(data, list):
        return f"[{', '.join(map(_exact, data))}]"
    return repr(data)


def _at(data: Any, keys: Keys) -> Any:
    for key in keys:
        if isinstance(data, dict) and isinstance(key, str):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return data


def _with_appended(data: Any, keys: Keys, value: str) -> Any:
    if not keys:
        return [*_as_list(data), value]
    key, *rest = keys
    if isinstance(key, int):
        if not isinstance(data, list) or key >= len(data):
            raise EditRefused(_NOT_SAFELY)
        changed = _with_appended(data[key], tuple(rest), value)
        return [*data[:key], changed, *data[key + 1 :]]
    if data is not None and not isinstance(data, dict):
        raise EditRefused(f"what stands above {key!r} holds no names")
    mapping = data or {}
    return {**mapping, key: _with_appended(mapping.get(key), tuple(rest), value)}


def _as_list(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    return [] if data is None else [data]


def _without(data: Any, keys: Keys, number: int) -> Any:
    if not keys:
        return [*data[:number], *data[number + 1 :]]
    key, *rest = keys
    changed = _without(data[key], tuple(rest), number)
    if isinstance(key, int):
        return [*data[:key], changed, *data[key + 1 :]]
    return {**data, key: changed}


# Where it stands in the text.


@dataclass(slots=True)
class _Part:
    """A node as it is written.

    `start` and `end` count characters; the end of a block is where the next thing begins.
    """

    kind: Literal["scalar", "list", "map", "alias"]
    start: int
    end: int = 0
    value: str = ""
    style: str = ""
    flow: bool = False
    anchor: str = ""
    items: list["_Part"] = field(default_factory=list)
    pairs: list[tuple["_Part", "_Part"]] = field(default_factory=list)

    def entry(self, key: str) -> "tuple[_Part, _Part] | None":
        return next((pair for pair in self.pairs if pair[0].value == key), None)

    @property
    def is_empty(self) -> bool:
        return self.kind == "scalar" and not self.style and plain_value(self.value) is None

    def walk(self) -> Iterator["_Part"]:
        yield self
        for part in (*self.items, *(part for pair in self.pairs for part in pair)):
            yield from part.walk()


def _parts(text: str) -> _Part:
    # The marks of PyYAML's own reader count characters; those of libyaml need not.
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            return _part(next(events), events)
    return _Part("scalar", 0)


def _part(event: Any, events: Iterator[Any]) -> _Part:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        return _Part("alias", start, end, anchor=event.anchor or "")
    anchor = event.anchor or ""
    if isinstance(event, yaml.ScalarEvent):
        return _Part("scalar", start, end, event.value, event.style or "", anchor=anchor)
    if isinstance(event, yaml.SequenceStartEvent):
        part = _Part("list", start, flow=bool(event.flow_style), anchor=anchor)
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            part.items.append(_part(event, events))
    else:
        part = _Part("map", start, flow=bool(event.flow_style), anchor=anchor)
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = _part(event, events)
            part.pairs.append((key, _part(next(events), events)))
    part.end = event.end_mark.index
    return part


def _found(tree: _Part, keys: Keys) -> tuple[_Part, _Part | None, Keys]:
    """Follow `keys` as far as they are written: the last part, its key, and the keys that lack."""
    aliases = {part.anchor for part in tree.walk() if part.kind == "alias"}
    part, named = tree, None
    for number, key in enumerate(keys):
        _check_own(part, aliases)
        if isinstance(key, int):
            if part.kind != "list" or key >= len(part.items):
                raise EditRefused(_NOT_SAFELY)
            part, named = part.items[key], None
            continue
        entry = part.entry(key) if part.kind == "map" else None
        if entry is None:
            if part.entry("<<") is not None:
                raise EditRefused(_MERGED)
            return part, named, keys[number:]
        named, part = entry
    _check_own(part, aliases)
    return part, named, ()


def _check_own(part: _Part, aliases: set[str]) -> None:
    if part.kind == "alias" or (part.anchor and part.anchor in aliases):
        raise EditRefused(_SHARED.format(name=part.anchor))


def _content_end(text: str, part: _Part) -> int:
    """Where the last word of a part ends."""
    if part.kind in ("list", "map") and not part.flow and (part.items or part.pairs):
        return _content_end(text, part.items[-1] if part.items else part.pairs[-1][1])
    if part.style in ("|", ">"):
        header = text[part.start : part.end].split("\n", 1)[0]
        if "+" in header.split("#", 1)[0]:
            return part.end - len(_last_break(text[: part.end]))
        return part.start + len(text[part.start : part.end].rstrip())
    return part.end


def _last_break(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else text[-1:] if _BREAK.fullmatch(text[-1:]) else ""


def _line_start(text: str, position: int) -> int:
    return max((found.end() for found in _BREAK.finditer(text, 0, position)), default=0)


def _line_end(text: str, position: int) -> tuple[int, int]:
    """Where the line ends that `position` is in, and where the next begins.

    Raises `EditRefused`: something else follows on it.
    """
    rest = _NOTHING_MORE.match(text, position)
    if rest is None:
        raise EditRefused(_NOT_SAFELY)
    broken = _BREAK.match(text, rest.end())
    return rest.end(), broken.end() if broken else rest.end()


def _break_of(text: str) -> str:
    found = _BREAK.search(text)
    return found[0] if found else "\n"


def _lines_after(text: str, position: int, lines: Sequence[str]) -> _Insertion:
    """Whole lines behind the one that `position` is in."""
    end, following = _line_end(text, position)
    between = _break_of(text)
    if following == end:  # the last line of a file, without a break
        return _Insertion(end, end, "".join(between + line for line in lines))
    return _Insertion(following, following, "".join(line + between for line in lines))


# How a text is written.


class _Value(NamedTuple):
    text: str
    style: Style

    def written(self, *, flow: bool) -> str:
        # A `${` would be filled from the environment.
        text = self.text.replace("${", "$${")
        if self.style == "" and _is_plain(text, flow=flow):
            return text
        if self.style == "'" and text.isprintable():
            return "'" + text.replace("'", "''") + "'"
        return '"' + "".join(map(_escaped, text)) + '"'


def _is_plain(text: str, *, flow: bool) -> bool:
    fits = _PLAIN.fullmatch(text) is not None and text == text.rstrip()
    return fits and plain_value(text) == text and (not flow or bool(_INSIDE_FLOW.fullmatch(text)))


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() or character in _RAW:
        return character
    number = ord(character)
    for width, letter in ((2, "x"), (4, "u")):
        if number < 16**width:
            return f"\\{letter}{number:0{width}x}"
    return f"\\U{number:08x}"


def _styles(tree: _Part, keys: Keys, after: str) -> Iterator[Style]:
    """How the texts around are quoted, and then double quotes, which take anything."""
    for path in (keys, (*keys[:-1], after), keys[:-1]):
        part, _, lacking = _found(tree, path)
        written = [each for each in part.walk() if each.kind == "scalar" and each is not part]
        if not lacking and written:
            style = written[-1].style
            yield style if style in ("'", '"') else "" if style == "" else '"'  # type: ignore[misc]
            break
    yield '"'


# The changes.


def _applied(text: str, changes: Sequence[_Insertion]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _appended(
    text: str, tree: _Part, keys: Keys, value: _Value, after: str
) -> Sequence[_Insertion]:
    part, _, lacking = _found(tree, keys)
    if part.is_empty:
        new = _nested(lacking, f"[{value.written(flow=True)}]")
        space = " " if part.start == part.end and text[part.start - 1 : part.start] == ":" else ""
        return [_Insertion(part.start, part.end, space + new)]
    if lacking:
        if part.kind != "map":
            raise EditRefused(_NOT_SAFELY)
        return [_new_key(text, part, lacking, value, after)]
    if part.kind == "list":
        return _in_flow(text, part, value) if part.flow else [_in_block(text, part, value)]
    if part.kind == "scalar" and part.style not in ("|", ">") and not part.anchor:
        old = text[part.start : part.end]
        if not part.style and not _INSIDE_FLOW.fullmatch(old):
            old = _Value(part.value, '"').written(flow=True)
        return [_Insertion(part.start, part.end, f"[{old}, {value.written(flow=True)}]")]
    raise EditRefused(_NOT_SAFELY)


def _nested(keys: Keys, written: str) -> str:
    for key in reversed(keys):
        written = f"{{{_key(key)}: {written}}}"
    return written


def _key(key: str | int) -> str:
    text = str(key)
    return (
        text
        if re.fullmatch(r"[A-Za-z_][\w-]*", text) and plain_value(text) == text
        else (_Value(text, '"').written(flow=True))
    )


def _new_key(text: str, holder: _Part, keys: Keys, value: _Value, after: str) -> _Insertion:
    listed = f"[{value.written(flow=True)}]"
    key, *below = keys
    if not holder.pairs:
        closing = holder.end - 1
        return _Insertion(closing, closing, f"{_key(key)}: {_nested(tuple(below), listed)}")
    behind = holder.entry(after) or holder.pairs[-1]
    if holder.flow:
        end = behind[1].end
        return _Insertion(end, end, f", {_key(key)}: {_nested(tuple(below), listed)}")
    column = holder.pairs[0][0].start - _line_start(text, holder.pairs[0][0].start)
    lines = []
    for depth, name in enumerate(keys):
        lines.append(" " * (column + 2 * depth) + f"{_key(name)}:")
    like = next((v for _, v in (behind, *reversed(holder.pairs)) if v.kind == "list"), None)
    if like is not None and not like.flow and not below:
        dash = _dash(text, like)
        lines.append(" " * dash.column + dash.written + value.written(flow=False))
    else:
        lines[-1] += " " + listed
    return _lines_after(text, _content_end(text, behind[1]), lines)


class _Dash(NamedTuple):
    column: int
    written: str


def _dash(text: str, listed: _Part) -> _Dash:
    """Where the dashes of a block stand, and how far its texts are from them."""
    for item in reversed(listed.items):
        line = text[_line_start(text, item.start) : item.start]
        if line.rstrip().endswith("-"):
            column = line.rindex("-")
            return _Dash(column, line[column:] if line.endswith((" ", "\t")) else "- ")
    raise EditRefused(_NOT_SAFELY)


def _in_block(text: str, listed: _Part, value: _Value) -> _Insertion:
    dash = _dash(text, listed)
    line = " " * dash.column + dash.written + value.written(flow=False)
    return _lines_after(text, _content_end(text, listed.items[-1]), [line])


def _in_flow(text: str, listed: _Part, value: _Value) -> Sequence[_Insertion]:
    written = value.written(flow=True)
    if not listed.items:
        return [_Insertion(listed.end - 1, listed.end - 1, written)]
    last = listed.items[-1]
    start = _line_start(text, last.start)
    comma = re.compile(r"[ \t]*,").match(text, last.end)
    if start > listed.start and not text[start : last.start].strip():
        # One text a line: so is the new one, with a comma behind it where the others have one.
        lines = [text[start : last.start] + written + ("," if comma else "")]
        after = _lines_after(text, comma.end() if comma else last.end, lines)
        return [after] if comma else [_Insertion(last.end, last.end, ","), after]
    return [_Insertion(last.end, last.end, f", {written}")]


def _cut(text: str, tree: _Part, keys: Keys, number: int) -> Sequence[_Insertion]:
    listed, named, lacking = _found(tree, keys)
    if lacking or listed.kind != "list":
        raise EditRefused(_NOT_SAFELY)
    item = listed.items[number]
    if listed.flow:
        return [_cut_inline(text, listed, number)]
    start = _line_start(text, item.start)
    if text[start : item.start].strip() != "-":
        raise EditRefused(_NOT_SAFELY)
    _, following = _line_end(text, _content_end(text, item))
    cut = _Insertion(start, following, "")
    if len(listed.items) > 1:
        return [cut]
    colon = re.compile(r"\s*:").match(text, named.end) if named is not None else None
    if colon is None:
        raise EditRefused(_NOT_SAFELY)
    return [_Insertion(colon.end(), colon.end(), " []"), cut]


def _cut_inline(text: str, listed: _Part, number: int) -> _Insertion:
    item, others = listed.items[number], listed.items
    start, end = item.start, item.end
    if number + 1 < len(others):
        end = others[number + 1].start
        between = text[item.end : end]
    elif number:
        start = others[number - 1].end
        between = text[start : item.start]
    else:
        start, end = listed.start + 1, listed.end - 1
        between = text[start : item.start] + "," + text[item.end : end].replace(",", "", 1)
    if between.strip() != ",":
        raise EditRefused(_NOT_SAFELY)
    return _Insertion(start, end, "")
