"""Examples of drafts: asked as people ask, in whole sentences, with values that differ."""

import re
from typing import Any

import pytest
import yaml

from server.authoring.document import read_document
from server.authoring.drafts import draft_library
from server.authoring.phrases import participle, phrases, plural, possessive, singular, with_article
from server.authoring.values import like_pattern, shape_of_code
from tests.authoring.documents import OPENAPI_30_JSON, OPENAPI_31_YAML, SWAGGER_2_YAML

STATUS = {"type": "string", "enum": ["available", "in_use"]}
NUMBER = {"type": "string", "pattern": "^V-[0-9]{4}$", "example": "V-0042"}
VAN = {"name": "vanId", "in": "path", "required": True, "schema": NUMBER}
DRIVER = {"name": "driverId", "in": "path", "required": True, "schema": {"type": "integer"}}
MANY = {"200": {"content": {"application/json": {"schema": {"type": "array", "items": {}}}}}}


def query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def body(required: list[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "required": required, "properties": properties}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def examples(method: str, path: str, operation: dict[str, Any]) -> list[str]:
    """The examples of one operation, beside the list of vans that says what they are called."""
    vans = {"get": {"operationId": "listVans", "summary": "List vans", "responses": MANY}}
    paths = {"/vans": vans, path: {method: operation}}
    if path == "/vans":
        paths = {path: {method: operation}}
    document = {"openapi": "3.0.3", "info": {"title": "Fleet"}, "paths": paths}
    drafted = draft_library(
        read_document(yaml.safe_dump(document, sort_keys=False).encode(), "fleet.yaml")
    )
    found: list[str] = drafted.templates["templates"][-1]["nl_examples"]
    return found


@pytest.mark.parametrize(
    ("method", "path", "operation", "some"),
    [
        ("get", "/vans", {"responses": MANY}, ["show me all vans", "which vans are there?"]),
        (
            "get",
            "/vans",
            {"responses": MANY, "parameters": [query("status", STATUS)]},
            ["which vans are available?"],
        ),
        (
            "get",
            "/drivers",
            {
                "responses": MANY,
                "parameters": [
                    query("licenceClass", {"type": "string", "enum": ["B", "C1"]}),
                    query("onDuty", {"type": "boolean"}),
                    query("city", {"type": "string", "example": "Leeds"}),
                    query("limit", {"type": "integer", "default": 20}),
                ],
            },
            [
                "which drivers have a B licence?",
                "who is on duty?",
                "list all drivers in Leeds",
                "show me the first 2 drivers",
            ],
        ),
        ("get", "/vans/{vanId}", {"parameters": [VAN]}, ["show me van V-0042"]),
        (
            "get",
            "/vans/{vanId}/location",
            {"parameters": [VAN], "summary": "Current location of a van"},
            ["where is van V-0042?", "current location of van V-"],
        ),
        (
            "get",
            "/drivers/{driverId}/trips",
            {
                "parameters": [
                    DRIVER,
                    query("from", {"type": "string", "format": "date"}),
                    query("to", {"type": "string", "format": "date"}),
                ],
                "responses": MANY,
            },
            ["show me the trips of driver ", " from 3 May 2026 to 5 May 2026"],
        ),
        (
            "post",
            "/drivers",
            {"summary": "Add a driver"} | body(["name"], name={"type": "string", "example": "Ann"}),
            ["add a driver named ", "add Ann as a driver"],
        ),
        (
            "post",
            "/vans/{vanId}/block",
            {"parameters": [VAN], "summary": "Block a van"},
            ["block van V-0042", "lock V-", " should be blocked"],
        ),
        (
            "put",
            "/vans/{vanId}/status",
            {"parameters": [VAN]} | body(["status"], status=STATUS),
            ["set van V-0042 to available", " as in use", " is available now"],
        ),
        (
            "put",
            "/trips/{tripId}/driver",
            {
                "summary": "Assign a driver to a trip",
                "parameters": [{**DRIVER, "name": "tripId"}],
            }
            | body(["driverId"], driverId={"type": "integer", "example": 12}),
            ["assign driver 12 to trip "],
        ),
        (
            "patch",
            "/drivers/{driverId}",
            {"parameters": [DRIVER]} | body([], email={"type": "string", "format": "email"}),
            ["change the email of driver ", "'s email should be "],
        ),
        ("delete", "/vans/{vanId}", {"parameters": [VAN]}, ["delete van V-0042", "get rid of van"]),
        # What is not described: several things are what the path calls them.
        (
            "get",
            "/stations",
            {"parameters": [query("minPowerKw", {"type": "number", "example": 50})]},
            ["show me all stations", " with at least 50 kw"],
        ),
        (
            "get",
            "/parcels",
            {"parameters": [query("minWeightKg", {"type": "number", "example": 80})]},
            ["heavier than 80 kg"],
        ),
        (
            "get",
            "/trips",
            {"parameters": [query("vanId", NUMBER)]},
            ["trips of V-", "which trips does van V-"],
        ),
        (
            "get",
            "/drivers",
            {"parameters": [query("department", {"type": "string", "enum": ["sales", "depot"]})]},
            ["who works in sales?", "depot people"],
        ),
        (
            "get",
            "/items",
            {
                "parameters": [
                    query("title", {"type": "string"}),
                    query("format", {"type": "string", "enum": ["book", "magazine"]}),
                    query("available", {"type": "boolean"}),
                ]
            },
            ["which books are there?", "is Blue Harbour free?"],
        ),
        (
            "get",
            "/absences",
            {"operationId": "who_is_out", "summary": "Who is absent on a day"}
            | {"parameters": [query("date", {"type": "string", "format": "date"})]},
            ["who is absent", "who is out"],
        ),
        (
            "get",
            "/vans/{vanId}/slips/{period}",
            {
                "parameters": [
                    VAN,
                    {"name": "period", "in": "path", "required": True}
                    | {"schema": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}},
                ]
            },
            ["slip of van V-0042 for 2026-05", " for June 2026"],
        ),
        (
            "put",
            "/drivers/{driverId}/salary",
            {"parameters": [DRIVER]} | body(["amount"], amount={"type": "number"}),
            ["raise the salary of driver "],
        ),
        (
            "put",
            "/cards/{cardId}/block",
            {"summary": "Block a charge card"}
            | {"parameters": [{**VAN, "name": "cardId"}]}
            | body(["reason"], reason={"type": "string", "enum": ["LOST", "STOLEN"]}),
            ["block card V-0042", "was stolen, please block it"],
        ),
        (
            "post",
            "/sensors/{driverId}/calibration",
            {"summary": "Calibrates a sensor", "parameters": [DRIVER]},
            ["calibrate sensor "],
        ),
        (
            "delete",
            "/holds/{holdId}",
            {"summary": "Cancel a reservation", "parameters": [{**DRIVER, "name": "holdId"}]},
            ["cancel reservation "],
        ),
        ("get", "/opening-hours", {"summary": "Opening hours"}, ["when are you open?"]),
        ("get", "/users/me/orders", {"summary": "My Orders"}, ["what are my orders?"]),
        (
            "post",
            "/api/v1/items/",
            {"summary": "Create Item"}
            | body(["title"], title={"type": "string"}, done={"type": "boolean"}),
            ["create an item named ", "new item: ", ", done"],
        ),
        (
            "get",
            "/weather/{city}/forecast",
            {"parameters": [{**DRIVER, "name": "city", "schema": {"type": "string"}}]},
            ["what is the forecast of city Oslo?", "show me the forecast of Dublin"],
        ),
    ],
)
def test_an_operation_is_asked_for_as_people_ask(
    method: str, path: str, operation: dict[str, Any], some: list[str]
) -> None:
    asked = examples(method, path, operation)
    assert [words for words in some if not any(words in each for each in asked)] == []
    assert 6 <= len(asked) <= 12


