"""Rate limits of a template: this user has not done it too often."""

import math
from dataclasses import dataclass

from server.access.rate_limits import LimitStatus, RateLimits
from server.core.turn import Caller
from server.library.model import Template
from server.tools.policy.proposal import Refusal


@dataclass(frozen=True, slots=True)
class Rates:
    """Looks, and does not count: what a later step refuses shall cost nothing."""

    limits: RateLimits
    adapter: str

    async def look(self, template: Template, caller: Caller) -> Refusal | None:
        """Refuse what the counts leave no room for."""
        standing = await self.limits.peek(template.policy.rate_limit, self._who(template, caller))
        return None if standing is None else _refusal(standing)

    async def count(self, template: Template, caller: Caller) -> Refusal | None:
        """Count a call, which is about to run; refuse it where others were quicker."""
        standing = await self.limits.take(template.policy.rate_limit, self._who(template, caller))
        return None if standing is None else _refusal(standing)

    def _who(self, template: Template, caller: Caller) -> str:
        # One text, quoted: who a user is can then never run over into what is counted.
        return f"tool/{self.adapter}/{template.id}/{limit_identity(caller)!r}"


def limit_identity(caller: Caller) -> str:
    """Under whose name calls are counted: the user's, or the key's where there is none."""
    return f"key:{caller.key_id}" if caller.user_id is None else f"user:{caller.user_id}"


def _refusal(standing: LimitStatus) -> Refusal:
    seconds = max(1, math.ceil(standing.reset_s))
    count, unit = standing.limit.split("/")
    message = (
        f"the limit of {count} an {unit}" if unit == "hour" else f"the limit of {count} a {unit}"
    )
    return Refusal(
        "rate_limited", f"{message} is reached; try again in {_spoken(seconds)}", seconds
    )


def _spoken(seconds: int) -> str:
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            number = math.ceil(seconds / size)
            return f"{number} {unit}{'s' if number != 1 else ''}"
    return "a moment"
