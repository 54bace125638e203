"""Every setting of the server, as `config/config.yaml` and what it imports hold it.

The text under a field is its documentation: the tables of `docs/configuration.md`
are made from it.
"""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from server.settings.adapters import AdapterSettings
from server.settings.fields import (
    OneOrMore,
    RateLimits,
    RootedPath,
    RootedPaths,
    Seconds,
    Strict,
    secret_problem,
)
from server.workers import MOST_WORKERS, cores

__all__ = ["AdapterSettings", "Settings"]


WorkerCount = Annotated[int, Field(ge=1, le=MOST_WORKERS)] | Literal["auto"]


class ConnectionSettings(Strict):
    """What a client may take before its key is known."""

    most: int = Field(default=1024, ge=1, le=1_000_000)
    """Connections at once; fewer where the system allows the process fewer open files."""
    most_per_address: int = Field(default=256, ge=1, le=1_000_000)
    """Connections of one address at once, or of one /64 network of IPv6."""
    max_head_kb: int = Field(default=64, ge=1, le=1024)
    """Largest request line and headers, in units of 1024 bytes."""
    max_headers: int = Field(default=100, ge=1, le=10_000)
    """Most headers of a request."""
    head_s: Seconds = 30.0
    """Seconds in which the head of a request has to come, from its first byte."""
    body_s: Seconds = 30.0
    """Seconds in which the body has to come, after the head."""
    idle_s: Seconds = 60.0
    """Seconds for which a client may ask nothing, or leave an answer unread."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose `X-Forwarded-For` names the client, as `10.0.0.0/8`."""

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for each in given:
            try:
                ip_network(each)
            except ValueError as wrong:
                raise ValueError(
                    f"{each!r} is no address or network ({wrong}); write it as 10.0.0.7 or "
                    "10.0.0.0/8"
                ) from None
        return given


class ServerSettings(Strict):
    """Where the server listens, and how much it takes."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on. `0.0.0.0` opens the server to the network."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes any free one."""
    allowed_hosts: tuple[str, ...] | None = None
    """Names that clients may call it by; without a list any, or on loopback only `localhost`."""
    max_body_kb: int = Field(default=256, ge=1, le=102_400)
    """Largest request body, in units of 1024 bytes."""
    max_message_chars: int = Field(default=8000, ge=1, le=1_000_000)
    """Longest question, in characters."""
    turn_timeout_s: Seconds = 60.0
    """Seconds from question to answer, whatever the answer needs."""
    heartbeat_s: Seconds = 15.0
    """Seconds between the signs of life of a streamed answer that is not there yet."""
    drain_s: float = Field(default=0.0, ge=0, le=3600)
    """Seconds for which a server that is to stop says so in `/ready`, and goes on serving."""
    shutdown_grace_s: Seconds = 10.0
    """Seconds that requests in flight get to finish when the server stops."""
    workers: WorkerCount = 1
    """Processes that answer questions, or `auto` for one for each core."""
    connections: ConnectionSettings = ConnectionSettings()
    """What a client may take before its key is known."""


LogLevel = Literal["debug", "info", "warning", "error"]


class LoggingSettings(Strict):
    """What the log holds."""

    level: LogLevel = "info"
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
    """Bearer token that opens `/metrics`, as admin keys do; without one, this machine may read."""


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


PROVIDER_VARIABLE: Final = "LLM_PROVIDER"


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
    large_from: int = Field(default=5_000, ge=1)
    """Templates from which on a library is large: kept in files, and learnt in the background."""
    clarify_margin: float = Field(default=0.1, ge=0, le=1)
    """Two templates whose confidences differ by less are asked about, not chosen from."""


BlockedIn = Literal["words", "characters"]


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
    stream_blocked: BlockedIn = "words"
    """How a blocked answer streams: in `words`, or in `characters`, each after 10 ms."""


class RolesSettings(Strict):
    """The roles that keys may have, and how templates name them."""

    names: tuple[str, ...] = Field(default=("guest", "user", "premium", "admin"), min_length=1)
    """Every role, least first. The first is the guest, who passes no `requires_auth`."""
    order: Literal["listed", "ordered"] = "listed"
    """`listed`: a template's roles may run it; `ordered`: so may every role above them."""


class GatewaySettings(Strict):
    """A gateway that may say, in signed headers, for whom it asks."""

    secret: SecretStr | None = Field(default=None, min_length=32)
    """Shared with the gateway, at least 32 characters; without one the headers are refused."""
    keys: tuple[str, ...] = ()
    """Ids of the keys that the gateway asks with; only these may speak for users."""
    max_age_s: Seconds = 60.0
    """Seconds after which a signature is too old."""


class RateLimitSettings(Strict):
    """How calls are counted. What the limits are stands on keys, adapters and templates."""

    storage: SecretStr | None = None
    """`redis://HOST:PORT/DB` to count for several servers; without one, in memory."""
    window: Literal["moving", "fixed"] = "moving"
    """`moving` looks back from each call; `fixed` starts anew with every minute or hour."""


