"""Example questions for an operation: a start for the author, who knows better ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.authoring.naming import words
from server.authoring.operations import ApiOperation
from server.authoring.schema import ApiParameter
from server.library.parameter_types import PARAMETER_TYPES

_WORDS: Final = ("alpha", "bravo", "delta", "hotel", "kilo", "oscar", "sierra")
_OPENINGS: Final = ("", "Please ", "Can you ", "I want to ")
_QUESTION_OPENING: Final = "I would like to "
_VERBS: Final[Mapping[str, str]] = {
    "GET": "get",
    "POST": "create",
    "PUT": "replace",
    "PATCH": "update",
    "DELETE": "delete",
}
_MAX_EXAMPLE_CHARS: Final = 40
_VALUE: Final = r"""["'“‘]?([^\s"'“”‘’,;]+)"""
_NO_VALUES: Final = "with|and|or|for|of|in|by|to|from|the|a|an|is|are|on|at"


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question and the arguments that it gives."""

    ask: str
    arguments: dict[str, Any]


def phrase_of(operation: ApiOperation) -> str:
    """Return what the operation does, as something to be asked for: `list all pets`."""
    text = operation.summary or words(operation.id)
    first, *rest = text.split(" ")
    lowered = first if first.isupper() and len(first) > 1 else first.lower()
    phrase = " ".join([lowered, *rest]).rstrip(".?!")
    if rest or phrase in _VERBS.values():
        return phrase
    return f"{_VERBS[operation.method]} {phrase}"


def examples_of(operation: ApiOperation, phrase: str) -> tuple[ExampleQuestion, ...]:
    """Return four questions with the required arguments, and one more with an optional one."""
    required = [p for p in operation.parameters if p.required]
    optional = [p for p in operation.parameters if not p.required and p.default is None]
    questions = [_question(f"{opening}{phrase}", required, 0) for opening in _OPENINGS]
    if optional:
        questions.append(_question(phrase, [*required, optional[0]], 1))
    return tuple(questions)


def question_of(operation: ApiOperation, phrase: str) -> ExampleQuestion:
    """Return a question that is none of the examples, for the library's tests."""
    required = [p for p in operation.parameters if p.required]
    question = _question(f"{_QUESTION_OPENING}{phrase}", required, 1)
    defaults = {p.name: p.default for p in operation.parameters if p.default is not None}
    return ExampleQuestion(question.ask, defaults | question.arguments)


def example_value(parameter: ApiParameter, variant: int = 0) -> Any:
    given = parameter.example
    is_text = PARAMETER_TYPES[parameter.type].json_type == "string"
    if _usable(given, parameter) and (variant == 0 or not is_text):
        return given
    if parameter.enum:
        return parameter.enum[variant % len(parameter.enum)]
    match parameter.type:
        case "integer" | "number":
            low = parameter.minimum if parameter.minimum is not None else 7 + variant
            high = parameter.maximum if parameter.maximum is not None else low
            number = max(low, min(7 + variant, high))
            return int(number) if number == int(number) else number
        case "boolean":
            return variant % 2 == 0
        case "array":
            return [1, 2] if parameter.item_type in ("integer", "number") else ["red", "blue"]
        case "object":
            return {"name": "value"}
    choices = PARAMETER_TYPES[parameter.type].examples or _WORDS
    text = choices[variant % len(choices)]
    text = text * (1 + (parameter.min_length or 0) // len(text)) if parameter.min_length else text
    return text[: parameter.max_length] if parameter.max_length else text


def patterns_of(parameter: ApiParameter) -> list[str]:
    """Return patterns of a parameter given by its name: `status open`, `with pet id 7`."""
    label = r"[\s_-]*".join(words(parameter.name).split())
    before = rf"\b{label}\s*(?:is|of|=|:)?\s*"
    match parameter.type:
        case "integer" if not parameter.enum:
            return [before + r"(-?\d+)\b"]
        case "number" if not parameter.enum:
            return [before + r"(-?\d+(?:\.\d+)?)"]
        case "boolean":
            return [before + r"(true|false|yes|no)\b"]
        case "object":
            return [before + r"(\{.*\})"]
        case "array":
            return []  # lists are recognised wherever they stand
    if parameter.enum:
        return []
    patterns = [
        rf"\b(?:with|and|where|whose)\s+(?:the\s+)?{label}\s*(?:is|of|=|:)?\s*{_VALUE}",
        rf"""\b{label}\s*(?:is|of|=|:)?\s*["'“‘]([^"'”’]+)["'”’]""",
        rf"\b{label}\s*(?:is|=|:)\s*{_VALUE}",
    ]
    if parameter.required:
        # An empty group takes the words that are no value, so that they are not one.
        patterns.append(rf"\b{label}\s+(?:()(?:{_NO_VALUES})\b|{_VALUE})")
    return patterns


def _question(opening: str, parameters: list[ApiParameter], variant: int) -> ExampleQuestion:
    arguments = {
        p.name: example_value(p, variant and variant + place) for place, p in enumerate(parameters)
    }
    said = [f"{words(name)} {_as_said(value)}" for name, value in arguments.items()]
    text = opening[:1].upper() + opening[1:]
    return ExampleQuestion(f"{text} with {' and '.join(said)}" if said else text, arguments)


def _as_said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}'" if " " in value else value
    return json.dumps(value, ensure_ascii=False)


def _usable(value: Any, parameter: ApiParameter) -> bool:
    match parameter.type:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array" | "object":
            kind = list if parameter.type == "array" else dict
            return isinstance(value, kind) and len(json.dumps(value)) <= _MAX_EXAMPLE_CHARS
    return (
        isinstance(value, str)
        and 0 < len(value) <= _MAX_EXAMPLE_CHARS
        and value.isprintable()
        and not set(value) & set("\"'“”‘’,;{}$\\")
    )
