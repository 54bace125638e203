"""Short names and dotted paths, to checked classes and functions.

`TABLES` is the whole list of short names. Anything else in configuration is a
dotted path, tried inside `server` first and then as an ordinary import, so that
`retrievers.implementations.intent.IntentAgentRetriever` names the class shipped here
and `mycompany.search.Retriever` one of an operator's own. Nothing that arrives over
HTTP ever reaches this module.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any, Final

from server.errors import PluginInvalid

TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "embedding provider": {
        "local": "server.providers.embeddings.local:LocalEmbedder",
        "ollama": "server.providers.embeddings.ollama:OllamaEmbedder",
        "openai": "server.providers.embeddings.openai:OpenAIEmbedder",
    },
    "chat provider": {
        "gemini": "server.providers.chat.gemini:GeminiChat",
        "llama_cpp": "server.providers.chat.llama_cpp:LlamaCppChat",
        "ollama": "server.providers.chat.ollama:OllamaChat",
        "openai": "server.providers.chat.openai:OpenAIChat",
        "scripted": "server.providers.chat.scripted:ScriptedChat",
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
    """Short names of one kind, sorted."""
    return tuple(sorted(TABLES.get(kind, {})))


def resolve(kind: str, name: str) -> Any:
    """Return the object that a short name or dotted path stands for.

    Raises:
        PluginInvalid: nothing of that name; the message says whether the module is
            missing, failed while importing, or has no such attribute.
    """
    path = TABLES.get(kind, {}).get(name, name)
    module_name, attribute = _split(kind, path)
    module = _import(kind, path, module_name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise PluginInvalid(
            f"{kind} {path!r}: module {module.__name__!r} has no {attribute!r}"
        ) from None


def _split(kind: str, path: str) -> tuple[str, str]:
    module, colon, attribute = path.partition(":")
    if not colon:
        module, _, attribute = path.rpartition(".")
    if not module or not attribute:
        choices = ", ".join(known(kind))
        hint = f" one of {choices}, or" if choices else ""
        raise PluginInvalid(f"{kind} {path!r} is unknown; write{hint} a dotted path to a class")
    return module, attribute


def _import(kind: str, path: str, module_name: str) -> Any:
    for candidate in (f"server.{module_name}", module_name):
        try:
            found = importlib.util.find_spec(candidate) is not None
        except (ModuleNotFoundError, ValueError):
            found = False
        if found:
            try:
                return importlib.import_module(candidate)
            except ImportError as broken:
                raise PluginInvalid(
                    f"{kind} {path!r}: module {candidate!r} failed while importing: {broken}"
                ) from broken
    raise PluginInvalid(f"{kind} {path!r}: there is no module {module_name!r}")
