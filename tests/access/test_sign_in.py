"""Links into the console: whose they are, for which server, how long, and how often."""

import asyncio

import pytest

from server.access.models import KeyIssuer
from server.access.sign_in import LASTS_S, LinkIssuer, SignInLinks
from server.errors import LinkInvalid

SECRET, OTHER_SECRET = b"s" * 64, b"t" * 64


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def redeem(links: SignInLinks, token: str) -> bool:
    """Whether a link signs in."""
    try:
        async with links.redeem(token):
            return True
    except LinkInvalid:
        return False


def refused(links: SignInLinks, token: str) -> bool:
    return not asyncio.run(redeem(links, token))


def test_a_link_signs_in_once(clock: Clock) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, token = SignInLinks(issuer, "one"), issuer.issue("one")
    assert [refused(links, token) for _ in range(3)] == [False, True, True]
    assert not refused(links, issuer.issue("one"))


def test_while_it_signs_in_nobody_else_does(clock: Clock) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, token = SignInLinks(issuer, "one"), issuer.issue("one")

    async def twice() -> bool:
        async with links.redeem(token):
            return await redeem(links, token)

    assert asyncio.run(twice()) is False
    assert refused(links, token)


def test_where_no_key_can_be_made_the_link_is_good_again(clock: Clock) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, token = SignInLinks(issuer, "one"), issuer.issue("one")

    async def fail() -> None:
        async with links.redeem(token):
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        asyncio.run(fail())
    assert not refused(links, token)


@pytest.mark.parametrize(("after_s", "is_late"), [(LASTS_S - 1, False), (LASTS_S, True)])
def test_it_lasts_ten_minutes(clock: Clock, after_s: int, is_late: bool) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, token = SignInLinks(issuer, "one"), issuer.issue("one")
    clock.now += after_s
    assert refused(links, token) is is_late


def test_used_links_are_remembered_until_they_are_late(clock: Clock) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, tokens = SignInLinks(issuer, "one"), [issuer.issue("one") for _ in range(3)]
    assert not any(refused(links, token) for token in tokens)
    clock.now += LASTS_S
    assert not refused(links, issuer.issue("one"))
    clock.now -= LASTS_S  # as when somebody sets it back
    assert all(refused(links, token) for token in tokens)


def test_only_this_installation_and_this_start_of_the_server_count(clock: Clock) -> None:
    links = SignInLinks(LinkIssuer(SECRET, now=clock), "one")
    assert refused(links, LinkIssuer(OTHER_SECRET, now=clock).issue("one"))
    assert refused(links, LinkIssuer(SECRET, now=clock).issue("two"))


def test_nothing_of_a_link_can_be_changed(clock: Clock) -> None:
    issuer = LinkIssuer(SECRET, now=clock)
    links, token = SignInLinks(issuer, "one"), issuer.issue("one")
    until, nonce, signature = token.split(".")
    later = f"{int(until, 16) + 3600:x}"
    digest = KeyIssuer(SECRET).digest(f"one:{until}.{nonce}").hex()
    changed = [
        f"{later}.{nonce}.{signature}",
        f"{until}.{nonce[:-1]}.{signature}",
        f"{until}.{nonce}.{signature.upper()}",
        f"{until}.{nonce}.{digest}",
        f"{until}.{nonce}.",
        f"{until}.{nonce}.{signature}\n",
        signature,
        "",
        "..",
        "\ud800",
        token * 10,
    ]
    assert [each for each in changed if not refused(links, each)] == []
    assert not refused(links, token)
