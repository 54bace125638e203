"""Whom a gateway may speak for, and what does not count as its word."""

import asyncio

import pytest

from server.access.gateway import Gateway
from server.core.gateway import sign_caller
from server.core.turn import Caller
from server.errors import GatewayRefused

SECRET = b"s" * 32
KEY = Caller("gw", "shop", role="user")
BODY = b'{"message": "hi"}'
NOW = 1_700_000_000


def gateway(secret: bytes = SECRET) -> Gateway:
    roles = ("guest", "user", "premium")
    return Gateway(secret, frozenset({"gw"}), roles, 60, clock_s=lambda: float(NOW))


def signed(
    user: str = "ana", role: str = "premium", *, at: int = NOW, body: bytes = BODY,
    path: str = "/chat", secret: bytes = SECRET,
) -> dict[str, str]:  # fmt: skip
    return {
        "x-orbit-user": user,
        "x-orbit-role": role,
        "x-orbit-time": str(at),
        "x-orbit-signature": sign_caller(secret, "POST", path, user, role, str(at), body),
    }


def speak(headers: dict[str, str], on: Gateway | None = None, caller: Caller = KEY) -> Caller:
    return asyncio.run((on or gateway()).speak_for(caller, headers, "POST", "/chat", BODY))


def test_a_signed_user_and_role_are_the_callers() -> None:
    assert speak(signed()) == Caller("gw", "shop", user_id="ana", role="premium")


def test_without_the_headers_the_key_speaks_for_itself() -> None:
    assert speak({}) == KEY


def test_it_is_off_by_default() -> None:
    with pytest.raises(GatewayRefused, match="may not ask for other users"):
        speak(signed(), Gateway())


def test_no_other_key_may_use_it() -> None:
    with pytest.raises(GatewayRefused, match="may not ask for other users"):
        speak(signed(), caller=Caller("other", "shop"))


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"x-orbit-user": "ana"}, "does not fit"),
        (signed() | {"x-orbit-user": "ada"}, "does not fit"),
        (signed() | {"x-orbit-role": "admin"}, "does not fit"),
        (signed() | {"x-orbit-time": str(NOW + 1)}, "does not fit"),
        (signed(body=b"{}"), "does not fit"),
        (signed(path="/other"), "does not fit"),
        (signed(secret=b"t" * 32), "does not fit"),
        (signed(at=NOW - 61), "too old"),
        (signed(at=NOW + 61), "too old"),
        (signed(role="root"), "no role that is known"),
        (signed(user=""), "no user"),
        (signed(user="ana\nx"), "no user"),
    ],
)
def test_what_is_not_its_word_is_refused(headers: dict[str, str], why: str) -> None:
    with pytest.raises(GatewayRefused, match=why):
        speak(headers)


def test_the_same_request_counts_once() -> None:
    on = gateway()
    assert speak(signed(), on).user_id == "ana"
    with pytest.raises(GatewayRefused, match="sent before"):
        speak(signed(), on)
