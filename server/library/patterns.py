"""Whether an author's regular expression can be used, and if not, why."""

from typing import Final

import re2

_QUIET: Final = re2.Options()
_QUIET.log_errors = False

_HINTS: Final = (
    (("(?=", "(?!", "(?<=", "(?<!"), "RE2 has no lookaround; match more and put the value in ( )"),
    (("(?>",), "RE2 has no atomic groups, and needs none: it never backtracks"),
    (("++", "*+", "?+"), "RE2 has no possessive quantifiers, and needs none"),
    (("\\Z",), "write \\z for the end of the text"),
    (("\\u", "\\N"), "write \\x{05D0} for a character by its code"),
    (tuple(f"\\{n}" for n in range(1, 10)), "RE2 has no backreferences"),
)


def pattern_problem(pattern: str) -> str | None:
    """Return why `pattern` does not compile on RE2, with the place, or None if it does."""
    try:
        re2.compile(pattern, _QUIET)
    except re2.error as refused:
        said = refused.args[0] if refused.args else refused
        reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        culprit = reason.partition(": ")[2]
        column = pattern.find(culprit) + 1 if culprit else len(pattern)
        place = f" at character {column}" if column > 0 else ""
        hint = next((hint for starts, hint in _HINTS if culprit.startswith(starts)), "")
        return f"{reason}{place}" + (f"; {hint}" if hint else "")
    return None


def matches_nothing(pattern: str) -> bool:
    """Whether a pattern that compiles also matches the empty text."""
    return bool(re2.compile(pattern, _QUIET).fullmatch(""))
