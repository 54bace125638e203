"""Tools: definitions, calls and results."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, get_args

from server.core.suggestions import described_value, join_words, unknown
from server.errors import ArgumentsInvalid

Effect = Literal["read", "write"]

SourceKind = Literal[
    "template_pattern",  # extraction_patterns of the template
    "domain_pattern",  # parameter_patterns of the domain
    "recognizer",  # a typed recogniser
    "example",  # free text that stands where the template's examples have it
    "vocabulary",  # an enum value or an entity, by name or synonym
    "intent",  # an entity the rule engine found
    "conversation",  # an earlier turn
    "model",  # a function model
    "default",  # the default the template declares
    "system",  # injected by the server, never by the user
    "given",  # handed in as it is by a caller
    "form",  # given by name, in answer to a question for it
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where an argument came from.

    `span` is (start, end) in characters of the question, and `text` what stood
    there; both are None for a value that was not read from the question. `note` tells
    the person how something was read that could be read otherwise.
    """

    kind: SourceKind
    span: tuple[int, int] | None = None
    text: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. `sources` has a key for each argument."""

    template_id: str
    tool: str
    operation: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, Source] = field(default_factory=dict)
    effect: Effect = "read"
    by_model: bool = False
    """Whether a model chose it, and not the server."""
    sensitive: bool = False
    """Whether its arguments must not be written anywhere, not even to the log."""


class ToolResultStatus(StrEnum):
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of running a tool.

    On success `result` holds `result`, `operation` and `input`, and whatever more
    the operation says of itself; of a function that returned a mapping, its fields and
    `operation`. Otherwise `error_message` says what went wrong. Its status
    may be given as text. A status that there is not, a time that none is, a success that says
    what went wrong and a failure that does not are a ValueError.
    """

    tool_name: str
    operation: str
    status: ToolResultStatus
    execution_time_ms: float
    parameters: Mapping[str, Any]
    result: Any = None
    error_message: str | None = None
    rejection: str | None = None
    """Why a service does not take the arguments, in its own words; `error_message` has it too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", ToolResultStatus(self.status))
        _check_types(self, tool_name=str, operation=str, parameters=Mapping)
        _check_types(self, execution_time_ms=(int, float))
        if not self.execution_time_ms >= 0:
            raise ValueError(f"execution_time_ms is {self.execution_time_ms}, and no time is")
        if self.status is ToolResultStatus.SUCCESS:
            if self.error_message is not None:
                raise ValueError(f"a success has no error_message: {self.error_message!r}")
        elif self.result is not None or not isinstance(self.error_message, str):
            raise ValueError(f"status {self.status} has an error_message, and no result")

    @classmethod
    def of_no_call(
        cls, call: ToolCall, why: str, status: ToolResultStatus = ToolResultStatus.ERROR
    ) -> "ToolResult":
        """The result of a call that was not made, or came to nothing: it took no time."""
        return cls(call.tool, call.operation, status, 0.0, call.arguments, error_message=why)

    def notes(self, sources: Mapping[str, Source], *, said: str) -> list[str]:
        """How things were read that could be read otherwise, by extraction or by the tool."""
        notes = [source.note for source in sources.values() if source.note]
        fields = self.result if isinstance(self.result, Mapping) else {}
        interpreted = fields.get("interpreted_as")
        if isinstance(interpreted, str) and interpreted not in said:
            notes.append(f"Read as {interpreted}")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data, without empty fields."""
        data = {
            "tool_name": self.tool_name,
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "result": self.result,
            "error_message": self.error_message,
            "execution_time_ms": self.execution_time_ms,
            "status": str(self.status),
        }
        return {name: value for name, value in data.items() if value is not None}


def payload_of(result: Any) -> Any:
    """Return what an operation found, without what it says of itself; a function's own fields.

    Of what a database found, these are the rows.
    """
    if not isinstance(result, Mapping):
        return result
    if is_row_result(result):
        return result["rows"]
    fields = {name: value for name, value in result.items() if name not in ("operation", "input")}
    return fields.get("result", fields)


def is_row_result(result: Any) -> bool:
    """Whether a result is what a database found: its rows, and how many there are."""
    return isinstance(result, Mapping) and result.keys() == ROW_RESULT


ROW_RESULT: Final = frozenset({"columns", "rows", "row_count", "truncated"})
"""The fields of what a database found."""


