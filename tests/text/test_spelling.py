"""Slips are put right against the words of the library, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.spelling import Speller, SpellingIndex

TEXTS = ["what is the average of these", "calculate a percentage", "round the result", "convert"]
SPELLER = Speller(TEXTS, {"round": ("truncate",), "average": ("mean", "result")})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("avrage", "average"),  # a letter left out
        ("averrage", "average"),  # one too many
        ("averoge", "average"),  # another one
        ("avergae", "average"),  # two swapped
        ("whats the avrage, please", "whats the average, please"),
        ("(avrage)?", "(average)?"),
    ],
)
def test_one_slip_is_put_right(said: str, meant: str) -> None:
    assert SPELLER.reread(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "average",  # known
        "averages",  # another form of a known word
        "avge",  # more than one slip
        "rnd",  # too short to tell
        "xonvert",  # begins otherwise
        "averag3",  # not a word
        "the weather in rome",  # words the library has nothing like
        "",
        " ",
    ],
)
def test_everything_else_stays(said: str) -> None:
    assert SPELLER.reread(said) == said


def test_synonyms_are_read_as_the_word_they_mean() -> None:
    assert SPELLER.reread("truncate the mean") == "round the average"


def test_a_synonym_that_the_library_itself_uses_is_left_alone() -> None:
    assert SPELLER.reread("the result") == "the result"


def test_the_commoner_of_two_words_is_meant() -> None:
    speller = Speller(["train train track", "trail"])
    assert speller.reread("traim") == "train"


WORDS = sorted({word for text in TEXTS for word in text.split()})


@given(st.sampled_from([word for word in WORDS if len(word) > 4]), st.data())
def test_a_word_with_a_letter_left_out_is_read_as_a_known_one(
    word: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(word) - 2))
    assert SPELLER.reread(word[:place] + word[place + 1 :]) in WORDS


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert SPELLER.reread(text).count(" ") >= text.count(" ")


def test_an_endless_word_is_near_none() -> None:
    assert SpellingIndex(["room"]).near("r" * 2_000_000) == []
