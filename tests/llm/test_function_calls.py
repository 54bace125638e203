"""FunctionGemma's calls are read as they are meant, and nothing that looks like one raises."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.chat_messages import FunctionCall
from server.llm.function_calls import parse_calls

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
TEXTS = st.text(max_size=30).filter(lambda text: "<escape>" not in text)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=15,
)


def written(value: Any) -> str:
    """A value as the model writes it."""
    if isinstance(value, str):
        return f"<escape>{value}<escape>"
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{written(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value)


def said(name: str, arguments: dict[str, Any]) -> str:
    return f"<start_function_call>call:{name}{written(arguments)}<end_function_call>"


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=5))
def test_what_is_written_is_read(name: str, arguments: dict[str, Any]) -> None:
    text = f"Sure. {said(name, arguments)} Done."
    assert parse_calls(text) == (FunctionCall(name, arguments),)


@given(st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=2)), max_size=4))
def test_several_calls_are_read_in_order(calls: list[tuple[str, dict[str, Any]]]) -> None:
    text = "\n".join(said(*call) for call in calls)
    assert parse_calls(text) == tuple(FunctionCall(*call) for call in calls)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("{data:<escape>[{\"kg\": 3}, {\"kg\": \"a}b\"}]<escape>,field:<escape>kg<escape>}",
         {"data": '[{"kg": 3}, {"kg": "a}b"}]', "field": "kg"}),
        ("{location:<escape>Paris, {the} one: here<escape>}",
         {"location": "Paris, {the} one: here"}),
        ("{ a : 1 , b : [ 1, 2 ] }", {"a": 1, "b": [1, 2]}),
        ("{a:{b:{c:<escape><end_function_call><escape>}}}",
         {"a": {"b": {"c": "<end_function_call>"}}}),
        ("{city:Paris}", {"city": "Paris"}),
        ("{}", {}),
    ],
)  # fmt: skip
def test_braces_and_json_may_stand_inside_texts(text: str, arguments: dict[str, Any]) -> None:
    call = f"<start_function_call>call:f{text}<end_function_call>"
    assert parse_calls(call) == (FunctionCall("f", arguments),)


@pytest.mark.parametrize(
    "text",
    [
        "", "no call at all", "<start_function_call>", "<start_function_call>call:",
        "<start_function_call>call:f", "<start_function_call>call:f{", "call:f{a:1}",
        "<start_function_call>call:f{a}<end_function_call>",
        "<start_function_call>call:f{a:<escape>never closed}<end_function_call>",
        "<start_function_call>call:f{a:" + "[" * 50_000 + "<end_function_call>",
        "<start_function_call>call:f{a:1 b:2}<end_function_call>",
        "<start_function_call>call:f g{a:1}<end_function_call>",
        "<start_function_call>" * 5_000,
    ],
)  # fmt: skip
def test_what_is_no_call_is_passed_over(text: str) -> None:
    assert parse_calls(text) == ()


MARKS = st.sampled_from(
    [
        *("<start_function_call>", "<end_function_call>", "<escape>", "call:", "true", "f"),
        *("{", "}", "[", "]", ":", ",", "1", "-", " ", "é"),
    ]
)


@given(st.lists(MARKS, max_size=60).map("".join) | st.text())
def test_hostile_output_never_raises(text: str) -> None:
    for call in parse_calls(text):
        assert call.name
