"""Rate limits of keys and adapters, at the edge, and the headers that tell of them."""

import math
from collections.abc import Sequence

from fastapi import Request

from server.access.rate_limits import LimitStatus, RateLimits
from server.core.turn import Caller
from server.errors import RateLimited


async def count_request(
    request: Request, limits: RateLimits, caller: Caller, adapter_limits: Sequence[str]
) -> None:
    """Count a request against its key and its adapter, and leave the headers for the answer.

    Raises:
        RateLimited: one of the limits is reached; nothing was counted.
        StoreUnavailable: the counts cannot be reached.
    """
    key = ("key", caller.key_id)
    adapter = ("adapter", caller.adapter)
    refused = await limits.peek(adapter_limits, *adapter) or await limits.take(caller.limits, *key)
    whose = "key"
    if refused is None:
        refused = await limits.take(adapter_limits, *adapter)
        whose = "adapter"
    elif refused.limit not in caller.limits:
        whose = "adapter"
    if caller.limits:
        standings = await limits.standings(caller.limits, *key)
        request.state.rate_headers = rate_headers(standings)
    if refused is not None:
        seconds = max(1, math.ceil(refused.reset_s))
        raise RateLimited(
            f"the limit of this {whose}, {refused.limit}, is reached; try again in {seconds} s",
            retry_after_s=seconds,
        )


def rate_headers(standings: Sequence[LimitStatus]) -> list[tuple[bytes, bytes]]:
    """`RateLimit` and `RateLimit-Policy` for all limits, the older three for the tightest."""
    tightest = min(standings, key=lambda standing: (standing.remaining, -standing.reset_s))
    policy = ", ".join(f'"{s.limit}";q={s.count};w={s.window_s}' for s in standings)
    left = ", ".join(
        f'"{s.limit}";r={max(0, s.remaining)};t={math.ceil(s.reset_s)}' for s in standings
    )
    headers = {
        "ratelimit-policy": policy,
        "ratelimit": left,
        "ratelimit-limit": str(tightest.count),
        "ratelimit-remaining": str(max(0, tightest.remaining)),
        "ratelimit-reset": str(math.ceil(tightest.reset_s)),
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]
