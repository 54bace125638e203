"""What counts as a plain yes or no, in every language that has words for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.language import shipped_languages
from server.text.replies import shipped_replies

REPLIES = shipped_replies()
LANGUAGES = {language.language: language.replies for language in shipped_languages()}


def phrases(part: str) -> list[str]:
    return [phrase for words in LANGUAGES.values() for phrase in getattr(words, part)]


def test_the_languages_are_those_that_other_words_are_shipped_for() -> None:
    assert set(LANGUAGES) == {
        "en", "he", "ja", "ko", "ar", "de", "es", "fr", "it", "nl", "pt", "ru",
    }  # fmt: skip


@pytest.mark.parametrize("phrase", phrases("accept"))
def test_every_phrase_that_accepts_is_a_yes(phrase: str) -> None:
    assert REPLIES.read(phrase) == "yes"


@pytest.mark.parametrize("phrase", phrases("decline"))
def test_every_phrase_that_declines_is_a_no(phrase: str) -> None:
    assert REPLIES.read(phrase) == "no"


@pytest.mark.parametrize("phrase", phrases("unclear"))
def test_what_decides_nothing_is_neither(phrase: str) -> None:
    assert REPLIES.read(phrase) in ("unclear", "other")


@pytest.mark.parametrize(
    "text",
    [
        "Yes.", "YES!", "  yes  ", "Yes, please.", "ok, do it", "Yes yes", "sure, go ahead!",
        "Of course, thanks", "👍", "Yes — confirmed", "oh yes please", "y", "1",
        "כן", "כֵּן", "כן, בבקשה!", "כן, תודה", "בסדר גמור", "はい、お願いします。",
        "네, 진행해 주세요",
        "Sí, por favor", "Oui, vas-y", "Ja, bitte.", "Да, пожалуйста", "نعم، من فضلك",
    ],
)  # fmt: skip
def test_a_plain_yes_may_be_polite(text: str) -> None:
    assert REPLIES.read(text) == "yes"


@pytest.mark.parametrize(
    "text",
    [
        "No.", "NO!!", "no, thank you", "No, stop", "no, don't do it", "Please cancel it",
        "Don’t", "never mind, thanks", "לא", "לא, תודה", "בטל, בבקשה",
        "いいえ、結構です", "아니요, 취소해 주세요",
        "Non, merci", "Nein, danke",
    ],
)  # fmt: skip
def test_a_plain_no_may_be_polite(text: str) -> None:
    assert REPLIES.read(text) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "yes but", "yes, but not now", "ok maybe", "maybe", "yes?", "ok?", "yes if it is cheap",
        "I guess so", "not sure", "yes no", "no yes", "sure, whatever", "yes, only the first one",
        "of course not yes", "hmm, yes", "yes wait", "not yes", "yes unless it rains on Monday",
        "כן אבל", "כן, אבל לא עכשיו", "אולי", "אולי כן", "כן?", "לא בטוח",
        "はい、でも", "네 하지만",
        "sí pero", "oui mais", "ja, aber", "да, но", "no but yes",
    ],
)  # fmt: skip
def test_what_is_not_plain_decides_nothing(text: str) -> None:
    assert REPLIES.read(text) == "unclear"


@pytest.mark.parametrize(
    "text",
    [
        "What is 15% of 200?", "no, London", "ok what is fifteen percent of two hundred",
        "and in Berlin?", "2 + 2", "1 euro in dollars please", "", "?!", "great", "thanks",
        "לא, לונדון", "yesterday", "nobody", "okapi",
        "yes " * 41,
    ],
)  # fmt: skip
def test_other_messages_are_no_replies(text: str) -> None:
    assert REPLIES.read(text) in ("other", "unclear")
    assert REPLIES.read(text) not in ("yes", "no")


@pytest.mark.parametrize(
    "text",
    [
        "no, London", "לא, לונדון", "2 + 2", "wait, I meant #003", "no wait, #007 instead",
        "hold on, refund it instead", "no, exchange it instead", "maybe make it 7",
    ],
)  # fmt: skip
def test_a_correction_is_left_to_others(text: str) -> None:
    assert REPLIES.read(text) == "other"


@pytest.mark.parametrize("text", ["wait what", "no, wait", "maybe later", "yes but make it 7"])
def test_a_doubt_that_puts_nothing_right_is_asked_about_again(text: str) -> None:
    assert REPLIES.read(text) == "unclear"


def test_no_phrase_means_yes_in_one_language_and_something_else_in_another() -> None:
    accepted = {tuple(phrase.casefold().split()) for phrase in phrases("accept")}
    for part in ("decline", "unclear", "hedges", "courtesy"):
        assert accepted.isdisjoint(tuple(p.casefold().split()) for p in phrases(part)), part


@given(st.sampled_from(phrases("accept")), st.sampled_from(phrases("decline")))
def test_a_yes_and_a_no_together_decide_nothing(yes: str, no: str) -> None:
    assert REPLIES.read(f"{yes}, {no}") in ("unclear", "other", "no")


@given(st.sampled_from(phrases("accept")), st.sampled_from(phrases("hedges")), st.text())
def test_a_hedged_yes_is_never_a_yes(yes: str, hedge: str, more: str) -> None:
    assert REPLIES.read(f"{yes} {hedge} {more}") != "yes"


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert REPLIES.read(text) in ("yes", "no", "unclear", "other")
