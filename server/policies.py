"""From an adapter's policy settings to the rule pack it detects with, and what is wrong."""

from collections.abc import Callable, Mapping
from datetime import datetime

from server.core.intent import Intent
from server.core.problems import Problem
from server.intents.detector import Detector
from server.intents.loading import load_pack
from server.intents.pack import Pack
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings
from server.settings.wording import instead
from server.tools.http.cage import Cage
from server.tools.policy.assembly import policy_problems


def read_policy(
    adapter: AdapterSettings, library: Library, settings: Settings, environ: Mapping[str, str]
) -> tuple[Pack | None, tuple[Problem, ...]]:
    """Return the adapter's rule pack, if it has one, and what is wrong with its policy."""
    policy = adapter.config.policy
    problems = policy_problems(
        library, settings.access.roles.names, policy.intent_tools, adapter.where
    )
    if mode_of(adapter, environ) == "llm_first":
        what = (
            "policy.mode is llm_first, and this version calls no model that could propose; "
            "write system_first"
        )
        problems.append(Problem(what, adapter.where, "model-missing"))
    if policy.intent_pack is None:
        if policy.intent_tools is not None:
            what = "intent_tools needs an intent_pack that detects the intents"
            problems.append(Problem(what, adapter.where, "intent-pack-missing"))
        return None, tuple(problems)
    loaded = load_pack(policy.intent_pack, environ)
    problems += loaded.problems
    if loaded.pack is not None:
        for intent in policy.intent_tools or ():
            if intent not in loaded.pack.intents:
                what = f"intent_tools: unknown intent {intent!r}; "
                what += instead(intent, list(loaded.pack.intents))
                problems.append(Problem(what, adapter.where, "unknown-intent"))
    return loaded.pack, tuple(problems)


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


def detect_with(pack: Pack) -> Callable[[str, datetime], Intent]:
    """What the pack makes of a question, as the chat asks for it."""
    detector = Detector(pack)
    return lambda text, now: detector.detect(text, now).intent
