"""What is known of a key, never the key itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from server.core.turn import Caller

KeyState = Literal["active", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key shall open, for whom, and for how long (`None`: until revoked)."""

    adapter: str
    user_id: str | None = None
    role: str = "user"
    limits: tuple[str, ...] = ()
    """Rate limits, each as `60/minute`."""
    expires_in: timedelta | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as the store knows it; every time is aware and in UTC."""

    key_id: str
    adapter: str
    user_id: str | None
    role: str
    limits: tuple[str, ...]
    label: str
    sample: bool
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> KeyState:
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"

    def caller(self) -> Caller:
        """The holder of this key, as the rest of the server knows them."""
        return Caller(
            key_id=self.key_id,
            adapter=self.adapter,
            user_id=self.user_id,
            role=self.role,
            limits=self.limits,
        )

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """This record as JSON-ready data, times in ISO 8601."""
        return {
            "key_id": self.key_id,
            "state": self.state(now),
            "adapter": self.adapter,
            "user_id": self.user_id,
            "role": self.role,
            "limits": list(self.limits),
            "label": self.label,
            "sample": self.sample,
            "created_at": _iso(self.created_at),
            "expires_at": _iso(self.expires_at),
            "last_used_at": _iso(self.last_used_at),
            "revoked_at": _iso(self.revoked_at),
        }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
