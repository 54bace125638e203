"""Raw keys: how one is made, and how its record is found without storing it.

An issued key reads `orb_<key id>_<secret>`. A sample key is any word, so its record
goes by an id derived from its keyed hash. Only that hash is ever stored.
"""

import hmac
import re
import secrets
import string
from dataclasses import dataclass
from typing import Final

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

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def digest(self, raw: str) -> bytes:
        """HMAC-SHA-256 of a raw key. Works for any string, even one that is not valid text."""
        return hmac.digest(self._secret, raw.encode("utf-8", "surrogatepass"), "sha256")

    def issue(self) -> IssuedKey:
        """Return a new key of 256 random bits."""
        key_id = secrets.token_hex(_ID_LENGTH // 2)
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
