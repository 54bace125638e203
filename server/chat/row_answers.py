"""What a database found in words: a table, figures by name, or one value."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from server.library.model import Template
from server.library.rendering import MAX_TABLE_ROWS, format_cell, format_columns
from server.library.sql_model import SqlExecution
from server.library.value_formats import ValueWriter, label_of
from server.tools.sql.analysis import summed_columns

Say = Callable[[str, Mapping[str, Any]], str]
"""What the server says under a name, in the language of the answer."""

Row = Mapping[str, Any]

_MAX_LABEL_CHARS: Final = 80
_NAME: Final = re.compile(r"[^\W\d]\w*")
_UNNAMED: Final = frozenset({"count", "sum", "avg", "min", "max", "total", "column", "count_star"})
"""What databases call a column that has no name."""


def is_shortened(result: Mapping[str, Any]) -> bool:
    """Whether there is more to a result than its answer shows in words."""
    return bool(result["truncated"]) or len(result["rows"]) > MAX_TABLE_ROWS


def describe_rows(
    template: Template, result: Mapping[str, Any], values: ValueWriter, say: Say
) -> str:
    """The rows of a result in the form that its template names, with what is not shown."""
    execution, rows = template.execution, result["rows"]
    assert isinstance(execution, SqlExecution)  # noqa: S101  others find no such rows
    if execution.effect == "write" and not rows:
        return say("rows_changed", {"count": values.count(result["row_count"])})
    if not rows:
        return say("rows_none", {})
    columns, shape = result["columns"], execution.result_format
    if shape == "single" and len(rows) == len(columns) == 1:
        return _single(template, columns[0], rows[0][columns[0]], values, say)
    if shape != "table" and len(rows) == 1 and not result["truncated"]:
        return "\n".join(
            f"- {format_cell(label_of(name))}: {_bold(values.write(name, rows[0][name]))}"
            for name in columns
        )
    shown = rows[:MAX_TABLE_ROWS]
    if shape != "table" and _is_label_and_figure(columns, shown):
        name, figure = columns
        text = "\n".join(
            f"- {format_cell(values.write(name, row[name])) or '–'}: "
            f"{_bold(values.write(figure, row[figure]))}"
            for row in shown
        )
    else:
        text = format_columns(
            columns, [[values.write(name, row[name]) for name in columns] for row in shown]
        )
    said = [_counted(result, len(shown), values, say)]
    if shape == "summary" and not result["truncated"]:
        said.append(_summed(execution, columns, rows, values, say))
    return "\n\n".join([text, *filter(None, said)])


def written_rows(result: Mapping[str, Any], values: ValueWriter) -> list[dict[str, str]]:
    """The rows with every value as it is shown."""
    return [
        {name: values.write(name, value) for name, value in row.items()} for row in result["rows"]
    ]


def _single(template: Template, column: str, value: Any, values: ValueWriter, say: Say) -> str:
    if value is None:
        return say("rows_none", {})
    written = _bold(values.write(column, value))
    label = template.description.rstrip(".:?! ")
    if _NAME.fullmatch(column) and column.lower() not in _UNNAMED:
        label = label_of(column)
    return f"{label}: {written}" if 0 < len(label) <= _MAX_LABEL_CHARS else written


def _bold(written: str) -> str:
    text = format_cell(written)
    return f"**{text}**" if text else "–"


def _is_label_and_figure(columns: Sequence[str], rows: Sequence[Row]) -> bool:
    if len(columns) != 2:
        return False
    label, figure = columns
    return all(isinstance(row[label], str | None) for row in rows) and all(
        _is_number(row[figure]) or row[figure] is None for row in rows
    )


def _counted(result: Mapping[str, Any], shown: int, values: ValueWriter, say: Say) -> str:
    total, more = len(result["rows"]), result["truncated"]
    if total == 1 and not more:
        return ""
    told = {"shown": values.count(shown), "total": values.count(total), "more": more}
    return say("rows_counted", told)


def _summed(
    execution: SqlExecution,
    columns: Sequence[str],
    rows: Sequence[Row],
    values: ValueWriter,
    say: Say,
) -> str:
    """The sums of what may be added up, over all rows that there are."""
    summed = summed_columns(execution.sql)
    sums = []
    for name in columns:
        cells = [row[name] for row in rows if row[name] is not None]
        if len(rows) > 1 and name.lower() in summed and cells and all(map(_is_number, cells)):
            total = sum((Decimal(str(cell)) for cell in cells), Decimal(0))
            sums.append(f"{format_cell(label_of(name))} {_bold(values.write(name, total))}")
    return f"{say('rows_summed', {})} {', '.join(sums)}" if sums else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
