"""The library as the rest of the server sees it.

Both notations of templates and both shapes of `domain.yaml` are built into these types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Any, ClassVar, Final, Literal

from server.core.decision import MissingParameter
from server.core.tools import Effect, Source, ToolCall, ToolDefinition, ToolParameter
from server.core.turn import Intent
from server.errors import Location
from server.library.caller import CALLER_ARGUMENTS
from server.library.data_model import DataModel
from server.library.http_model import HttpDefaults, HttpExecution
from server.library.parameter_types import (
    CUSTOM,
    PARAMETER_TYPES,
    Constraints,
    ParameterType,
    StringType,
    type_of_format,
)
from server.library.sql_model import SqlExecution
from server.library.value_formats import ValueRules
from server.text.courtesy import COURTESY_KINDS
from server.text.language import CourtesyKind
from server.text.parsed_text import ParsedText
from server.text.tokens import DateOrder

TemplateKind = Literal["function", "query", "sql"]

UnusedValues = Literal["allow", "ask", "refuse"]
"""What becomes of a question with a number, a date or the like that its template has no use for:
the value counts for nothing, the call is confirmed first, or nothing runs."""

RateUnit = Literal[
    "per_second", "per_minute", "per_hour", "per_day", "per_week", "per_month", "per_year", "any"
]  # fmt: skip
"""What a number is per. With `any`, what a question says of that is read and means nothing."""

PYTHON_TOOL: Final = "python"
"""The tool name of calls of Python functions."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument a template takes.

    `type` is a key of `PARAMETER_TYPES`, or a type of the domain's own (a name in
    `parameter_patterns` or `entities`).
    `choices` maps every word that names an enum value, lower-cased, to that value:
    the values themselves and their synonyms.
    """

    name: str
    type: str
    description: str = ""
    required: bool = True
    default: Any = None
    enum: tuple[Any, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)
    example: Any = None
    extraction_patterns: tuple[str, ...] = ()
    items: Mapping[str, Any] | None = None
    format: str | None = None
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    unit: RateUnit | None = None
    aliases: tuple[str, ...] = ()
    """Other names that questions call it by."""
    where: Location = field(default=Location(""), compare=False)

    @property
    def descriptor(self) -> ParameterType:
        """What is true of every parameter of its type; a text may have one by its `format`."""
        by_format = type_of_format(self.format) if self.type == StringType.name else None
        return by_format or PARAMETER_TYPES.get(self.type, CUSTOM)

    def default_on(self, now: datetime) -> Any:
        """The default as tools take it; one that is told from today, such as `tomorrow`, as of now.

        `now` is in the time zone that its days are counted in.
        """
        moment = self.relative_default(now)
        return self.default if moment is None else moment

    def relative_default(self, now: datetime) -> str | None:
        """The default in ISO 8601 if it is a day or a time told from `now`, else None."""
        kind = self.descriptor.kind
        if kind not in ("date", "datetime", "time") or not isinstance(self.default, str):
            return None
        if self.descriptor.expected(self.default) is None:
            return None
        reading = ParsedText(self.default, now, "mdy")
        for tried in (kind, "datetime", "date"):
            if (found := reading.whole(tried)) is not None:
                return _as_kind(found.value, kind)
        return None

    @property
    def constraints(self) -> Constraints:
        return Constraints(
            self.enum, self.ge, self.le, self.min_length, self.max_length, self.pattern
        )

    @property
    def is_needed(self) -> bool:
        """Whether every call needs it: it is required and has no default."""
        return self.required and self.default is None

    def missing(self, problem: str = "") -> MissingParameter:
        """This parameter as one to ask for; `problem` says why a given value cannot be used."""
        return MissingParameter(
            self.name, self.description, self.type, self.enum, self.example, problem
        )

    def to_tool_parameter(self) -> ToolParameter:
        descriptor = self.descriptor
        formats = descriptor.formats
        return ToolParameter(
            name=self.name,
            type=descriptor.json_type,
            description=self.description,
            required=self.required,
            enum=self.enum or None,
            default=self.default,
            format=self.format or (formats[0] if formats else None),
            items=self.items,
            minimum=self.ge,
            maximum=self.le,
            min_length=self.min_length,
            max_length=self.max_length,
            pattern=self.pattern,
        )


def _as_kind(value: date | time, kind: str) -> str | None:
    """A day, a moment or a time of day as a value of a kind; None where it is none."""
    if isinstance(value, time):
        return value.isoformat("minutes") if kind == "time" else None
    if kind == "time":
        return value.time().isoformat("minutes") if isinstance(value, datetime) else None
    if kind == "date":
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    return moment.isoformat("seconds")


@dataclass(frozen=True, slots=True)
class BuiltinExecution:
    """Run an operation of a tool that lives in the server."""

    tool: str
    operation: str


@dataclass(frozen=True, slots=True)
class PythonExecution:
    """Call a function of the operator's own, `function` being `package.module:name`."""

    function: str
    tool: ClassVar[str] = PYTHON_TOOL

    @property
    def operation(self) -> str:
        return self.function.rpartition(":")[2]