def all_examples() -> list[tuple[str, dict[str, Any]]]:
    texts = (OPENAPI_31_YAML, OPENAPI_30_JSON, SWAGGER_2_YAML)
    drafts = [draft_library(read_document(text.encode(), "api.yaml")) for text in texts]
    return [(e, t) for d in drafts for t in d.templates["templates"] for e in t["nl_examples"]]


def test_examples_are_whole_sentences() -> None:
    for ask, _ in all_examples():
        assert not re.search(r"\b(\w+) \1\b", ask), ask
        assert not re.search(r"\ba [aeio]|\ban [^aeiouhx]", ask), ask
        assert not re.search(r"(?<!\$)\{\w+\}|  | [,?:]", ask), ask


def test_no_example_has_a_number_that_no_parameter_takes() -> None:
    numbers = {"integer", "number", "date", "array", "object"}
    for ask, template in all_examples():
        takes = any(p["type"] in numbers for p in template.get("parameters", ()))
        assert takes or not re.search(r"\d", ask), ask


def test_the_values_of_examples_differ() -> None:
    asked = examples("get", "/vans/{vanId}", {"parameters": [VAN]})
    assert len({re.findall(r"V-[0-9]{4}", ask)[0] for ask in asked}) == len(asked)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("van", "vans"), ("fuel card", "fuel cards"), ("category", "categories"), ("day", "days"),
        ("box", "boxes"), ("branch", "branches"), ("person", "people"), ("status", "statuses"),
        ("address", "addresses"), ("maintenance", "maintenance"), ("child", "children"),
    ],
)  # fmt: skip
def test_one_and_many(one: str, many: str) -> None:
    assert (plural(one), singular(many), plural(many)) == (many, one, many)


