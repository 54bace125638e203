"""A query in a few words, for people."""

from collections.abc import Mapping
from typing import Any, Final

from server.core.suggestions import shown_value


def shown_query(query: Mapping[str, Any]) -> str:
    """Return a query in a few words: `where pts > 20; sorted by year, desc; only name`."""
    parts: list[str] = []
    if "where" in query:
        parts.append(f"where {_shown_test(query['where'])}")
    parts += [
        f"{one['operation']} of {one['field']}" if "field" in one else "count"
        for one in query.get("aggregate", ())
    ]
    if query.get("group"):
        parts.append(f"for each {', '.join(query['group'])}")
    if query.get("sort"):
        keys = (f"{one['field']} {one.get('order', 'asc')}" for one in query["sort"])
        parts.append(f"sorted by {', '.join(keys)}")
    if "limit" in query:
        parts.append(f"the first {query['limit']}")
    if query.get("columns"):
        parts.append(f"only {', '.join(query['columns'])}")
    if query.get("drop"):
        parts.append(f"without {', '.join(query['drop'])}")
    if query.get("distinct"):
        parts.append("each once")
    return "; ".join(parts)


_SIGNS: Final = {
    "eq": "=", "ne": "≠", "gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "blank": "is empty",
    "filled": "is not empty",
}  # fmt: skip


def _shown_test(where: Any) -> str:
    if "not" in where:
        return f"not ({_shown_test(where['not'])})"
    for joint, word in (("all", " and "), ("any", " or ")):
        if joint in where:
            parts = [_shown_test(one) for one in where[joint]]
            return word.join(f"({p})" if " or " in p and joint == "all" else p for p in parts)
    sign = _SIGNS.get(where["operator"], where["operator"].replace("_", " "))
    target = where.get("value")
    if isinstance(target, list | tuple):
        value = ", ".join(map(_bare, target))
    else:
        value = "" if target is None else _bare(target)
    return f"{where['field']} {sign} {value}".strip()


def _bare(value: Any) -> str:
    return shown_value(value).strip("'")
