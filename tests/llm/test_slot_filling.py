"""A model may read what a question hides; what nobody said is asked for, not made up."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from server.core.chat_messages import FunctionCall, Message, Reply
from server.core.decision import Answer, Match, MissingArguments, MissingParameter, Trace
from server.core.tools import Source
from server.core.turn import NO_CONTEXT, ConversationContext, Turn
from server.errors import ProviderRejected, ProviderUnavailable
from server.library.model import (
    BuiltinExecution,
    CallPolicy,
    Domain,
    Library,
    Parameter,
    Template,
)
from server.providers.chat.scripted import Line, ScriptedChat
from tests.llm.adapters import Script, ask, speaking, stage
from tests.support.deciding import PERCENTAGE, table_adapter

FORMAT = Template(
    id="format_date",
    description="Format a date",
    kind="function",
    nl_examples=("Format the date 2025-03-05", "Write the date March 5 as day/month"),
    parameters=(
        Parameter("date", "date"),
        Parameter("format_string", "string", enum=("%d/%m/%Y", "%Y"), choices={"%y": "%Y"}),
    ),
    execution=BuiltinExecution("date_time", "format"),
)
AVERAGE = Template(
    id="average",
    description="Average some numbers",
    kind="function",
    nl_examples=("Average 1 and 2",),
    parameters=(Parameter("values", "array", items={"type": "number"}),),
    execution=BuiltinExecution("calculator", "average"),
)
NOTE = Template(
    id="parse_date",
    description="Read the date in a text",
    kind="function",
    nl_examples=("Which date is tomorrow?",),
    parameters=(Parameter("date_string", "string"),),
    execution=BuiltinExecution("date_time", "parse"),
)
SECRET = replace(NOTE, id="secret", policy=CallPolicy(sensitive_params=("date_string",)))
TODAY = datetime.now().astimezone().date().isoformat()
LIBRARY = Library(Domain("d"), {t.id: t for t in (PERCENTAGE, FORMAT, AVERAGE, NOTE, SECRET)})


class Asks:
    """Asks for every parameter of a template but those that are given."""

    def __init__(self, template: Template, **given: tuple[Any, tuple[int, int]]) -> None:
        missing = tuple(
            MissingParameter(p.name, type=p.type)
            for p in template.parameters
            if p.name not in given
        )
        self._decision = MissingArguments(
            Match(template.id, 0.9, 0.8, ""),
            missing,
            {name: value for name, (value, _) in given.items()},
            {name: Source("recognizer", span, "") for name, (_, span) in given.items()},
        )

    async def decide(self, turn: Turn, trace: Trace) -> MissingArguments:
        return self._decision

    async def close(self) -> None:
        return None


def calling(name: str, **arguments: Any) -> Reply:
    return Reply("", "m", calls=(FunctionCall(name, arguments),))


def answer(
    asks: Asks, text: str, script: Script | ScriptedChat, context: ConversationContext = NO_CONTEXT
) -> Answer:
    adapter = replace(table_adapter(library=LIBRARY), decider=asks)
    agent = {"synthesize_response": False}
    return ask(speaking(script, adapter, agent=agent), text, context)


PART = Asks(PERCENTAGE, percentage=(15, (0, 3)))


def test_what_is_said_in_other_words_is_filled_and_runs() -> None:
    said = calling("calculate_percentage", value=200, percentage=15)
    told = answer(PART, "15% ... I mean of two hundred", [said])
    assert told.content == "15% of 200 is **30**"
    assert told.metadata["arguments"]["value"] == {"kind": "model"}
    assert told.metadata["arguments"]["percentage"]["kind"] == "recognizer"
    assert stage(told, "fill")["filled"] == {"value": 200}


@pytest.mark.parametrize(
    ("text", "given", "why"),
    [
        ("15% of my salary", 5000, "nobody said so"),
        ("15% of what I have", 15, "nobody said so"),  # the 15 is the percentage already
        ("15% of 200 or so", "lots", "has to be a number"),
        ("15% of it", True, "has to be a number"),
        ("15% of it", ["x" * 10] * 100_000, "too large"),
    ],
)
def test_what_nobody_said_is_asked_for(text: str, given: Any, why: str) -> None:
    told = answer(PART, text, [calling("calculate_percentage", value=given)])
    assert [one["name"] for one in told.metadata["missing"]] == ["value"]
    assert "tool_execution" not in told.metadata
    assert stage(told, "fill")["refused"]["value"].endswith(why)


MULTIPLY = Template(
    id="multiply",
    description="Multiply two numbers, to double one for example",
    kind="function",
    nl_examples=("What is 2 times 3?", "Double 4", "double 5"),
    parameters=(Parameter("a", "number"), Parameter("b", "number")),
    execution=BuiltinExecution("calculator", "multiply"),
)
SORT = Template(
    id="sort",
    description="Sort data by a field, such as its price",
    kind="function",
    nl_examples=("Sort by price", "Sort this by price"),
    parameters=(Parameter("data", "array"), Parameter("field", "string")),
    execution=BuiltinExecution("json_transform", "sort"),
)
ROWS = '[{"price": 3, "size": {"unit_cost": 2}}, {"price": 1}]'
WHEN = replace(NOTE, nl_examples=("Which date is today?", "today, which date is it?"))


@pytest.mark.parametrize(
    ("template", "text", "given", "runs"),
    [
        (MULTIPLY, "double the 40", {"a": 40, "b": 2}, True),
        (MULTIPLY, "double the 40", {"a": 40, "b": 3}, False),
        (MULTIPLY, "double the double", {"a": 2, "b": 2}, True),
        (MULTIPLY, "only double", {"a": 2, "b": 2}, False),  # one word is one number
        (PERCENTAGE, "half of my 80", {"percentage": 50, "value": 80}, True),
        (PERCENTAGE, "half of my 80", {"percentage": 25, "value": 80}, False),
        (PERCENTAGE, "die Hälfte der 80", {"percentage": 50, "value": 80}, True),
        (FORMAT, "today as a year", {"date": "today", "format_string": "%Y"}, True),
        (FORMAT, "today as a year", {"date": TODAY, "format_string": "%Y"}, True),
        (FORMAT, "today as a year", {"date": "tomorrow", "format_string": "%Y"}, False),
        (WHEN, "the date of today", {"date_string": "today"}, True),
        (WHEN, "the date", {"date_string": "today"}, False),
        (SORT, f"cheapest first {ROWS}", {"field": "price"}, True),
        (SORT, f"cheapest first {ROWS}", {"field": "unit_cost"}, True),
        (SORT, f"cheapest first {ROWS}", {"field": "cost"}, False),
    ],
)
def test_what_the_question_grounds_is_said(
    template: Template, text: str, given: dict[str, Any], runs: bool
) -> None:
    taken = {}
    if template is SORT:
        taken["data"] = (json.loads(ROWS), (text.index("["), len(text)))
    library = Library(Domain("d"), {template.id: template})
    adapter = replace(table_adapter(library=library), decider=Asks(template, **taken))
    script = [calling(template.function_name or template.id, **given)]
    told = ask(speaking(script, adapter, agent={"synthesize_response": False}), text)
    assert ("tool_execution" in told.metadata) == runs


def test_a_choice_of_the_template_needs_no_words() -> None:
    said = calling("format_date", date="2025-03-05", format_string="%d/%m/%Y")
    told = answer(Asks(FORMAT), "Format March 5, 2025 the European way", [said])
    assert told.metadata["tool_execution"]["result"]["result"] == "05/03/2025"


def test_a_date_that_was_not_said_is_asked_for() -> None:
    said = calling("format_date", date="2025-03-06", format_string="%Y")
    told = answer(Asks(FORMAT), "Format March 5, 2025 as a year", [said])
    assert [one["name"] for one in told.metadata["missing"]] == ["date"]


@pytest.mark.parametrize(
    ("values", "runs"),
    [([1, 2], True), ("[1, 2]", True), ([1, 2, 3], False), ([1, 1], False), ([], False)],
)
def test_every_member_of_a_list_is_said_for_itself(values: Any, runs: bool) -> None:
    told = answer(Asks(AVERAGE), "The mean of one and then 2", [calling("average", values=values)])
    assert ("tool_execution" in told.metadata) == runs


def test_a_word_of_the_template_is_no_value() -> None:
    told = answer(Asks(NOTE), "Read the date", [calling("parse_date", date_string="the date")])
    assert "missing" in told.metadata


def test_what_was_said_before_counts_and_what_was_answered_does_not() -> None:
    said = calling("calculate_percentage", value=80)
    asked = ConversationContext((Message("user", "I have 80 apples"),))
    assert "tool_execution" in answer(PART, "15% of them", [said], asked).metadata
    told = ConversationContext((Message("assistant", "You have 80 apples"),))
    assert "missing" in answer(PART, "15% of them", [said], told).metadata


def test_the_format_of_functiongemma_is_read() -> None:
    text = "<start_function_call>call:calculate_percentage{value:<escape>200<escape>}"
    assert answer(PART, "15%, of 200", [text]).content == "15% of 200 is **30**"


def test_a_model_without_functions_is_asked_for_json() -> None:
    data = {"name": "calculate_percentage", "arguments": {"value": 200}}
    model = ScriptedChat([ProviderRejected("no tools"), Reply("", "m", data=data)])
    assert answer(PART, "15%, of 200", model).content == "15% of 200 is **30**"
    assert [bool(asked.tools) for asked in model.asked] == [True, False]


@pytest.mark.parametrize(
    "script",
    [
        [ProviderUnavailable("away")],
        ["I would rather talk."],
        [calling("other", value=200)],
        [Line(calling("calculate_percentage", value=200), delay_s=60)],
    ],
)
def test_otherwise_it_is_asked_as_without_a_model(script: Script) -> None:
    adapter = replace(table_adapter(library=LIBRARY), decider=PART)
    told = ask(speaking(script, adapter, agent={"model_timeout": 0.1}), "15% of 200")
    assert [one["name"] for one in told.metadata["missing"]] == ["value"]


def test_no_model_is_told_of_sensitive_parameters() -> None:
    model = ScriptedChat([calling("secret", date_string="1234")])
    assert "missing" in answer(Asks(SECRET), "It is 1234", model).metadata
    assert model.asked == []
