"""Step 6: what only the server may say is added, after everything else was judged."""

from collections.abc import Callable, Mapping
from typing import Any

from server.core.turn import Caller
from server.tools.policy.proposal import Refusal

SYSTEM_PARAMETERS = frozenset({"user_id"})
"""Names that no template may use for a parameter of a Python function."""


SystemValues = Callable[[Caller], Mapping[str, Any] | Refusal]


def system_values(names: frozenset[str]) -> SystemValues | None:
    """What gives the system parameters of `names` their values; None where there are none."""
    if not names:
        return None

    def values(caller: Caller) -> Mapping[str, Any] | Refusal:
        if "user_id" in names and caller.user_id is None:
            return Refusal("auth_required", "this is only for users who are known by name")
        return {name: value for name, value in _known(caller).items() if name in names}

    return values


def _known(caller: Caller) -> dict[str, str | None]:
    return {"user_id": caller.user_id}
