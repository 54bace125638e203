"""Whether an author's regular expression can be used, and if not, why."""

from typing import Final

import re2

from server.settings.wording import shortened

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
        return _explained(
            said.decode(errors="replace") if isinstance(said, bytes) else str(said), pattern
        )
    return None


def _explained(said: str, pattern: str) -> str:
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