@pytest.mark.parametrize(
    ("noun", "said"),
    [
        ("van", "a van"), ("order", "an order"), ("user", "a user"), ("hour", "an hour"),
        ("open order", "an open order"), ("maintenance", "maintenance"), ("vans", "vans"),
    ],
)  # fmt: skip
def test_articles(noun: str, said: str) -> None:
    assert with_article(noun) == said


@pytest.mark.parametrize(
    ("verb", "done"),
    [
        ("block", "blocked"), ("cancel", "cancelled"), ("close", "closed"), ("send", "sent"),
        ("call off", "called off"), ("ship", "shipped"), ("apply", "applied"), ("renew", "renewed"),
        ("submit", "submitted"), ("repair", "repaired"),
    ],
)  # fmt: skip
def test_participles(verb: str, done: str) -> None:
    assert participle(verb) == done


def test_possessives() -> None:
    assert (possessive("van 7"), possessive("Lars")) == ("van 7's", "Lars'")


@pytest.mark.parametrize(
    "pattern",
    ["^V-[0-9]{4}$", r"^\d{3}-\d{2}$", "^97[89][0-9]{10}$", "^(AB|CD)[0-9]{2,3}$", "^[a-f0-9]{8}$"],
)
def test_a_value_is_written_from_its_pattern(pattern: str) -> None:
    values = {like_pattern(pattern, str(seed)) for seed in range(5)}
    assert None not in values
    assert len(values) == 5
    assert all(re.fullmatch(pattern, value or "") for value in values)


@pytest.mark.parametrize("pattern", ["^(?P<a>x)$", "[", "^$", "^[^a]$"])
def test_a_pattern_that_is_not_plain_writes_nothing_wrong(pattern: str) -> None:
    value = like_pattern(pattern, "seed")
    assert value is None or re.fullmatch(pattern, value)


@pytest.mark.parametrize(
    ("example", "takes", "leaves"),
    [
        ("INC-2041", ["INC-2041", "inc2041", "INC-20417"], ["INC-2", "door-2041"]),
        ("A10234", ["A10234", "b20911"], ["10234", "Alpha"]),
    ],
)
def test_the_shape_of_a_code(example: str, takes: list[str], leaves: list[str]) -> None:
    shape = re.compile(shape_of_code(example))
    assert [code for code in takes if not shape.fullmatch(code)] == []
    assert [code for code in leaves if shape.fullmatch(code)] == []
    assert shape_of_code("Leeds") == shape_of_code("2041") == shape_of_code("3 May 2026") == ""


def test_every_frame_can_be_filled() -> None:
    known = re.compile(
        "things?|a_thing|some|one|are|is|its?|owners?|parts?|do|do_like|done|verb|like|with|name|"
        "field|value|kinds?|quality|by_id|a_kind|group|ofs?|reason|seen"
    )
    told = [frame for frames in phrases().frames.values() for frame in frames]
    told += [frame for frames in phrases().questions.values() for frame in frames]
    told += [frame for part in phrases().parts for frame in (*part.frames, *part.alone)]
    names = {name for frame in told for name in re.findall(r"\{(\w+)\}", frame)}
    assert [name for name in names if not known.fullmatch(name)] == []
