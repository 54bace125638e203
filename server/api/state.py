"""What the routes work with."""

from dataclasses import dataclass, field
from uuid import uuid4

from server.access.gateway import Gateway
from server.access.keys import KeyStore
from server.access.rate_limits import RateLimits
from server.adapters.manager import AdapterManager
from server.adapters.registry import Adapters
from server.guards.manager import GuardManager
from server.metrics.metrics import Metrics
from server.settings.models import RolesSettings


@dataclass(frozen=True, slots=True)
class ApiState:
    """All that a running server has, as `app.state.api` of the application.

    The application sets it when it starts; routes only read it. `instance` tells one start
    of the server from the next.
    """

    adapters: Adapters
    manager: AdapterManager
    guards: GuardManager
    keys: KeyStore
    limits: RateLimits
    metrics: Metrics
    max_message_chars: int
    turn_timeout_s: float
    heartbeat_s: float = 15.0
    sample_keys: bool = False
    gateway: Gateway = field(default_factory=Gateway)
    roles: tuple[str, ...] = RolesSettings().names
    """Every role that a key may have."""
    metrics_token: str | None = field(default=None, repr=False)
    """What `/metrics` asks for; without one, only this machine may read it."""
    instance: str = field(default_factory=lambda: uuid4().hex)
