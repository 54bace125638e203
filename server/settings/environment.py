"""The variables that placeholders see: the process's own, and a `.env` file's below them."""

from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import parse_stream

from server.core.problems import Location, Problem
from server.settings.source import shown


def with_env_file(
    path: Path, environ: Mapping[str, str]
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Return `environ` on top of what the file at `path` sets, if there is one.

    Values of the file are taken as written: `${NAME}` inside them means nothing.
    """
    try:
        stream = path.open(encoding="utf-8-sig")
    except FileNotFoundError:
        return environ, ()
    except OSError as unreadable:
        why = f"cannot be read: {unreadable.strerror}"
        return environ, (Problem(why, Location(shown(path)), "unreadable"),)
    problems, found = [], {}
    with stream:
        try:
            bindings = list(parse_stream(stream))
        except UnicodeDecodeError:
            return environ, (Problem("is not UTF-8 text", Location(shown(path)), "not-utf8"),)
    for binding in bindings:
        if binding.error or (binding.key is not None and binding.value is None):
            # What stands there instead may well be a secret, so it is not shown.
            where = Location(shown(path), binding.original.line)
            problems.append(Problem("expected NAME=value", where, "bad-env-file"))
        elif binding.key is not None:
            found[binding.key] = binding.value or ""
    return {**found, **environ}, tuple(problems)
