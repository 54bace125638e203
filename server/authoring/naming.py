"""Names of APIs to names of libraries, and to words that people use."""

import re
from collections.abc import Container
from typing import Final

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER: Final = re.compile(r"[^0-9A-Za-z]+")
_RESERVED: Final = {
    *("and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "null"),
    *("operation", "input", "service", "status_code", "count", "total", "complete"),
    *("items", "result", "arguments"),
}
_FILLERS: Final = {
    *("api", "apis", "rest", "http", "documentation", "docs", "reference", "specification", "the")
}


def identifier(name: str) -> str:
    """Return `petId`, `filter[pet-id]` and `X-Pet-ID` as `pet_id`, `filter_pet_id`, `x_pet_id`.

    Names that a template's text already gives another meaning get `_value` behind them.
    """
    found = _OTHER.sub("_", _CAMEL.sub("_", name)).strip("_").lower() or "value"
    if found[0].isdigit():
        found = f"n{found}"
    return f"{found}_value" if found in _RESERVED else found


def words(name: str) -> str:
    """Return `findPetsByStatus` as `find pets by status`."""
    return identifier(name).removesuffix("_value").replace("_", " ")


def unique(name: str, taken: Container[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def first_sentence(text: str, *, max_chars: int = 160) -> str:
    """Return the first sentence of a description, on one line, without markup."""
    plain = re.sub(r"<[^>]*>|[`*_#>]|\[([^\]]*)\]\([^)]*\)", r"\1", text)
    line = " ".join(plain.split())
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].rstrip(".")
    return sentence if len(sentence) <= max_chars else f"{sentence[: max_chars - 1]}…"


def short_name(title: str, host: str) -> str:
    """Return an API's title without the words that every API has, or the name of its host."""
    plain = identifier(re.sub(r"['’]s\b", "", title))
    kept = [part for part in plain.split("_") if part not in _FILLERS]
    if not kept:
        labels = [part for part in host.split(":")[0].split(".") if part not in ("www", "api")]
        kept = [identifier(labels[0])] if labels and labels[0] else ["service"]
    return "_".join(kept[:3])
