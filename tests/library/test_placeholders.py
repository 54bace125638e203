import pytest

from server.library.placeholders import (
    ExpressionFailed,
    PlaceholderInvalid,
    PlaceholderText,
    parse_json_text,
    parse_text,
    to_texts,
)


@pytest.mark.parametrize("source", ["in {city}!", "in {{ city }}!", "in {{city}}!"])
def test_both_notations_mean_the_same(source: str) -> None:
    assert parse_text(source).fill({"city": "Rome"}, str) == "in Rome!"


def test_an_expression_sees_all_arguments_and_filters() -> None:
    text = parse_text("{{ (a + b) * 2 }} {{ name | upper }}")
    assert text.names == {"a", "b", "name"}
    assert text.fill({"a": 1, "b": 2, "name": "x"}, str) == "6 X"


@pytest.mark.parametrize("source", ["{x}", "{{ x }}", "{{ x | upper }}", "{{ x.y }}"])
def test_an_argument_without_value_fills_nothing(source: str) -> None:
    assert parse_text(source).fill({}, str) is None


def test_an_expression_may_stand_in_for_a_missing_argument() -> None:
    assert parse_text("{{ x | default('none') }}").fill({}, str) == "none"


def test_an_expression_that_cannot_be_computed_says_which() -> None:
    with pytest.raises(ExpressionFailed, match=r"\{\{ x / 0 \}\}"):
        parse_text("{{ x / 0 }}").fill({"x": 1}, str)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{% if x %}a{% endif %}", "statement"),
        ("{# note #}", "statement"),
        ("{{ }}", "empty placeholder"),
        ("{{ x + }}", "unexpected"),
    ],
)
def test_what_is_no_expression_is_refused(source: str, problem: str) -> None:
    with pytest.raises(PlaceholderInvalid, match=problem):
        parse_text(source)


def test_the_sandbox_holds() -> None:
    with pytest.raises(ExpressionFailed, match="unsafe"):
        parse_text("{{ ''.__class__.__mro__ }}").fill({}, str)


def test_braces_that_are_no_placeholder_stay() -> None:
    assert parse_text('{"a": 1, "b": {}} { x }') == parse_text('{"a": 1, "b": {}} { x }')


def test_json_text_knows_placeholders_in_strings_and_bare() -> None:
    body = parse_json_text('{"n": {{ n }}, "m": {m}, "s": "hi {{ s }} \\" {t}", "k": [1, null]}')
    assert body == {
        "n": parse_text("{{ n }}"),
        "m": parse_text("{m}"),
        "s": parse_text('hi {{ s }} " {t}'),
        "k": [1, None],
    }


def test_tojson_is_what_a_json_body_does_anyway() -> None:
    (text,) = parse_json_text("[{{ n | tojson }}]")
    assert isinstance(text, PlaceholderText)
    assert text.only_slot == parse_text("{n}").only_slot


def test_json_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(PlaceholderInvalid, match="not JSON"):
        parse_json_text('{"n": {{ n }')


def test_texts_are_found_at_any_depth() -> None:
    assert to_texts({"a": [{"b": "{x}"}], 2: "plain"}) == {
        "a": [{"b": parse_text("{x}")}],
        "2": "plain",
    }
