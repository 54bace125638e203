"""Libraries drafted from API descriptions: what each operation becomes."""

from pathlib import Path
from typing import Any

import pytest

from server.authoring.document import read_document
from server.authoring.drafts import Draft, draft_library, draft_texts
from server.errors import ConfigurationInvalid
from server.library.http_model import HttpExecution
from server.library.loader import load_library
from tests.authoring.documents import OPENAPI_30_JSON, OPENAPI_31_YAML, SWAGGER_2_YAML


def draft(text: str, source: str = "api.yaml") -> Draft:
    return draft_library(read_document(text.encode(), source))


def template(text: str, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = draft(text).templates["templates"]
    return next(each for each in found if each["id"] == name)


def test_a_listing_becomes_a_query_template() -> None:
    found = template(OPENAPI_31_YAML, "list_books")
    examples = found.pop("nl_examples")
    patterns = [p.pop("extraction_patterns", None) for p in found["parameters"]]
    assert found == {
        "id": "list_books",
        "description": "List all books",
        "tool_type": "query",
        "parameters": [
            {
                "name": "limit",
                "type": "integer",
                "description": "How many to show",
                "required": False,
                "default": 10,
                "ge": 1,
                "le": 50,
                "example": 2,
            },
            {
                "name": "filter_state",
                "type": "string",
                "required": False,
                "enum": ["new", "used"],
                "example": "new",
            },
            {"name": "since", "type": "date", "required": False, "example": "2026-05-03"},
            {
                "name": "ids",
                "type": "array",
                "required": False,
                "items": {"type": "integer"},
                "example": [1, 2],
            },
            {"name": "x_trace_id", "type": "string", "required": False, "example": "Alpha"},
        ],
        "method": "GET",
        "endpoint": "/books",
        "query_params": {
            "limit": "{{ limit }}",
            "filter[state]": "{{ filter_state }}",
            "since": "{{ since }}",
            "ids": "{{ ids | join(',') }}",
        },
        "headers": {"X-Trace-ID": "{{ x_trace_id }}"},
        "response_mapping": {
            "items": "data",
            "fields": {"id": "id", "title": "title", "price": "price", "state": "state"},
            "total": "total",
        },
        "effect": "read",
        "tags": ["books"],
    }
    assert examples[0] == "show me all books"
    assert patterns[0] == [
        r"\blimit\s*(?:is|of|=|:)?\s*(-?\d+)\b",
        r"\b(?:first|last|latest|most recent|newest|top)\s+(\d+)\b",
    ]
    assert patterns[1] is None


def test_a_json_body_becomes_parameters() -> None:
    found = template(OPENAPI_31_YAML, "add_book")
    assert found["body"] == {
        "title": "{{ title }}",
        "price": "{{ price }}",
        "state": "{{ state }}",
        "tags": "{{ tags }}",
        "author": {"name": "{{ author_name }}"},
    }
    assert [(p["name"], p["type"], p["required"]) for p in found["parameters"]] == [
        ("title", "string", True),
        ("price", "number", False),
        ("state", "string", False),
        ("tags", "array", False),
        ("author_name", "string", False),
    ]
    assert (found["method"], found["effect"]) == ("POST", "write")


def test_operations_without_a_name_are_named_by_method_and_path() -> None:
    ids = [each["id"] for each in draft(OPENAPI_31_YAML).templates["templates"]]
    assert ids == ["list_books", "add_book", "get_book", "delete_books_book_id"]


def test_no_two_templates_share_an_example() -> None:
    for text in (OPENAPI_31_YAML, OPENAPI_30_JSON, SWAGGER_2_YAML):
        examples = [e for t in draft(text).templates["templates"] for e in t["nl_examples"]]
        assert len(examples) == len(set(examples))


def test_what_cannot_be_called_is_told() -> None:
    assert draft(OPENAPI_31_YAML).notes == (
        "PUT /books/{bookId} is left out: it is deprecated",
        "POST /books/{bookId}/cover is left out: it takes a body of type image/png",
        "GET /broken/{missing} is left out: its path parameter 'missing' is not described",
    )
    assert draft(SWAGGER_2_YAML).notes == ("POST /photos is left out: it takes a file",)


@pytest.mark.parametrize(
    ("text", "source", "domain"),
    [
        (
            OPENAPI_31_YAML,
            "books.yaml",
            {
                "domain": {"name": "book_shop", "version": "1.0"},
                "description": "Sells books",
                "api_config": {"base_url": "${BOOK_SHOP_API_URL:-https://api.books.example/v2}"},
                "authentication": {"type": "bearer", "token": "${BOOK_SHOP_API_TOKEN:-}"},
            },
        ),
        (
            OPENAPI_30_JSON,
            "https://www.money.example/docs/openapi.json",
            {
                "domain": {"name": "money", "version": "1.0"},
                "description": "The REST API",
                "api_config": {"base_url": "${MONEY_API_URL:-https://www.money.example/api}"},
                "authentication": {
                    "type": "api_key",
                    "name": "apikey",
                    "in": "query",
                    "key": "${MONEY_API_KEY:-}",
                },
            },
        ),
        (
            SWAGGER_2_YAML,
            "lights.yaml",
            {
                "domain": {"name": "lights", "version": "1.0"},
                "description": "Lights",
                "api_config": {"base_url": "${LIGHTS_API_URL:-https://lights.example/hue}"},
                "authentication": {
                    "type": "basic",
                    "username": "${LIGHTS_API_USER:-}",
                    "password": "${LIGHTS_API_PASSWORD:-}",
                },
            },
        ),
    ],
)
def test_the_domain_knows_the_address_and_the_key(
    text: str, source: str, domain: dict[str, Any]
) -> None:
    assert draft(text, source).domain == domain


def test_a_document_without_a_server_says_so() -> None:
    found = draft(OPENAPI_30_JSON)
    assert found.domain["api_config"]["base_url"] == "${SERVICE_API_URL:-http://localhost}"
    assert found.notes == ("the document names no server: set SERVICE_API_URL",)


@pytest.mark.parametrize("text", [OPENAPI_30_JSON, SWAGGER_2_YAML])
def test_without_a_server_it_is_the_one_that_the_document_comes_from(text: str) -> None:
    unsaid = text.replace('"servers"', '"x-servers"')
    unsaid = unsaid.replace("host: lights.example\n", "").replace("basePath: /hue\n", "")
    domain = draft(unsaid, "https://vans.example:8443/docs/openapi.json").domain
    assert domain["api_config"]["base_url"].endswith(":-https://vans.example:8443}")


def test_swagger_2_reads_the_same() -> None:
    lamps = template(SWAGGER_2_YAML, "get_lamps_room_name")
    assert lamps["endpoint"] == "/lamps/{room_name}"
    assert lamps["query_params"] == {"on": "{{ on }}", "colors": "{{ colors | join('|') }}"}
    assert lamps["response_mapping"] == {"fields": {"name": "name", "a-b": '"a-b"'}}
    assert "room kitchen" in lamps["nl_examples"][0]
    dim = template(SWAGGER_2_YAML, "dim_lamps")
    assert dim["body"] == {"level": "{{ level }}"}
    assert template(SWAGGER_2_YAML, "post_scenes")["form"] == {"name": "{{ name }}"}


def test_a_body_without_fields_is_one_parameter() -> None:
    found = template(OPENAPI_30_JSON, "put_raw")
    assert (found["body"], found["description"]) == ("{{ body }}", "Store $${anything}")
    assert template(OPENAPI_30_JSON, "post_convert")["form"] == {
        "amount": "{{ amount }}",
        "note": "{{ note }}",
    }


def test_every_template_has_a_question_and_some_questions_have_none() -> None:
    found = draft(OPENAPI_31_YAML)
    asked = {q["template"] for q in found.questions["questions"]}
    assert asked == {t["id"] for t in found.templates["templates"]} | {None}
    examples = {e for t in found.templates["templates"] for e in t["nl_examples"]}
    assert not examples & {q["ask"] for q in found.questions["questions"]}


@pytest.mark.parametrize("text", [OPENAPI_31_YAML, OPENAPI_30_JSON, SWAGGER_2_YAML])
def test_a_written_draft_is_a_library_without_errors(tmp_path: Path, text: str) -> None:
    found = draft(text)
    files = [tmp_path / name for name in ("domain.yaml", "templates.yaml", "questions.yaml")]
    texts = draft_texts(found)
    assert list(texts) == [path.name for path in files]
    for path in files:
        path.write_text(texts[path.name])
    loaded = load_library(files[0], [files[1]], {})
    kinds = {problem.kind for problem in loaded.problems}
    assert kinds <= {"empty-secret"}
    assert loaded.library is not None
    assert len(loaded.library.templates) == len(found.templates["templates"])
    executions = [t.execution for t in loaded.library.templates.values()]
    assert all(isinstance(execution, HttpExecution) for execution in executions)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "neither JSON nor YAML"),
        ("[1]", "not an OpenAPI document"),
        ("title: x", "not an OpenAPI document"),
        ("openapi: '4.0'\npaths: {/x: {}}", "version 4.0"),
        ("swagger: '1.2'\npaths: {/x: {}}", "version 1.2"),
        ("openapi: 3.0.0", "describes no paths"),
        ("a: !!python/object/apply:os.system ['true']", "neither JSON nor YAML"),
    ],
)
def test_what_is_no_description_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationInvalid, match=problem):
        draft(text)


