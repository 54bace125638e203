"""A pack as its author writes it."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Words = list[str]
Probability = Annotated[float, Field(ge=0, le=1)]


class PackModel(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class ConstantSpec(PackModel):
    """A pattern that always means the same value."""

    pattern: str
    value: Any


class ConditionSpec(PackModel):
    """Conditions on a question; each that is given is checked by itself."""

    keywords: Words = []
    patterns: Words = []
    any_entity: Words = []
    all_entities: Words = []
    out_of_range: Words = []
    ambiguous: Words = []
    operations: Words = []
    other_object: bool | None = None
    fewer_words_than: Annotated[int, Field(ge=1)] | None = None
    more_words_than: Annotated[int, Field(ge=0)] | None = None


class TriggerSpec(PackModel):
    """Keywords and patterns of which one is enough.

    `openings` are keywords that count only where the question begins, `not_in` longer
    phrases in which a keyword means something else, and `yields_to` entities in whose
    text no keyword is looked for.
    """

    keywords: Words = []
    openings: Words = []
    patterns: Words = []
    not_in: Words = []
    yields_to: Words = []
    prefixes: bool = True


class ConfidenceSpec(PackModel):
    """What takes the place of the pack's confidence of a layer."""

    keyword: Probability | None = None
    regex: Probability | None = None


class RuleSpec(TriggerSpec):
    """Fires when one of its triggers is found (if it has any) and its conditions hold."""

    operations: Words = []
    when: ConditionSpec = Field(default_factory=ConditionSpec)
    unless: ConditionSpec = Field(default_factory=ConditionSpec)
    confidence: Probability | None = None
    priority: int | None = None
    explanation: str | None = None
    ask: str | None = None


class RouteSpec(TriggerSpec):
    to: str


class RequirementSpec(PackModel):
    any_entity: Words = []
    all_entities: Words = []


class IntentSpec(TriggerSpec):
    """One intent; its own keywords and patterns make its first rule."""

    name: str = Field(min_length=1)
    rules: list[RuleSpec] = []
    examples: Words = []
    strict: bool = False
    requires: RequirementSpec = Field(default_factory=RequirementSpec)
    priority: int = 0
    confidence: ConfidenceSpec = Field(default_factory=ConfidenceSpec)
    entities: Words | None = None
    operation: bool = False
    tells_unread: bool = False
    by_model: bool = False
    flags: dict[str, bool] = {}
    routes: list[RouteSpec] = []
    explanation: str = "{intent} by {method}"
    ask: str = ""


class OperationSpec(TriggerSpec):
    """One operation; several may share a name.

    `objects` are what it can be done with: any other noun behind its trigger is another object.
    """

    name: str
    objects: Words = []
    unless: ConditionSpec = Field(default_factory=ConditionSpec)
    flags: dict[str, bool] = {}


class OperationsSpec(PackModel):
    """Operations, tried in order; `default` when a question names none of them."""

    entity: str = "operation"
    default: str | None = None
    options: list[OperationSpec]


class EntityBase(PackModel):
    """What all entities have; one that `claims` its text keeps it from those after it."""

    name: str = Field(min_length=1)
    intents: Words | None = None
    operations: Words | None = None
    default: Any = None
    claims: bool = True


class NumberEntitySpec(EntityBase):
    """A number, or a thing that is numbered, by a name of its own behind one of the `leads`.

    A name that stands beside several numbers is ambiguous, and reads nothing.
    """

    kind: Literal["number"]
    patterns: list[str | ConstantSpec] = Field(min_length=1)
    leads: Words = []
    names: dict[int, Words] = {}
    min: int | None = None
    max: int | None = None


class PatternEntitySpec(EntityBase):
    """Text that a pattern captures: its group `value`, else the first, else all of it."""

    kind: Literal["pattern"]
    patterns: list[str | ConstantSpec] = Field(min_length=1)
    form: str = "{value}"
    case: Literal["as_written", "lower", "upper"] = "as_written"
    all: bool = False


class FreeTextSpec(PackModel):
    """Free text behind a marker, up to a stop, another entity or the end; for `intents` alone."""

    intents: Words | None = None
    after: Words = Field(min_length=1)
    until: Words = []
    reject: Words = []
    max_words: int = Field(6, ge=1)


class ValuesEntitySpec(EntityBase):
    """One or all of a list of values, each with the words that name it.

    `otherwise` reads free text where none is named. What one of the `unknown` patterns finds
    names a value that is not listed.
    """

    kind: Literal["values"]
    values: dict[str, Words] = {}
    patterns: list[ConstantSpec] = []
    all: bool = False
    choose: Literal["longest", "first_declared", "first_written"] = "longest"
    not_in: Words = []
    prefixes: bool = True
    unknown: Words = []
    otherwise: FreeTextSpec | None = None


class MarkerSpec(PackModel):
    """`known` accepts only text that the entity's `values` list."""

    pattern: str
    known: bool = False


class TextEntitySpec(EntityBase):
    """Free text after a marker, up to a stop, another entity or the end.

    `reject` are texts that are not a value, `reject_first` words that do not begin one.
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

    Either `item` finds each of them (within the match of `pattern`, if there is one), or
    they are the values of another entity (`values_of`).
    """

    name: str
    pattern: str | None = None
    item: str | None = None
    values_of: str | None = None


class SeriesEntitySpec(EntityBase):
    """Two or more things of one kind, as `name:first,second`."""

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
    """The intent when no rule fires, or none with a confidence of `below` or more."""

    intent: str
    confidence: Probability = 0.5
    below: Probability = 0.0
    explanation: str = "no rule fits"


class ErrorSpec(PackModel):
    confidence: Probability = 0.1
    explanation: str = "Error in detection: {error}"


class LayersSpec(PackModel):
    """The confidence of each layer; `semantic` is the least probability that counts."""

    keyword: Probability = 1.0
    regex: Probability = 0.9
    semantic: Probability = 0.7


ResultPart = Literal["intent", "confidence", "method", "entities", "flags", "explanation", "route"]


class PackSpec(PackModel):
    """`spelling` are words of patterns that are known when misspelt, as all keywords are, and
    `not_misspelt` words that only look like a slip.

    `fillers` narrow nothing: an intent that `tells_unread` words leaves them out of these.
    """

    name: str = Field(min_length=1)
    description: str = ""
    languages: Words = []
    timezone: str = "UTC"
    define: dict[str, str] = {}
    choose: Literal["layer", "priority"] = "layer"
    layers: LayersSpec = Field(default_factory=LayersSpec)
    fallback: FallbackSpec
    error: ErrorSpec = Field(default_factory=ErrorSpec)
    result: dict[str, ResultPart] = {part: part for part in get_args(ResultPart) if part != "route"}
    flags: Words = []
    spelling: Words = []
    not_misspelt: Words = []
    fillers: Words = []
    operations: OperationsSpec | None = None
    entities: list[EntitySpec] = []
    intents: list[IntentSpec] = Field(min_length=1)
