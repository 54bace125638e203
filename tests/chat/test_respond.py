"""Decisions and results become answers, in the author's words where there are any."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.chat.respond import respond
from server.core.decision import (
    Answer,
    Call,
    Cancelled,
    Ending,
    MissingArguments,
    MissingParameter,
    NoMatch,
    Trace,
)
from server.core.tools import Source, ToolResult, ToolResultStatus
from server.core.turn import Caller, Turn
from server.library.model import BuiltinExecution, Domain, Library, ResponseConfig, Template
from server.tools.policy.chain import CallOutcome
from tests.support.deciding import DIVIDE, MATCH, PERCENTAGE, call_of, table_adapter

FORMATS: Mapping[str, Mapping[str, str]] = {
    "calculation_result": {
        "en": "The result is **{{ result }}**",
        "fr": "Le résultat est **{{ result }}**",
    },
    "date_result": {
        "en": "The date is {{ formatted_date }}",
        "fr": "La date est {{ formatted_date }}",
    },
    "short": {"en": "= {{ result }}", "fr": "= {{ result }} !"},
    "no_match": {"fr": "Je ne sais pas."},
    "calculator_error": {"fr": "Calcul impossible : {{ error_message }}"},
}


NOW = datetime(2025, 1, 1, tzinfo=UTC)


def answer(
    template: Template,
    decision: Ending,
    result: ToolResult | None = None,
    languages: tuple[str, ...] = (),
    formats: Mapping[str, Mapping[str, str]] = FORMATS,
) -> Answer:
    response = ResponseConfig("en", ("en", "fr"), formats)
    library = Library(Domain("d", response=response), {template.id: template})
    turn = Turn("t", "", "s", Caller("k", "d"), NOW, languages)
    outcome = None
    if result is not None:
        assert isinstance(decision, Call)
        outcome = CallOutcome(result, decision.call, "success")
    return respond(table_adapter("d", library), turn, decision, Trace(), outcome=outcome)


def success(template: Template, result: Any) -> ToolResult:
    call = call_of(template, {}).call
    return ToolResult(
        call.tool,
        call.operation,
        ToolResultStatus.SUCCESS,
        0.1,
        {},
        {"result": result, "operation": call.operation, "input": {}},
    )


def content(template: Template, result: ToolResult, *languages: str) -> str:
    decision = call_of(template, {"value": 200, "percentage": 15})
    return answer(template, decision, result, languages).content


def test_the_templates_own_words_come_first() -> None:
    assert content(PERCENTAGE, success(PERCENTAGE, 30)) == "15% of 200 is **30**"


def test_then_the_format_the_template_names() -> None:
    template = replace(DIVIDE, response_format="short")
    assert content(template, success(template, 4)) == "= 4"
    assert content(template, success(template, 4), "de", "fr-CA") == "= 4 !"


def test_then_the_domains_format_for_the_tool() -> None:
    assert content(DIVIDE, success(DIVIDE, 4.0)) == "The result is **4**"
    assert content(DIVIDE, success(DIVIDE, 4.0), "fr") == "Le résultat est **4**"


def test_a_text_in_the_language_comes_before_any_other() -> None:
    both = replace(PERCENTAGE, response_template={"en": "{{ result }}!", "fr": "{{ result }} !"})
    assert content(both, success(both, 30)) == "30!"
    assert content(both, success(both, 30), "fr-BE") == "30 !"
    # English alone: the domain's French words for any result of the tool.
    assert content(PERCENTAGE, success(PERCENTAGE, 30), "fr") == "Le résultat est **30**"
    assert content(PERCENTAGE, success(PERCENTAGE, 30), "de") == "15% of 200 is **30**"


def test_words_for_every_result_stand_in_where_they_say_the_result() -> None:
    template = replace(
        PERCENTAGE,
        execution=BuiltinExecution("date_time", "is_business_day"),
        response_template={"en": "{{ iso }} is {{ 'one' if result else 'none' }}"},
    )
    day = {"formatted_date": "2025-03-04", "iso": "2025-03-04"}
    for result, expected in (
        ({**day, "result": True}, "2025-03-04 is one"),
        ({**day, "result": "2025-03-04"}, "La date est 2025-03-04"),
    ):
        answered = replace(success(template, None), result=result)
        assert content(template, answered, "fr") == expected


def test_what_the_server_says_is_in_the_language_where_anybody_has_words_for_it() -> None:
    formats = {"no_match": {"en": "Sorry."}, "dropped": {"en": "Gone.", "fr": "Oublié."}}
    for ending, languages, expected in (
        (NoMatch("far"), (), "Sorry."),
        (NoMatch("far"), ("fr",), "Je n'ai aucun outil qui réponde à cela."),
        (Cancelled(None), ("fr",), "Oublié."),
    ):
        assert answer(PERCENTAGE, ending, None, languages, formats).content == expected


def test_words_that_do_not_fit_are_passed_over() -> None:
    template = replace(
        DIVIDE, response_template={"en": "{{ quotient }}"}, response_format="date_result"
    )
    assert content(template, success(template, 4)) == "The result is **4**"


def test_without_any_words_the_result_is_readable() -> None:
    found = answer(DIVIDE, call_of(DIVIDE, {}), success(DIVIDE, [{"n": 1}]), formats={})
    assert found.content == "| n |\n| --- |\n| 1 |"
    assert found.trace.stages[-1].details["by"] == "readable rendering"


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        ((), "I couldn't complete the calculation. Please check your input. (Division by zero)"),
        (("fr",), "Calcul impossible : Division by zero"),
    ],
)
def test_an_error_is_a_helpful_sentence(languages: tuple[str, ...], expected: str) -> None:
    failed = ToolResult(
        "calculator",
        "divide",
        ToolResultStatus.ERROR,
        0.1,
        {"a": 1, "b": 0},
        error_message="Division by zero",
    )
    found = answer(DIVIDE, call_of(DIVIDE, {}), failed, languages)
    assert found.content == expected
    execution = found.metadata["tool_execution"]
    assert (execution["status"], execution["error_message"]) == ("error", "Division by zero")
    assert "result" not in execution


def test_a_tool_that_was_stopped_says_so() -> None:
    late = ToolResult(
        "calculator", "divide", ToolResultStatus.TIMEOUT, 5, {}, error_message="over 5 s"
    )
    found = answer(DIVIDE, call_of(DIVIDE, {}), late)
    assert found.content == "That took too long, so I stopped it. (over 5 s)"
    assert found.metadata["tool_execution"]["status"] == "timeout"


def test_several_missing_arguments_are_a_list() -> None:
    missing = (
        MissingParameter("value", "The base value", "number"),
        MissingParameter(
            "to_unit", type="string", choices=("km", "miles"), problem="“ell” is neither."
        ),
    )
    found = answer(PERCENTAGE, MissingArguments(MATCH, missing))
    assert found.content == (
        "I need a few more things:\n"
        "- **value** (The base value)\n"
        "- **to unit**: “ell” is neither, one of km, miles\n"
        "For example: “What is 15% of 200?”"
    )


def test_an_author_may_replace_what_the_server_says() -> None:
    found = answer(PERCENTAGE, NoMatch("far"), languages=("fr",))
    assert (found.content, found.confidence) == ("Je ne sais pas.", 0.0)


def test_an_argument_of_the_result_is_what_the_tool_says_it_is() -> None:
    template = replace(PERCENTAGE, response_template={"en": "{{ arguments.value }} {{ result }}"})
    decision = call_of(template, {"value": 200, "percentage": 15})
    assert answer(template, decision, success(template, 30)).content == "200 30"


def test_what_could_be_read_otherwise_is_said_once() -> None:
    template = replace(DIVIDE, response_template={"en": "It is {{ result }}{{ more }}"})
    note = "03/04/2025 was read as 2025-03-04, month first"
    decision = call_of(template, {"a": 1})
    noted = Source("recognizer", (0, 10), "03/04/2025", note)
    decision = replace(decision, call=replace(decision.call, sources={"a": noted}))
    for more, expected in (
        ("", "It is 4\n(03/04/2025 was read as 2025-03-04, month first.)\n(Read as four.)"),
        (", four", "It is 4, four\n(03/04/2025 was read as 2025-03-04, month first.)"),
    ):
        found = {"result": 4, "interpreted_as": "four", "more": more}
        result = replace(success(template, 4), result=found)
        assert answer(template, decision, result).content == expected


def test_the_fields_of_a_function_are_shown_without_what_names_it() -> None:
    found = replace(success(DIVIDE, None), result={"operation": "find", "name": "Ada", "age": 36})
    shown = answer(DIVIDE, call_of(DIVIDE, {}), found, formats={}).content
    assert [word in shown for word in ("Ada", "36", "find")] == [True, True, False]
    template = replace(DIVIDE, response_template={"en": "{{ name }}, {{ result.age }}"})
    assert content(template, found) == "Ada, 36"
