"""Arguments read back as exactly what they were."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conversation.serialization import arguments_from_json, arguments_to_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes(timezones=st.just(UTC))
    | st.times()
    | st.timedeltas()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


def _typed(value: Any) -> Any:
    """The value with the types of its parts, since 1 == 1.0 == True."""
    if isinstance(value, dict):
        return {name: _typed(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [_typed(item) for item in value]
    return type(value).__name__, str(value)


@given(VALUES)
def test_a_value_reads_back_as_it_was(value: Any) -> None:
    assert _typed(arguments_from_json(arguments_to_json(value))) == _typed(value)


def test_a_text_has_one_spelling() -> None:
    assert arguments_to_json({"b": 1, "a": Decimal("1.50")}) == arguments_to_json(
        {"a": Decimal("1.50"), "b": 1}
    )


@pytest.mark.parametrize("value", [object(), {1: "a"}, {"a": {object()}}, b"bytes"])
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be kept"):
        arguments_to_json(value)


@pytest.mark.parametrize("text", ['{"$":"pickle","is":"x"}', "{", '{"$":"date","is":"today"}'])
def test_what_was_never_written_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        arguments_from_json(text)


def test_the_kinds_of_time_are_told_apart() -> None:
    values = [
        datetime(2025, 1, 2, 3, 4, 5, 6, UTC), date(2025, 1, 2), time(3, 4), timedelta(days=-1),
    ]  # fmt: skip
    assert [type(value) for value in arguments_from_json(arguments_to_json(values))] == [
        datetime,
        date,
        time,
        timedelta,
    ]
