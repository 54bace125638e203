"""Function-calling questions in the form of the Berkeley leaderboard: read, and judged.

Each line of a file is a question with the functions it may be for; another file has, for
each parameter of the right call, the values that are accepted.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_TYPES: Final = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
_SIGNS: Final = re.compile(r"[ ,./\-_*^]")
"""What the leaderboard's own checker leaves out of texts before it compares them."""

Accepted = Mapping[str, Sequence[Any]]
"""For each parameter, the values that are right; "" among them says it may be left out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the functions it comes with, and what is right.

    `accepted` is None where no function should be called.
    """

    id: str
    text: str
    functions: Sequence[Mapping[str, Any]]
    function: str | None = None
    accepted: Accepted | None = None

    @property
    def number(self) -> int:
        return int(self.id.rpartition("_")[2])


def read_questions(data: Path, name: str) -> list[Asked]:
    """The questions of `name`.jsonl, with the answers of `name`_answers.jsonl if it exists."""
    answers = {
        line["id"]: line["ground_truth"][0] for line in _lines(data / f"{name}_answers.jsonl")
    }
    return [
        Asked(
            line["id"],
            line["question"][0][-1]["content"],
            line["function"],
            *(next(iter(answers[line["id"]].items())) if line["id"] in answers else ()),
        )
        for line in _lines(data / f"{name}.jsonl")
    ]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def write_library(functions: Sequence[Mapping[str, Any]], folder: Path) -> tuple[Path, Path]:
    """Write the functions as a domain and templates without examples; returns both files."""
    domain, tools = folder / "domain.yaml", folder / "tools.yaml"
    domain.write_text("domain_name: functions\n", encoding="utf-8")
    templates = [template(function) for function in functions]
    # As JSON, which is YAML: what a value looks like never decides its type.
    tools.write_text(json.dumps({"templates": templates}), encoding="utf-8")
    return domain, tools


def template(function: Mapping[str, Any]) -> dict[str, Any]:
    """A function as the template that an author would write down for it."""
    needed = function["parameters"].get("required", ())
    return {
        "id": function["name"],
        "description": function["description"],
        "tool_type": "function",
        "function_schema": {
            "name": function["name"],
            "parameters": [
                _parameter(name, schema, required=name in needed)
                for name, schema in function["parameters"]["properties"].items()
            ],
        },
        "execution": {
            "type": "http_call",
            "http_method": "POST",
            "endpoint_template": "http://127.0.0.1:9/",
        },
    }


def _parameter(name: str, schema: Mapping[str, Any], *, required: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": name,
        "type": _TYPES.get(schema["type"], schema["type"]),
        "description": schema.get("description", ""),
        "required": required,
    }
    if "enum" in schema and made["type"] != "array":
        made["enum"] = schema["enum"]
    if "items" in schema and made["type"] == "array":
        made["items"] = _items(schema["items"])
    return made


def _items(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Members of an array, with the types of JSON Schema."""
    made = dict(schema)
    if "type" in made:
        made["type"] = _TYPES.get(made["type"], made["type"])
    if "items" in made:
        made["items"] = _items(made["items"])
    return made


def arguments_right(given: Mapping[str, Any], accepted: Accepted) -> bool:
    """Whether every argument is an accepted one, and none is left out that may not be."""
    return given.keys() <= accepted.keys() and all(
        _is_one_of(given[name], values) if name in given else "" in values
        for name, values in accepted.items()
    )


def _is_one_of(value: Any, accepted: Sequence[Any]) -> bool:
    return any(_same(value, one) for one in accepted)


def _same(value: Any, wanted: Any) -> bool:
    """Texts without case, blanks and punctuation, numbers by value, the rest part by part.

    In an object, what is wanted of each key is again a list of accepted values.
    """
    match value, wanted:
        case str(), str():
            return _plain(value) == _plain(wanted)
        case bool(), _:
            return value is wanted
        case dict(), dict():
            return value.keys() <= wanted.keys() and all(
                _is_one_of(value[key], values) if key in value else "" in values
                for key, values in wanted.items()
            )
        case list() | tuple(), list():
            return len(value) == len(wanted) and all(map(_same, value, wanted))
        case str(), _:
            return False
        case _, bool() | str() | list() | dict() | None:
            return False
        case _:
            return float(value) == float(wanted)


def _plain(text: str) -> str:
    return _SIGNS.sub("", text).lower().replace("'", '"')
