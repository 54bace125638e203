"""What an adapter's policy settings mean, and what is wrong with them."""

from collections.abc import Mapping

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
    environ: Mapping[str, str],
) -> list[Problem]:
    """What is wrong with an adapter's policy; `pack` is its rule pack, if that can be used."""
    policy = adapter.config.policy
    problems = list(
        policy_problems(library, settings.access.roles.names, policy.intent_tools, adapter.where)
    )
    if mode_of(adapter, environ) == "llm_first":
        what = (
            "policy.mode is llm_first, and this version calls no model that could propose; "
            "write system_first"
        )
        problems.append(Problem(what, adapter.where, "model-missing"))
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


def mode_of(adapter: AdapterSettings, environ: Mapping[str, str]) -> str:
    """Who proposes calls: as the adapter says, else by `SYSTEM_FIRST_ARCHITECTURE`."""
    if adapter.config.policy.mode is not None:
        return adapter.config.policy.mode
    asked = environ.get("SYSTEM_FIRST_ARCHITECTURE", "true").strip().lower()
    return "llm_first" if asked in {"false", "0", "no", "off"} else "system_first"


def cage_of(adapter: AdapterSettings) -> Cage:
    """Where the adapter's calls over HTTP may go."""
    http = adapter.config.http
    return Cage(
        frozenset(host.lower() for host in http.allowed_hosts),
        frozenset(host.lower() for host in http.private_hosts),
    )
