"""How a lifetime and a rate limit are written."""

from datetime import timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from server.access.key_request import parse_lifetime
from server.access.models import KeyIssuer, key_id_of, sample_name
from server.errors import RequestInvalid
from server.settings.fields import parse_limit

HOURS = {"h": 1, "d": 24, "w": 168, "y": 8760}


@given(
    count=st.integers(1, 100), unit=st.sampled_from("hdwyHDWY"), space=st.sampled_from(["", " "])
)
def test_a_lifetime_is_a_number_and_a_unit(count: int, unit: str, space: str) -> None:
    assert parse_lifetime(f"{count}{space}{unit}") == timedelta(hours=count * HOURS[unit.lower()])


@pytest.mark.parametrize("text", ["", "d", "30", "30m", "-1d", "1.5d", "30 days", "٣d", "1d2h"])
def test_a_malformed_lifetime_is_named_with_an_example(text: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        parse_lifetime(text)
    assert str(refused.value) == (
        f"{text!r} is not a lifetime: write a number and a unit (h, d, w or y), such as '30d'"
    )


@pytest.mark.parametrize("text", ["0d", "101y", "999999999y"])
def test_a_lifetime_out_of_range_is_named(text: str) -> None:
    with pytest.raises(
        RequestInvalid, match=f"^a lifetime of '{text}' is out of range: 1h to 100y"
    ):
        parse_lifetime(text)


@given(st.text())
def test_any_text_is_a_lifetime_or_a_named_refusal(text: str) -> None:
    try:
        lifetime = parse_lifetime(text)
    except RequestInvalid as refused:
        named = repr(text) in str(refused)
    else:
        named = lifetime > timedelta()
    assert named


@pytest.mark.parametrize(
    ("text", "limit"),
    [("60/minute", "60/minute"), (" 5 / Seconds", "5/second"), ("007/day", "7/day")],
)
def test_a_limit_has_one_spelling(text: str, limit: str) -> None:
    assert parse_limit(text) == limit


@pytest.mark.parametrize("text", ["", "60", "0/minute", "60/fortnight", "/hour", "1/2/hour"])
def test_a_malformed_limit_is_named_with_the_known_units(text: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        parse_limit(text)
    assert str(refused.value) == (
        f"{text!r} is not a rate limit: write a count above 0 and one of "
        "second, minute, hour, day, such as '60/minute'"
    )


@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        ("intent-agent-example", "agent"),
        ("weather", "weather"),
        ("intent-crm", "crm"),
        ("shop-example", "shop"),
        ("intent--example", "intent--example"),
    ],
)
def test_the_sample_key_of_an_adapter_follows_from_its_name(adapter: str, name: str) -> None:
    assert sample_name(adapter) == name


def test_an_issued_key_carries_its_id_and_no_two_are_alike() -> None:
    mint = KeyIssuer(b"s" * 32)
    keys = [mint.issue() for _ in range(200)]
    assert all(key_id_of(key.raw, key.digest) == key.key_id for key in keys)
    assert len({key.raw for key in keys} | {key.key_id for key in keys}) == 400


def test_the_id_of_a_key_is_text_in_yaml_without_quotes() -> None:
    mint = KeyIssuer(b"s" * 32)
    ids = [mint.issue().key_id for _ in range(2_000)]
    assert yaml.safe_load("\n".join(f"- {each}" for each in ids)) == ids
    assert not any(each[0].isdigit() for each in ids)  # YAML 1.2 takes 733702937e05 for a number
