"""An API description as the plain data of a domain, its templates and its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from server.authoring.document import ApiDocument, items, mapping
from server.authoring.examples import (
    example_value,
    examples_of,
    patterns_of,
    phrase_of,
    question_of,
)
from server.authoring.naming import first_sentence, short_name, words
from server.authoring.operations import ApiOperation, read_operations
from server.authoring.schema import ApiParameter
from server.errors import RequestInvalid

Data = dict[str, Any]

_OFF_TOPIC: Final = (
    "What is the meaning of life?",
    "Tell me a joke about penguins",
    "Who won the chess championship in 1972?",
    "Sing me a song",
    "Translate good morning into French",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is written to files, and `notes` on what could not be."""

    name: str
    domain: Data
    templates: Data
    questions: Data
    notes: tuple[str, ...]


def draft_library(document: ApiDocument) -> Draft:
    """Draft a library for an API: a template for each operation."""
    operations = read_operations(document)
    notes = list(operations.notes)
    base_url = document.base_url
    name = short_name(document.title, urlsplit(base_url).netloc)
    authentication, note = _authentication(document, name.upper())
    if note:
        notes.append(note)
    url_variable = f"{name.upper()}_API_URL"
    if not base_url:
        notes.append(f"the document names no server: set {url_variable}")
    domain: Data = {
        "domain": {"name": name, "version": "1.0"},
        "description": _text(first_sentence(document.description) or document.title),
        "api_config": {"base_url": f"${{{url_variable}:-{base_url or 'http://localhost'}}}"},
    }
    if authentication:
        domain["authentication"] = authentication
    phrases = _phrases(operations.found)
    return Draft(
        name=name,
        domain=domain,
        templates={"templates": [_template(o, phrases[o.id]) for o in operations.found]},
        questions={"questions": _questions(operations.found, phrases)},
        notes=tuple(notes),
    )


def _phrases(operations: list[ApiOperation]) -> dict[str, str]:
    """A phrase for each operation; two never share one."""
    phrases: dict[str, str] = {}
    for operation in operations:
        phrase = phrase_of(operation)
        taken = {p.lower() for p in phrases.values()}
        if phrase.lower() in taken:
            phrase = f"{phrase} ({words(operation.id)})"
        phrases[operation.id] = _text(phrase)
    return phrases


def _template(operation: ApiOperation, phrase: str) -> Data:
    template: Data = {
        "id": operation.id,
        "description": _text(_description(operation)),
        "tool_type": "query",
        "nl_examples": [_text(q.ask) for q in examples_of(operation, phrase)],
    }
    if operation.parameters:
        template["parameters"] = [_parameter(p) for p in operation.parameters]
    template |= {"method": operation.method, "endpoint": operation.path}
    query = {p.wire: _placeholder(p) for p in operation.parameters if p.place == "query"}
    headers = {p.wire: _placeholder(p) for p in operation.parameters if p.place == "header"}
    if query:
        template["query_params"] = query
    if headers:
        template["headers"] = headers
    fields = [p for p in operation.parameters if p.place in ("body", "form")]
    if fields:
        key = "form" if operation.body == "form" else "body"
        named = {p.wire: _placeholder(p) for p in fields}
        template[key] = "{{ body }}" if operation.whole_body else named
    shape = operation.response
    reading = {"items": shape.items, "fields": shape.fields, "total": shape.total}
    if any(reading.values()):
        template["response_mapping"] = {name: part for name, part in reading.items() if part}
    template["effect"] = "read" if operation.method == "GET" else "write"
    if operation.tags:
        template["tags"] = [_text(tag) for tag in operation.tags]
    return template


def _description(operation: ApiOperation) -> str:
    # The summary says what it does; the description often only adds to it.
    return operation.summary or operation.description or words(operation.id)


