"""Keys: how a raw one is made, and what is known of one.

An issued key reads `orb_<key id>_<secret>`. A sample key is any word, so its record
goes by an id derived from its keyed hash. Only that hash is ever stored.
"""

import hmac
import re
import secrets
import string
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from server.core.turn import Caller

KeyState = Literal["active", "expired", "revoked"]

ADMIN: Final = "admin"
"""The role of keys that may manage the server."""

DIGEST_BYTES: Final = 32
LONGEST_RAW: Final = 256
"""Longer than any key that can exist, so nothing longer is worth hashing."""

_ALPHABET: Final = string.ascii_letters + string.digits
_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43  # 62**43 is just over 2**256
_ID: Final = re.compile(rf"(?:sample_)?[0-9a-f]{{{_ID_LENGTH}}}")
_ISSUED: Final = re.compile(rf"orb_([0-9a-f]{{{_ID_LENGTH}}})_[A-Za-z0-9]{{{_SECRET_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A fresh key: to be shown once, and kept as `key_id` and `digest` alone."""

    raw: str
    key_id: str
    digest: bytes


class KeyIssuer:
    """Makes and hashes keys with the secret of one installation."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def digest(self, raw: str) -> bytes:
        """HMAC-SHA-256 of a raw key. Works for any string, even one that is not valid text."""
        return hmac.digest(self._secret, raw.encode("utf-8", "surrogatepass"), "sha256")

    def issue(self) -> IssuedKey:
        """Return a new key of 256 random bits."""
        # A letter first, or YAML would read some as numbers: 733702937e05.
        key_id = secrets.choice("abcdef") + secrets.token_hex(_ID_LENGTH // 2)[1:]
        secret = "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET_LENGTH))
        raw = f"orb_{key_id}_{secret}"
        return IssuedKey(raw, key_id, self.digest(raw))

    def sample(self, raw: str) -> IssuedKey:
        """Return a documented key, which anyone can guess, for trying things out on one machine."""
        digest = self.digest(raw)
        return IssuedKey(raw, key_id_of(raw, digest), digest)


def key_id_of(raw: str, digest: bytes) -> str:
    """Return the id that the record of a presented key has, if there is one."""
    return issued_id(raw) or f"sample_{digest.hex()[:_ID_LENGTH]}"


def issued_id(raw: str) -> str | None:
    """Return the id within an issued key, or None when the text is not one."""
    issued = _ISSUED.fullmatch(raw)
    return issued[1] if issued else None


def is_key_id(text: str) -> bool:
    """Return whether a key could have this id."""
    return _ID.fullmatch(text) is not None


def sample_name(adapter: str) -> str:
    """Return the sample key of an adapter: its name without `intent-` and `-example`."""
    return adapter.removeprefix("intent-").removesuffix("-example") or adapter


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

    def details(self) -> dict[str, Any]:
        """Return what is asked for, as JSON-ready data, but for what is left out."""
        lives_s = None if self.expires_in is None else self.expires_in.total_seconds()
        asked = {"limits": list(self.limits), "expires_in_s": lives_s, "label": self.label}
        whose = {"user_id": self.user_id, "role": self.role}
        return whose | {name: value for name, value in asked.items() if value}


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

    def details(self) -> dict[str, Any]:
        """Return what the key opens, and for whom."""
        return {"adapter": self.adapter, "user_id": self.user_id, "role": self.role}

    def caller(self) -> Caller:
        """Return the holder of this key, as the rest of the server knows them."""
        return Caller(self.key_id, self.adapter, self.user_id, self.role, self.limits)

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """Return this record as JSON-ready data, times in ISO 8601."""
        shown = {
            name: value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }
        head = {"key_id": self.key_id, "state": self.state(now)}
        return head | shown | {"limits": list(self.limits)}
