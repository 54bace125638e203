"""Expressions that authors write: RE2 patterns and Jinja."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import re2
from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from server.core.suggestions import did_you_mean, shortened

SANDBOX: Final = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
_LOADING: Final = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


@dataclass(frozen=True, slots=True)
class JinjaText:
    """What a Jinja text needs: `variables` are the names that it uses from outside.

    `problem` says why it can never be rendered, whatever its variables are.
    """

    problem: str | None = None
    variables: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def examine(text: str) -> JinjaText:
    """Parse a Jinja text without rendering it."""
    try:
        tree = SANDBOX.parse(text)
    except TemplateSyntaxError as wrong:
        line = f" in line {wrong.lineno} of the text" if "\n" in text.strip() else ""
        return JinjaText(f"{(wrong.message or 'cannot be read').rstrip('.')}{line}")
    except RecursionError:
        return JinjaText("is nested too deeply")
    except ValueError as wrong:  # a number of thousands of digits
        return JinjaText(str(wrong).partition(";")[0])
    used, own = set[str](), set[str]()
    for node in tree.find_all((nodes.Name, nodes.Filter, nodes.Test, *_LOADING)):
        if isinstance(node, nodes.Name):
            (used if node.ctx == "load" else own).add(node.name)
        elif isinstance(node, nodes.Filter | nodes.Test):
            is_filter = isinstance(node, nodes.Filter)
            known = SANDBOX.filters if is_filter else SANDBOX.tests
            if node.name not in known:
                kind = "filter" if is_filter else "test"
                hint = did_you_mean(node.name, sorted(known))
                return JinjaText(f"there is no {kind} {node.name!r}; {hint}")
        else:
            return JinjaText("include, import and extends have nothing to load from")
    return JinjaText(None, frozenset(used - own - SANDBOX.globals.keys() - {"loop"}))


_QUIET: Final = re2.Options()
_QUIET.log_errors = False

_HINTS: Final = (
    (("(?=", "(?!", "(?<=", "(?<!"), "RE2 has no lookaround; match more and put the value in ( )"),
    (("(?>",), "RE2 has no atomic groups, and needs none: it never backtracks"),
    (("++", "*+", "?+"), "RE2 has no possessive quantifiers, and needs none"),
    (("\\Z",), "write \\z for the end of the text"),
    (("\\u", "\\N"), "write \\x{05D0} for a character by its code"),
    (("(?P=", *(f"\\{n}" for n in range(1, 10))), "RE2 has no backreferences"),
)


def pattern_problem(pattern: str) -> str | None:
    """Return why `pattern` does not compile on RE2, with the place, or None if it does."""
    try:
        re2.compile(pattern, _QUIET)
    except re2.error as refused:
        said = refused.args[0] if refused.args else refused
        return _explanation(
            said.decode(errors="replace") if isinstance(said, bytes) else str(said), pattern
        )
    return None


def _explanation(said: str, pattern: str) -> str:
    reason, _, culprit = said.partition(": ")
    if culprit == "(?P" and "(?P=" in pattern:
        culprit = "(?P="  # RE2 names only the beginning, which a named group has as well
    hint = next((f"; {hint}" for starts, hint in _HINTS if culprit.startswith(starts)), "")
    if not culprit or (culprit == pattern and not hint):
        return reason
    return f"{reason} {shortened(culprit)} at character {pattern.find(culprit) + 1}{hint}"


def matches_nothing(pattern: str) -> bool:
    """Whether a pattern that compiles also matches the empty text."""
    return bool(re2.compile(pattern, _QUIET).fullmatch(""))