class AuditSettings(Strict):
    """What is kept of every tool call and every refusal."""

    sink: Literal["sql", "jsonl", "off"] = "sql"
    """`sql` for the database of keys, `jsonl` for a file with one object a line."""
    path: RootedPath | None = None
    """File for `jsonl`; without one, `audit/audit.jsonl` in `data_dir`."""
    max_file_mb: int = Field(default=50, ge=1, le=10_000)
    """Size at which the file for `jsonl` is put aside and a new one is begun."""
    keep_files: int = Field(default=20, ge=1, le=10_000)
    """Files for `jsonl` that are kept, oldest ones are deleted."""
    failing_reads: Literal["allow", "deny"] = "allow"
    """What happens to calls that only read while nothing can be written down."""
    failing_writes: Literal["allow", "deny"] = "deny"
    """The same for calls that change something, and for changes to keys, guards and adapters."""


class AccessSettings(Strict):
    """API keys and where they are kept."""

    sample_keys: bool = True
    """Whether documented sample keys work, for clients on this machine only."""
    secret: SecretStr | None = None
    """The installation's secret, the same for all replicas; without one, the file `secret`."""
    secret_file: RootedPath | None = None
    """File that holds it, which has to be there; without one, `secret` in `data_dir`."""
    database_url: SecretStr | None = None
    """SQLAlchemy URL of the database for keys and audit; without one, SQLite in `data_dir`."""
    store_timeout_s: Seconds = 5.0
    """Longest wait for it, in seconds; at most a quarter of `server.turn_timeout_s` counts."""
    migrate: Literal["on_start", "never"] = "on_start"
    """Who brings an older database up to date: whatever opens it, or `orbit migrate` alone."""
    wrong_keys: RateLimits = ("30/minute",)
    """Unknown keys that one client may try; an empty list for any number."""
    roles: RolesSettings = RolesSettings()
    """The roles that keys may have."""
    gateway: GatewaySettings = GatewaySettings()
    """A gateway that may say for whom it asks."""
    rate_limits: RateLimitSettings = RateLimitSettings()
    """How calls are counted."""
    audit: AuditSettings = AuditSettings()
    """What is kept of every tool call and every refusal."""

    @model_validator(mode="after")
    def _has_one_secret(self) -> Self:
        if self.secret is None:
            return self
        if self.secret_file is not None:
            raise ValueError("give the secret by `secret` or by `secret_file`, not by both")
        if problem := secret_problem(self.secret.get_secret_value().strip().encode()):
            raise ValueError(f"the `secret` of the installation cannot be used: {problem}")
        return self


class WebhookSettings(Strict):
    """A service that is told of every commit."""

    url: str | None = None
    """Where events are sent to, with `POST`; without one, none are."""
    secret: SecretStr | None = Field(default=None, min_length=32)
    """Shared with the receiver, at least 32 characters; it signs what is sent."""
    timeout_s: Seconds = 10.0
    """Seconds that one delivery may take."""
    first_retry_s: Seconds = 1.0
    """Seconds before the second attempt; each further pause is twice as long."""
    longest_retry_s: Seconds = 300.0
    """Longest pause between two attempts."""
    give_up_after_h: float = Field(default=72.0, gt=0, le=8760)
    """Hours after which an event that nobody took is given up."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url is None:
            return self
        if urlsplit(self.url).scheme not in ("http", "https") or not urlsplit(self.url).netloc:
            raise ValueError("the url of a webhook is of the form https://host/path")
        if self.secret is None:
            raise ValueError("a webhook needs a secret, which signs what is sent")
        return self


class CommitsSettings(Strict):
    """Who is told that something was confirmed and is about to run."""

    log: bool = True
    """Whether events are written to the log."""
    outbox: bool = True
    """Whether events stay in the table `commit_events` after they were delivered."""
    keep_days: int = Field(default=90, ge=1, le=36_500)
    """Days for which they stay there."""
    webhook: WebhookSettings = WebhookSettings()
    """A service that is told of every commit."""


class ConversationSettings(Strict):
    """What is remembered of a conversation, and what waits for a yes in it."""

    max_turns: int = Field(default=10, ge=1, le=1000)
    """Turns that are remembered; one turn is a question and its answer."""
    expires_after_h: float = Field(default=24.0, gt=0, le=8760)
    """Hours after its last turn at which a conversation is forgotten."""
    max_sessions_per_key: int = Field(default=10_000, ge=1, le=10_000_000)
    """Conversations that are kept for one key; beyond it, those that rested longest go."""
    proposal_expires_after_s: Seconds = 900.0
    """Seconds in which a call that waits for a yes can be confirmed."""
    max_held_per_key: int = Field(default=1000, ge=1, le=1_000_000)
    """Calls of one key that wait for a yes; beyond it, the oldest expire."""
    commits: CommitsSettings = CommitsSettings()
    """Who is told that something was confirmed and is about to run."""


class InboxSettings(Strict):
    """Turns that are kept so that somebody looks at them and mends the library."""

    enabled: bool = False
    """Whether questions are kept for it, and `POST /chat/feedback` takes opinions."""
    keep_days: int = Field(default=30, ge=1, le=3650)
    """Days for which what was declined, asked back, corrected or marked wrong is kept."""
    max_turns: int = Field(default=10_000, ge=1, le=10_000_000)
    """Such turns that are kept at most, and as many answered ones; then the oldest go."""


class TracesSettings(Strict):
    """Spans of requests and of the stages of turns, for OpenTelemetry."""

    enabled: bool = False
    """Whether spans are made and sent; needs the extra `otel`."""
    endpoint: str | None = None
    """Where to, as `http://collector:4318/v1/traces`; without one, as `OTEL_…` variables say."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with them, for authentication; without any, as `OTEL_…` variables say."""
    service_name: str | None = Field(default=None, min_length=1)
    """Name of the service; without one, `OTEL_SERVICE_NAME`, else `orbit`."""
    sample_ratio: float | None = Field(default=None, ge=0, le=1)
    """Part of the traces that begin here; without one, `OTEL_TRACES_SAMPLER`, else all."""
    close_within_s: Seconds = 3.0
    """Seconds in which the last spans are sent when the server stops."""

    @field_validator("endpoint")
    @classmethod
    def _is_address(cls, given: str | None) -> str | None:
        if given is not None:
            place = urlsplit(given)
            if place.scheme not in ("http", "https") or not place.netloc:
                raise ValueError("write the whole address, as http://collector:4318/v1/traces")
        return given


