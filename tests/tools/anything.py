"""Values and calls of every sort, to be sure that a tool answers or says why not."""

import json
from typing import Any

from hypothesis import strategies as st

from server.core.json import to_json
from server.core.ports import Tool
from server.errors import ToolError

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.dates()
    | st.datetimes()
    | st.text(max_size=20)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def outcome(tool: Tool, operation: str, arguments: dict[str, Any]) -> dict[str, Any] | str:
    """What the tool answers, which JSON can say, or the message with which it refuses."""
    try:
        answer = dict(tool.run(operation, arguments))
    except ToolError as refused:
        return str(refused)
    assert json.loads(to_json(answer)).keys() == answer.keys()
    return answer
