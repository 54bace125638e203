"""Step 6: what only the server may say is added, after everything else was judged."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.core.turn import Caller
from server.tools.policy.proposal import Judged, Refusal

SYSTEM_PARAMETERS = frozenset({"user_id"})
"""Names that no template may use for a parameter of a Python function."""


@dataclass(frozen=True, slots=True)
class SystemParameters:
    """`taken` says, for each template, which system parameters its function takes."""

    taken: Mapping[str, frozenset[str]]

    async def __call__(self, judged: Judged) -> Judged | Refusal:
        names = self.taken.get(judged.template.id)
        if not names:
            return judged
        caller = judged.proposal.caller
        if "user_id" in names and caller.user_id is None:
            return Refusal("auth_required", "this is only for users who are known by name")
        system = {name: value for name, value in _known(caller).items() if name in names}
        return Judged(judged.proposal, judged.template, judged.arguments, system)


def _known(caller: Caller) -> dict[str, str | None]:
    return {"user_id": caller.user_id}
