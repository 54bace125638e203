"""`domain.yaml` as authors write it, nested under `domain:` or flat."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from server.library.edge import Edge, Version, Words
from server.library.http_yaml import ApiConfigYaml, AuthenticationYaml


def _named(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


class NormalizerYaml(BaseModel):
    """One step from matched text to value; further keys are the step's options."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    type: str
    """A normalizer's short name, or the dotted path of a function of your own."""


class TypePatternsYaml(Edge):
    """How values of one type look."""

    patterns: Words = Field(min_length=1)
    """Regular expressions (RE2), tried in order; group 1 is the value if there is one."""
    normalizers: tuple[Annotated[NormalizerYaml, BeforeValidator(_named)], ...] = ()
    """Steps from the text that matched to the value."""


def _values(value: Any) -> Any:
    return {str(entry): () for entry in value} if isinstance(value, list) else value


class EntityYaml(Edge):
    """A thing the domain talks about; its name is a parameter type."""

    name: str | None = None
    """The same as the key, for readers."""
    display_name: str | None = None
    """What people call it: one more synonym."""
    description: str = ""
    """What it is."""
    synonyms: Words = ()
    """Other words for it."""
    values: Annotated[dict[str, Words], BeforeValidator(_values)] = Field(default_factory=dict)
    """What it can be: a list, or each value with its synonyms."""

    not_used: ClassVar = frozenset(
        [
            "entity_type",
            "table_name",
            "searchable_fields",
            "filterable_fields",
            "common_filters",
            "metadata",
            "primary_key",
            "display_name_field",
            "default_sort_field",
            "default_sort_order",
            "endpoint_base",
            "methods",
            "relationships",
            "related_entities",
            "response_structure",
            "fields",
        ]
    )


Synonyms = dict[str, Words]


class VocabularyYaml(Edge):
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


class ResponseConfigYaml(Edge):
    """How results are put into words."""

    default_language: str = Field(default="en", min_length=2)
    """Language of texts that name none, and of answers to people who ask for none."""
    supported_languages: Words = ()
    """Languages that answers come in; the default language alone when left out."""
    format_templates: dict[str, Annotated[dict[str, str], BeforeValidator(_by_language)]] = Field(
        default_factory=dict
    )
    """Jinja texts by name: one text, or one for each language."""


class DomainParts(Edge):
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
    date_order: Literal["mdy", "dmy"] = "mdy"
    """How 03/04/2025 is read: `mdy` as March 4, `dmy` as 3 April."""
    api_config: ApiConfigYaml = ApiConfigYaml()
    """The HTTP service that endpoints belong to."""
    authentication: AuthenticationYaml | None = None
    """How that service knows us."""

    not_used: ClassVar = frozenset(
        [
            "domain_type",
            "display_name",
            "defaults",
            "semantic_types",
            "fields",
            "relationships",
            "metadata",
            "query_patterns",
            "query_examples",
            "example_queries",
            "best_practices",
            "common_parameters",
            "response_templates",
            "response_patterns",
            "response_processing",
            "error_handling",
            "rate_limiting",
        ]
    )


class NestedDomainYaml(DomainParts):
    """The part under `domain:`."""

    name: str = Field(min_length=1)
    """Name of the domain."""


class DomainYaml(DomainParts):
    """The whole file."""

    domain: NestedDomainYaml | None = None
    """The domain's name, and whichever of the other keys the author keeps here."""
    domain_name: str | None = Field(default=None, min_length=1)
    """Name of the domain, when there is no `domain:`."""