@pytest.mark.parametrize(
    "text",
    [
        "openapi: 3.0.0\npaths: {/x: {get: {parameters: [{$ref: '#/a'}]}}}\na: {$ref: '#/a'}",
        "openapi: 3.0.0\npaths: {/x: {get: {parameters: [null, 5, {name: q, in: query}]}}}",
        "openapi: 3.0.0\npaths: {/x: {post: {requestBody: {content: {a/json: {schema: "
        "{$ref: '#/s'}}}}}}}\ns: {allOf: [{$ref: '#/s'}], properties: {a: {$ref: '#/s'}}}",
        "swagger: '2.0'\npaths: {/x: {get: {responses: [1]}}, /y: 5, z: {get: x}}",
    ],
)
def test_untidy_descriptions_do_no_harm(text: str) -> None:
    assert draft(text).templates["templates"]


SECURED = """
openapi: 3.0.3
info: {title: Depot}
servers: [{url: "https://depot.example"}]
security: [{token: []}]
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
    desk: {type: apiKey, in: header, name: X-Desk}
    seal: {type: mutualTLS}
paths:
  /crates: {get: {summary: List crates}}
  /status: {get: {summary: Status, security: []}}
  /gates: {get: {summary: List gates, security: [{desk: []}]}}
  /safes: {get: {summary: List safes, security: [{seal: []}]}}
"""


