"""Texts with placeholders: `{{ location }}` and `{location}` mean the same.

A text is cut into literal parts and slots once, when the library is loaded. Filling
it later encodes each slot's value for the place where the text stands, and leaves
the author's own words as they are.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from jinja2 import TemplateError, UndefinedError, meta

from server.library.caller import CALLER, CALLER_FIELDS, CallerUnknown, caller_arguments
from server.library.expressions import SANDBOX

_MARK: Final = re.compile(
    r"\{\{-?(?P<expression>.*?)-?\}\}|(?P<statement>\{[%#].*?[%#]\})|\{(?P<name>[A-Za-z_]\w*|caller\.\w+)\}",
    re.DOTALL,
)
_STRING_OR_MARK: Final = re.compile(
    rf'(?P<string>"(?:[^"\\]|\\.)*(?:"|\\?\Z))|{_MARK.pattern}', re.DOTALL
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_TO_JSON: Final = re.compile(r"\|\s*tojson\s*$")


class PlaceholderInvalid(ValueError):
    """A placeholder cannot be read; the message says why."""


class ExpressionFailed(ValueError):
    """A placeholder's expression cannot be computed for these arguments."""


class NoValue:
    """Stands for an argument that has no value."""


NO_VALUE: Final = NoValue()


@dataclass(frozen=True, slots=True)
class Slot:
    """One placeholder: an argument's name, or an expression over arguments."""

    expression: str
    names: frozenset[str]
    _compute: Callable[..., Any] | None = field(default=None, repr=False, compare=False)

    def value(self, arguments: Mapping[str, Any]) -> Any:
        """Return what stands here for these arguments, or `NO_VALUE`.

        Raises:
            ExpressionFailed: the expression cannot be computed.
        """
        if self._compute is None:
            value = arguments.get(self.expression)
        else:
            asked = {name: arguments.get(key) for name, key in CALLER_FIELDS.items()}
            try:
                value = self._compute(**{**arguments, CALLER: asked})
            except UndefinedError:
                value = None
            except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise ExpressionFailed(f"{{{{ {self.expression} }}}}: {error}") from error
        return NO_VALUE if value is None else value


@dataclass(frozen=True, slots=True)
class PlaceholderText:
    """A text cut at its placeholders."""

    source: str
    parts: tuple[str | Slot, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(p.names for p in self.parts if isinstance(p, Slot)))

    @property
    def only_slot(self) -> Slot | None:
        if len(self.parts) == 1 and isinstance(self.parts[0], Slot):
            return self.parts[0]
        return None

    def fill(
        self,
        arguments: Mapping[str, Any],
        encode: Callable[[Any], str],
        encode_literal: Callable[[str], str] = str,
    ) -> str | None:
        """Return the text with every slot filled, or None when an argument has no value."""
        filled = []
        for part in self.parts:
            if isinstance(part, str):
                filled.append(encode_literal(part))
                continue
            value = part.value(arguments)
            if value is NO_VALUE:
                return None
            filled.append(encode(value))
        return "".join(filled)


@lru_cache(maxsize=4096)
def parse_text(source: str) -> PlaceholderText:
    """Cut a text at its placeholders.

    Raises:
        PlaceholderInvalid: an expression that is not Jinja, or a Jinja statement.
    """
    parts: list[str | Slot] = []
    end = 0
    for mark in _MARK.finditer(source):
        if mark["statement"]:
            raise PlaceholderInvalid(
                f"{mark['statement']} is a statement; only {{{{ expressions }}}} can stand here"
            )
        if mark.start() > end:
            parts.append(source[end : mark.start()])
        parts.append(_slot(mark["name"] or mark["expression"]))
        end = mark.end()
    if end < len(source):
        parts.append(source[end:])
    return PlaceholderText(source, tuple(parts))


def parse_json_text(source: str) -> Any:
    """Read JSON text whose placeholders may stand in strings or bare, as values.

    Returns the JSON value with each string that holds a placeholder as `PlaceholderText`.
    A bare `{{ n }}` and the string `"{{ n }}"` mean the same: the value itself.

    Raises:
        PlaceholderInvalid: not JSON, or a placeholder that cannot be read.
    """
    try:
        data = json.loads(_quote_bare(source))
    except ValueError as error:
        raise PlaceholderInvalid(f"not JSON: {error}") from None
    return to_texts(data)


def to_texts(value: Any) -> Any:
    """Return a JSON-like value with each string that holds a placeholder as `PlaceholderText`."""
    if isinstance(value, str):
        text = parse_text(value)
        return text if text.names or text.only_slot else value
    if isinstance(value, Mapping):
        return {str(key): to_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_texts(item) for item in value]
    return value


def _slot(expression: str) -> Slot:
    expression = _TO_JSON.sub("", expression.strip()).strip()
    if _NAME.fullmatch(expression) and expression not in ("true", "false", "none", CALLER):
        return Slot(expression, frozenset((expression,)))
    if not expression:
        raise PlaceholderInvalid("an empty placeholder {{ }}")
    try:
        tree = SANDBOX.parse("{{ " + expression + " }}")
        compute = SANDBOX.compile_expression(expression, undefined_to_none=True)
    except TemplateError as error:
        raise PlaceholderInvalid(f"{{{{ {expression} }}}}: {error}") from None
    names = meta.find_undeclared_variables(tree) - SANDBOX.globals.keys()
    try:
        names = (names - {CALLER}) | caller_arguments(tree)
    except CallerUnknown as unknown:
        raise PlaceholderInvalid(f"{{{{ {expression} }}}}: {unknown}") from None
    return Slot(expression, frozenset(names), compute)


def _quote_bare(source: str) -> str:
    """Put quotes around placeholders that stand outside of JSON strings."""
    return _STRING_OR_MARK.sub(
        lambda found: found.group() if found["string"] else json.dumps(found.group()), source
    )
