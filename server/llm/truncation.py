"""Results cut to what a model is shown, and estimates of tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any, Final

from server.core.json import to_json
from server.core.tools import is_row_result

_CHARS_PER_TOKEN: Final = 3
"""English has about four, figures and other scripts fewer."""

_SHORTER: Final = ((400, 50), (100, 20), (40, 5), (20, 2))
"""Characters of a text and members of a list that are left, tried in this order."""


@dataclass(frozen=True, slots=True)
class TruncatedResult:
    """What of a result is shown. `shown` and `total` count rows, and are None without rows."""

    data: Any
    is_cut: bool = False
    shown: int | None = None
    total: int | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """How much is shown, for the answer's metadata."""
        counts = {"rows": self.shown, "of": self.total}
        return {name: count for name, count in counts.items() if count is not None}


def tokens_in(value: Any) -> int:
    """Estimate how many tokens a value takes as JSON, rather too many than too few."""
    text = to_json(value)
    return -(-len(text.encode("utf-8", "replace")) // _CHARS_PER_TOKEN)


def truncate_result(result: Any, most_tokens: int) -> TruncatedResult:
    """Return what fits of a result: the first rows whole, else shorter texts and lists."""
    rows, rest = _rows_of(result)
    total = len(rows) if rows is not None else None
    if tokens_in(result) <= most_tokens:
        return TruncatedResult(result, shown=total, total=total)
    if rows is not None:
        used = accumulate(map(tokens_in, rows), initial=tokens_in(rest))
        fitting = sum(1 for _ in takewhile(most_tokens.__ge__, used)) - 1
        if fitting > 0:
            kept = rows[:fitting]
            name = "rows" if is_row_result(result) else "result"
            data = {**rest, name: kept} if isinstance(result, Mapping) else kept
            known = rest.get("total") if "complete" in rest else total
            known = None if rest.get("truncated") is True else known
            return TruncatedResult(data, is_cut=True, shown=fitting, total=known)
    for chars, members in _SHORTER:
        data = _shorter(result, chars, members)
        if tokens_in(data) <= most_tokens:
            return TruncatedResult(data, is_cut=True)
    most_chars = most_tokens * _CHARS_PER_TOKEN // 2
    return TruncatedResult(to_json(result)[:most_chars], is_cut=True)


def _rows_of(result: Any) -> tuple[list[Any] | None, dict[str, Any]]:
    if isinstance(result, Mapping):
        held = "rows" if is_row_result(result) else "result"
        rest = {name: value for name, value in result.items() if name != held}
        rows = result.get(held)
        return (rows if isinstance(rows, list) else None), rest
    return (result if isinstance(result, list) else None), {}


def _shorter(value: Any, chars: int, members: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[:chars]}…"
    if isinstance(value, Mapping):
        return {name: _shorter(inner, chars, members) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shorter(inner, chars, members) for inner in value[:members]]
    return value
