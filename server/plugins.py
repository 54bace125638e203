"""Short names and dotted paths, to the objects that they stand for.

`TABLES` is the whole list of short names. Anything else in configuration is a
dotted path, tried inside `server` first and then as an ordinary import, so that
`retrievers.implementations.intent.IntentAgentRetriever` names the class shipped here
and `mycompany.search.Retriever` one of an operator's own. Nothing that arrives over
HTTP ever reaches this module.
"""

import importlib
from operator import attrgetter
from typing import Any, Final

from server.errors import PluginInvalid


def _table(path: str, *names: str) -> dict[str, str]:
    return {name: path.format(name) for name in names}


TABLES: Final[dict[str, dict[str, str]]] = {
    "embedding provider": _table(
        "server.providers.embeddings.{}:PROVIDER", "local", "ollama", "openai"
    ),
    "chat provider": _table(
        "server.providers.chat.{}:PROVIDER", "ollama", "openai", "gemini", "llama_cpp", "scripted"
    ),
    "retriever": _table(
        "server.retrievers.implementations.intent:{}",
        *("IntentAgentRetriever", "IntentHTTPRetriever", "IntentPackRetriever"),
        *("IntentSQLRetriever", "IntentSQLiteRetriever", "IntentPostgreSQLRetriever"),
        "IntentDuckDBRetriever",
        "IntentCompositeRetriever",
    ),
    "tool": {
        "calculator": "server.tools.builtin.calculator:Calculator",
        "date_time": "server.tools.builtin.date_time:DateTime",
        "json_transform": "server.tools.builtin.json_transform:JsonTransform",
    },
    "normalizer": _table(
        "server.extraction.patterns:{}",
        *("remove_commas", "to_int", "to_float", "parse_date", "lower", "upper", "strip"),
    ),
}


def known(kind: str) -> tuple[str, ...]:
    return tuple(sorted(TABLES[kind]))


def resolve(kind: str, name: str) -> Any:
    """Return the object that a short name or dotted path stands for.

    Raises:
        PluginInvalid: nothing of that name; the message says whether the module is
            missing, failed while importing, or has no such attribute.
    """
    path = TABLES[kind].get(name, name)
    module_name, _, attribute = path.partition(":") if ":" in path else path.rpartition(".")
    if not attribute or not module_name or module_name.startswith("."):
        hint = f"write one of {', '.join(known(kind))}, or a dotted path to a class"
        raise PluginInvalid(f"{kind} {path!r} is unknown; {hint}")
    for candidate in (f"server.{module_name}", module_name):
        try:
            module = importlib.import_module(candidate)
        except ImportError as failed:
            absent = isinstance(failed, ModuleNotFoundError) and failed.name
            # The module itself, or a package above it, may be what could not be found.
            if not (absent and f"{candidate}.".startswith(f"{absent}.")):
                why = f"module {candidate!r} failed while importing: {failed}"
                raise PluginInvalid(f"{kind} {path!r}: {why}") from failed
            continue
        try:
            return attrgetter(attribute)(module)
        except AttributeError:
            why = f"module {candidate!r} has no {attribute!r}"
            raise PluginInvalid(f"{kind} {path!r}: {why}") from None
    raise PluginInvalid(f"{kind} {path!r}: there is no module {module_name!r}")
