"""What an adapter's policy settings mean, and what is wrong with them."""

from server.core.problems import Problem
from server.intents.pack import Pack
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings
from server.settings.wording import instead
from server.tools.http.cage import Cage
from server.tools.policy.assembly import policy_problems


def settings_problems(
    adapter: AdapterSettings,
    library: Library,
    pack: Pack | None,
    settings: Settings,
) -> list[Problem]:
    """What is wrong with an adapter's policy; `pack` is its rule pack, if that can be used."""
    policy = adapter.config.policy
    problems = list(
        policy_problems(library, settings.access.roles.names, policy.intent_tools, adapter.where)
    )
    if adapter.config.intents is None and policy.intent_tools is not None:
        what = "intent_tools needs a rule pack that detects the intents; name one with intents"
        problems.append(Problem(what, adapter.where, "intent-pack-missing"))
    if pack is not None:
        for intent in policy.intent_tools or ():
            if intent not in pack.intents:
                what = f"intent_tools: unknown intent {intent!r}; "
                what += instead(intent, list(pack.intents))
                problems.append(Problem(what, adapter.where, "unknown-intent"))
    return problems


def cage_of(adapter: AdapterSettings) -> Cage:
    """Where the adapter's calls over HTTP may go."""
    http = adapter.config.http
    return Cage(
        frozenset(host.lower() for host in http.allowed_hosts),
        frozenset(host.lower() for host in http.private_hosts),
    )
