"""What a gateway signs, to ask in the name of somebody."""

import hmac
from hashlib import sha256
from typing import Final

HEADERS: Final = ("x-orbit-user", "x-orbit-role", "x-orbit-time", "x-orbit-signature")


def sign_caller(
    secret: bytes, method: str, path: str, user: str, role: str, stamp: str, body: bytes
) -> str:
    """Return the HMAC-SHA-256, in hexadecimal, of six lines.

    They are method, path, user, role, time, and the SHA-256 of the body in hexadecimal.
    """
    lines = (method.upper(), path, user, role, stamp, sha256(body).hexdigest())
    return hmac.new(secret, "\n".join(lines).encode("utf-8", "replace"), "sha256").hexdigest()
