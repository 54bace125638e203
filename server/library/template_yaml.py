"""A template as authors write it, in the flat notation or the nested one."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from server.library.edge import Edge, Version, Words
from server.library.http_yaml import HttpYaml
from server.settings.fields import RateLimits


def _is_id(value: str) -> str:
    if not value or any(character.isspace() for character in value):
        what = "'{value}' cannot be the id of a template; write it without spaces"
        raise PydanticCustomError("bad-name", what, {"value": value})
    return value


Id = Annotated[str, AfterValidator(_is_id)]


class ParameterYaml(Edge):
    """One argument."""

    name: str = Field(min_length=1)
    """What the tool calls it, and what `{{ name }}` means in texts."""
    type: str = "string"
    """One of the known types, or a type of the domain's own."""
    description: str = ""
    """What it is, in the words a person is asked for it with."""
    required: bool | None = None
    """Whether the call needs it; left out, it does unless there is a default."""
    default: Any = None
    """Its value when the question gives none."""
    enum: tuple[Any, ...] = ()
    """The values it can take."""
    allowed_values: tuple[Any, ...] = ()
    """Another spelling of `enum`."""
    synonyms: dict[str, Words] = Field(default_factory=dict)
    """Other words for values of `enum`, by value."""
    example: Any = None
    """A value, to show when asking for one."""
    extraction_patterns: Words = ()
    """Regular expressions (RE2), tried in order; group 1 is the value if there is one."""
    items: dict[str, Any] | None = None
    """JSON Schema of the members, for an array."""
    format: str | None = None
    """JSON Schema format, for models that are told about the tool."""
    ge: float | None = None
    """Least value of a number."""
    minimum: float | None = None
    """Another spelling of `ge`."""
    min_: float | None = Field(default=None, alias="min")
    """Another spelling of `ge`."""
    le: float | None = None
    """Greatest value of a number."""
    maximum: float | None = None
    """Another spelling of `le`."""
    max_: float | None = Field(default=None, alias="max")
    """Another spelling of `le`."""
    min_length: int | None = Field(default=None, ge=0)
    """Fewest characters of a text, or members of an array."""
    max_length: int | None = Field(default=None, ge=0)
    """Most characters of a text, or members of an array."""
    pattern: str | None = None
    """Regular expression (RE2) that has to match somewhere in the text."""

    not_used: ClassVar = frozenset({"location"})


class FunctionSchemaYaml(Edge):
    """The function of the nested notation."""

    name: str = Field(default="", max_length=64)
    """Name for function calling; the template's `id` when left out."""
    description: str = ""
    """What the function does; the template's own description goes before it."""
    parameters: tuple[ParameterYaml, ...] = ()
    """Its arguments."""


class ExecutionYaml(HttpYaml):
    """How a template of the nested notation runs."""

    type: Literal["builtin", "http_call", "python"] = "builtin"
    """`builtin` for a tool of the server, `http_call` for a request, `python` for a function."""
    tool: str | None = None
    """Name of the tool."""
    builtin_function: str | None = None
    """Another spelling of `tool`."""
    operation: str | None = None
    """Which of the tool's operations."""
    function: str | None = None
    """For `python`: the function, as `package.module:name`."""


class TemplateYaml(HttpYaml):
    """One thing the adapter can do."""

    id: Id
    """Name of the template, unique in the library."""
    version: Version = "1.0.0"
    """Version of the template, for its author."""
    description: str = ""
    """What it does, in a sentence; questions are matched against it as well."""
    tool_type: Literal["function", "query"] | None = None
    """`function` runs a tool, `query` calls an HTTP endpoint."""
    nl_examples: Words = ()
    """Questions it answers. Ten, worded differently, work well."""
    tool_name: str | None = None
    """Name of the tool (flat notation)."""
    tool_operation: str | None = None
    """Which of the tool's operations (flat notation)."""
    parameters: tuple[ParameterYaml, ...] = ()
    """Its arguments (flat notation)."""
    function_schema: FunctionSchemaYaml | None = None
    """Its name, description and arguments (nested notation)."""
    execution: ExecutionYaml | None = None
    """How it runs (nested notation)."""
    response_template: str | None = None
    """Jinja text of the answer; sees arguments and the fields of the result."""
    response_format: str | None = None
    """Name of one of the domain's `format_templates`, for the answer."""
    effect: Literal["read", "write"] = "read"
    """Whether running it changes something outside."""
    intents: Words = ()
    """Intents of the adapter's rule pack that it is for; left out, any."""
    when: dict[str, Any] = Field(default_factory=dict)
    """Values of the pack's entities that it is for: one each, or a list of them."""
    tags: Words = ()
    """Words to find it by."""
    requires_auth: bool = False
    """Whether the key has to belong to a user, and not to a guest."""
    allowed_roles: Words = ()
    """Roles that may run it; left out, every role may."""
    rate_limit: RateLimits = ()
    """How often one user may run it, as `20/hour`; several limits make a list."""
    sensitive_params: Words = ()
    """Parameters whose values are never shown or written; `customer.card` means a part."""
    confirm: bool | None = None
    """Whether it runs only after the user has confirmed it; left out, writes do."""
    log_invocations: bool = True
    """Whether calls of it are written to the audit."""

    not_used: ClassVar = frozenset(
        [
            "semantic_tags",
            "category",
            "complexity",
            "approved",
            "display_fields",
            "result_format",
        ]
    )
