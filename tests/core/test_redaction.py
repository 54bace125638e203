"""A secret planted anywhere appears nowhere."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.core.redaction import REDACTED, Redactor, Secrets
from server.core.tools import Source

SECRETS = st.text(min_size=4, max_size=60).filter(
    lambda text: text.strip() and len(text.strip()) >= 4
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from(["x", "y"]))


@st.composite
def planted(draw: Any) -> tuple[str, dict[str, Any]]:
    """A secret, and arguments that hold it under a sensitive name at any depth."""
    secret = draw(SECRETS)
    value: Any = {"secret": draw(st.sampled_from([secret, [secret], {"deep": secret}]))}
    for _ in range(draw(st.integers(0, 4))):
        beside = draw(st.dictionaries(st.sampled_from("abc"), PLAIN, max_size=2))
        value = draw(st.sampled_from([{**beside, "d": value}, {**beside, "e": [value, 1]}]))
    return secret, value


@given(planted())
def test_arguments_lose_it_at_any_depth(case: tuple[str, dict[str, Any]]) -> None:
    secret, arguments = case
    shown = Redactor(["secret"]).arguments(arguments)
    assert REDACTED in json.dumps(shown)
    assert secret not in json.dumps(shown, ensure_ascii=False).replace(REDACTED, "")


@given(planted(), st.sampled_from([str, repr, json.dumps, lambda s: f"a {s} b", str.upper]))
def test_texts_lose_it_however_it_is_quoted(case: tuple[str, dict[str, Any]], spelt: Any) -> None:
    secret, arguments = case
    secrets = Redactor(["secret"]).secrets(arguments)
    said = secrets.text(f"it failed on {spelt(secret)!s}!")
    for left in {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]}:
        assert left not in said.replace(REDACTED, "")


@given(planted(), st.integers(8, 40))
def test_what_a_message_cuts_short_is_found_by_its_beginning(
    case: tuple[str, dict[str, Any]], length: int
) -> None:
    secret, arguments = case
    said = Redactor(["secret"]).secrets(arguments).text(f"value {secret[:length]}… is wrong")
    if len(secret) >= 8:
        assert secret[:length] not in said


@given(planted())
def test_data_loses_it_as_key_and_as_value(case: tuple[str, dict[str, Any]]) -> None:
    secret, arguments = case
    data = {"echo": arguments, secret: [secret, f"<{secret}>"], "n": 5}
    clean = Redactor(["secret"]).secrets(arguments).data(data)
    assert secret not in json.dumps(clean, ensure_ascii=False).replace(REDACTED, "")


def test_a_part_may_be_named_by_its_path() -> None:
    given_ = {"customer": {"name": "Ana", "card": "4111"}, "card": "visible"}
    assert Redactor(["customer.card"]).arguments(given_) == {
        "customer": {"name": "Ana", "card": REDACTED},
        "card": "visible",
    }


def test_numbers_are_found_as_values() -> None:
    assert Secrets([41112222]).data({"a": 41112222, "b": 7, "c": "no 41112222"}) == {
        "a": REDACTED,
        "b": 7,
        "c": f"no {REDACTED}",
    }


def test_sources_lose_the_words_that_were_read() -> None:
    sources = {"pin": Source("recognizer", (0, 4), "1234"), "n": Source("recognizer", (5, 6), "7")}
    assert Redactor(["pin"]).sources(sources) == {
        "pin": Source("recognizer", (0, 4), REDACTED),
        "n": Source("recognizer", (5, 6), "7"),
    }


def test_a_very_long_secret_is_found_whole_and_cut() -> None:
    secret = "a very long secret phrase " * 400
    secrets = Secrets([secret])
    assert secrets.text(f"<{secret}>") == f"<{REDACTED}>"
    assert secrets.text(f"<{secret[:500]}…>") == f"<{REDACTED}…>"
