"""JSON schemas as grammars that a model in this process cannot leave."""

import json
from collections.abc import Mapping
from typing import Any, Final

_LOOSE: Final = frozenset({"pattern", "format", "default", "description", "title", "examples"})
"""Keys that make no grammar, or one that may not hold; the reply is checked against them."""

_BOUNDS: Final = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
)
_LARGEST: Final = 64
"""A bound beyond this makes a grammar that takes longer than the reply."""


def grammar_of(schema: Mapping[str, Any]) -> Any:
    """A grammar for `schema`, or for any JSON object where it is beyond grammars."""
    from llama_cpp.llama_grammar import LlamaGrammar

    try:
        return LlamaGrammar.from_json_schema(json.dumps(_grammatical(schema)), verbose=False)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        return LlamaGrammar.from_json_schema('{"type": "object"}', verbose=False)


def _grammatical(schema: Any, *, names: bool = False) -> Any:
    """The schema without what grammars cannot hold; with `names`, keys are properties."""
    if isinstance(schema, list | tuple):
        return [_grammatical(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, part in schema.items():
        if not names and key in {"enum", "const", "required"}:
            kept[key] = part  # data, not schemas
        elif not names and (key in _LOOSE or (key in _BOUNDS and part > _LARGEST)):
            continue
        else:
            in_it = not names and key in {"properties", "$defs", "definitions"}
            kept[key] = _grammatical(part, names=in_it)
    if not names and (kept.get("type") == "object" or "properties" in kept):
        kept.setdefault("additionalProperties", False)
    return kept