Execution = BuiltinExecution | HttpExecution | PythonExecution | SqlExecution
"""How a template runs."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """Who may run a template, how often, and what of it is shown and recorded."""

    requires_auth: bool = False
    allowed_roles: tuple[str, ...] = ()
    """Empty for every role."""
    rate_limit: tuple[str, ...] = ()
    """Limits for each user, as `20/hour`."""
    sensitive_params: tuple[str, ...] = ()
    confirm: bool = False
    log_invocations: bool = True


@dataclass(frozen=True, slots=True)
class Template:
    """One thing the adapter can do."""

    id: str
    description: str
    kind: TemplateKind
    nl_examples: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    execution: Execution
    function_name: str = ""
    """Name for function calling; the id when the author gave none."""
    response_template: Mapping[str, str] = field(default_factory=dict)
    """Language → Jinja text; empty where the author gave none."""
    response_format: str | None = None
    """Name of a domain `format_templates` entry that renders the result."""
    effect: Effect = "read"
    version: str = "1.0.0"
    tags: tuple[str, ...] = ()
    topic: str = ""
    """What it is for, in the same word as in other libraries; empty where its id is that word."""
    intents: tuple[str, ...] = ()
    """Intents of the rule pack that it is for; any when empty."""
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The values of an entity of the pack that it is for, by entity."""
    policy: CallPolicy = CallPolicy()
    counter_examples: tuple[str, ...] = ()
    """Questions that look like its own, and are not for it."""
    unused_values: UnusedValues | None = None
    """As the template says it, or else its domain; None leaves it to how sure the match is."""
    where: Location = field(default=Location(""), compare=False)

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.required)

    @property
    def is_composed(self) -> bool:
        """Whether what it runs is put together for each question."""
        return isinstance(self.execution, SqlExecution) and self.execution.sql.is_composed

    @property
    def is_for_caller(self) -> bool:
        """Whether its request or statement says who asks, so that it is about that person."""
        match self.execution:
            case SqlExecution(sql):
                return not sql.names.isdisjoint(CALLER_ARGUMENTS)
            case HttpExecution():
                return not self.execution.names.isdisjoint(CALLER_ARGUMENTS)
        return False

    def agrees(self, intent: Intent | None) -> bool | None:
        """Return whether it is meant for the detected intent; None where nothing tells.

        An entity that the question does not name counts neither for nor against; a template that
        needs one which the rules read, and did not find, is meant by nothing that they found.
        """
        if intent is None or not (self.intents or self.when):
            return None
        if self.intents and intent.name not in self.intents:
            return False
        named = {entity for entity in self.when if entity in intent.entities}
        if any(intent.entities[entity] not in self.when[entity] for entity in named):
            return False
        if any(p.name in intent.reads and p.name not in intent.entities for p in self.required):
            return None
        return True if self.intents or len(named) == len(self.when) else None

    def call(
        self,
        arguments: Mapping[str, Any],
        sources: Mapping[str, Source] | None = None,
        *,
        by_model: bool = False,
    ) -> ToolCall:
        """Return a call of this template; `by_model` if a model chose it, and not the server."""
        return ToolCall(
            template_id=self.id,
            tool=self.execution.tool,
            operation=self.execution.operation,
            arguments=arguments,
            sources=sources or {},
            effect=self.effect,
            by_model=by_model,
            sensitive=bool(self.policy.sensitive_params),
        )

    def to_tool_definition(self) -> ToolDefinition:
        return ToolDefinition(
            name=self.function_name or self.id,
            description=self.description,
            parameters=tuple(p.to_tool_parameter() for p in self.parameters),
        )


