"""A language is one file, and each of its readers takes its words from there."""

from pathlib import Path

import pytest

from server.errors import ConfigurationInvalid
from server.library.rendering import render
from server.text.language import (
    LANGUAGES,
    Language,
    everyday_sentences,
    load_language,
    read_language,
    shipped_languages,
    shipped_message,
    shipped_names,
)

SENTENCES = {each.language: each.everyday_sentences for each in shipped_languages()}


def test_the_languages_that_ship() -> None:
    assert " ".join(shipped_names()) == "ar de en es fr he it ja ko nl pt ru"
    assert [each.language for each in shipped_languages()] == [*shipped_names()]


def test_a_language_is_read_once_and_cannot_be_changed() -> None:
    english = load_language("en")
    assert load_language("en") is english
    with pytest.raises(ValueError, match="frozen"):
        english.language = "fr"


def test_a_language_that_does_not_ship_is_an_error() -> None:
    with pytest.raises(ConfigurationInvalid, match="no such file"):
        load_language("xx")


def test_a_language_file_says_only_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "xx.yaml"
    path.write_text("language: xx\nfollowups:\n  cancle: [stop]\n", encoding="utf-8")
    file, problems = read_language(path, {})
    assert file is None
    assert "cancle" in str(problems[0])


def test_words_are_a_list_or_one_text(tmp_path: Path) -> None:
    for written in ("a an the", "[a, an, the]"):
        path = tmp_path / "xx.yaml"
        path.write_text(f"language: xx\nstop_words: {written}\n", encoding="utf-8")
        file, _ = read_language(path, {})
        assert file is not None
        assert file.spec.stop_words == {"a", "an", "the"}


@pytest.mark.parametrize("said", [said for said in SENTENCES.values() if said])
def test_everyday_sentences_repeat_nothing(said: tuple[str, ...]) -> None:
    assert len(said) >= 50
    assert len(set(said)) == len(said)
    assert [text for text in said if text != text.strip().lower()] == []


@pytest.mark.parametrize(
    ("named", "text", "spoken"),
    [
        ((), "sort my data", ("en",)),
        (("en-GB", "FR"), "trie mes données", ("en", "fr")),
        (("en",), "כמה החלטות התקבלו", ("en", "he")),
        (("ja",), "データを並べ替える", ("en",)),
    ],
)
def test_everyday_sentences_are_in_the_languages_of_the_library(
    named: tuple[str, ...], text: str, spoken: tuple[str, ...]
) -> None:
    expected = tuple(said for language in spoken for said in SENTENCES[language])
    assert everyday_sentences(named, [text]) == expected


def test_english_stands_in_for_what_a_language_does_not_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    english = load_language("en").messages
    monkeypatch.setitem(load_language("fr").messages, "dropped", "D'accord, annulé.")
    assert shipped_message("dropped", "fr-CA") == "D'accord, annulé."
    assert shipped_message("no_match", "it") == english["no_match"]
    assert shipped_message("dropped", "xx") == english["dropped"]
    assert shipped_message("nothing_of_that_name", "en") is None


@pytest.mark.parametrize("language", shipped_languages(), ids=lambda each: each.language)
def test_a_message_has_the_same_name_in_every_language(language: Language) -> None:
    assert language.messages.keys() <= load_language("en").messages.keys()


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("rate_limited", "לא עשיתי את זה: הגעת למכסת הבקשות; אפשר לנסות שוב בעוד 30 שניות."),
        ("role_forbids", "לא עשיתי את זה: אין לך הרשאה לכך."),
        ("arguments_invalid", "לא עשיתי את זה: too long."),
    ],
)
def test_refusals_are_told_in_hebrew(reason: str, said: str) -> None:
    told = {"reason": reason, "retry_after_s": 30, "error_message": "too long"}
    assert render(shipped_message("tool_refused", "he") or "", told) == said


def test_hebrew_says_all_that_english_says() -> None:
    assert load_language("he").messages.keys() >= load_language("en").messages.keys()


@pytest.mark.parametrize("path", sorted(LANGUAGES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_file_is_whole(path: Path) -> None:
    assert read_language(path, {})[1] == ()
