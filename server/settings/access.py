"""Settings of who may ask, how often, and what is kept of it."""

from typing import Literal

from pydantic import Field, SecretStr

from server.settings.fields import RootedPath, Seconds, Strict


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
    """The same for calls that change something."""


class AccessSettings(Strict):
    """API keys and where they are kept."""

    sample_keys: bool = True
    """Whether documented sample keys work, for clients on this machine only."""
    database_url: SecretStr | None = None
    """SQLAlchemy URL of the database for keys and audit; without one, SQLite in `data_dir`."""
    roles: RolesSettings = RolesSettings()
    """The roles that keys may have."""
    gateway: GatewaySettings = GatewaySettings()
    """A gateway that may say for whom it asks."""
    rate_limits: RateLimitSettings = RateLimitSettings()
    """How calls are counted."""
    audit: AuditSettings = AuditSettings()
    """What is kept of every tool call and every refusal."""
