"""A chart of rows, described in Vega-Lite: what it shows stays where the rows are."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from server.core.tools import is_row_result, payload_of
from server.library.value_formats import ValueWriter, is_identifier, is_moment, label_of

_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.json"
_MAX_BARS: Final = 50
_MAX_POINTS: Final = 1_000
_MAX_SERIES: Final = 5
_MAX_COLUMNS: Final = 12


def describe_chart(result: Any, values: ValueWriter) -> dict[str, Any] | None:
    """The chart of a result, where it holds categories or dates, each with figures; else None.

    Its data is the source `rows`, and `usermeta.rows` says where in the metadata those are.
    """
    rows = payload_of(result)
    if not isinstance(rows, list) or not 2 <= len(rows) <= _MAX_POINTS or _is_part(result):
        return None
    if not all(isinstance(row, Mapping) for row in rows):
        return None
    columns = list(rows[0])
    if not 2 <= len(columns) <= _MAX_COLUMNS or any(list(row) != columns for row in rows):
        return None
    figures = [name for name in columns if _holds_figures(name, rows)]
    labels = [name for name in columns if name not in figures]
    if len(labels) != 1 or not 1 <= len(figures) <= _MAX_SERIES:
        return None
    label = labels[0]
    cells = [row[label] for row in rows]
    if not all(isinstance(cell, str | int) and cell != "" for cell in cells):
        return None
    if len(set(cells)) < len(cells) or any(isinstance(cell, bool) for cell in cells):
        return None
    dated = all(map(is_moment, cells))
    if not dated and len(cells) > _MAX_BARS:
        return None
    # One axis is for figures of one kind: money is not held against what is counted.
    kind = values.currency(figures[0])
    figures = [name for name in figures if values.currency(name) == kind]
    path = "tool_execution.result"
    if isinstance(result, Mapping):
        path += ".rows" if is_row_result(result) else ".result"
    return _chart(label, figures, path, dated=dated)


def _chart(label: str, figures: Sequence[str], rows: str, *, dated: bool) -> dict[str, Any]:
    across: dict[str, Any] = {"field": _escaped(label), "title": label_of(label)}
    # Bars stand in the order of the rows.
    across |= {"type": "temporal"} if dated else {"type": "nominal", "sort": None}
    chart: dict[str, Any] = {
        "$schema": _SCHEMA,
        "usermeta": {"rows": rows},
        "data": {"name": "rows"},
        "mark": {"type": "line", "point": True} if dated else {"type": "bar"},
    }
    if len(figures) == 1:
        up = {"field": _escaped(figures[0]), "type": "quantitative", "title": label_of(figures[0])}
        return chart | {"encoding": {"x": across, "y": up}}
    chart["transform"] = [{"fold": [_escaped(each) for each in figures], "as": ["figure", "value"]}]
    encoding: dict[str, Any] = {
        "x": across,
        "y": {"field": "value", "type": "quantitative", "title": None},
        "color": {"field": "figure", "type": "nominal", "title": None},
    }
    if not dated:
        encoding["xOffset"] = {"field": "figure"}
    return chart | {"encoding": encoding}


def _is_part(result: Any) -> bool:
    """Whether a chart of these rows would show a part as if it were the whole."""
    if not isinstance(result, Mapping):
        return False
    return result.get("truncated") is True or result.get("complete") is False


def _holds_figures(column: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    cells = [row[column] for row in rows if row[column] is not None]
    return bool(cells) and not is_identifier(column) and all(map(_is_number, cells))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _escaped(name: str) -> str:
    """A name of a field as Vega-Lite takes it, which reads dots and brackets as paths."""
    return "".join(f"\\{char}" if char in ".[]\\'\"" else char for char in name)
