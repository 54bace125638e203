"""`domain.yaml` and templates as authors write them."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from server.library.data_model import DataModel
from server.library.http_auth import AuthenticationYaml
from server.library.http_yaml import ApiConfigYaml, HttpYaml
from server.library.model import RateUnit, UnusedValues
from server.settings.documented import Documented
from server.settings.fields import LibraryModel, OneOrMore, RateLimits, Version
from server.text.courtesy import COURTESY_KINDS
from server.text.language import CourtesyKind


def _normalizer_by_name(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


class NormalizerYaml(Documented):
    """One step from matched text to value; further keys are the step's options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    """A normalizer's short name, or the dotted path of a function of your own."""


NormalizerStepYaml = Annotated[
    NormalizerYaml,
    BeforeValidator(_normalizer_by_name, json_schema_input_type=str | NormalizerYaml),
]


class TypePatternsYaml(LibraryModel):
    """How values of one type look."""

    patterns: OneOrMore = Field(min_length=1)
    """Regular expressions (RE2), tried in order; group 1 is the value if there is one."""
    normalizers: tuple[NormalizerStepYaml, ...] = ()
    """Steps from the text that matched to the value."""


def _with_synonyms(value: Any) -> Any:
    return {str(entry): () for entry in value} if isinstance(value, list) else value


ValuesWithSynonyms = Annotated[
    dict[str, OneOrMore],
    BeforeValidator(_with_synonyms, json_schema_input_type=dict[str, OneOrMore] | tuple[Any, ...]),
]


class EntityYaml(LibraryModel):
    """A thing the domain talks about; its name is a parameter type."""

    name: str | None = None
    """The same as the key, for readers."""
    display_name: str | None = None
    """What people call it: one more synonym."""
    description: str = ""
    """What it is."""
    synonyms: OneOrMore = ()
    """Other words for it."""
    values: ValuesWithSynonyms = Field(default_factory=dict)
    """What it can be: a list, or each value with its synonyms."""

    not_used: ClassVar = frozenset({
        "entity_type", "table_name", "searchable_fields", "filterable_fields", "common_filters",
        "metadata", "primary_key", "display_name_field", "default_sort_field",
        "default_sort_order", "endpoint_base", "methods", "relationships", "related_entities",
        "response_structure", "fields",
    })  # fmt: skip


Synonyms = dict[str, OneOrMore]


class VocabularyYaml(LibraryModel):
    """Words and the other words that mean them. All groups are read alike."""

    synonyms: Synonyms = Field(default_factory=dict)
    """Other words for anything."""
    entity_synonyms: Synonyms = Field(default_factory=dict)
    """Other words for entities."""
    action_synonyms: Synonyms = Field(default_factory=dict)
    """Other words for actions."""
    action_verbs: Synonyms = Field(default_factory=dict)
    """Other words for actions, under an older name."""
    qualifier_synonyms: Synonyms = Field(default_factory=dict)
    """Other words for qualities."""
    field_synonyms: Synonyms = Field(default_factory=dict)
    """Other words for fields."""
    value_synonyms: Synonyms = Field(default_factory=dict)
    """Other words for values, such as those of an `enum`."""

    not_used: ClassVar = frozenset({"time_expressions"})


def _by_language(value: Any) -> Any:
    return {"": value} if isinstance(value, str) else value


TextByLanguage = Annotated[
    dict[str, str], BeforeValidator(_by_language, json_schema_input_type=str | dict[str, str])
]
"""One text, which is in the domain's default language, or one for each language."""

TextByColumn = TextByLanguage
"""One text for all columns, or one for each, by its name; `*` in a name is for any letters."""


class ResponseConfigYaml(LibraryModel):
    """How results are put into words."""

    default_language: str = Field(default="en", min_length=2)
    """Language of texts that name none, and of answers to people who ask for none."""
    supported_languages: OneOrMore = ()
    """Languages that answers come in; the default language alone when left out."""
    format_templates: dict[str, TextByLanguage] = Field(default_factory=dict)
    """Jinja texts by name: one text, or one for each language."""
    number_format: TextByColumn = Field(default_factory=dict)
    """How numbers of rows are shown, as `#,##0.0`: one for all, or one for each column."""
    date_format: TextByColumn = Field(default_factory=dict)
    """How dates of rows are shown, as `DD.MM.YYYY`: one for all, or one for each column."""
    currency: TextByColumn = Field(default_factory=dict)
    """Currency of what is money, as `EUR`; by column, which says that the column is money."""


def _all_or_none(value: Any) -> Any:
    if isinstance(value, bool):
        return COURTESY_KINDS if value else ()
    return (value,) if isinstance(value, str) else value


CourtesyKinds = Annotated[
    tuple[CourtesyKind, ...],
    BeforeValidator(
        _all_or_none, json_schema_input_type=bool | CourtesyKind | tuple[CourtesyKind, ...]
    ),
]