def test_an_operation_says_how_it_knows_its_callers_where_others_do_it_otherwise() -> None:
    found = draft(SECURED)
    own = {t["id"]: t.get("authentication") for t in found.templates["templates"]}
    assert own == {
        "get_crates": None,
        "get_status": {"type": "none"},
        "get_gates": {
            "type": "api_key",
            "name": "X-Desk",
            "in": "header",
            "key": "${DEPOT_DESK_API_KEY:-}",
        },
        "get_safes": None,
    }
    assert found.notes == ("GET /safes is called as all others are: seal is not supported",)


ORDERS = """
openapi: 3.0.3
info: {title: Orders}
servers: [{url: "https://orders.example"}]
paths:
  /orders:
    post:
      operationId: createOrder
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [ship_to]
              properties:
                ship_to:
                  type: object
                  required: [city]
                  properties: {city: {type: string}, street: {type: string}}
                express: {type: boolean}
  /orders/{orderId}/cancel:
    post:
      operationId: cancelOrder
      summary: Cancel an order
      parameters:
        - {name: orderId, in: path, required: true, schema: {pattern: '^OR-[0-9]{4}$'}}
"""


def test_fields_of_objects_are_parameters_and_go_back_where_they_belong() -> None:
    found = template(ORDERS, "create_order")
    assert found["body"] == {
        "ship_to": {"city": "{{ ship_to_city }}", "street": "{{ ship_to_street }}"},
        "express": "{{ express }}",
    }
    required = {p["name"]: p["required"] for p in found["parameters"]}
    assert required == {"ship_to_city": True, "ship_to_street": False, "express": False}


def test_an_action_has_a_pattern_an_answer_and_what_it_is_not() -> None:
    found = template(ORDERS, "cancel_order")
    assert found["parameters"][0]["pattern"] == "^OR-[0-9]{4}$"
    assert found["response_template"] == "Order {{ order_id }} was cancelled."
    assert template(LOCKS, "lock_door")["counter_examples"][0].startswith("unlock door ")


LOCKS = """
openapi: 3.0.3
info: {title: Locks}
servers: [{url: "https://locks.example"}]
paths:
  /doors/{doorId}/lock:
    post:
      operationId: lockDoor
      parameters: [{name: doorId, in: path, required: true, schema: {type: integer}}]
"""


NOTES = """
openapi: 3.0.3
info: {title: Notes}
servers: [{url: "https://notes.example"}]
paths:
  /notes/{id}:
    get:
      operationId: readNote
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        '200':
          content:
            application/json:
              schema:
                type: object
                properties: {title: {type: string}, tags: {type: array, items: {type: string}}}
"""


def test_one_thing_with_a_list_in_it_is_no_list() -> None:
    found = template(NOTES, "read_note")
    assert found["response_mapping"] == {"fields": {"title": "title"}}
    assert found["nl_examples"][0].startswith("show me note ")