class RowTaker(Protocol):
    """Takes the rows of a call as they come."""

    def limit(self, *, rows: int, size: int) -> None:
        """Take at most so many rows, and bytes of what is made of them."""

    async def begin(self, columns: Sequence[str]) -> None:
        """Be told of the columns, once the database has answered."""

    async def take(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Take the next rows; return whether more are wanted."""


JsonType = Literal["string", "number", "integer", "boolean", "array", "object"]


_MAX_WORD_CHARS: Final = 60

Vocabulary = Mapping[str, tuple[str, ...]]
"""Each value that may be given, with other words for it."""


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One parameter of a tool, in JSON Schema's words.

    `format` says more closely than `type` how a value is written and read (`date`, `percent`).
    `unit` is what a number counts. `vocabulary` maps each value that may be given to other
    words for it (`desc` to `descending`, `highest first`); its keys are then the `enum`.
    A name or type that no schema may have, and a default outside the `enum`, are a ValueError.
    """

    name: str
    type: JsonType
    description: str = ""
    required: bool = True
    enum: tuple[Any, ...] | None = None
    default: Any = None
    format: str | None = None
    items: Mapping[str, Any] | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    unit: str | None = None
    vocabulary: Vocabulary | None = None
    _values: Mapping[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        _check_name("parameter", self.name)
        _check_types(self, description=str, required=bool)
        if self.type not in get_args(JsonType):
            what = unknown("type", self.type, get_args(JsonType))
            raise ValueError(f"parameter {self.name!r}: {what}")
        choices = self.enum if self.vocabulary is None else tuple(self.vocabulary)
        if choices is not None and self.default is not None and self.default not in choices:
            what = unknown("default", self.default, map(str, choices))
            raise ValueError(f"parameter {self.name!r}: {what}")
        if self.vocabulary is None:
            return
        values = {
            _folded(word): value
            for value, words in self.vocabulary.items()
            for word in (value, *words)
        }
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "enum", tuple(self.vocabulary))

    def value_of(self, word: Any) -> str:
        """Return the value of the vocabulary that a word stands for, whatever its case.

        Raises:
            ArgumentsInvalid: it stands for none; the message lists the values.
        """
        if not isinstance(word, str):
            raise ArgumentsInvalid(f"{self.name} must be text, not {described_value(word)}")
        folded = _folded(word)
        found = self._values.get(folded) or self._values.get(folded.removeprefix("is "))
        if found is None:
            raise ArgumentsInvalid(unknown(self.name, word, self.enum or ()))
        return found

    def to_json_schema(self) -> dict[str, Any]:
        counted = "Items" if self.type == "array" else "Length"
        schema = {
            "type": self.type,
            "description": self.description or None,
            "enum": None if self.enum is None else list(self.enum),
            "default": self.default,
            "format": self.format,
            "items": dict(self.items or {}) if self.type == "array" else None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            f"min{counted}": self.min_length,
            f"max{counted}": self.max_length,
            "pattern": self.pattern,
        }
        return {name: entry for name, entry in schema.items() if entry is not None}


def _check_types(of: Any, **expected: type | tuple[type, ...]) -> None:
    for name, kind in expected.items():
        value = getattr(of, name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"{type(of).__name__}: {name} cannot be {described_value(value)}")


def _check_name(thing: str, name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"a {thing} needs a name, not {name!r}")


def _folded(word: str) -> str:
    words = word[:_MAX_WORD_CHARS].casefold().replace("_", " ").split()
    return " ".join(words).rstrip(".")


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One operation of a tool: the function that models and other programs are told about.

    Everything that has to know what an operation takes asks here. `exactly_one_of` holds
    groups of optional parameters: a call gives one of each group. A definition without a name,
    with two parameters of one name, or with a group of names that are none is a ValueError.
    """

    name: str
    description: str
    parameters: tuple[ToolParameter, ...] | list[ToolParameter] = ()
    exactly_one_of: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        _check_name("tool", self.name)
        _check_types(self, description=str, parameters=(tuple, list))
        for parameter in self.parameters:
            if not isinstance(parameter, ToolParameter):
                raise ValueError(f"{self.name}: {described_value(parameter)} is no ToolParameter")
        names = [parameter.name for parameter in self.parameters]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{self.name} has two parameters {name!r}")
        for name in (name for group in self.exactly_one_of for name in group):
            if name not in names:
                raise ValueError(f"{self.name}: {unknown('parameter', name, names)}")

    def check_names(self, given: Collection[str], label: str) -> None:
        """Check which arguments are given; `label` is how messages call the operation.

        Raises:
            ArgumentsInvalid: one is not known, a required one is missing, or there is not
                exactly one of a group.
        """
        names = [p.name for p in self.parameters]
        for name in given:
            if name not in names:
                raise ArgumentsInvalid(unknown(f"{label} argument", name, names))
        required = [p.name for p in self.parameters if p.required]
        missing = [name for name in required if name not in given]
        if missing:
            raise ArgumentsInvalid(f"{label} needs {', '.join(missing)}")
        for group in self.exactly_one_of:
            count = sum(name in given for name in group)
            if count > 1:
                raise ArgumentsInvalid(f"{self.name} takes either {join_words(group)}, not both")
            if not count:
                beside = f" beside {join_words(required, 'and')}" if required else ""
                raise ArgumentsInvalid(f"{self.name} needs {join_words(group)}{beside}")

    def to_openai_schema(self) -> dict[str, Any]:
        """Return this tool in OpenAI's function-calling format."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {p.name: p.to_json_schema() for p in self.parameters},
                    "required": [p.name for p in self.parameters if p.required],
                },
            },
        }
