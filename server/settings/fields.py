"""Kinds of values that settings share, and the base of every settings model."""

import re
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from server.errors import RequestInvalid
from server.settings.documented import Documented


def is_glob(path: Path) -> bool:
    return has_magic(str(path))


def expand(path: Path) -> list[Path]:
    """The files that a path or glob stands for, sorted; a path is itself if it is there."""
    if not is_glob(path):
        return [path] if path.exists() else []
    anchor = Path(path.anchor)
    return sorted(file for file in anchor.glob(str(path.relative_to(anchor))) if file.is_file())


_UNITS: Final = ("second", "minute", "hour", "day")
_LIMIT: Final = re.compile(r"([0-9]{1,9})\s*/\s*([a-zA-Z]+)")


def parse_limit(text: str) -> str:
    """Return a rate limit such as `60/minute` in its one spelling.

    Raises:
        RequestInvalid: not of that form, zero, or a unit that is not known.
    """
    found = _LIMIT.fullmatch(text.strip())
    unit = found[2].lower().removesuffix("s") if found else ""
    if found is None or unit not in _UNITS or int(found[1]) == 0:
        raise RequestInvalid(
            f"{text!r} is not a rate limit: write a count above 0 and one of "
            f"{', '.join(_UNITS)}, such as '60/minute'"
        )
    return f"{int(found[1])}/{unit}"


_LEAST_SECRET_BYTES: Final = 32
SECRET_DIGITS: Final = 64
"""What a secret of an installation is written with where Orbit makes it; one of somebody else's
may be any text."""
_HEXADECIMAL: Final = re.compile(rb"[0-9a-f]+")


def secret_problem(secret: bytes) -> str | None:
    """Return why this cannot be the secret of an installation, without a word of it."""
    if len(secret) < _LEAST_SECRET_BYTES:
        return f"it holds {len(secret)} bytes, and {_LEAST_SECRET_BYTES} is the least"
    if len(secret) < SECRET_DIGITS and _HEXADECIMAL.fullmatch(secret):
        return f"it holds {len(secret)} of {SECRET_DIGITS} hexadecimal digits"
    if not (secret.isascii() and secret.decode("ascii").isprintable()):
        return "it holds bytes that are no text, and so is damaged"
    return None


class Strict(Documented):
    """A part of the configuration: frozen, and refusing what it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class LibraryModel(Strict):
    """A part of what authors write.

    `not_used` are keys that authors have in files for other kinds of adapter. They are
    let through here and reported as a warning by who reads the part.
    """

    not_used: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_not_used(cls, data: Any) -> Any:
        if isinstance(data, dict) and not cls.not_used.isdisjoint(data):
            return {key: value for key, value in data.items() if key not in cls.not_used}
        return data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        documented = super().__get_pydantic_json_schema__(core_schema, handler)
        schema = handler.resolve_ref_schema(documented)
        unused = {"deprecated": True, "description": "Not used by this kind of adapter."}
        schema["properties"] |= dict.fromkeys(sorted(cls.not_used), unused)
        return schema


def _absolute_path(path: Path, info: ValidationInfo) -> Path:
    root: Path = (info.context or {}).get("root", Path())
    return (root / path.expanduser()).absolute()


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


RootedPath = Annotated[Path, AfterValidator(_absolute_path)]
"""A path, relative ones resolved against the folder that holds `config/`."""

_FILE_URL: Final = re.compile(r"(?P<scheme>(?:sqlite|duckdb)(?:\+\w+)?:///)(?P<path>[^/:].*)")


def _rooted_database(written: str, info: ValidationInfo) -> str:
    url = _FILE_URL.fullmatch(written.strip())
    if url is not None:
        return f"{url['scheme']}{_absolute_path(Path(url['path']), info)}"
    is_path = "://" not in written and written.strip()
    return str(_absolute_path(Path(written.strip()), info)) if is_path else written


RootedDatabase = Annotated[str, AfterValidator(_rooted_database)]
"""A database: a path, or a URL as SQLAlchemy's; relative paths start beside `config/`."""

OneOrMore = Annotated[
    tuple[str, ...], BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...])
]
"""One text, or a list of them."""

RootedPaths = Annotated[
    tuple[Annotated[Path, AfterValidator(_absolute_path)], ...],
    BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...]),
]
"""One path or a list; each may be a glob, which is expanded by who reads the files."""


def _check_name(value: str) -> str:
    if not NAME.fullmatch(value):
        what = "'{value}' cannot be a name here; use letters, digits, '.', '_' and '-'"
        raise PydanticCustomError("bad-name", what, {"value": value})
    return value


NAME: Final = re.compile(r"\w[\w.-]{0,99}")

Name = Annotated[str, AfterValidator(_check_name)]
"""A name that can stand in commands, URLs and file names."""

Seconds = Annotated[float, Field(gt=0, le=86_400)]


def _normalized_limits(value: Any) -> Any:
    """Limits as the server keeps them; a bare number counts calls an hour."""
    written = value if isinstance(value, list | tuple) else [value]
    limits = [f"{item}/hour" if type(item) is int else item for item in written]
    try:
        return tuple(parse_limit(limit) if isinstance(limit, str) else limit for limit in limits)
    except RequestInvalid as invalid:
        raise PydanticCustomError("bad-limit", "{why}", {"why": str(invalid)}) from None


_Limit = str | Annotated[int, Field(ge=1)]

RateLimits = Annotated[
    tuple[str, ...],
    BeforeValidator(_normalized_limits, json_schema_input_type=_Limit | tuple[_Limit, ...]),
]
"""Rate limits, each `COUNT/second`, `minute`, `hour` or `day`."""

Version = Annotated[
    str, Field(coerce_numbers_to_str=True), WithJsonSchema({"type": ["string", "number"]})
]
"""A version, which unquoted reads as a number."""
