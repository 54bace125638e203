"""Values and Jinja text to what a person reads. Knows nothing of turns or tools."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from jinja2 import Template, TemplateError

from server.core.suggestions import format_value
from server.errors import OrbitError
from server.library.expressions import SANDBOX

MAX_TABLE_ROWS: Final = 20
"""Rows shown of a longer table; the cut is stated below it."""

_MAX_CELL_CHARS: Final = 80
_BREAKS: Final = re.compile(r"[ \t\n\v\f\r\x85\u2028\u2029]+")
"""Not the narrow blanks that stand within numbers in some languages."""


class RenderingFailed(OrbitError):
    """A template named something that this answer does not have."""

    code = "rendering_failed"


def as_code(text: str) -> str:
    """Text as Markdown code on one line, whatever stands in it."""
    plain = " ".join(text.split("\n"))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") or not plain else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _finalize(value: Any) -> Any:
    # Text passes as it is, so that what a filter or macro made stays untouched.
    return value if isinstance(value, str) else format_value(value)


_RESPONSES: Final = SANDBOX.overlay(finalize=_finalize)


@lru_cache(maxsize=4096)
def _compile(source: str) -> Template:
    return _RESPONSES.from_string(source)


def render(source: str, context: Mapping[str, Any]) -> str:
    """Render authored Jinja text in the sandbox, with strict undefined.

    Raises:
        RenderingFailed: the text does not compile, names a variable that is not
            there, or does what the sandbox forbids.
    """
    try:
        return _compile(source).render(context).strip()
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as failed:
        raise RenderingFailed(f"response template: {failed}") from failed


def format_result(value: Any) -> str:
    """Return a whole result as Markdown, in the first of `RESULT_FORMATS` that fits."""
    return next(each.write(value) for each in RESULT_FORMATS.values() if each.fits(value))


def format_items(items: Sequence[Any], *, total: int | None, complete: bool) -> str:
    """What a service listed: a table for rows, else a list, with how many there are.

    `total` counts what the service has, and is None when it does not say; `complete`
    says whether `items` are all of them.
    """
    if not items:
        return "Nothing was found."
    shown = items[:MAX_TABLE_ROWS]
    if all(isinstance(item, Mapping) for item in items):
        text = format_table(shown)
    else:
        text = "\n".join(f"- {format_cell(item)}" for item in shown)
    if total is not None and total > len(shown):
        return f"{text}\n\nThe first {len(shown)} of {total}."
    if not complete or len(items) > len(shown):
        return f"{text}\n\nThe first {len(shown)}; there are more."
    return f"{text}\n\n{len(shown)} in all." if len(shown) > 1 else text


def format_table(rows: Sequence[Mapping[str, Any]], *, max_rows: int = MAX_TABLE_ROWS) -> str:
    """Rows as a Markdown table, columns in order of first appearance, the cut stated."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = format_columns(columns, [[row.get(name) for name in columns] for row in rows[:max_rows]])
    return text if len(rows) <= max_rows else f"{text}\n\nThe first {max_rows} of {len(rows)} rows."


def format_columns(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Cells under the names of their columns, as a Markdown table."""
    lines = [_table_line(columns), _table_line(["---"] * len(columns))]
    return "\n".join([*lines, *map(_table_line, rows)])


def _table_line(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(map(format_cell, cells))} |"


def format_cell(value: Any) -> str:
    """A value on one line, short, and without what would end a cell of a Markdown table."""
    text = " ".join(_BREAKS.split(format_value(value))).replace("|", "\\|")
    return text if len(text) <= _MAX_CELL_CHARS else f"{text[: _MAX_CELL_CHARS - 1]}…"


def _field_list(fields: Mapping[str, Any]) -> str:
    return "\n".join(f"- {name}: {format_cell(value)}" for name, value in fields.items())


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A way to show a result that no template has words for, and the results it is for."""

    fits: Callable[[Any], bool]
    write: Callable[[Any], str]


RESULT_FORMATS: Final[dict[str, ResultFormat]] = {
    "fields": ResultFormat(lambda value: isinstance(value, Mapping), _field_list),
    "table": ResultFormat(
        lambda value: (
            isinstance(value, list | tuple)
            and bool(value)
            and all(isinstance(row, Mapping) for row in value)
        ),
        format_table,
    ),
    "list": ResultFormat(
        lambda value: isinstance(value, list | tuple),
        lambda value: format_value(value) if value else "Nothing was found.",
    ),
    "nothing": ResultFormat(lambda value: value is None, lambda _: "Done."),
    "value": ResultFormat(lambda _: True, lambda value: f"**{format_value(value)}**"),
}
"""By name; the first that fits is used."""
