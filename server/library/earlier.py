"""What of an earlier text may stand in for a file of YAML that cannot be read any more.

A text that cannot be parsed can still be compared, line by line. What stands in runs nothing,
and lets nobody run anything, that the newer text does not say in the same words: lines that
say what runs and who may run it have to be there as they were. Lines that say how it is found
and answered may differ, and so may whatever is not understood.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from server.core.suggestions import closest
from server.library.yaml_models import TemplateYaml


@dataclass(frozen=True, slots=True)
class EarlierTexts:
    """The files of a library when all of them could be read; `withheld` says why none may serve."""

    read_at: datetime
    texts: Mapping[Path, bytes] = field(default_factory=dict, repr=False)
    withheld: str = ""

    @property
    def version(self) -> str:
        return version_of(self.read_at)


def version_of(at: datetime) -> str:
    """Return a time as people tell versions apart by it, in the time zone of this machine."""
    local, today = at.astimezone(), datetime.now().astimezone().date()
    return f"{local:%H:%M}" if local.date() == today else f"{local:%Y-%m-%d %H:%M}"


def standing_templates(now: str, before: str, ids: Collection[str]) -> dict[str, bool]:
    """Return which of the templates `ids` of the text `before` the text `now` still has.

    The value says whether `now` has the same lines for what the template runs and who may run it.
    """
    if _LIST.search(before) and not _LIST.search(now):
        return {}
    then, standing = _blocks(before, ids), _blocks(now, ids)
    return {
        name: all(block is not None and block == then.get(name, [None])[0] for block in blocks)
        for name, blocks in standing.items()
    }


def is_standing_domain(now: str, before: str) -> bool:
    """Whether `now` has the same lines as `before` for how calls are made."""
    lines = _binding_lines(now.splitlines(), _DOMAIN_KEYS)
    return lines is not None and lines == _binding_lines(before.splitlines(), _DOMAIN_KEYS)


_WORDS: Final = frozenset({
    "version", "description", "nl_examples", "counter_examples", "tags", "response_template",
    "response_format",
})  # fmt: skip
_PARAMETER_WORDS: Final = frozenset({"description", "synonyms", "example", "extraction_patterns"})
_TEMPLATE_KEYS: Final = (
    frozenset(field.alias or name for name, field in TemplateYaml.model_fields.items()) - _WORDS
)
_DOMAIN_KEYS: Final = frozenset({"api_config", "authentication", "unused_values"})

_LIST: Final = re.compile(r"""^\s*["']?templates\b""", re.M)
_ITEM: Final = re.compile(r"(\s*)-(?!--)")
_KEY: Final = re.compile(r"""\s*(?:-\s*)*[{\[]?\s*["']?(?P<key>[\w-]*\w)["']?\s*:(?:\s|$)""")
_ALIAS: Final = re.compile(r"(?:^|[\s\[,{:-])\*\w|<<\s*:")
_ALIKE: Final = 0.8


class _Level(NamedTuple):
    column: int
    key: str
    binds: bool


def _blocks(text: str, ids: Collection[str]) -> dict[str, list[list[str] | None]]:
    """Return the binding lines of each block that holds one of the ids, by id."""
    found: dict[str, list[list[str] | None]] = {}
    for block in _items(text):
        for name in _ids_in(block, ids):
            found.setdefault(name, []).append(_binding_lines(block, _TEMPLATE_KEYS))
    return found


def _items(text: str) -> list[list[str]]:
    """Return the lines of each item of the outermost list; all lines, where there is none."""
    lines = [line for line in text.expandtabs().splitlines() if not _is_idle(line)]
    columns = [len(found[1]) for line in lines if (found := _ITEM.match(line))]
    if not columns:
        return [lines]
    outermost = min(columns)
    items: list[list[str]] = []
    inside = False
    for line in lines:
        if (found := _ITEM.match(line)) and len(found[1]) == outermost:
            items.append([])
            inside = True
        elif _indent(line) <= outermost:
            inside = False
        if inside:
            items[-1].append(line)
    return items


def _ids_in(block: Sequence[str], ids: Collection[str]) -> Iterable[str]:
    text = "\n".join(block)
    for name in ids:
        quoted = rf"""(?:^|[\s{{,-])["']?id["']?\s*:\s*["']?{re.escape(name)}["']?\s*(?:[,}}#]|$)"""
        if re.search(quoted, text, re.M):
            yield name


def _binding_lines(lines: Iterable[str], keys: frozenset[str]) -> list[str] | None:
    """Return the lines that say something under `keys`; None when part of it stands elsewhere."""
    named = re.compile(rf"""\b(?:{"|".join(map(re.escape, sorted(keys)))})["']?\s*:""")
    kept: list[str] = []
    levels: list[_Level] = []
    for line in lines:
        if _is_idle(line):
            continue
        found = _KEY.match(line)
        column = found.start("key") if found else _indent(line)
        is_member = found is None and line.lstrip().startswith("-")
        while levels and column < levels[-1].column + (0 if is_member else 1):
            levels.pop()
        above = levels[-1] if levels else None
        binds = above is not None and above.binds
        if found:
            binds = _binds(found["key"], above, keys)
            levels.append(_Level(column, found["key"], binds))
        if binds or named.search(line):
            kept.append(" ".join(line.split()))
        in_words = bool(levels) and levels[-1].key in _WORDS | _PARAMETER_WORDS
        if _ALIAS.search(line) and (binds or not in_words):
            return None
    return kept


def _binds(key: str, above: _Level | None, keys: frozenset[str]) -> bool:
    if above is not None and above.binds:
        words = above.key in ("parameters", "function_schema") and key in _PARAMETER_WORDS
        return not words
    if above is not None and above.key in _WORDS | _PARAMETER_WORDS:
        return False
    # A key that is nearly one of them was meant to be it.
    return key in keys or (key not in _WORDS and closest(key, keys, cutoff=_ALIKE) is not None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_idle(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")
