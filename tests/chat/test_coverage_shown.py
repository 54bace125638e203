"""An answer shows how each word of its question was read, and none that must not be shown."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from server.adapters.local import ask_once, open_adapter
from server.chat.respond import respond, with_notes
from server.core.coverage import Coverage, CoveredWord, WordRole
from server.core.decision import (
    Answer,
    Call,
    Clarify,
    Ending,
    Match,
    MissingArguments,
    MissingParameter,
    NoMatch,
    PendingConfirmation,
    Trace,
)
from server.core.redaction import REDACTED
from server.core.tools import Source, ToolResult, ToolResultStatus
from server.core.turn import Caller, Turn
from server.library.model import CallPolicy, Domain, Library, ResponseConfig, Template
from server.tools.policy.chain import CallOutcome
from tests.support.configuring import NOW as NOW_YAML
from tests.support.configuring import PERCENTAGE as PERCENTAGE_YAML
from tests.support.configuring import adapter, configure, write_library
from tests.support.deciding import MATCH, PERCENTAGE, call_of, table_adapter

QUESTION = "My kids sleep, what is 15% of 200, thanks"
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def coverage(text: str, *words: tuple[str, WordRole, str | None, str]) -> Coverage:
    return Coverage(
        text,
        tuple(
            CoveredWord(text.index(word), text.index(word) + len(word), role, of, kind)
            for word, role, of, kind in words
        ),
    )


READ = coverage(
    QUESTION,
    ("My", "filler", None, "filler"),
    ("kids", "unread", None, "word"),
    ("sleep", "unread", None, "word"),
    ("what is", "frame", "calculate_percentage", ""),
    ("15%", "value", "percentage", ""),
    ("of", "filler", None, "filler"),
    ("200", "value", "value", ""),
    ("thanks", "filler", None, "filler"),
)
SPANS = {"percentage": (23, 26), "value": (30, 33)}
CALL = call_of(PERCENTAGE, {"value": 200, "percentage": 15})
CALL = replace(
    CALL,
    coverage=READ,
    call=replace(
        CALL.call,
        sources={
            name: Source("recognizer", (start, end), QUESTION[start:end])
            for name, (start, end) in SPANS.items()
        },
    ),
)
DONE = ToolResult(
    "calculator",
    "percentage",
    ToolResultStatus.SUCCESS,
    0.1,
    {},
    {"result": 30, "percentage": 15, "value": 200},
)
HELD = PendingConfirmation(
    *(MATCH, CALL.call, "p" * 32, NOW + timedelta(hours=1), "", "pay"),
    coverage=READ,
    left_out=READ.left_out(),
)
ASKS = MissingArguments(MATCH, (MissingParameter("value"),), coverage=READ)
SECRET = replace(PERCENTAGE, policy=CallPolicy(sensitive_params=("value",)))


def answer(
    ending: Ending, template: Template = PERCENTAGE, languages: Sequence[str] = ("en",)
) -> Answer:
    response = ResponseConfig("en", ("en", "de", "fr", "es", "he"))
    library = Library(Domain("d", response=response), {template.id: template})
    turn = Turn("t", QUESTION, "s", Caller("k", "d"), NOW, tuple(languages))
    outcome = CallOutcome(DONE, ending.call, "success") if isinstance(ending, Call) else None
    return respond(table_adapter("d", library), turn, ending, Trace(), outcome=outcome)


@pytest.mark.parametrize(
    "ending",
    [CALL, HELD, ASKS, Clarify((MATCH,), READ), NoMatch("far", (MATCH,), coverage=READ)],
    ids=lambda each: type(each).__name__,
)
def test_every_kind_of_answer_shows_how_its_question_was_read(ending: Ending) -> None:
    shown = answer(ending).metadata["coverage"]
    assert shown == READ.to_list()
    assert shown[4] == {"text": "15%", "span": [23, 26], "as": "value", "of": "percentage"}
    assert shown[1] == {"text": "kids", "span": [3, 7], "as": "unread"}
    assert all(QUESTION[slice(*each["span"])] == each["text"] for each in shown)


def test_what_was_left_out_is_a_note() -> None:
    found = answer(CALL)
    assert found.metadata["notes"] == ["I left out “My kids sleep”."]
    assert found.content == "15% of 200 is **30**"
    assert with_notes(found).content == "15% of 200 is **30**\nI left out “My kids sleep”."
    assert with_notes(with_notes(found)) == with_notes(found)


def test_nothing_was_left_out_of_what_did_not_run() -> None:
    assert "notes" not in answer(NoMatch("far", coverage=READ)).metadata
    assert "notes" not in answer(ASKS).metadata


def test_a_proposal_says_what_it_leaves_out() -> None:
    found = answer(HELD)
    assert found.content.endswith("\nI left out “My kids sleep”.\nShall I go ahead? (yes / no)")
    assert with_notes(found) == found


OTHER = " The nearest thing I can do:\n- Calculate a percentage of a given value (“x”)"


@pytest.mark.parametrize(
    ("objection", "unread", "said"),
    [
        ("negation", ("don't",), "You said “don't”, so nothing was done."),
        ("condition", ("sleep",), "I can't wait for “sleep”, so nothing was done."),
        ("exclusion", ("except",), f"I can't leave anything out as “except” asks.{OTHER}"),
        ("restriction", ("only",), f"I can't leave anything out as “only” asks.{OTHER}"),
        ("question", ("does it",), "That asks about it, so nothing was done."),
        (
            "action",
            ("cancel",),
            f"“cancel” asks for something else, so nothing was done.{OTHER}",
        ),
        ("", ("Ministry of X", "b"), f"I can't tell what to do about “Ministry of X”, “b”.{OTHER}"),
        (
            "",
            (),
            "I have no tool that answers that. The nearest things I can do:\n"
            "- Calculate a percentage of a given value (“x”)",
        ),
    ],
)
def test_a_refusal_names_what_was_in_the_way(
    objection: str, unread: tuple[str, ...], said: str
) -> None:
    nearest = Match("calculate_percentage", 0.4, 0.5, "", "x")
    found = answer(NoMatch("why", (nearest,), unread, objection, READ))
    assert found.content == said
    assert (found.metadata["why"], found.metadata["unread"]) == ("why", list(unread))
    assert found.metadata.get("objection", "") == objection


def test_what_is_nearest_by_its_description_is_shown_by_an_example() -> None:
    template = replace(PERCENTAGE, nl_examples=("what is 15% of 200", "20% of 50"))
    match = Match(template.id, 0.4, 0.5, "", template.description)
    (nearest,) = answer(NoMatch("far", (match,)), template).metadata["nearest"]
    assert (nearest["description"], nearest["example"]) == (
        template.description,
        "what is 15% of 200",
    )


def test_a_question_of_which_little_was_read_is_for_something_else() -> None:
    poem = coverage(
        "write a poem of love",
        ("write", "unread", None, "action"),
        ("a", "filler", None, ""),
        ("poem", "unread", None, "word"),
        ("of", "filler", None, ""),
        ("love", "unread", None, "word"),
    )
    found = answer(NoMatch("far", (), ("write", "poem", "love"), "", poem))
    assert found.content == "I have no tool that answers that."
    assert found.metadata["unread"] == ["write", "poem", "love"]


@pytest.mark.parametrize(
    ("language", "note", "refusal"),
    [
        ("de", "„My kids sleep“ habe ich weggelassen.", "Gesagt war „not“"),
        ("fr", "J'ai laissé de côté « My kids sleep ».", "Vous avez dit « not »"),
        ("es", "He dejado fuera «My kids sleep».", "Dijiste «not»"),
        ("he", "”My kids sleep” הושמט.", "נאמר ”not”"),
    ],
)
def test_the_server_says_it_in_other_languages(language: str, note: str, refusal: str) -> None:
    held = answer(HELD, languages=(language,))
    assert held.metadata["notes"] == [note]
    assert f"\n{note}\n" in held.content
    refused = answer(NoMatch("why", (MATCH,), ("not",), "negation"), languages=(language,))
    assert refused.content.startswith(refusal)
    for ending in (ASKS, Clarify((MATCH, MATCH)), NoMatch("why", (MATCH,), ("x",)), NoMatch("w")):
        english, own = answer(ending), answer(ending, languages=(language,))
        assert own.content != english.content


def test_values_of_a_template_with_secrets_are_masked() -> None:
    read = Coverage(QUESTION, READ.words[3:])
    shown = answer(replace(CALL, coverage=read), SECRET).metadata["coverage"]
    assert [each["text"] for each in shown] == ["what is", REDACTED, "of", REDACTED, "thanks"]
    assert [each["span"] for each in shown] == [[w.start, w.end] for w in read.words]


@pytest.mark.parametrize(
    "ending",
    [
        CALL,
        HELD,
        ASKS,
        Clarify((MATCH, MATCH), READ),
        NoMatch("it has no use for kids", (MATCH,), ("kids",), "", READ),
        NoMatch("“kids” speaks against it", (MATCH,), ("kids",), "condition", READ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_where_a_secret_may_be_any_word_none_is_shown(ending: Ending) -> None:
    response = ResponseConfig("en", ("en",))
    library = Library(Domain("d", response=response), {SECRET.id: SECRET})
    turn, trace = Turn("t", QUESTION, "s", Caller("k", "d"), NOW), Trace()
    trace.note("match", {"candidates": [{"template_id": SECRET.id}]})
    trace.note("verify", {"judged": [{"template_id": SECRET.id, "against": "condition: kids"}]})
    trace.note("choose", {"why": "it has no use for kids", "coverage": READ.to_list()})
    outcome = CallOutcome(DONE, ending.call, "success") if isinstance(ending, Call) else None
    found = respond(table_adapter("d", library), turn, ending, trace, outcome=outcome)
    said = json.dumps([found.to_dict("s"), found.trace.to_list()], ensure_ascii=False)
    assert {each["text"] for each in found.metadata["coverage"]} == {REDACTED}
    assert "kids" not in said
    assert "thanks" not in said


PIN: dict[str, Any] = {
    "id": "check_pin",
    "description": "Check a percentage of a pin",
    "tool_type": "function",
    "nl_examples": ["check pin 1234", "verify my pin 4711", "is my pin 99887 right"],
    "tool_name": "calculator",
    "tool_operation": "percentage",
    "sensitive_params": ["value"],
    "parameters": [
        {"name": "value", "type": "integer", "description": "The pin", "required": True},
        {"name": "percentage", "type": "number", "default": 50, "required": False},
    ],
    "response_template": "Checked.",
}


def asked(folder: Path, text: str, *templates: Any, **agent: Any) -> Answer:
    """The answer of an adapter that is opened as a server opens it."""
    library = write_library(folder / "library", (PERCENTAGE_YAML, *templates))
    config = {"agent": agent} if agent else {}
    found = configure(folder, [adapter("sums", library, config=config)])

    async def run() -> Answer:
        opening = open_adapter(found.settings, found.environ, found.adapter("sums"))
        async with opening as opened:
            return await ask_once(found.settings, opened, text, "s")

    return asyncio.run(run())


def test_a_question_is_read_and_shown_from_end_to_end(tmp_path: Path) -> None:
    text = "😀 My kids are asleep, what is 15% of 200?"
    plain = asked(tmp_path / "a", text, NOW_YAML)
    noted = asked(tmp_path / "b", text, NOW_YAML, show_notes=True)
    shown = plain.metadata["coverage"]
    assert all(text[slice(*each["span"])] == each["text"] for each in shown)
    assert {each["of"]: each["text"] for each in shown if each["as"] == "value"} == {
        "percentage": "15%",
        "value": "200",
    }
    assert plain.content == "15% of 200 is **30**"
    assert plain.metadata["notes"] == noted.metadata["notes"]
    assert noted.content == "\n".join((plain.content, *noted.metadata["notes"]))
    (choose,) = (each for each in plain.trace.to_list() if each["stage"] == "choose")
    assert choose["coverage"] == shown


@pytest.mark.parametrize(
    "text",
    [
        "check pin 73519",
        "verify my pin 73519 unless zebras come",
        "check my pin zebra-73519 please",
        "don't check pin 73519",
        "is my pin 73519",
    ],
)
def test_no_secret_word_is_shown_or_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    with caplog.at_level(logging.DEBUG, "server.chat"):
        found = asked(tmp_path, text, PIN, verbose=True)
    said = json.dumps([found.to_dict("s"), found.trace.to_list()]) + caplog.text
    assert found.metadata["coverage"]
    assert "73519" not in said
    assert "zebra" not in said
