"""`${NAME}` and `${NAME:-default}` in text, filled from the environment.

A default may hold placeholders itself: `${HERE:-${THERE:-nowhere}}`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_MAX_DEPTH: Final = 3


def _default(depth: int) -> str:
    """The pattern of a default that holds placeholders, and they theirs, so many deep."""
    plain = r"[^}$]|\$(?!\{)"
    if depth == 0:
        return f"(?:{plain})*"
    return rf"(?:{plain}|\$\{{{_NAME}(?::-{_default(depth - 1)})?\}})*"


_PLACEHOLDER: Final = re.compile(
    r"(?P<escaped>\$\$\{)"
    rf"|\$\{{(?P<name>{_NAME})(?::-(?P<default>{_default(_MAX_DEPTH)}))?\}}"
    # `${{ price }}` is a dollar sign before a Jinja expression, not a placeholder.
    r"|(?P<malformed>\$\{(?!\{))"
)


@dataclass(frozen=True, slots=True)
class Gap:
    """A placeholder that could not be filled: `token` as it stands in the file, and why."""

    token: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class FilledText:
    """Text with its placeholders filled.

    `from_environment` are the values that were put in, and `gaps` what could not be
    filled; such a placeholder stays in `text` as it was written.
    """

    text: str
    from_environment: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def fill_placeholders(text: str, environ: Mapping[str, str]) -> FilledText:
    """Fill every placeholder in `text`; `$${` stands for a literal `${`."""
    if "${" not in text:
        return FilledText(text)
    used: list[str] = []
    gaps: list[Gap] = []

    def replacement(found: re.Match[str]) -> str:
        token = found.group()
        if found["escaped"]:
            return "${"
        if found["malformed"]:
            why = "'${' is not followed by a NAME and '}'; write '$${' for the characters '${'"
            gaps.append(Gap(token, "bad-placeholder", why))
            return token
        value, default = environ.get(found["name"], ""), found["default"]
        if value:
            used.append(value)
            return value
        if default is not None:
            inner = fill_placeholders(default, environ)
            used.extend(inner.from_environment)
            gaps.extend(inner.gaps)
            return inner.text
        state = "is set but empty" if found["name"] in environ else "is not set"
        why = (
            f"environment variable {found['name']} {state}; "
            f"set it, or write ${{{found['name']}:-default}}"
        )
        gaps.append(Gap(token, "missing-variable", why))
        return token

    return FilledText(_PLACEHOLDER.sub(replacement, text), tuple(used), tuple(gaps))
