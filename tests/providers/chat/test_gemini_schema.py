"""JSON Schema in the words that Gemini has for it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.providers.chat.gemini import to_gemini

KNOWN = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "anyOf",
    "propertyOrdering", "required", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "pattern", "minimum", "maximum",
}  # fmt: skip
TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}


@pytest.mark.parametrize(
    ("schema", "converted"),
    [
        ({"type": "string", "format": "date"}, {"type": "STRING"}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"enum": ["a", "b"]}, {"type": "STRING", "format": "enum", "enum": ["a", "b"]}),
        ({"const": "a"}, {"type": "STRING", "format": "enum", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER"}),
        ({"type": ["number", "null"]}, {"type": "NUMBER", "nullable": True}),
        (
            {"type": ["number", "string"]},
            {"anyOf": [{"type": "NUMBER"}, {"type": "STRING"}]},
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}},
            {"type": "ARRAY", "items": {"type": "INTEGER"}},
        ),
        (
            {
                "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}],
                "properties": {"b": {"type": "boolean"}},
                "required": ["b"],
                "type": "object",
            },
            {
                "type": "OBJECT",
                "properties": {"a": {"type": "STRING"}, "b": {"type": "BOOLEAN"}},
                "propertyOrdering": ["a", "b"],
                "required": ["a", "b"],
            },
        ),
    ],
)
def test_what_it_knows_is_kept(schema: dict[str, Any], converted: dict[str, Any]) -> None:
    assert to_gemini(schema) == converted


def test_a_schema_without_an_end_gets_one() -> None:
    endless = {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/tree"}, "name": {"type": "string"}},
            }
        },
    }
    depth, part = 0, to_gemini(endless)
    while "properties" in part:
        depth, part = depth + 1, part["properties"]["left"]
    assert 0 < depth < 20


NAMES = st.sampled_from(["a", "type", "items", "$ref"])
LEAVES = st.sampled_from(
    [
        {},
        True,
        {"type": "null"},
        {"type": "integer", "minimum": 1},
        {"enum": [1, "a", None]},
        {"const": 5},
        {"$ref": "#/$defs/none"},
        {"$ref": "#"},
        {"type": ["string", "null"]},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(NAMES, inner, max_size=3),
                "required": st.lists(NAMES, max_size=2),
                "additionalProperties": st.booleans(),
            }
        ),
    ),
    max_leaves=6,
)


def assert_known(part: dict[str, Any]) -> None:
    assert part.keys() <= KNOWN
    assert ("anyOf" in part) != (part.get("type") in TYPES)
    assert set(part.get("required", ())) <= part.get("properties", {}).keys()
    for inner in [*part.get("properties", {}).values(), *part.get("anyOf", ())]:
        assert_known(inner)
    if "items" in part:
        assert_known(part["items"])


@given(
    st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, SCHEMAS, max_size=3)}
    )
)
def test_nothing_is_said_that_gemini_does_not_know(schema: dict[str, Any]) -> None:
    assert_known(to_gemini(schema))
