"""An API description as the plain data of a domain, its templates and its questions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import yaml

from server.authoring.authentication import Authentication
from server.authoring.clauses import is_span, other_qualities, spellings_of
from server.authoring.document import ApiDocument
from server.authoring.examples import answer_of, counter_examples_of, examples_of, questions_of
from server.authoring.naming import first_sentence, short_name, words
from server.authoring.operations import ApiOperation, read_operations
from server.authoring.patterns import patterns_of
from server.authoring.phrases import phrases
from server.authoring.schema import ApiParameter
from server.authoring.shared import with_shown_values, with_told_elsewhere
from server.authoring.subjects import Nouns, Subject, description_of, subject_of, with_deeds
from server.authoring.values import is_invented, later, value_of

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """What is written to files, and `notes` on what could not be.

    `proposed` are further examples, by template, that the model called `by` wrote.
    """

    name: str
    domain: Data
    templates: Data
    questions: Data
    notes: tuple[str, ...]
    base_url: str = ""
    proposed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: str = ""
    kind: Literal["API", "database"] = "API"
    """What it is a draft from."""


def draft_library(document: ApiDocument) -> Draft:
    operations = read_operations(document)
    notes = list(operations.notes)
    base_url = document.base_url
    name = short_name(document.title, urlsplit(base_url).netloc)
    authentication = Authentication.of(document, name.upper())
    url_variable = f"{name.upper()}_API_URL"
    if not base_url:
        notes.append(f"the document names no server: set {url_variable}")
    domain: Data = {
        "domain": {"name": name, "version": "1.0"},
        "description": escaped(first_sentence(document.description) or document.title),
        "api_config": {"base_url": f"${{{url_variable}:-{base_url or 'http://localhost'}}}"},
    }
    if authentication.common:
        domain["authentication"] = authentication.common
    found = with_told_elsewhere(with_shown_values(operations.found, document))
    nouns = Nouns.of(found)
    subjects = with_deeds({o.id: subject_of(o, nouns) for o in found})
    written = _examples(subjects)
    templates = [escaped(_template(o, subjects[o.id], written[o.id])) for o in found]
    for operation, template in zip(found, templates, strict=True):
        counters = counter_examples_of(subjects[operation.id], subjects.values())
        if counters:
            template["counter_examples"] = escaped(counters)
        own = authentication.own(operation)
        if own is not None:
            template["authentication"] = own
    questions = _questions(found, subjects, written)
    return Draft(
        name=name,
        domain=domain,
        templates={"templates": templates},
        questions=escaped({"questions": questions}),
        notes=(*notes, *authentication.notes),
        base_url=base_url,
    )


def _examples(subjects: Mapping[str, Subject]) -> dict[str, list[str]]:
    """The examples of each operation; what would ask for two of them is an example of neither."""
    asked = {name: [e.ask for e in examples_of(subject)] for name, subject in subjects.items()}
    counts = Counter(ask.lower() for asks in asked.values() for ask in set(asks))
    written: dict[str, list[str]] = {}
    for name, asks in asked.items():
        alone = [ask for ask in asks if counts[ask.lower()] == 1]
        written[name] = alone or [f"{asks[0]} ({words(name)})"]
    return written


def _template(operation: ApiOperation, subject: Subject, asked: list[str]) -> Data:
    parameters = operation.parameters
    # The summary says what it does; the description often only adds to it.
    description = operation.summary or operation.description or description_of(subject)
    template: Data = {
        "id": operation.id,
        "description": description,
        "tool_type": "query",
        "nl_examples": asked,
        "parameters": [_parameter(parameter, subject) for parameter in parameters],
        "method": operation.method,
        "endpoint": operation.path,
        "query_params": {p.wire: _placeholder(p) for p in parameters if p.place == "query"},
        "headers": {p.wire: _placeholder(p) for p in parameters if p.place == "header"},
    }
    fields = _body(p for p in parameters if p.place in ("body", "form"))
    template["form" if operation.body == "form" else "body"] = (
        "{{ body }}" if fields and operation.whole_body else fields
    )
    shape = operation.response
    reading = {"items": shape.items, "fields": shape.fields, "total": shape.total}
    template["response_mapping"] = {name: part for name, part in reading.items() if part}
    answer = answer_of(subject)
    if answer and operation.method != "GET" and not shape.fields:
        template["response_template"] = answer
    template["effect"] = "read" if operation.method == "GET" else "write"
    template["tags"] = list(operation.tags)
    return {name: part for name, part in template.items() if part}


def _body(parameters: Iterable[ApiParameter]) -> Data:
    """The fields of a body, those of objects in it where they belong."""
    body: Data = {}
    for parameter in parameters:
        place = body
        for name in parameter.within:
            place = place.setdefault(name, {})
        place[parameter.wire] = _placeholder(parameter)
    return body


def example_of(parameter: ApiParameter, subject: Subject) -> Any:
    """The value of a parameter in the first examples; the end of a time is not its beginning.

    None for a code of which the document shows none: what it looks like is not known.
    """
    own = next((p for p in subject.parameters if p.name == parameter.name), parameter)
    if is_invented(own):
        return None
    value = value_of(own)
    if any(is_span(start, parameter) for start in subject.parameters):
        return f"{later(value, 0)}{value[10:]}"
    return value


def _parameter(parameter: ApiParameter, subject: Subject) -> Data:
    data: Data = {
        "name": parameter.name,
        "type": parameter.type,
        "description": parameter.description or None,
        "required": parameter.required,
        "default": parameter.default,
        "enum": list(parameter.enum) or None,
        "synonyms": spellings_of(parameter) or None,
        "aliases": other_qualities(parameter) or None,
        "ge": parameter.minimum,
        "le": parameter.maximum,
        "min_length": parameter.min_length,
        "max_length": parameter.max_length,
        "pattern": parameter.pattern or None,
        "items": {"type": parameter.item_type} if parameter.item_type else None,
        "example": example_of(parameter, subject),
        "extraction_patterns": patterns_of(parameter, subject) or None,
    }
    return {name: value for name, value in data.items() if value is not None}


def _placeholder(parameter: ApiParameter) -> str:
    joined = f" | join('{parameter.join}')" if parameter.join else ""
    return f"{{{{ {parameter.name}{joined} }}}}"


def _questions(
    operations: list[ApiOperation],
    subjects: Mapping[str, Subject],
    written: Mapping[str, list[str]],
) -> list[Data]:
    taken = {ask.lower() for asks in written.values() for ask in asks}
    asked = {name: questions_of(subject) for name, subject in subjects.items()}
    counts = Counter(q.ask.lower() for questions in asked.values() for q in questions)
    questions: list[Data] = []
    for operation in operations:
        fresh = [q for q in asked[operation.id] if q.ask.lower() not in taken]
        for question in [q for q in fresh if counts[q.ask.lower()] == 1]:
            arguments = {"arguments": dict(question.arguments)} if question.arguments else {}
            questions.append({"ask": question.ask, "template": operation.id, **arguments})
    return questions + [{"ask": ask, "template": None} for ask in phrases().off_topic]


def escaped(value: Any) -> Any:
    """Return data whose texts mean their characters: in a library `${` begins a variable."""
    match value:
        case str():
            return value.replace("${", "$${")
        case list() | tuple():
            return [escaped(item) for item in value]
        case dict():
            return {key: escaped(item) for key, item in value.items()}
    return value


_BETTER: Final = (
    "Better examples make better matches: replace the\n"
    "# ones below with ten questions, each worded as people really ask.\n"
)
_HEADINGS: Final = {
    "API": {
        "domain": "# The API, its address and its key. Yours to change.\n",
        "templates": f"# One template for each operation. {_BETTER}",
    },
    "database": {
        "domain": "# What the database is about, and other words for it. Yours to change.\n",
        "templates": f"# What can be asked, and the SQL for it. {_BETTER}",
    },
}
_QUESTIONS: Final = {
    "questions": "# Questions that `eval` asks. Write them before you look at the examples.\n",
}


def draft_texts(draft: Draft) -> dict[str, str]:
    """Return the files of a library, by name."""
    headings = _HEADINGS[draft.kind] | _QUESTIONS
    parts = {"domain": draft.domain, "templates": _marked(draft), "questions": draft.questions}
    texts = {
        name: headings[name]
        + yaml.dump(part, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)
        for name, part in parts.items()
    }
    mark = f"# Proposed by {draft.by}; read them before you rely on them."
    texts["templates"] = texts["templates"].replace(f"- {_MARK}\n", f"{mark}\n")
    return {f"{name}.yaml": text for name, text in texts.items()}


_MARK: Final = "PROPOSED-BY-A-MODEL"
"""Stands before what a model proposed, until it becomes a comment."""


def _marked(draft: Draft) -> Data:
    templates = [
        template | {"nl_examples": [*template["nl_examples"], _MARK, *escaped(list(more))]}
        if (more := draft.proposed.get(template["id"]))
        else template
        for template in draft.templates["templates"]
    ]
    return {"templates": templates}


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key, and never an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text of several lines as it is read: SQL."""
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
