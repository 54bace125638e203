"""What the routes work with. `app.py` fills it; routes only read it."""

from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

from fastapi import Request

from server.access.gateway import Gateway
from server.access.keys import KeyStore
from server.access.rate_limits import RateLimits
from server.adapters.registry import Adapters, AdapterStatus
from server.errors import OrbitError
from server.guards.manager import GuardManager
from server.metrics.metrics import Metrics
from server.settings.access import RolesSettings


class Reloading(Protocol):
    """Whoever opens adapters anew; see `server.adapters.manager`."""

    async def reload(self, name: str) -> AdapterStatus: ...

    async def reload_all(self) -> list[tuple[AdapterStatus, OrbitError | None]]: ...


@dataclass(frozen=True, slots=True)
class ApiState:
    """`instance` tells one start of the server from the next."""

    adapters: Adapters
    keys: KeyStore
    max_message_chars: int
    turn_timeout_s: float
    sample_keys: bool
    limits: RateLimits = field(default_factory=RateLimits)
    gateway: Gateway = field(default_factory=Gateway)
    guards: GuardManager | None = None
    reloading: Reloading | None = None
    roles: tuple[str, ...] = RolesSettings().names
    """Every role that a key may have."""
    heartbeat_s: float = 15.0
    metrics: Metrics = field(default_factory=Metrics)
    metrics_token: str | None = field(default=None, repr=False)
    """What `/metrics` asks for; without one, only this machine may read it."""
    serve_metrics: bool = True
    instance: str = field(default_factory=lambda: uuid4().hex)


def state_of(request: Request) -> ApiState:
    state = request.app.state.api
    assert isinstance(state, ApiState)  # noqa: S101  set once, by create_api
    return state
