"""An API description as the plain data of a domain, its templates and its questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from server.authoring import examples
from server.authoring.document import ApiDocument, items, mapping
from server.authoring.naming import first_sentence, short_name, words
from server.authoring.operations import ApiOperation, read_operations
from server.authoring.schema import ApiParameter

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
    base_url: str = ""


def draft_library(document: ApiDocument) -> Draft:
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
        "description": _escape(first_sentence(document.description) or document.title),
        "api_config": {"base_url": f"${{{url_variable}:-{base_url or 'http://localhost'}}}"},
    }
    if authentication:
        domain["authentication"] = authentication
    phrases = _phrases(operations.found)
    templates = [_template(o, phrases[o.id]) for o in operations.found]
    return Draft(
        name=name,
        domain=domain,
        templates=_escape({"templates": templates}),
        questions=_escape({"questions": _questions(operations.found, phrases)}),
        notes=tuple(notes),
        base_url=base_url,
    )


def _phrases(operations: list[ApiOperation]) -> dict[str, str]:
    phrases: dict[str, str] = {}
    for operation in operations:
        phrase = examples.phrase_of(operation)
        if phrase.lower() in {taken.lower() for taken in phrases.values()}:
            phrase = f"{phrase} ({words(operation.id)})"
        phrases[operation.id] = phrase
    return phrases


def _template(operation: ApiOperation, phrase: str) -> Data:
    parameters = operation.parameters
    # The summary says what it does; the description often only adds to it.
    description = operation.summary or operation.description or words(operation.id)
    template: Data = {
        "id": operation.id,
        "description": description,
        "tool_type": "query",
        "nl_examples": [question.ask for question in examples.examples_of(operation, phrase)],
        "parameters": [_parameter(parameter) for parameter in parameters],
        "method": operation.method,
        "endpoint": operation.path,
        "query_params": {p.wire: _placeholder(p) for p in parameters if p.place == "query"},
        "headers": {p.wire: _placeholder(p) for p in parameters if p.place == "header"},
    }
    fields = {p.wire: _placeholder(p) for p in parameters if p.place in ("body", "form")}
    template["form" if operation.body == "form" else "body"] = (
        "{{ body }}" if fields and operation.whole_body else fields
    )
    shape = operation.response
    reading = {"items": shape.items, "fields": shape.fields, "total": shape.total}
    template["response_mapping"] = {name: part for name, part in reading.items() if part}
    template["effect"] = "read" if operation.method == "GET" else "write"
    template["tags"] = list(operation.tags)
    return {name: part for name, part in template.items() if part}


def _parameter(parameter: ApiParameter) -> Data:
    data: Data = {
        "name": parameter.name,
        "type": parameter.type,
        "description": parameter.description or None,
        "required": parameter.required,
        "default": parameter.default,
        "enum": list(parameter.enum) or None,
        "ge": parameter.minimum,
        "le": parameter.maximum,
        "min_length": parameter.min_length,
        "max_length": parameter.max_length,
        "items": {"type": parameter.item_type} if parameter.item_type else None,
        "example": examples.example_value(parameter),
        "extraction_patterns": examples.patterns_of(parameter) or None,
    }
    return {name: value for name, value in data.items() if value is not None}


def _placeholder(parameter: ApiParameter) -> str:
    joined = f" | join('{parameter.join}')" if parameter.join else ""
    return f"{{{{ {parameter.name}{joined} }}}}"


def _questions(operations: list[ApiOperation], phrases: Mapping[str, str]) -> list[Data]:
    questions: list[Data] = []
    for operation in operations:
        question = examples.question_of(operation, phrases[operation.id])
        arguments = {"arguments": question.arguments} if question.arguments else {}
        questions.append({"ask": question.ask, "template": operation.id, **arguments})
    return questions + [{"ask": ask, "template": None} for ask in _OFF_TOPIC]


def _authentication(document: ApiDocument, prefix: str) -> tuple[Data, str]:
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


def _escape(value: Any) -> Any:
    """Return data whose texts mean their characters: in a library `${` begins a variable."""
    match value:
        case str():
            return value.replace("${", "$${")
        case list() | tuple():
            return [_escape(item) for item in value]
        case dict():
            return {key: _escape(item) for key, item in value.items()}
    return value


_HEADINGS: Final = {
    "domain": "# The API, its address and its key. Yours to change.\n",
    "templates": (
        "# One template for each operation. Better examples make better matches: replace the\n"
        "# ones below with ten questions, each worded as people really ask.\n"
    ),
    "questions": "# Questions that `eval` asks. Write them before you look at the examples.\n",
}


def draft_texts(draft: Draft) -> dict[str, str]:
    """Return the files of a library, by name."""
    return {
        f"{name}.yaml": heading
        + yaml.dump(
            getattr(draft, name), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96
        )
        for name, heading in _HEADINGS.items()
    }


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key, and never an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True