class DecisionLogSettings(Strict):
    """A line of JSON for each turn, which `orbit.sh diff --log` asks again."""

    path: RootedPath | None = None
    """File to write to; without one, nothing is written."""
    sample: float = Field(default=1.0, gt=0, le=1)
    """Part of the turns that is written, chosen at random."""
    max_file_mb: int = Field(default=50, ge=1, le=10_000)
    """Size at which the file is put aside and a new one is begun."""
    keep_files: int = Field(default=5, ge=1, le=10_000)
    """Files put aside that are kept; the oldest are deleted."""


class UsageSettings(Strict):
    """Turns counted by key, adapter and day, for `GET /admin/usage`."""

    enabled: bool = True
    """Whether they are counted; no words are kept."""
    keep_days: int = Field(default=400, ge=1, le=36_500)
    """Days for which the counts are kept."""


class TelemetrySettings(Strict):
    """What is kept for those who watch the server, beside metrics, log and audit."""

    traces: TracesSettings = TracesSettings()
    """Spans of requests and of the stages of turns."""
    decision_log: DecisionLogSettings = DecisionLogSettings()
    """A line of JSON for each turn."""
    usage: UsageSettings = UsageSettings()
    """Turns counted by key, adapter and day."""


Authoring = Literal["loopback", "never", "always"]


class ConsoleSettings(Strict):
    """The page to try the server, see why it answered so, and look after it."""

    enabled: bool = True
    """Whether the page is served, and `start` prints a link that opens it."""
    authoring: Authoring = "loopback"
    """Whether admins may edit files; with `loopback`, a server of this machine alone, from here."""


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
    telemetry: TelemetrySettings = TelemetrySettings()
    """Traces, the log of decisions, and usage by key."""
    access: AccessSettings = AccessSettings()
    """API keys and where they are kept."""
    conversation: ConversationSettings = ConversationSettings()
    """What is remembered of a conversation, and for how long."""
    inbox: InboxSettings = InboxSettings()
    """Turns that are kept so that somebody looks at them and mends the library."""
    console: ConsoleSettings = ConsoleSettings()
    """The page to try the server, see why it answered so, and look after it."""
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
    def worker_count(self) -> int:
        """How many processes answer; for `auto` as many as there are cores for this one."""
        return cores() if self.server.workers == "auto" else self.server.workers

    @property
    def one_process(self) -> bool:
        """Whether one process alone writes that database: SQLite, and no further workers."""
        return self.worker_count == 1 and self.database_url.startswith("sqlite")

    @property
    def may_migrate(self) -> bool:
        """Whether opening that database may bring its schema up to date."""
        return self.access.migrate == "on_start"

    @property
    def store_timeout_s(self) -> float:
        """Seconds that a request may wait for one transaction of that database."""
        return min(self.access.store_timeout_s, self.server.turn_timeout_s / 4)

    @property
    def secret_path(self) -> Path:
        """File with the secret of this installation, where `access.secret` does not hold it."""
        return self.access.secret_file or self.data_dir / "secret"
