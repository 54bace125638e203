"""What a new key shall be, read from text."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from server.access.models import NewKey
from server.errors import RequestInvalid
from server.settings.fields import parse_limit

_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_LIFETIME: Final = re.compile(r"([0-9]{1,9})\s*([a-zA-Z]+)")
_LONGEST: Final = timedelta(days=100 * 365)


def parse_lifetime(text: str) -> timedelta:
    """Read `12h`, `30d`, `2w` or `1y` (a year is 365 days).

    Raises `RequestInvalid`: not of that form, zero, or more than a hundred years.
    """
    found = _LIFETIME.fullmatch(text.strip())
    unit = found[2].lower() if found else ""
    if found is None or unit not in _HOURS:
        raise RequestInvalid(
            f"{text!r} is not a lifetime: write a number and a unit (h, d, w or y), such as '30d'"
        )
    hours = int(found[1]) * _HOURS[unit]
    if not 0 < hours <= _LONGEST / timedelta(hours=1):
        raise RequestInvalid(f"a lifetime of {text!r} is out of range: 1h to 100y")
    return timedelta(hours=hours)


LONGEST_TEXT: Final = 255
"""Of a user, a role and a label: what every database keeps whole."""


def new_key(
    adapter: str,
    *,
    user_id: str | None = None,
    role: str = "user",
    limits: Sequence[str] = (),
    expires: str | None = None,
    label: str = "",
) -> NewKey:
    """Read what a key shall be: `limits` as `60/minute`, `expires` as `30d` (`None`: never).

    Whether there is such an adapter and such a role is for `check_adapter` and `check_role`.
    Raises `RequestInvalid`: a limit, a lifetime or a text that cannot be one.
    """
    if user_id is not None and not user_id.strip():
        raise RequestInvalid("the user is empty: leave it out for a key without a user")
    for text, what in ((user_id or "", "the user"), (role, "the role"), (label, "the label")):
        if len(text) > LONGEST_TEXT:
            raise RequestInvalid(f"{what} has {len(text)} characters; the most is {LONGEST_TEXT}")
        if not text.isprintable():  # listed one a line, where a text could pose as more
            raise RequestInvalid(
                f"{what} holds characters that cannot be shown, such as line breaks"
            )
    return NewKey(
        adapter=adapter,
        user_id=user_id,
        role=role,
        limits=tuple(parse_limit(text) for text in limits),
        expires_in=None if expires is None else parse_lifetime(expires),
        label=label,
    )


def check_adapter(name: str, known: Sequence[str]) -> None:
    """Raise `RequestInvalid` with the adapters that there are when `name` is none of them."""
    if name not in known:
        raise RequestInvalid(f"there is no adapter {name!r}; there are: {_listed(known)}")


def check_role(role: str, known: Sequence[str]) -> None:
    """Raise `RequestInvalid` with the roles that there are when `role` is none of them."""
    if role not in known:
        raise RequestInvalid(f"{role!r} is not among the roles {_listed(known)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
