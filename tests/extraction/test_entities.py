"""Entities of a rule pack as arguments."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.core.tools import Source
from server.core.turn import Intent
from server.extraction.extractor import Extractor
from server.extraction.values import Extraction
from server.library.model import BuiltinExecution, Domain, Parameter, Template

NOW = datetime(2025, 3, 12, tzinfo=UTC)
QUESTION = "decisions on health by government 37"


def extract(
    *parameters: Parameter,
    entities: dict[str, Any],
    places: dict[str, tuple[tuple[int, int], ...]] | None = None,
    question: str = QUESTION,
) -> Extraction:
    template = Template("t", "", "function", (), parameters, BuiltinExecution("x", "y"))
    intent = Intent("QUERY", 1.0, "keyword", entities, places=places or {})
    return Extractor(Domain("d")).extract(question, template, now=NOW, intent=intent)


def test_an_entity_fills_the_parameter_of_its_name_and_says_where_it_stood() -> None:
    found = extract(
        Parameter("topic", "string"),
        Parameter("government", "integer"),
        entities={"topic": "health", "government": 37, "other": 1},
        places={"topic": ((13, 19),), "government": ((23, 36),)},
    )
    assert (found.arguments, found.sources, found.missing) == (
        {"topic": "health", "government": 37},
        {
            "topic": Source("intent", (13, 19), "health"),
            "government": Source("intent", (23, 36), "government 37"),
        },
        (),
    )
    assert (found.grounding.read, found.grounding.unused) == (2, ())


def test_a_value_that_an_unused_entity_was_read_from_is_left_over() -> None:
    found = extract(
        Parameter("topic", "string"),
        entities={"topic": "health", "government": 37},
        places={"topic": ((13, 19),), "government": ((23, 36),)},
    )
    assert found.grounding.unused == ("37",)


def test_an_entity_that_nobody_named_has_no_place() -> None:
    found = extract(Parameter("sort", "string"), entities={"sort": "newest"})
    assert (found.arguments, found.sources) == ({"sort": "newest"}, {"sort": Source("intent")})


@pytest.mark.parametrize(
    ("parameter", "problem"),
    [
        (Parameter("limit", "integer", le=100), "500 is above 100"),
        (Parameter("limit", "integer", enum=(5, 10)), "500 is not one of 5 or 10"),
    ],
)
def test_a_value_out_of_bounds_is_asked_about(parameter: Parameter, problem: str) -> None:
    found = extract(parameter, entities={"limit": 500})
    assert [(missing.name, missing.problem) for missing in found.missing] == [("limit", problem)]


@pytest.mark.parametrize(
    ("type_", "value"),
    [("integer", "many"), ("integer", 2.5), ("boolean", "yes"), ("array", "a"), ("object", "a")],
)
def test_a_value_of_another_type_is_not_the_parameters(type_: str, value: Any) -> None:
    found = extract(Parameter("p", type_, required=False), entities={"p": value}, question="so")
    assert (found.arguments, found.missing) == ({}, ())


def test_a_word_for_a_value_of_the_enum_becomes_that_value() -> None:
    level = Parameter("level", "string", enum=("N5",), choices={"n5": "N5", "beginner": "N5"})
    found = extract(level, entities={"level": "beginner"}, question="for me")
    assert found.arguments == {"level": "N5"}


def test_the_templates_own_pattern_comes_before_an_entity() -> None:
    topic = Parameter("topic", "string", extraction_patterns=("on (\\w+)",))
    found = extract(topic, entities={"topic": "illness"})
    assert (found.arguments, found.sources["topic"].kind) == (
        {"topic": "health"},
        "template_pattern",
    )


RANGE = {"date_range": {"start": "2020-01-01", "end": "2020-12-31"}}
START, END = RANGE["date_range"].values()


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({"date_range": "object"}, RANGE),
        ({"date_range_start": "date", "date_range_end": "date"}, {}),
        ({"start": "date", "end": "date"}, {}),
        ({"start_date": "date", "end_date": "string"}, {}),
        ({"date_from": "date", "date_to": "date"}, {}),
        ({"from": "date", "to": "date"}, {}),
    ],
    ids=lambda types: "-".join(types),
)
def test_the_parts_of_a_range_fill_parameters_of_their_own(
    types: dict[str, str], expected: dict[str, Any]
) -> None:
    found = extract(*(Parameter(*p) for p in types.items()), entities=RANGE, question="in 2020")
    assert found.arguments == (expected or dict(zip(types, (START, END), strict=True)))


@pytest.mark.parametrize(
    ("reads", "arguments", "agrees"),
    [
        (frozenset(), {"decision": 37}, True),  # the rules know nothing of decisions
        (frozenset({"decision"}), {}, None),  # they do, and found none
    ],
)
def test_what_the_rules_read_and_did_not_find_is_filled_by_nothing_else(
    reads: frozenset[str], arguments: dict[str, Any], agrees: bool | None
) -> None:
    decision = Parameter("decision", "integer")
    template = Template("t", "", "function", (), (decision,), BuiltinExecution("x", "y"))
    template = replace(template, intents=("QUERY",))
    intent = Intent("QUERY", 1.0, "keyword", {"government": 37}, reads=reads)
    found = Extractor(Domain("d")).extract(QUESTION, template, now=NOW, intent=intent)
    assert (found.arguments, found.grounding.agrees) == (arguments, agrees)
    assert [missing.name for missing in found.missing] == ([] if arguments else ["decision"])
