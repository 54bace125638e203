"""What a document shows in one place, said in the examples of all; what results tell, asked for."""

import re
from typing import Any

import pytest
import yaml

from server.authoring.document import read_document
from server.authoring.drafts import draft_library

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
LOAN = {
    "type": "object",
    "properties": {
        "loanId": TEXT,
        "status": TEXT,
        "due_date": {"type": "string", "format": "date"},
        "createdAt": {"type": "string", "format": "date-time"},
        "estimatedDelivery": {"type": "string", "format": "date"},
        "driver": TEXT,
    },
}
STOCK = {"type": "object", "properties": {"warehouseId": {**TEXT, "example": "LDS1"}, "sku": TEXT}}


def drafted(path: str, method: str, operation: Schema, **schemas: Schema) -> Schema:
    """The template of one operation of a document that has some schemas as well."""
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Stores"},
        "paths": {path: {method: operation}},
        "components": {"schemas": schemas},
    }
    raw = yaml.safe_dump(document, sort_keys=False).encode()
    found: Schema = draft_library(read_document(raw, "s.yaml")).templates["templates"][-1]
    return found


def body(**properties: Schema) -> Schema:
    schema = {"type": "object", "required": [*properties], "properties": properties}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def result(schema: Schema) -> Schema:
    return {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}}


def asked(template: Schema) -> str:
    return "\n".join(template["nl_examples"])


def test_codes_of_one_place_are_those_of_all() -> None:
    moved = body(fromWarehouseId=TEXT, toWarehouseId=TEXT)
    template = drafted("/transfers", "post", moved, Stock=STOCK)
    values = {p["name"]: p["example"] for p in template["parameters"]}
    assert values["from_warehouse_id"] == "LDS1"
    assert values["to_warehouse_id"] != "LDS1"
    assert "from LDS1 to LDS" in asked(template)


def test_a_code_that_is_only_described_is_an_example() -> None:
    template = drafted("/stock", "post", body(sku={**TEXT, "description": "e.g. KTL-200-BLK"}))
    assert template["parameters"][0]["example"] == "KTL-200-BLK"


def test_a_code_that_nobody_shows_has_no_example() -> None:
    template = drafted("/assignments", "post", body(pickerId=TEXT))
    assert "example" not in template["parameters"][0]


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"weightKg": {"type": "number"}}, "weighing "),
        ({"parcelCount": {"type": "integer"}}, " parcels"),
        ({"quantity": {"type": "integer", "description": "Number of packs"}}, " packs"),
        ({"attendees": {"type": "integer"}}, " people"),
        ({"startTime": {**TEXT, "example": "18:00"}, "endTime": TEXT}, "from 18:00 to 19:00"),
        ({"readyBy": {**TEXT, "description": "HH:mm, local"}}, "ready by 07:30"),
        ({"notifyOwner": {"type": "boolean"}}, "and notify the owner"),
        (
            {"name": TEXT, "street": {**TEXT, "example": "14 Mill Lane"}, "city": TEXT},
            ", 14 Mill Lane, Oslo",
        ),
        ({"reason": {**TEXT, "enum": ["PAYMENT_REVIEW", "CUSTOMS"]}}, "payment review"),
    ],
)
def test_values_are_said_as_people_say_them(properties: dict[str, Schema], said: str) -> None:
    assert said in asked(drafted("/orders", "post", body(**properties)))


@pytest.mark.parametrize(
    "question",
    [
        "when is CODE due?", "when was CODE created?", "when will CODE be delivered?",
        "what is the status of CODE?", "who is the driver of CODE?",
    ],
)  # fmt: skip
def test_what_a_result_tells_is_asked_for(question: str) -> None:
    number = {"name": "loanId", "in": "path", "required": True, "schema": TEXT}
    operation = {"parameters": [{**number, "example": "L-2041"}], "responses": result(LOAN)}
    questions = asked(drafted("/loans/{loanId}", "get", operation))
    assert question in re.sub(r"(loan )?L-\d+", "CODE", questions)


def test_a_command_without_its_object_is_completed() -> None:
    number = {"name": "loanId", "in": "path", "required": True, "schema": TEXT}
    held = {"summary": "put on hold", "parameters": [{**number, "example": "L-2041"}]}
    assert "put loan L-2041 on hold" in asked(drafted("/loans/{loanId}/hold", "post", held))
