"""The settings of one adapter: what it can do, what it matches and speaks with."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from server.errors import Location
from server.settings.fields import (
    Name,
    OneOrMore,
    RateLimits,
    RootedDatabase,
    RootedPath,
    RootedPaths,
    Seconds,
    Strict,
)


class AgentSettings(Strict):
    """How templates run and how results are spoken of."""

    function_model_provider: str | None = None
    """Provider of a model that reads hidden arguments; without one, the inference model does."""
    function_model: str | None = None
    """Name of that model, as its provider knows it."""
    synthesize_response: bool = True
    """Whether the inference model, when there is one, phrases results."""
    conversation: bool = False
    """Whether the inference model replies where no template answers."""
    system_prompt: str | None = None
    """Who that model is and how it speaks; without it, a friendly assistant that is brief."""
    tool_timeout: Seconds = 30.0
    """Seconds that one tool may take."""
    model_timeout: Seconds = 20.0
    """Seconds that a model may take for one step of a turn; then the turn goes on without it."""
    result_tokens: int = Field(default=1000, ge=50, le=1_000_000)
    """Most tokens of a result that a model is shown; a longer one is cut, which it is told."""
    show_notes: bool = False
    """Whether answers say what they left out of the question, as `metadata.notes` does anyway."""
    verbose: bool = False
    """Whether every stage of every turn is written to the log."""


class PolicySettings(Strict):
    """What the adapter lets through, and who proposes calls."""

    mode: Literal["system_first", "llm_first"] | None = None
    """Who proposes a call: the server or a model; left out, `SYSTEM_FIRST_ARCHITECTURE` says."""
    intent_tools: dict[str, OneOrMore] | None = None
    """The templates that each intent allows; an intent that is not listed allows none."""
    rate_limit: RateLimits = ()
    """How often the adapter may be asked, by all keys together, as `6000/hour`."""


class HttpSettings(Strict):
    """Where calls over HTTP go, and where they may go."""

    base_url: str = ""
    """Address that relative endpoints are joined to, instead of the domain's `base_url`."""
    allowed_hosts: tuple[str, ...] = ()
    """When given, the only hosts that may be called, as `api.example.org` or `host:8080`."""
    private_hosts: tuple[str, ...] = ()
    """Hosts that may stand on loopback, link-local or private addresses, written alike."""


class VocabularySettings(Strict):
    """Which values of the database questions may name."""

    enabled: bool = True
    """Whether the server looks at values of columns at all."""
    refresh_s: float = Field(default=300, ge=1, le=86_400)
    """Seconds until the values are read again."""
    max_values: int = Field(default=200, ge=1, le=5_000)
    """A column of more values is not read; a value of it is looked up when a question has it."""
    timeout_s: float = Field(default=2, gt=0, le=60)
    """Most seconds for reading a column, and for looking up a value."""
    only: tuple[str, ...] = ()
    """The only columns that may be looked at, as `table.column` or `column`; all if left out."""
    never: tuple[str, ...] = ()
    """Columns that may never be looked at."""


class CsvSettings(Strict):
    """What comes as CSV: all that a question finds, and not only what an answer has room for."""

    max_rows: int = Field(default=5_000_000, ge=1, le=1_000_000_000)
    """Most rows; a longer result ends unfinished, so that no client takes it for whole."""
    max_bytes: int = Field(default=2_000_000_000, ge=1_000, le=1_000_000_000_000)
    """Most bytes; likewise."""
    timeout_s: Seconds = 600.0
    """Seconds that one may take, from the question to its last row."""
    expires_after_s: Seconds = 900.0
    """Seconds for which the link of an answer that was cut can be used."""


class SqlSettings(Strict):
    """How a database is asked."""

    max_rows: int = Field(default=1_000, ge=1, le=100_000)
    """Most rows of an answer; a longer result is cut, which the answer says."""
    max_bytes: int = Field(default=4_000_000, ge=1_000, le=100_000_000)
    """About how many bytes of an answer's rows; more are cut as well."""
    max_cell_chars: int = Field(default=10_000, ge=10, le=1_000_000)
    """Most characters of one text in a row."""
    connections: int = Field(default=4, ge=1, le=100)
    """Most connections to the database at a time; CSV takes half of them at most."""
    vocabulary: VocabularySettings = Field(default_factory=VocabularySettings)
    """Values of the database that questions may name."""
    csv: CsvSettings = CsvSettings()
    """What comes as CSV."""


class ChildAdapter(Strict):
    """One of the adapters behind another."""

    adapter: Name
    """Its name."""
    label: str = Field(default="", max_length=80)
    """What people are shown; left out, its name."""
    aliases: OneOrMore = ()
    """What people call it in questions, beside its name, its label and its domain's name."""


def _as_child(value: Any) -> Any:
    return {"adapter": value} if isinstance(value, str) else value


Child = Annotated[
    ChildAdapter, BeforeValidator(_as_child, json_schema_input_type=str | ChildAdapter)
]


def _either_library_or_children(schema: dict[str, Any]) -> None:
    library = schema.pop("required")
    schema["anyOf"] = [{"required": library}, {"required": ["child_adapters"]}]


_COMPOSITE: Final = "IntentCompositeRetriever"
_NOWHERE: Final = Path(os.devnull)
_NO_LIBRARY: Final = {
    "domain_config_path": _NOWHERE / "domain.yaml",
    "template_library_path": (_NOWHERE / "templates.yaml",),
}
_OF_COMPOSITES: Final[Mapping[str, frozenset[str] | None]] = {
    "child_adapters": None,
    "policy": frozenset({"rate_limit"}),
    "agent": frozenset({"verbose"}),
}
"""Settings of an adapter with others behind it; the rest is each child's own."""


