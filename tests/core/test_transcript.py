"""Conversations that are known by what was said in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.transcript import (
    ToldCall,
    TranscriptKey,
    hex_of_moment,
    moment_of_hex,
)

KEY = TranscriptKey(b"s" * 32)
WORDS = st.lists(st.text(min_size=1).filter(lambda each: each.split() == [each]), max_size=5)


@given(WORDS, WORDS)
def test_two_texts_have_one_moment_when_they_have_the_same_words(
    one: list[str], other: list[str]
) -> None:
    start = KEY.start()
    moments = [KEY.after(start, "user", said) for said in (" ".join(one), "\n ".join(other))]
    assert (moments[0] == moments[1]) == (one == other)


def test_everything_that_was_said_makes_the_moment() -> None:
    start, call = KEY.start(), ToldCall("order", {"id": 6, "city": "Porto"})
    again = ToldCall("order", {"city": "Porto", "id": 6})
    moment = KEY.after(start, "assistant", "Yes.", [call])
    assert KEY.after(start, "assistant", "Yes.", [again]) == moment
    others = {
        KEY.after(start, "user", "Yes.", [call]),
        KEY.after(start, "assistant", "No.", [call]),
        KEY.after(start, "assistant", "Yes."),
        KEY.after(start, "assistant", "Yes.", [ToldCall("order", {"id": 7, "city": "Porto"})]),
        KEY.after(KEY.start("ana"), "assistant", "Yes.", [call]),
        KEY.after(moment, "assistant", "Yes.", [call]),
        TranscriptKey(b"t" * 32).after(start, "assistant", "Yes.", [call]),
    }
    assert len(others - {moment}) == 7


@pytest.mark.parametrize("digits", ["", "0" * 63, "0" * 65, "G" * 64, "../" + "0" * 61])
def test_only_digits_of_a_moment_name_one(digits: str) -> None:
    moment = KEY.start()
    assert moment_of_hex(hex_of_moment(moment)) == moment
    assert moment_of_hex(digits) is None
