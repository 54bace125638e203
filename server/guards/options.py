"""How an adapter is guarded: by the settings of all, its own, and the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from server.errors import ConfigurationInvalid, Location, Problem
from server.guards.pack import load_guards
from server.library.model import Library
from server.settings.adapters import AdapterGuards, AdapterSettings
from server.settings.models import GuardsSettings, Settings

T = TypeVar("T")

ENABLED: Final = "INTENT_ROUTER_ENABLED"
FAIL_CLOSED: Final = "INTENT_ROUTER_FAIL_CLOSED"
THRESHOLD: Final = "INTENT_ROUTER_SEMANTIC_THRESHOLD"

_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FALSE: Final = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """What holds for one adapter. `packs` is empty when nothing judges."""

    adapter: str
    packs: tuple[Path, ...] = ()
    compare: tuple[Path, ...] = ()
    fail_closed: bool = False
    threshold: float | None = None
    stage_timeout_s: float = 2.0
    shadow: bool = False
    preview_chars: int = 50


def options_of(
    adapter: AdapterSettings, settings: Settings, environ: Mapping[str, str]
) -> GuardOptions:
    """Return how an adapter is guarded, or raise `ConfigurationInvalid` for the environment."""
    problems: list[Problem] = []
    enabled = _truth(ENABLED, environ, problems)
    fail_closed = _truth(FAIL_CLOSED, environ, problems)
    threshold = _share(THRESHOLD, environ, problems)
    if problems:
        raise ConfigurationInvalid(problems)
    shared: GuardsSettings = settings.guards
    own: AdapterGuards = adapter.guards
    enabled = _first(enabled, own.enabled, shared.enabled)
    return GuardOptions(
        adapter=adapter.name,
        packs=tuple(dict.fromkeys((*shared.packs, *own.packs))) if enabled else (),
        compare=shared.compare if own.compare is None else own.compare,
        fail_closed=_first(fail_closed, own.fail_closed, shared.fail_closed) or False,
        threshold=_first(threshold, own.semantic_threshold, shared.semantic_threshold),
        stage_timeout_s=shared.stage_timeout_s,
        shadow=_first(own.shadow, shared.shadow) or False,
        preview_chars=settings.logging.question_preview_chars,
    )


def _first(*given: T | None) -> T | None:
    return next((value for value in given if value is not None), None)


def _truth(name: str, environ: Mapping[str, str], problems: list[Problem]) -> bool | None:
    written = environ.get(name, "").strip().lower()
    if not written:
        return None
    if written not in _TRUE | _FALSE:
        what = f"{name}: expected true or false, got {written!r}"
        problems.append(Problem(what, Location("environment"), "wrong-value"))
    return written in _TRUE


def _share(name: str, environ: Mapping[str, str], problems: list[Problem]) -> float | None:
    written = environ.get(name, "").strip()
    if not written:
        return None
    try:
        number = float(written)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        what = f"{name}: expected a number between 0 and 1, got {written!r}"
        problems.append(Problem(what, Location("environment"), "out-of-range"))
    return number


def guard_problems(
    adapter: AdapterSettings,
    library: Library | None,
    settings: Settings,
    environ: Mapping[str, str],
) -> list[Problem]:
    """Return what is wrong with an adapter's packs, variables and, given `library`, its routes."""
    try:
        options = options_of(adapter, settings, environ)
    except ConfigurationInvalid as invalid:
        return list(invalid.problems)
    problems: list[Problem] = []
    adapters = [other.name for other in settings.adapters if other.enabled]
    for paths in (options.packs, options.compare):
        loaded = load_guards(paths, environ)
        problems += loaded.problems
        for category in loaded.guards.categories if loaded.guards else ():
            route = category.route.to_dict() if category.route else {}
            known = {"adapter": adapters, "template": library.written if library else None}
            for kind, name in route.items():
                names = known[kind]
                if names is not None and name not in names:
                    what = f"guard category {category.name!r} leads to {kind} {name!r}"
                    what += ", which is not there"
                    problems.append(Problem(what, adapter.where, "unknown-route"))
    return problems
