"""Every argument says where it came from; what is missing says what it would be."""

from server.core.decision import ArgumentCoverage, MissingParameter
from server.core.tools import Source
from server.extraction.values import Extraction
from server.library.model import Domain, Entity, NormalizerStep, Parameter, TypePatterns
from tests.extraction.support import arguments, ask, extract

NUMBERS = Domain(
    "d",
    parameter_patterns={
        "number": TypePatterns(
            (r"[\d,]+(?:\.\d+)?",), (NormalizerStep("remove_commas"), NormalizerStep("to_float"))
        )
    },
)
VALUE = Parameter("value", "number", extraction_patterns=(r"of\s+([\d,]+)",))
OTHER = Parameter("other", "number")


def test_each_kind_of_source_is_named() -> None:
    found = extract(
        "1,500 of 2,500 in hr at 5pm",
        VALUE,
        OTHER,
        Parameter("team", "team"),
        Parameter("hour", "time"),
        Parameter("page", "integer", required=False, default=1),
        domain=Domain(
            "d",
            parameter_patterns=NUMBERS.parameter_patterns,
            entities={"team": Entity("team", values={"hr": "Human Resources"})},
        ),
    )
    assert found == Extraction(
        arguments={
            "value": 2500,
            "other": 1500,
            "team": "Human Resources",
            "hour": "17:00",
            "page": 1,
        },
        sources={
            "value": Source("template_pattern", (9, 14), "2,500"),
            "other": Source("domain_pattern", (0, 5), "1,500"),
            "team": Source("vocabulary", (18, 20), "hr"),
            "hour": Source("recognizer", (24, 27), "5pm"),
            "page": Source("default"),
        },
        grounding=ArgumentCoverage(required=4, read=4),
    )


def test_text_read_where_the_examples_have_it_says_so() -> None:
    found = ask("what's the weather in Oslo", "weather")
    assert found.sources["location"] == Source("example", (22, 26), "Oslo")


def test_what_is_missing_is_described_for_whoever_asks() -> None:
    parameter = Parameter(
        "unit", "string", "What to count in", enum=("days", "weeks"), example="days"
    )
    found = extract("how long is it", parameter)
    assert found.missing == (
        MissingParameter(
            name="unit",
            description="What to count in",
            type="string",
            choices=("days", "weeks"),
            example="days",
        ),
    )


def test_a_value_that_cannot_be_used_is_a_problem_and_no_argument() -> None:
    units = Parameter(
        "units",
        "string",
        required=False,
        default="metric",
        enum=("metric", "imperial"),
        extraction_patterns=(r"in (\w+) please",),
    )
    found = extract("in kelvin please", units)
    assert found.arguments == {}
    assert [(one.name, one.problem) for one in found.missing] == [
        ("units", "kelvin is not one of metric or imperial")
    ]


def test_what_nothing_decides_is_asked_for() -> None:
    found = extract("the 2024 budget is 10000", Parameter("value", "number"))
    assert (found.arguments, [one.problem for one in found.missing]) == (
        {},
        ["it could be 2024 or 10000"],
    )
    team = Parameter("team", "string", enum=("ops", "sales"))
    (missing,) = extract("tell sales and ops", team).missing
    assert missing.problem == "it could be sales or ops"


def test_values_that_nothing_takes_are_counted_once_each() -> None:
    found = extract("add 3 days to 2025-01-01 for kim@example.org", Parameter("n", "integer"))
    assert found.arguments == {"n": 3}
    assert found.grounding == ArgumentCoverage(1, 1, ("2025-01-01", "kim@example.org"))


def test_a_default_does_not_ground_a_template() -> None:
    found = extract("how much", Parameter("n", "integer", default=5))
    assert (found.arguments, found.grounding) == ({"n": 5}, ArgumentCoverage(1, 0))
    assert found.grounding.read < found.grounding.required


def test_a_flag_is_known_by_its_aliases() -> None:
    flag = Parameter("available_now", "boolean", required=False, aliases=("free",))
    assert arguments("rooms that are free", flag) == {"available_now": True}
    assert arguments("rooms that are not free", flag) == {"available_now": False}
    assert arguments("rooms", flag) == {}


def test_a_remark_says_a_value_in_the_words_of_its_parameter() -> None:
    found = extract(
        "repeat 4 please, I'll pick it up at Hilltop",
        Parameter("number", "integer"),
        Parameter("pickup_site", "string", required=False, enum=("riverside", "hilltop")),
        examples=("repeat 7", "please repeat 12 at riverside"),
    )
    assert found.arguments == {"number": 4, "pickup_site": "hilltop"}
