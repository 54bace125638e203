"""Short names and dotted paths, to the objects that they stand for.

`TABLES` is the whole list of short names. Anything else in configuration is a
dotted path, tried inside `server` first and then as an ordinary import, so that
`retrievers.implementations.intent.IntentAgentRetriever` names the class shipped here
and `mycompany.search.Retriever` one of an operator's own. Nothing that arrives over
HTTP ever reaches this module.
"""

import importlib
from typing import Any, Final

from server.errors import PluginInvalid

TABLES: Final[dict[str, dict[str, str]]] = {
    "embedding provider": {
        "local": "server.providers.embeddings.local:PROVIDER",
        "ollama": "server.providers.embeddings.ollama:PROVIDER",
        "openai": "server.providers.embeddings.openai:PROVIDER",
    },
    "chat provider": {
        "ollama": "server.providers.chat.ollama:PROVIDER",
        "openai": "server.providers.chat.openai:PROVIDER",
        "gemini": "server.providers.chat.gemini:PROVIDER",
        "llama_cpp": "server.providers.chat.llama_cpp:PROVIDER",
        "scripted": "server.providers.chat.scripted:PROVIDER",
    },
    "retriever": {
        "IntentAgentRetriever": "server.retrievers.implementations.intent:IntentAgentRetriever",
        "IntentHTTPRetriever": "server.retrievers.implementations.intent:IntentHTTPRetriever",
        "IntentPackRetriever": "server.retrievers.implementations.intent:IntentPackRetriever",
    },
    "tool": {
        "calculator": "server.tools.builtin.calculator:Calculator",
        "date_time": "server.tools.builtin.date_time:DateTime",
        "json_transform": "server.tools.builtin.json_transform:JsonTransform",
    },
    "normalizer": {
        "remove_commas": "server.extraction.patterns:remove_commas",
        "to_int": "server.extraction.patterns:to_int",
        "to_float": "server.extraction.patterns:to_float",
        "parse_date": "server.extraction.patterns:parse_date",
        "lower": "server.extraction.patterns:lower",
        "upper": "server.extraction.patterns:upper",
        "strip": "server.extraction.patterns:strip",
    },
}


def known(kind: str) -> tuple[str, ...]:
    """Return the short names of one kind, sorted."""
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
            if not _is_absent(failed, candidate):
                why = f"module {candidate!r} failed while importing: {failed}"
                raise PluginInvalid(f"{kind} {path!r}: {why}") from failed
            continue
        try:
            return getattr(module, attribute)
        except AttributeError:
            why = f"module {candidate!r} has no {attribute!r}"
            raise PluginInvalid(f"{kind} {path!r}: {why}") from None
    raise PluginInvalid(f"{kind} {path!r}: there is no module {module_name!r}")


def _is_absent(failed: ImportError, module: str) -> bool:
    """Return whether `module` itself, or a package above it, is what could not be found."""
    return (
        isinstance(failed, ModuleNotFoundError)
        and failed.name is not None
        and f"{module}.".startswith(f"{failed.name}.")
    )