def _parameter(parameter: ApiParameter) -> Data:
    data: Data = {"name": parameter.name, "type": parameter.type}
    if parameter.description:
        data["description"] = _text(parameter.description)
    data["required"] = parameter.required
    known = {
        "default": parameter.default,
        "enum": list(parameter.enum) or None,
        "ge": parameter.minimum,
        "le": parameter.maximum,
        "min_length": parameter.min_length,
        "max_length": parameter.max_length,
        "items": {"type": parameter.item_type} if parameter.item_type else None,
    }
    data |= {name: _plain(value) for name, value in known.items() if value is not None}
    data["example"] = _plain(example_value(parameter))
    patterns = patterns_of(parameter)
    if patterns:
        data["extraction_patterns"] = patterns
    return data


def _placeholder(parameter: ApiParameter) -> str:
    if parameter.join:
        return f"{{{{ {parameter.name} | join('{parameter.join}') }}}}"
    return f"{{{{ {parameter.name} }}}}"


def _questions(operations: list[ApiOperation], phrases: Mapping[str, str]) -> list[Data]:
    questions: list[Data] = []
    for operation in operations:
        question = question_of(operation, phrases[operation.id])
        entry: Data = {"ask": _text(question.ask), "template": operation.id}
        if question.arguments:
            entry["arguments"] = {name: _plain(v) for name, v in question.arguments.items()}
        questions.append(entry)
    return questions + [{"ask": ask, "template": None} for ask in _OFF_TOPIC]


def _authentication(document: ApiDocument, prefix: str) -> tuple[Data, str]:
    """How the service knows its callers, and what the author should know about that."""
    schemes = mapping(mapping(document.data.get("components")).get("securitySchemes"))
    schemes = schemes or mapping(document.data.get("securityDefinitions"))
    wanted = [name for entry in items(document.data.get("security")) for name in mapping(entry)]
    for name in [*wanted, *schemes]:
        scheme = document.resolve(schemes.get(name))
        kind, place = scheme.get("type"), scheme.get("in")
        http = str(scheme.get("scheme", "")).lower()
        if kind == "apiKey" and place in ("header", "query"):
            key = f"${{{prefix}_API_KEY:-}}"
            return {"type": "api_key", "name": scheme.get("name"), "in": place, "key": key}, ""
        if kind == "basic" or (kind == "http" and http == "basic"):
            user = f"${{{prefix}_API_USER:-}}"
            password = f"${{{prefix}_API_PASSWORD:-}}"
            return {"type": "basic", "username": user, "password": password}, ""
        if kind in ("oauth2", "openIdConnect") or (kind == "http" and http == "bearer"):
            token = f"{prefix}_API_TOKEN"
            note = "" if kind == "http" else f"put an access token into {token}; none is fetched"
            return {"type": "bearer", "token": f"${{{token}:-}}"}, note
    if schemes:
        return {}, f"authentication {', '.join(map(str, schemes))} is left out: it is not supported"
    return {}, ""


def _plain(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    # In a library `${` begins a variable; a description means the characters.
    return text.replace("${", "$${")


DOMAIN_FILE: Final = "domain.yaml"
TEMPLATES_FILE: Final = "templates.yaml"
QUESTIONS_FILE: Final = "questions.yaml"

_HEADS: Final = {
    DOMAIN_FILE: "# The API, its address and its key. Written by `init`; yours to change.\n",
    TEMPLATES_FILE: (
        "# One template for each operation. Better examples make better matches: replace the\n"
        "# ones below with ten questions, each worded as people really ask.\n"
    ),
    QUESTIONS_FILE: ("# Questions that `eval` asks. Write them before you look at the examples.\n"),
}


def write_draft(draft: Draft, folder: Path) -> tuple[Path, ...]:
    """Write the three files of a library into a folder, which is made if need be.

    Raises:
        RequestInvalid: a file of that name is there already; nothing has been written.
    """
    contents = {
        DOMAIN_FILE: draft.domain,
        TEMPLATES_FILE: draft.templates,
        QUESTIONS_FILE: draft.questions,
    }
    for name in contents:
        if (folder / name).exists():
            raise RequestInvalid(f"{folder / name} is there already; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / name).write_text(_HEADS[name] + to_yaml(data), encoding="utf-8")
    return tuple(folder / name for name in contents)


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key, and never an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def to_yaml(data: Any) -> str:
    """Data as YAML that people like to read."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)
