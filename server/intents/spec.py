"""A pack as its author writes it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Words = list[str]
Chance = Annotated[float, Field(ge=0, le=1)]


class PackModel(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class ConstantSpec(PackModel):
    """A pattern that always means the same value."""

    pattern: str
    value: Any


class Circumstances(PackModel):
    """What else is true of a question. All that is given counts, each by itself."""

    keywords: Words = []
    patterns: Words = []
    any_entity: Words = []
    all_entities: Words = []
    out_of_range: Words = []
    operations: Words = []
    fewer_words_than: Annotated[int, Field(ge=1)] | None = None
    more_words_than: Annotated[int, Field(ge=0)] | None = None


class TriggerSpec(PackModel):
    """Words and patterns that show something; one of them is enough.

    `openings` are keywords that count only where the question begins.
    `not_in` are longer phrases in which a keyword means something else, and
    `yields_to` entities whose text no keyword is looked for in.
    """

    keywords: Words = []
    openings: Words = []
    patterns: Words = []
    not_in: Words = []
    yields_to: Words = []
    prefixes: bool = True


class ConfidenceSpec(PackModel):
    keyword: Chance | None = None
    regex: Chance | None = None


class RuleSpec(TriggerSpec):
    """Fires when a trigger is there (if any is given) and the circumstances fit."""

    operations: Words = []
    when: Circumstances = Field(default_factory=Circumstances)
    unless: Circumstances = Field(default_factory=Circumstances)
    confidence: Chance | None = None
    priority: int | None = None
    explanation: str | None = None
    ask: str | None = None


class RouteSpec(TriggerSpec):
    to: str


class Requirements(PackModel):
    any_entity: Words = []
    all_entities: Words = []


class IntentSpec(TriggerSpec):
    """One intent; its own keywords and patterns make its first rule."""

    name: str = Field(min_length=1)
    rules: list[RuleSpec] = []
    examples: Words = []
    strict: bool = False
    requires: Requirements = Field(default_factory=Requirements)
    priority: int = 0
    confidence: ConfidenceSpec = Field(default_factory=ConfidenceSpec)
    entities: Words | None = None
    operation: bool = False
    flags: dict[str, bool] = {}
    routes: list[RouteSpec] = []
    explanation: str = "{intent} by {method}"
    ask: str = ""


class OperationSpec(TriggerSpec):
    """One operation; several may share a name."""

    name: str
    unless: Circumstances = Field(default_factory=Circumstances)
    flags: dict[str, bool] = {}


class OperationsSpec(PackModel):
    """What a question wants done, tried in order; `default` when none of them is named."""

    entity: str = "operation"
    default: str | None = None
    options: list[OperationSpec]


class EntityBase(PackModel):
    """`claims` keeps the text of an entity from being read as another one after it."""

    name: str = Field(min_length=1)
    intents: Words | None = None
    operations: Words | None = None
    default: Any = None
    claims: bool = True


class NumberEntitySpec(EntityBase):
    kind: Literal["number"]
    patterns: list[str | ConstantSpec] = Field(min_length=1)
    min: int | None = None
    max: int | None = None


class PatternEntitySpec(EntityBase):
    """Text that a pattern captures: its group `value`, else the first, else all of it."""

    kind: Literal["pattern"]
    patterns: list[str | ConstantSpec] = Field(min_length=1)
    form: str = "{value}"
    case: Literal["as_written", "lower", "upper"] = "as_written"
    all: bool = False


class ValuesEntitySpec(EntityBase):
    """One or all of a list of values, each known by many words."""

    kind: Literal["values"]
    values: dict[str, Words] = {}
    patterns: list[ConstantSpec] = []
    all: bool = False
    choose: Literal["longest", "first_declared", "first_written"] = "longest"
    not_in: Words = []
    prefixes: bool = True


class MarkerSpec(PackModel):
    """`known` accepts only text that the entity's `values` list."""

    pattern: str
    known: bool = False


class TextEntitySpec(EntityBase):
    """Free text after a marker, up to a stop, an entity or the end.

    `reject` are texts that are no value, `reject_first` words that begin none.
    """

    kind: Literal["text"]
    after: list[str | MarkerSpec] = Field(min_length=1)
    until: Words = []
    values: dict[str, Words] = {}
    reject: Words = []
    reject_first: Words = []
    max_words: int = Field(6, ge=1)


class DateRangeEntitySpec(EntityBase):
    kind: Literal["date_range"]
    earliest: str = "1900-01-01"


class SeriesSpec(PackModel):
    """Things of one kind that are named together.

    Either `item` finds each of them, within what `pattern` finds when there is one, or
    they are what an entity of the pack knows (`values_of`).
    """

    name: str
    pattern: str | None = None
    item: str | None = None
    values_of: str | None = None


class SeriesEntitySpec(EntityBase):
    """Two or more things that are named together, as `name:first,second`."""

    kind: Literal["series"]
    series: list[SeriesSpec] = Field(min_length=1)


EntitySpec = Annotated[
    Annotated[NumberEntitySpec, Tag("number")]
    | Annotated[PatternEntitySpec, Tag("pattern")]
    | Annotated[ValuesEntitySpec, Tag("values")]
    | Annotated[TextEntitySpec, Tag("text")]
    | Annotated[DateRangeEntitySpec, Tag("date_range")]
    | Annotated[SeriesEntitySpec, Tag("series")],
    Discriminator("kind"),
]


class FallbackSpec(PackModel):
    """The intent when no rule fires, or none is surer than `below`."""

    intent: str
    confidence: Chance = 0.5
    below: Chance = 0.0
    explanation: str = "no rule fits"


class ErrorSpec(PackModel):
    confidence: Chance = 0.1
    explanation: str = "Error in detection: {error}"


class LayersSpec(PackModel):
    """How sure each layer is; `semantic` is the least similarity that counts."""

    keyword: Chance = 1.0
    regex: Chance = 0.9
    semantic: Chance = 0.7


ResultPart = Literal["intent", "confidence", "method", "entities", "flags", "explanation", "route"]


class PackSpec(PackModel):
    name: str = Field(min_length=1)
    description: str = ""
    languages: Words = []
    timezone: str = "UTC"
    define: dict[str, str] = {}
    choose: Literal["layer", "priority"] = "layer"
    layers: LayersSpec = Field(default_factory=LayersSpec)
    fallback: FallbackSpec
    error: ErrorSpec = Field(default_factory=ErrorSpec)
    result: dict[str, ResultPart] = {
        "intent": "intent",
        "confidence": "confidence",
        "method": "method",
        "entities": "entities",
        "flags": "flags",
        "explanation": "explanation",
    }
    flags: Words = []
    operations: OperationsSpec | None = None
    entities: list[EntitySpec] = []
    intents: list[IntentSpec] = Field(min_length=1)
