"""Build the execution of a template: a tool, an HTTP call, a Python function or SQL."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast, get_args

from server.core.suggestions import did_you_mean
from server.core.tools import Effect
from server.library.caller import CALLER_ARGUMENTS, RESERVED
from server.library.expressions import examine
from server.library.http_model import HttpDefaults, HttpExecution
from server.library.http_requests import WrittenRequest, build_http
from server.library.http_yaml import REQUEST_TEXTS, HttpYaml
from server.library.model import (
    BuiltinExecution,
    Execution,
    Parameter,
    PythonExecution,
    TemplateKind,
)
from server.library.problems import Section, one_spelling
from server.library.sql_model import ResultShape, SqlExecution
from server.library.sql_text import SqlInvalid, parse_sql
from server.library.yaml_models import ExecutionYaml, TemplateYaml
from server.settings.yaml_tree import Unresolved

_BRACES: Final = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_FUNCTION: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_RESERVED_NAME: Final = "{!r} is given by the server, and never by a question"
_REQUEST_KEYS: Final = tuple(HttpYaml.model_fields)


def kind_of(written: TemplateYaml) -> TemplateKind:
    """Return the kind that the template declares, or else the one that its keys imply."""
    if asks_database(written):
        return "sql"
    if written.tool_type is not None:
        return written.tool_type
    has_endpoint = written.endpoint is not None or written.endpoint_template is not None
    return "query" if has_endpoint and written.execution is None else "function"


def asks_database(written: TemplateYaml) -> bool:
    """Whether a template holds SQL."""
    return written.sql is not None or written.sql_template is not None


def sends_request(written: TemplateYaml) -> bool:
    """Whether a template calls an HTTP endpoint, in either notation."""
    by_execution = written.execution is not None and written.execution.type == "http_call"
    return by_execution or kind_of(written) == "query"


def placeholders(written: TemplateYaml, section: Section) -> dict[str, Section]:
    """Return every name that arguments fill in a request or in SQL, and where it is used first."""
    found: dict[str, Section] = {}
    if asks_database(written):
        text, key = one_spelling(written, section.part, "sql", "sql_template")
        try:
            names = parse_sql(text or "").names
        except SqlInvalid:
            return {}
        return dict.fromkeys(sorted(names - CALLER_ARGUMENTS), section.part(key))
    for place in (section, section.part("execution")):
        prepare = place.part("prepare")
        supplied = prepare.part("response_mapping", "fields").value or ()
        for name, used in _names_in(prepare):
            found.setdefault(name, used)
        for name, used in _names_in(place):
            if name not in supplied:
                found.setdefault(name, used)
    return {name: place for name, place in found.items() if name not in RESERVED}


def effect_of(written: TemplateYaml, execution: Execution) -> Effect:
    """Return the effect that the template declares, or else the one its HTTP method implies."""
    if "effect" not in written.model_fields_set and isinstance(execution, HttpExecution):
        return "read" if execution.request.method == "GET" else "write"
    return written.effect


def build_execution(
    written: TemplateYaml, parameters: Sequence[Parameter], defaults: HttpDefaults, section: Section
) -> Execution | None:
    """Return how the template runs, or None when it cannot; problems say why."""
    execution = written.execution or ExecutionYaml()
    inside = section.part("execution")
    inside.report_unused("an execution", ExecutionYaml.not_used)
    if asks_database(written):
        return _sql_execution(written, parameters, section)
    if written.result_format is not None:
        section.collector.add_unused("a template", "result_format", section.where("result_format"))
    if sends_request(written):
        return _http_execution(written, parameters, defaults, section)
    if execution.type == "python":
        return _python_execution(execution, inside)
    for place in (section, inside) if written.execution is not None else (section,):
        for key in _REQUEST_KEYS:
            if key in (place.value or {}):
                what = f"{key!r} describes a request, but {written.id!r} runs a tool"
                place.warn("unused-key", what, key)
    tool = _one_name("tool", "a", written, section, ("tool_name", "tool", "builtin_function"))
    operation = _one_name("operation", "an", written, section, ("tool_operation", "operation"))
    return BuiltinExecution(tool, operation) if tool and operation else None


def _one_name(
    thing: str, article: str, written: TemplateYaml, section: Section, names: tuple[str, ...]
) -> str | None:
    """Return the value of a key that the template or its execution may hold under several names."""
    spellings: dict[tuple[str, ...], str | None] = {names[:1]: getattr(written, names[0])}
    if written.execution is not None:
        spellings |= {("execution", key): getattr(written.execution, key) for key in names[1:]}
    found = {keys: value for keys, value in spellings.items() if value}
    if not found:
        what = f"names no {thing}; write {names[0]}, or {names[-1]} under execution"
        section.add("missing-key", what)
        return None
    if len(set(found.values())) > 1:
        what = f"names {article} {thing} twice: {' and '.join(repr(v) for v in found.values())}"
        section.add("duplicate-key", what, *list(found)[-1])
    return next(iter(found.values()))


def _http_execution(
    written: TemplateYaml, parameters: Sequence[Parameter], defaults: HttpDefaults, section: Section
) -> HttpExecution | None:
    schema = written.function_schema
    operation = (schema.name if schema is not None else "") or written.id
    execution = build_http(operation, _request(written, section), defaults)
    known = sorted(parameter.name for parameter in parameters)
    _refuse_reserved(parameters, RESERVED, section)
    for inside in (section, section.part("execution")):
        supplied = inside.part("prepare", "response_mapping", "fields")
        for name in sorted(RESERVED & set(supplied.value or ())):
            supplied.add("reserved-name", _RESERVED_NAME.format(name), name)
    for name, place in placeholders(written, section).items():
        if name not in known:
            what = f"no parameter fills {name!r}; {did_you_mean(name, known)}"
            place.add("placeholder-unfilled", what)
    path = execution.request.path.names if execution is not None else frozenset()
    for parameter in parameters:
        if parameter.name in path and not parameter.required and parameter.default is None:
            what = f"{parameter.name!r} is part of the path, so it is required or has a default"
            section.collector.add("optional-in-path", what, parameter.where)
    return execution


def _refuse_reserved(
    parameters: Sequence[Parameter], reserved: frozenset[str], section: Section
) -> None:
    for parameter in parameters:
        if parameter.name in reserved:
            what = f"parameter {_RESERVED_NAME.format(parameter.name)}"
            section.collector.add("reserved-name", what, parameter.where)


def _python_execution(execution: ExecutionYaml, section: Section) -> PythonExecution | None:
    function = execution.function  # whether it exists is checked when the adapter opens
    if function is not None and _FUNCTION.fullmatch(function):
        return PythonExecution(function)
    if function is None:
        what = "names no function; write function: package.module:name under execution"
        section.add("missing-key", what)
    else:
        what = f"{function!r} names no function; write it as package.module:name"
        section.add("bad-name", what, "function")
    return None


_RESULT_SHAPES: Final[tuple[str, ...]] = get_args(ResultShape)


def _sql_execution(
    written: TemplateYaml, parameters: Sequence[Parameter], section: Section
) -> SqlExecution | None:
    source, key = one_spelling(written, section.part, "sql", "sql_template")
    try:
        sql = parse_sql(source or "", positional_names(written))
    except SqlInvalid as invalid:
        section.add("bad-sql", f"{key}: {invalid}", key)
        return None
    if not sql.source.strip():
        section.add("bad-sql", f"{key} is empty; write a SELECT", key)
        return None
    known = {parameter.name: parameter for parameter in parameters}
    for name in sorted(sql.names - known.keys() - CALLER_ARGUMENTS):
        what = f"no parameter fills {name!r}; {did_you_mean(name, sorted(known))}"
        section.add("placeholder-unfilled", what, key)
    _refuse_reserved(parameters, CALLER_ARGUMENTS, section)
    for name, parameter in known.items():
        if name not in sql.names and name not in CALLER_ARGUMENTS:
            what = f"parameter {name!r} is nowhere in the SQL, so questions cannot give it"
            section.collector.add("unused-parameter", what, parameter.where, "warning")
    shape = _result_shape(written, section)
    return SqlExecution(sql, shape, written.effect)


def positional_names(written: TemplateYaml) -> tuple[str, ...]:
    """What each `?` of SQL stands for: the parameters, in the order in which they are written."""
    schema = written.function_schema
    entries = written.parameters or (schema.parameters if schema is not None else ())
    return tuple(entry.name for entry in entries)


def _result_shape(written: TemplateYaml, section: Section) -> ResultShape:
    for shape in get_args(ResultShape):
        if shape == (written.result_format or "table"):
            return cast(ResultShape, shape)
    what = (
        f"result_format {written.result_format!r} is none of {', '.join(_RESULT_SHAPES)}; "
        "rows are shown as a table"
    )
    section.warn("unknown-value", what, "result_format")
    return "table"


def _request(written: TemplateYaml, section: Section) -> WrittenRequest:
    execution = written.execution or ExecutionYaml()
    values: dict[str, Any] = {}
    places: dict[str, Section] = {}
    for name in _REQUEST_KEYS:
        for part, place in ((written, section), (execution, section.part("execution"))):
            if name not in part.model_fields_set:
                continue
            if name in values:
                what = f"{name!r} is written twice, here and at the top of the template"
                place.add("duplicate-key", what, name)
            values[name], places[name] = getattr(part, name), place.part(name)
    by_execution = written.execution is not None and "endpoint" not in places
    inside = section.part("execution") if by_execution else section
    return WrittenRequest(HttpYaml.model_construct(set(values), **values), inside, places)


def _names_in(section: Section) -> Iterator[tuple[str, Section]]:
    for key in REQUEST_TEXTS:
        for place in _texts(section.part(key)):
            # Names in `{name}` and `{{ expression }}`.
            for name in sorted(examine(place.value).variables | set(_BRACES.findall(place.value))):
                yield name, place


def _texts(section: Section) -> Iterator[Section]:
    value = section.value
    if isinstance(value, str):
        if not isinstance(value, Unresolved):
            yield section
    elif isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _texts(section.part(key))