class DomainParts(LibraryModel):
    """What may stand at the top or under `domain:`, whichever the author prefers."""

    version: Version = "1.0"
    """Version of the domain, for its author."""
    description: str = ""
    """What the domain is about."""
    entities: dict[str, EntityYaml] = Field(default_factory=dict)
    """Things the domain talks about, by name."""
    vocabulary: VocabularyYaml = VocabularyYaml()
    """Words and the other words that mean them."""
    parameter_patterns: dict[str, TypePatternsYaml] = Field(default_factory=dict)
    """How values of a type look, by type: a known one, or one of your own."""
    response_config: ResponseConfigYaml = ResponseConfigYaml()
    """How results are put into words."""
    date_order: Literal["mdy", "dmy"] | None = None
    """How 03/04/2025 is read: `mdy` as March 4, `dmy` as 3 April; else as `default_language` is."""
    unused_values: UnusedValues | None = None
    """The same for templates that do not say it: `allow` a value, `ask`, or `refuse` to run."""
    courtesy: CourtesyKinds | None = None
    """The kinds of courtesy that are answered, or `false` for none; left out, all are."""
    data: DataModel | None = None
    """What the tables of the adapter's database hold: for questions that no template foresees."""
    api_config: ApiConfigYaml = ApiConfigYaml()
    """The HTTP service that endpoints belong to."""
    authentication: AuthenticationYaml | None = None
    """How that service knows us."""

    not_used: ClassVar = frozenset({
        "domain_type", "display_name", "defaults", "semantic_types", "fields", "relationships",
        "metadata", "query_patterns", "query_examples", "example_queries", "best_practices",
        "common_parameters", "response_templates", "response_patterns", "response_processing",
        "error_handling", "rate_limiting",
    })  # fmt: skip


class NestedDomainYaml(DomainParts):
    """The part under `domain:`."""

    name: str = Field(min_length=1)
    """Name of the domain."""


class DomainYaml(DomainParts):
    """The whole file."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["domain"]}, {"required": ["domain_name"]}]}
    )

    domain: NestedDomainYaml | None = None
    """The domain's name, and whichever of the other keys the author keeps here."""
    domain_name: str | None = Field(default=None, min_length=1)
    """Name of the domain, when there is no `domain:`."""


NOTES_OF_GENERATORS: Final = frozenset({
    "status", "generated_at", "last_updated", "generator_version", "total_templates", "metadata",
})  # fmt: skip
"""What programs that write libraries leave at the top of a file of templates."""


def _check_id(value: str) -> str:
    if not value or any(character.isspace() for character in value):
        what = "'{value}' cannot be the id of a template; write it without spaces"
        raise PydanticCustomError("bad-name", what, {"value": value})
    return value


Id = Annotated[str, AfterValidator(_check_id)]


class ParameterYaml(LibraryModel):
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
    synonyms: dict[str, OneOrMore] = Field(default_factory=dict)
    """Other words for values of `enum`, by value."""
    example: Any = None
    """A value, to show when asking for one."""
    extraction_patterns: OneOrMore = ()
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
    unit: RateUnit | None = None
    """What a number is per: `per_day` and the like, or `any`; left out, its name may say it."""
    aliases: OneOrMore = ()
    """Other names that questions call it by."""

    not_used: ClassVar = frozenset({"location"})


class FunctionSchemaYaml(LibraryModel):
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
    tool_type: Literal["function", "query", "sql"] | None = None
    """`function` runs a tool, `query` calls an HTTP endpoint, `sql` asks a database."""
    nl_examples: OneOrMore = ()
    """Questions it answers. Ten, worded differently, work well."""
    counter_examples: OneOrMore = ()
    """Questions that look like its own and are not: none of them is answered by it."""
    unused_values: UnusedValues | None = None
    """What becomes of a question with a value it has no use for, such as a number or a date."""
    tool_name: str | None = None
    """Name of the tool (flat notation)."""
    tool_operation: str | None = None
    """Which of the tool's operations (flat notation)."""
    sql: str | None = None
    """SQL that asks the adapter's database; values are bound as `:name`, `%(name)s` or `?`."""
    sql_template: str | None = None
    """Another spelling of `sql`."""
    result_format: str | None = None
    """How rows are shown: `table`, `summary` (figures by name) or `single` (one value)."""
    parameters: tuple[ParameterYaml, ...] = ()
    """Its arguments (flat notation)."""
    function_schema: FunctionSchemaYaml | None = None
    """Its name, description and arguments (nested notation)."""
    execution: ExecutionYaml | None = None
    """How it runs (nested notation)."""
    response_template: TextByLanguage = Field(default_factory=dict)
    """Jinja text of the answer, or one a language; sees arguments and fields of the result."""
    response_format: str | None = None
    """Name of one of the domain's `format_templates`, for the answer."""
    effect: Literal["read", "write"] = "read"
    """Whether running it changes something outside."""
    intents: OneOrMore = ()
    """Intents of the adapter's rule pack that it is for; left out, any."""
    when: dict[str, Any] = Field(default_factory=dict)
    """Values of the pack's entities that it is for: one each, or a list of them."""
    tags: OneOrMore = ()
    """Words to find it by."""
    topic: str = ""
    """What it is for, in a word that templates of other libraries share; left out, its id."""
    requires_auth: bool = False
    """Whether the key has to belong to a user, and not to a guest."""
    allowed_roles: OneOrMore = ()
    """Roles that may run it; left out, every role may."""
    rate_limit: RateLimits = ()
    """How often one user may run it, as `20/hour`; several limits make a list."""
    sensitive_params: OneOrMore = ()
    """Parameters whose values are never shown or written; `customer.card` means a part."""
    confirm: bool | None = None
    """Whether it runs only after the user has confirmed it; left out, writes do."""
    log_invocations: bool = True
    """Whether calls of it are written to the audit."""

    not_used: ClassVar = frozenset(
        ["semantic_tags", "category", "complexity", "approved", "display_fields"]
    )
