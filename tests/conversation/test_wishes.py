"""What a message asks for: without what it takes back, and with slips put right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conversation.followups.lexicon import shipped_lexicon
from server.conversation.reformulation.wishes import SlipReader, read_wishes


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        (
            "I don't want a refund, I want to exchange it",
            "I, I want to exchange it",
            "want a refund",
        ),
        ("exchange #003 instead of refunding it", "exchange #003", "refunding it"),
        ("I'd rather return it than exchange it", "I'd rather return it", "exchange it"),
        ("not to return it but to exchange it", "but to exchange it", "to return it"),
        ("cancel #004, not #007", "cancel #004,", "#007"),
        ("no, #003", ", #003", ""),
        ("not that one, #003", ", #003", "that one"),
        ("לא לבטל אלא להחזיר", "אלא להחזיר", "לבטל"),
    ],
)
def test_what_is_not_wanted_is_taken_out(text: str, wanted: str, unwanted: str) -> None:
    found = read_wishes(text, shipped_lexicon())
    assert found is not None
    assert (_squeezed(found.wanted), _squeezed(found.unwanted)) == (wanted, unwanted)


@pytest.mark.parametrize("text", ["cancel #004", "cancel #004? no, don't", "don't", "more than 3"])
def test_a_message_that_takes_nothing_back_or_all_of_it_is_left_whole(text: str) -> None:
    assert read_wishes(text, shipped_lexicon()) is None


@given(st.text(max_size=80))
def test_every_character_stays_where_it_was(text: str) -> None:
    found = read_wishes(text, shipped_lexicon())
    for part in found or ():
        assert len(part) == len(text)
        assert all(mine in (" ", theirs) for mine, theirs in zip(part, text, strict=True))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("retrun #008", "return #008"),
        ("Refnud it, please!", "refund it, please!"),
        ("exchnage the mony", "exchange the money"),
        ("refund #002", None),
        ("the black one", None),  # “back” is too short to be meant
        ("charge it", None),
        ("where was it", None),
        ("", None),
    ],
)
def test_a_word_one_slip_from_a_known_one_is_read_as_that(said: str, meant: str | None) -> None:
    slips = SlipReader(["refund", "return it", "exchange", "money back", "send it back", "where"])
    assert slips.corrected(said) == meant


def _squeezed(text: str) -> str:
    return " ".join(text.split()).replace(" ,", ",")
