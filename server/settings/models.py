"""Every setting of the server, as `config/config.yaml` and what it imports hold it.

The text under a field is its documentation: the tables of `docs/configuration.md`
are made from it.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from server.settings.access import AccessSettings
from server.settings.adapters import AdapterSettings
from server.settings.conversation import ConversationSettings
from server.settings.fields import OneOrMore, RootedPath, RootedPaths, Seconds, Strict

__all__ = ["AccessSettings", "AdapterSettings", "Settings"]


class ServerSettings(Strict):
    """Where the server listens, and how much it takes."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on. `0.0.0.0` opens the server to the network."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes any free one."""
    max_body_kb: int = Field(default=256, ge=1, le=102_400)
    """Largest request body, in units of 1024 bytes."""
    max_message_chars: int = Field(default=8000, ge=1, le=1_000_000)
    """Longest question, in characters."""
    turn_timeout_s: Seconds = 60.0
    """Seconds from question to answer, whatever the answer needs."""
    heartbeat_s: Seconds = 15.0
    """Seconds between the signs of life of a streamed answer that is not there yet."""
    shutdown_grace_s: Seconds = 10.0
    """Seconds that requests in flight get to finish when the server stops."""


class LoggingSettings(Strict):
    """What the log holds."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is written."""
    format: Literal["console", "json"] = "console"
    """`console` for people, `json` for one object a line."""
    question_preview_chars: int = Field(default=50, ge=0, le=1000)
    """Characters of a question that guards log and keep, redacted; 0 for none."""


class MetricsSettings(Strict):
    """`GET /metrics`, for Prometheus."""

    enabled: bool = True
    """Whether `/metrics` is served."""
    token: SecretStr | None = None
    """Bearer token `/metrics` asks for; without one, only this machine may read it."""


class PythonToolsSettings(Strict):
    """Which Python functions templates may call."""

    modules: tuple[str, ...] = ()
    """Modules and packages that templates may name; none without this list."""
    paths: RootedPaths = ()
    """Folders to find them in, beside what is installed."""


class ProviderSections(Strict, extra="allow"):
    """One section for each provider, which `server.settings.loader` checks by its own options."""

    def section(self, provider: str) -> Any:
        """Return what is set for a provider: its options, or None."""
        return (self.model_extra or {}).get(provider)


class EmbeddingsSettings(ProviderSections):
    """One section for each embedding provider; adapters name the provider they use."""

    query_cache_size: int = Field(default=2048, ge=0, le=1_000_000)
    """Questions whose vectors are remembered, for each encoder; 0 remembers none."""


class ModelsSettings(ProviderSections):
    """One section for each provider of models; adapters name the provider they use."""

    provider: str | None = None
    """Provider where a model is named without one; left out, `LLM_PROVIDER`, else `ollama`."""


class VectorStoreSettings(Strict):
    """The ChromaDB that keeps the vectors of templates."""

    mode: Literal["embedded", "server"] = "embedded"
    """`embedded` keeps them in `data_dir`; `server` talks to a ChromaDB server."""
    host: str = Field(default="localhost", min_length=1)
    """Where the ChromaDB server listens."""
    port: int = Field(default=8000, ge=1, le=65535)
    """Port of the ChromaDB server."""
    ssl: bool = False
    """Whether to speak HTTPS to the ChromaDB server."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with every request to the ChromaDB server, for authentication."""
    tenant: str = Field(default="default_tenant", min_length=1)
    """Tenant on the ChromaDB server."""
    database: str = Field(default="default_database", min_length=1)
    """Database on the ChromaDB server."""


class MatchingSettings(Strict):
    """How the template for a question is found."""

    search: Literal["auto", "resident", "chroma"] = "auto"
    """Where candidates are looked for: in memory, in ChromaDB, or by the library's size."""
    resident_max_vectors: int = Field(default=200_000, ge=0)
    """With `search: auto`, the most vectors that are kept in memory for one adapter."""
    clarify_margin: float = Field(default=0.1, ge=0, le=1)
    """Two templates whose confidences differ by less are asked about, not chosen from."""


class GuardsSettings(Strict):
    """What is judged before anything runs, for every adapter."""

    enabled: bool = True
    """Whether guards judge at all; `INTENT_ROUTER_ENABLED` wins over it."""
    packs: RootedPaths = ()
    """Guard packs in front of every adapter: one file, or a list, asked in this order."""
    compare: RootedPaths = ()
    """Packs of a second set, which judges as well and decides nothing: see differences."""
    fail_closed: bool = False
    """Whether a guard that cannot judge refuses; `INTENT_ROUTER_FAIL_CLOSED` wins over it."""
    semantic_threshold: float | None = Field(default=None, ge=0, le=1)
    """Threshold of all categories; `INTENT_ROUTER_SEMANTIC_THRESHOLD` wins over it."""
    stage_timeout_s: Seconds = 2.0
    """Seconds the semantic stage may take; one that is late counts as one that failed."""
    shadow: bool = False
    """Whether blocks and routes are only reported, and not done."""


class Imports(Strict, extra="ignore"):
    """The one key that is read before the others."""

    imports: OneOrMore = Field(default=(), alias="import")
    """Files and globs to read as well, relative to this file or to the root folder."""


class Settings(Imports, extra="forbid"):
    """The whole configuration."""

    data_dir: RootedPath = Field(default=Path("data"), validate_default=True)
    """Folder for everything that changes: keys, vectors, logs, process files."""
    server: ServerSettings = ServerSettings()
    """Where the server listens, and how much it takes."""
    logging: LoggingSettings = LoggingSettings()
    """What the log holds."""
    metrics: MetricsSettings = MetricsSettings()
    """`GET /metrics`, for Prometheus."""
    access: AccessSettings = AccessSettings()
    """API keys and where they are kept."""
    conversation: ConversationSettings = ConversationSettings()
    """What is remembered of a conversation, and for how long."""
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    """One section for each embedding provider."""
    models: ModelsSettings = ModelsSettings()
    """One section for each provider of models."""
    models_dir: RootedPath = Field(default=Path(), validate_default=True)
    """Folder that relative paths of model files start from."""
    vector_store: VectorStoreSettings = VectorStoreSettings()
    """The ChromaDB that keeps the vectors of templates."""
    matching: MatchingSettings = MatchingSettings()
    """How the template for a question is found."""
    guards: GuardsSettings = GuardsSettings()
    """What is judged before anything runs."""
    tools: dict[Annotated[str, Field(min_length=1)], str] = Field(default_factory=dict)
    """Tools of your own: the name templates use, and the dotted path of the class."""
    python_tools: PythonToolsSettings = PythonToolsSettings()
    """Which Python functions templates may call."""
    adapters: tuple[AdapterSettings, ...] = ()
    """What the server answers with; see the section on adapters."""

    @property
    def database_url(self) -> str:
        """SQLAlchemy URL of the database for keys."""
        given = self.access.database_url
        return given.get_secret_value() if given else f"sqlite:///{self.data_dir / 'orbit.db'}"

    @property
    def secret_path(self) -> Path:
        """File with the secret of this installation, made on first use."""
        return self.data_dir / "secret"