@dataclass(frozen=True, slots=True)
class NormalizerStep:
    """A named step from matched text to value, with its options."""

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TypePatterns:
    """How a domain recognises values of one type, by RE2 patterns."""

    patterns: tuple[str, ...]
    normalizers: tuple[NormalizerStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing the domain talks about: a type whose values may be listed.

    `values` maps every known word for a value, lower-cased, to the value.
    `synonyms` are other words for the entity itself.
    """

    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResponseConfig:
    default_language: str = "en"
    supported_languages: tuple[str, ...] = ("en",)
    format_templates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Name → language → Jinja text; a template given once stands under the default language."""
    values: ValueRules = field(default_factory=ValueRules)
    """How the values of rows are shown."""

    def choose_language(self, preferred: Sequence[str]) -> str:
        """The first of `preferred` that the domain supports, else its default.

        `preferred` are BCP 47 tags, best first; `fr-CA` finds `fr`.
        """
        supported = {tag.lower(): tag for tag in self.supported_languages}
        for tag in preferred:
            for candidate in (tag.lower(), tag.lower().split("-")[0]):
                if candidate in supported:
                    return supported[candidate]
        return self.default_language


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    description: str = ""
    version: str = "1.0"
    parameter_patterns: Mapping[str, TypePatterns] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Vocabulary: a word → other words that mean it. Lower-cased."""
    response: ResponseConfig = field(default_factory=ResponseConfig)
    date_order: DateOrder = "mdy"
    """How 03/04/2025 is read when both readings are dates."""
    http: HttpDefaults = field(default_factory=HttpDefaults)
    """The service that endpoints belong to."""
    unused_values: UnusedValues | None = None
    """What holds for templates that do not say it themselves."""
    courtesy: tuple[CourtesyKind, ...] = COURTESY_KINDS
    """The courtesies that are answered, where no template is for them."""
    data: DataModel | None = None
    """What the tables of the database hold, for questions that no template foresees."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A template that cannot be used, and why; `template` is its id.

    That is None where it cannot be read, as in a file of templates that is no YAML.
    """

    template: str | None
    why: str


@dataclass(frozen=True, slots=True)
class StandIn:
    """A file that cannot be read, and the version of it that serves instead."""

    file: str
    version: str
    why: str


@dataclass(frozen=True, slots=True)
class Library:
    """A domain and its templates, by id, in the order they were written."""

    domain: Domain
    templates: Mapping[str, Template]
    left_out: tuple[LeftOut, ...] = ()
    """What was written beside them, and cannot be used."""
    stand_ins: tuple[StandIn, ...] = ()
    """Files that cannot be read, of which an earlier version serves."""

    @property
    def matched(self) -> "Library":
        """The same without what is no template of the author's: questions are not matched to it."""
        kept = {name: each for name, each in self.templates.items() if not each.is_composed}
        return self if len(kept) == len(self.templates) else replace(self, templates=kept)

    @property
    def templates_alone(self) -> "Library":
        """The same without `data`, to judge the templates: each question is theirs."""
        return replace(self.matched, domain=replace(self.domain, data=None))

    @property
    def written(self) -> frozenset[str] | None:
        """The id of every template, also of those left out; None when not all can be read."""
        left_out = [each.template for each in self.left_out]
        if None in left_out or self.stand_ins:
            return None
        return frozenset(self.templates) | {name for name in left_out if name is not None}
