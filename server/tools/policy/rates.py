"""Step 4: this user has not done it too often."""

import math
from dataclasses import dataclass

from server.access.limits import RateLimits, Standing
from server.core.turn import Caller
from server.tools.policy.proposal import Judged, Refusal


@dataclass(frozen=True, slots=True)
class RateAllows:
    """Looks, and does not count: what a later step refuses shall cost nothing."""

    limits: RateLimits
    adapter: str

    async def __call__(self, judged: Judged) -> Judged | Refusal:
        names = judged.template.policy.rate_limit
        if not names:
            return judged
        standing = await self.limits.peek(names, *self._who(judged))
        return judged if standing is None else _refusal(standing)

    async def count(self, judged: Judged) -> Refusal | None:
        """Count the call, which is about to run; refuse it where others were quicker."""
        names = judged.template.policy.rate_limit
        if not names:
            return None
        standing = await self.limits.take(names, *self._who(judged))
        return None if standing is None else _refusal(standing)

    def _who(self, judged: Judged) -> tuple[str, ...]:
        # One text, quoted: who a user is can then never run over into what is counted.
        caller = identity(judged.proposal.caller)
        return (f"tool/{self.adapter}/{judged.template.id}/{caller!r}",)


def identity(caller: Caller) -> str:
    """Under whose name calls are counted: the user's, or the key's where there is none."""
    return f"key:{caller.key_id}" if caller.user_id is None else f"user:{caller.user_id}"


def _refusal(standing: Standing) -> Refusal:
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
