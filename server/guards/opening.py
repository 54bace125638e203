"""What has to be known of an adapter's guard before it can be opened."""

from collections.abc import Mapping

from server.core.problems import Problem
from server.errors import ConfigurationInvalid
from server.guards.loading import load_guards
from server.guards.options import GuardOptions, guard_options
from server.library.model import Library
from server.settings.adapters import AdapterSettings
from server.settings.models import Settings


def options_of(
    adapter: AdapterSettings, settings: Settings, environ: Mapping[str, str]
) -> GuardOptions:
    """How an adapter is guarded.

    Raises:
        ConfigurationInvalid: an environment variable holds what it cannot.
    """
    return guard_options(
        adapter.name,
        settings.guards,
        adapter.guards,
        environ,
        preview_chars=settings.logging.question_preview_chars,
    )


def guard_problems(
    adapter: AdapterSettings,
    library: Library | None,
    settings: Settings,
    environ: Mapping[str, str],
) -> list[Problem]:
    """What is wrong with the guard of an adapter: packs, variables, and where routes lead.

    Templates are not looked for when the library could not be read.
    """
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
            known = {"adapter": adapters, "template": library.templates if library else None}
            for kind, name in route.items():
                there = known[kind]
                if there is not None and name not in there:
                    what = (
                        f"guard category {category.name!r} leads to {kind} {name!r}, "
                        "which is not there"
                    )
                    problems.append(Problem(what, adapter.where, "unknown-route"))
    return problems
