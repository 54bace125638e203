"""The words of operators, aggregates and orders, by what the language files call them."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from server.core.suggestions import described_value, unknown
from server.errors import ArgumentsInvalid
from server.text.language import COMMON, load_language, shipped_languages

PhraseKind = Literal["operators", "aggregates", "orders"]


def phrases(kind: PhraseKind, names: Iterable[str]) -> dict[str, str]:
    """Each of `names` by itself and by what the language files call it."""
    languages = (load_language(COMMON), *shipped_languages())
    found: dict[str, str] = {}
    for name in names:
        found[name.replace("_", " ")] = name
        for language in languages:
            found |= dict.fromkeys(getattr(language, kind).get(name, ()), name)
    return found


def read_phrase(value: Any, known: Mapping[str, str], what: str, names: Iterable[str]) -> str:
    """The name, one of `names`, that a phrase among those `known` stands for.

    Raises:
        ArgumentsInvalid: it stands for none; the message lists the names.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{what} must be text, not {described_value(value)}")
    try:
        return known[" ".join(value[:60].casefold().replace("_", " ").split())]
    except KeyError:
        raise ArgumentsInvalid(unknown(what, value, names)) from None