class AdapterConfig(Strict):
    """What the adapter knows."""

    model_config = ConfigDict(json_schema_extra=_either_library_or_children)

    domain_config_path: RootedPath
    """The `domain.yaml`."""
    template_library_path: RootedPaths = Field(min_length=1)
    """Template files or globs: one, or a list."""
    child_adapters: tuple[Child, ...] = ()
    """Other adapters, which answer in this one's place; it has no library of its own then."""
    max_wrong: float = Field(default=0.025, gt=0, le=0.5)
    """The largest share of questions that may run the wrong template; it sets the threshold."""
    confidence_threshold: float | None = Field(default=None, ge=0, le=1)
    """Least calibrated probability at which a template may answer, instead of `max_wrong`."""
    max_templates: int = Field(default=5, ge=1, le=100)
    """Most templates that are considered for one question."""
    intents: RootedPath | None = None
    """A rule pack, which detects what a question asks for and names before anything is matched."""
    intents_semantic: bool = True
    """Whether examples of the pack are compared by meaning when none of its rules fires."""
    reformulator: RootedPath | None = None
    """What a conversation may ask for: each intent is proposed, and done once it is confirmed."""
    agent: AgentSettings = AgentSettings()
    """How templates run and how results are spoken of."""
    prompts: RootedPath | None = None
    """A file of prompts, which stand instead of those that are shipped."""
    http: HttpSettings = HttpSettings()
    """Where calls over HTTP go, and where they may go."""
    database: RootedDatabase | None = None
    """Another place for the adapter's `database`."""
    sql: SqlSettings = SqlSettings()
    """How the database is asked."""
    policy: PolicySettings = PolicySettings()
    """What the adapter lets through, and who proposes calls."""

    @model_validator(mode="before")
    @classmethod
    def _children_or_library(cls, data: Any) -> Any:
        """Refuse what an adapter with others behind it leaves to these."""
        if not isinstance(data, dict) or not data.get("child_adapters"):
            return data
        for key, value in data.items():
            known = _OF_COMPOSITES.get(key, frozenset())
            own = set(value) if isinstance(value, dict) else {key}
            if known is not None and (foreign := sorted(own - known)):
                name = foreign[0] if foreign[0] == key else f"{key}.{foreign[0]}"
                what = "'{name}' goes with the adapters that child_adapters names, not with this"
                raise PydanticCustomError("foreign-key", what, {"name": name})
        return {**_NO_LIBRARY, **data}


class AdapterGuards(Strict):
    """Guards of one adapter, beside those of every adapter; what is left out is as there."""

    enabled: bool | None = None
    """Whether guards judge the questions of this adapter."""
    packs: RootedPaths = ()
    """Guard packs of this adapter, asked after those of every adapter."""
    compare: RootedPaths | None = None
    """Packs of a second set, which judges as well and decides nothing."""
    fail_closed: bool | None = None
    """Whether a guard that cannot judge refuses."""
    semantic_threshold: float | None = Field(default=None, ge=0, le=1)
    """Threshold of all categories of this adapter."""
    shadow: bool | None = None
    """Whether blocks and routes are only reported, and not done."""


class AdapterSettings(Strict):
    """One adapter. A key opens exactly one."""

    name: Name
    """What keys and commands call it: letters, digits, `.`, `_` and `-`."""
    enabled: bool = True
    """Whether it is opened; one that is not needs none of its variables."""
    type: Literal["retriever"] = "retriever"
    """Kind of adapter."""
    datasource: str = "http"
    """Where its answers come from; tools and HTTP services are `http`."""
    adapter: str = "intent"
    """Family of the implementation."""
    implementation: str = "retrievers.implementations.intent.IntentAgentRetriever"
    """Dotted path of the class that decides what a question asks for."""
    embedding_provider: str = "local"
    """What turns text into vectors: `local`, `ollama`, `openai`, or a dotted path."""
    embedding_model: str | None = None
    """Name of the model, as the provider knows it; without one, the provider's default."""
    inference_model_provider: str | None = None
    """Provider of the model that phrases answers; without one, answers are composed."""
    inference_model: str | None = None
    """Name of that model, as its provider knows it."""
    database: RootedDatabase | None = None
    """What SQL templates ask: a file of SQLite or DuckDB, data files, or a URL as SQLAlchemy's."""
    guards: AdapterGuards = AdapterGuards()
    """Guards of this adapter, beside those of every adapter."""
    config: AdapterConfig
    """What the adapter knows."""

    @model_validator(mode="before")
    @classmethod
    def _names_children(cls, data: Any) -> Any:
        if isinstance(data, dict) and str(data.get("implementation", "")).endswith(_COMPOSITE):
            config = data.get("config")
            if not isinstance(config, dict) or not config.get("child_adapters"):
                what = "config.child_adapters is missing: the adapters that {name} asks"
                raise PydanticCustomError("missing-key", what, {"name": _COMPOSITE})
        return data

    _where: Location = PrivateAttr(default=Location(""))

    @property
    def where(self) -> Location:
        return self._where

    def at(self, where: Location) -> "AdapterSettings":
        """The same adapter, knowing where it is written."""
        placed = self.model_copy()
        placed._where = where  # noqa: SLF001 - its own, on a copy
        return placed
