"""What a server says of itself, of a key, and of an adapter's library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: str
    version: str
    instance: str
    """Changes with every start of the server."""
    workers: int | None = None
    """Processes that answer, where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterReadiness:
    """`why` and `details` are there for who may know them."""

    name: str
    state: Literal["opening", "ready", "unavailable"]
    why: str | None = None
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """`ready`: all adapters serve; `degraded`: some do; otherwise none does (yet).

    `draining`: the server is about to stop, and answers until it does.
    """

    status: Literal["ready", "degraded", "opening", "unavailable", "draining"]
    adapters: Sequence[AdapterReadiness]
    workers: Mapping[str, Any] | None = None
    """What a server with several processes tells of them to who may know it."""

    @property
    def serves(self) -> bool:
        return self.status in ("ready", "degraded")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """What the key opens, and what it may do."""

    adapter: str
    role: str
    admin: bool
    user_id: str | None
    key_id: str
    expires_at: str | None
    adapter_state: str
    may: Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What an adapter's library says to whoever may use it."""

    adapter: str
    name: str
    description: str
    languages: Sequence[str]
    version: str
    synonyms: Mapping[str, Sequence[str]]
    templates: Sequence[Mapping[str, Any]]
    """Each with its examples, parameters and effect, as the role may run it."""
    sources: Sequence[Mapping[str, Any]] | None = None
    """The adapters behind it, if it has some."""
