"""Kinds of values that settings share, and the base of every settings model."""

import re
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from server.core.limits import parse_limit
from server.errors import RequestInvalid


class Strict(BaseModel):
    """A part of the configuration: frozen, and refusing what it does not know."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


def _below_root(path: Path, info: ValidationInfo) -> Path:
    """An absolute path; a relative one starts at the folder given as `root`."""
    root: Path = (info.context or {}).get("root", Path())
    return (root / path.expanduser()).absolute()


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


RootedPath = Annotated[Path, AfterValidator(_below_root)]
"""A path, relative ones resolved against the folder that holds `config/`."""

OneOrMore = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""One text, or a list of them."""

RootedPaths = Annotated[
    tuple[Annotated[Path, AfterValidator(_below_root)], ...], BeforeValidator(_as_list)
]
"""One path or a list; each may be a glob, which is expanded by who reads the files."""


def _is_name(value: str) -> str:
    if not NAME.fullmatch(value):
        what = "'{value}' cannot be a name here; use letters, digits, '.', '_' and '-'"
        raise PydanticCustomError("bad-name", what, {"value": value})
    return value


NAME: Final = re.compile(r"\w[\w.-]{0,99}")

Name = Annotated[str, AfterValidator(_is_name)]
"""A name that can stand in commands, URLs and file names."""

Seconds = Annotated[float, Field(gt=0, le=86_400)]


def _in_one_spelling(value: Any) -> Any:
    """Limits as the server keeps them; a bare number counts calls an hour."""
    written = value if isinstance(value, list | tuple) else [value]
    limits = [f"{item}/hour" if type(item) is int else item for item in written]
    try:
        return tuple(parse_limit(limit) if isinstance(limit, str) else limit for limit in limits)
    except RequestInvalid as invalid:
        raise PydanticCustomError("bad-limit", "{why}", {"why": str(invalid)}) from None


RateLimits = Annotated[tuple[str, ...], BeforeValidator(_in_one_spelling)]
"""Rate limits, each `COUNT/second`, `minute`, `hour` or `day`."""
