"""A message is a courtesy only where every word of it is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.library.rendering import render
from server.text.courtesy import COURTESY_KINDS, CourtesyReader
from server.text.language import CourtesyKind, load_language, shipped_languages

READER = CourtesyReader()
PHRASES = [
    (each.language, kind, phrase)
    for each in shipped_languages()
    for kind in COURTESY_KINDS
    for phrase in getattr(each.courtesy, kind)
]


@pytest.mark.parametrize(
    ("text", "kind", "language"),
    [
        ("Hello!", "hello", "en"),
        ("hellooo :)", "hello", "en"),
        ("Hey, what's up?", "hello", "en"),
        ("hi there how are you doing", "hello", "en"),
        ("Great, thank you SO much for your help!!", "thanks", "en"),
        ("thx", "thanks", "en"),
        ("thanks, that's all", "thanks", "en"),
        ("ok bye 👋", "bye", "en"),
        ("/help", "help", "en"),
        ("could you please help me?", "help", "en"),
        ("What can you do", "help", "en"),
        ("can you tell me who you are", "about", "en"),
        ("are you a robot", "about", "en"),
        ("whats ur name", "about", "en"),
        ("Danke schön!", "thanks", "de"),
        ("Hi, was kannst du alles?", "help", "de"),
        ("tschüß", "bye", "de"),
        ("Bonjour, qui êtes-vous ?", "about", "fr"),
        ("merci beaucoup pour ton aide", "thanks", "fr"),
        ("hola, que puedes hacer", "help", "es"),
        ("¡Muchas gracias!", "thanks", "es"),
        ("תודה רבה, עזרת לי מאוד", "thanks", "he"),
        ("שָׁלוֹם", "hello", "he"),
        ("מה אתה יכול לעשות?", "help", "he"),
        ("Привет! Что ты умеешь?", "help", "ru"),
        ("こんにちは！何ができますか", "help", "ja"),
    ],
)
def test_a_courtesy_is_read_in_its_language(text: str, kind: str, language: str) -> None:
    assert READER.read(text) == (kind, language)


@pytest.mark.parametrize(
    "text",
    [
        "hello, what's 2 + 2",
        "thanks, now delete it",
        "thanks, the same for London",
        "how do I say thank you in French",
        "translate good night into French",
        "say hello",
        "hi Bob",
        "help me with my order",
        "what can you do for me tomorrow",
        "who are you working for",
        "what can you tell me about Paris",
        "bye 3 shares",
        "thanks = 5",
        "hello [1, 2]",
        "thanks; cancel",
        "danke, noch einmal",
        "merci, encore une fois",
        "תודה, ועכשיו תמחק",
        "again",
        "yes",
        "no",
        "ok",
        "please",
        "good",
        "stop",
        "👋",
        "?",
        "",
        "hello " * 30,
        "x" * 10_000,
    ],
)
def test_anything_else_beside_it_goes_first(text: str) -> None:
    assert READER.read(text) is None


@pytest.mark.parametrize("code", [each.language for each in shipped_languages()])
def test_each_phrase_is_of_one_kind(code: str) -> None:
    phrases = [(kind, phrase) for language, kind, phrase in PHRASES if language == code]
    read = [(READER.read(phrase, (code,)), phrase) for _, phrase in phrases]
    assert read == [((kind, code), phrase) for kind, phrase in phrases]


def test_of_several_kinds_the_one_that_asks_most_is_answered() -> None:
    asked = {
        "hello, who are you and what can you do": "about",
        "hi, what can you do": "help",
        "thanks, bye": "bye",
        "hello and thanks": "thanks",
    }
    assert {text: getattr(READER.read(text), "kind", None) for text in asked} == asked


def test_a_word_of_several_languages_is_in_the_one_that_is_preferred() -> None:
    german = CourtesyReader(languages=("de", "en"))
    assert READER.read("ciao") == ("bye", "en")
    assert READER.read("hey") == ("hello", "en")
    assert READER.read("ciao", ("it-CH", "de")) == ("hello", "it")
    assert german.read("bye") == ("bye", "de")


def test_what_means_something_here_is_no_courtesy() -> None:
    reader = CourtesyReader(own=("Good night", "movie", "super"))
    assert reader.read("ok, good night") is None
    assert reader.read("hello, super") is None
    assert reader.read("good morning") == ("hello", "en")


def test_only_the_wanted_kinds_are_read() -> None:
    reader = CourtesyReader(["help"])
    read = {
        text: reader.read(text) is not None for text in ("hello", "hello, help me", "help, bye")
    }
    assert read == {"hello": False, "hello, help me": True, "help, bye": True}
    assert CourtesyReader(()).read("hello") is None


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    READER.read(text)


@given(st.sampled_from(PHRASES), st.sampled_from(["delete", "7", "Paris", "löschen", "מחק"]))
def test_no_word_vanishes(phrase: tuple[str, CourtesyKind, str], more: str) -> None:
    assert READER.read(f"{phrase[2]}, {more}") is None


@pytest.mark.parametrize("language", [each.language for each in shipped_languages()])
def test_every_language_answers_every_kind(language: str) -> None:
    example = {"description": "Calculate", "example": "What is 1 + 1?"}
    full = {"name": "sums", "description": "Sums and dates", "examples": [example] * 3}
    bare = {"name": "sums", "description": "", "examples": []}
    messages = load_language(language).messages
    for kind in COURTESY_KINDS:
        for context in (full, bare):
            text = render(messages[f"courtesy_{kind}"], context)
            assert text == text.strip() != ""
            asks = kind in ("hello", "help", "about") and context is full
            assert text.count("What is 1 + 1?") == (3 if asks else 0)
            assert ("sums" in text) == (kind == "about")
