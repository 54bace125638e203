"""Mend the text of a YAML file where it is certain what was meant, and leave all else as it is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

from server.errors import Fix, Problem
from server.settings.yaml_tree import YamlTree

_BREAK: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_USUAL_WIDTHS: Final = (2, 4, 8)
_NO_VARIABLES: Final[Mapping[str, str]] = {}


def apply_fixes(text: str, problems: Sequence[Problem]) -> tuple[str, list[Problem]]:
    """Return the text with what can be mended mended, and the problems that this was for.

    The problems are those of this file. A change that would leave the file worse to read than it
    was is not made.
    """
    mended: list[Problem] = []
    # From the end on, so that the lines of the others stay where they are.
    for problem in sorted(dict.fromkeys(problems), key=lambda each: -each.where.line):
        fix = problem.fix
        changed = _CHANGES[fix.action](text, problem.where.line, fix) if fix else None
        if changed is not None and changed != text and _reads_as_well(changed, text):
            text = changed
            mended.insert(0, problem)
    return text, mended


def described(fix: Fix) -> str:
    """Return what a fix has done, as a person would say it."""
    match fix.action:
        case "rename":
            return f"{fix.old!r} is now {fix.new!r}"
        case "remove":
            return f"{fix.old!r} stood there twice, and stands there once"
        case "indent":
            return "tabs that indented lines are now spaces"


def _read(text: str) -> YamlTree:
    return YamlTree(text, "", _NO_VARIABLES)


def _reads_as_well(changed: str, text: str) -> bool:
    new = _read(changed)
    if new.root is None:
        return False
    before = _read(text)
    return before.root is None or len(new.placed) <= len(before.placed)


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in _BREAK.finditer(text))]


def _line_span(text: str, line: int) -> tuple[int, int]:
    """Where a line begins and ends, its line break included."""
    starts = [*_line_starts(text), len(text)]
    return starts[line - 1], starts[line]


def _renamed(text: str, line: int, fix: Fix) -> str | None:
    start, end = _line_span(text, line)
    name = re.escape(fix.old)
    key = rf"""(?<![^\s{{,])(?:(?P<plain>{name})(?=\s*:(?:\s|$))|(["']){name}\2(?=\s*:))"""
    found = list(re.finditer(key, text[start:end]))
    if len(found) != 1:
        return None
    first, last = found[0].span()
    if found[0]["plain"] is None:
        first, last = first + 1, last - 1
    return text[: start + first] + fix.new + text[start + last :]


def _indented(text: str, line: int, fix: Fix) -> str | None:  # noqa: ARG001  all changes alike
    """The text with spaces for tabs, if it means the same whatever their width."""
    spaces = (len(found[1]) for found in re.finditer(r"^( +)\S", text, re.MULTILINE))
    widths = dict.fromkeys((min(spaces, default=_USUAL_WIDTHS[0]), *_USUAL_WIDTHS))
    readable = [(done, tree.root) for done, tree in (_without_tabs(text, w) for w in widths)]
    found = [(done, root.value) for done, root in readable if root is not None]
    if not found or any(value != found[0][1] for _, value in found):
        return None
    return found[0][0]


def _without_tabs(text: str, width: int) -> tuple[str, YamlTree]:
    """The text with the tabs replaced that the reader stumbles on, one line after another."""
    tree = _read(text)
    while tree.placed and tree.placed[-1][1].kind == "tab":
        start, end = _line_span(text, tree.placed[-1][1].where.line)
        written = text[start:end]
        words = written.lstrip(" \t")
        indent = written[: len(written) - len(words)].replace("\t", " " * width)
        text = text[:start] + indent + words + text[end:]
        tree = _read(text)
    return text, tree


def _removed(text: str, line: int, fix: Fix) -> str | None:
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)  # its marks count characters
    except yaml.YAMLError:
        return None
    for listed, number in _entries(top):
        entry = listed.value[number]
        if entry.start_mark.line + 1 != line or _subject(entry) != fix.old:
            continue
        before = listed.value[max(number - 1, 0)]
        is_alias = entry.start_mark.index <= before.start_mark.index
        if any(_plain(entry) == _plain(other) for other in listed.value[:number]) and not is_alias:
            cut = _cut_inline if listed.flow_style else _cut_lines
            return cut(text, before, entry)
    return None


def _entries(node: Any) -> Iterator[tuple[yaml.SequenceNode, int]]:
    if isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            yield node, number
            yield from _entries(entry)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _entries(value)


def _subject(entry: Any) -> str | None:
    """The text of an entry, or the question that it asks."""
    if isinstance(entry, yaml.ScalarNode):
        return str(entry.value)
    pairs = entry.value if isinstance(entry, yaml.MappingNode) else ()
    asked = (value for key, value in pairs if key.value == "ask")
    return next((str(value.value) for value in asked), None)


def _plain(node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return node.tag, node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(entry) for entry in node.value]
    return {key.value: _plain(value) for key, value in node.value}


def _cut_inline(text: str, before: Any, entry: Any) -> str | None:
    start, end = _end_of(text, before), _end_of(text, entry)
    between = text[start : entry.start_mark.index]
    return text[:start] + text[end:] if between.strip() == "," else None


def _cut_lines(text: str, before: Any, entry: Any) -> str | None:
    """The text without the lines of an entry, which begins with a dash and shares no line."""
    dash = text.rfind("-", before.start_mark.index, entry.start_mark.index)
    start = max(each for each in _line_starts(text) if each <= dash)
    alone = not text[start:dash].strip() and not text[dash + 1 : entry.start_mark.index].strip()
    last = _end_of(text, entry)
    found = _BREAK.search(text, last)
    end = found.end() if found else len(text)
    rest = text[last:end].strip()
    return text[:start] + text[end:] if alone and (not rest or rest.startswith("#")) else None


def _end_of(text: str, node: Any) -> int:
    """Where the last word of a node ends; that of a block ends where the next thing begins."""
    if not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(text, last[1] if isinstance(last, tuple) else last)
    start: int = node.start_mark.index
    return start + len(text[start : node.end_mark.index].rstrip())


_CHANGES: Final[Mapping[str, Callable[[str, int, Fix], str | None]]] = {
    "rename": _renamed,
    "remove": _removed,
    "indent": _indented,
}
