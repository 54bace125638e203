"""Whether a process is still the one it was: a pid alone is handed on to others."""

import os
import subprocess
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat, counted from behind the name
_DEAD: Final = "ZX"


def process_token(pid: int) -> str | None:
    """What tells this process from every other that has or will have its pid.

    None when there is no such process, or only what is left of one that ended.
    """
    if (_PROC / "self" / "stat").exists():
        return _from_proc(pid)
    return _from_ps(pid)


def _from_proc(pid: int) -> str | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in parentheses and may hold anything, spaces and parentheses too.
    fields = stat.rpartition(")")[2].split()
    if fields[_STATE] in _DEAD:
        return None
    return f"{boot}:{fields[_STARTED]}"


def _from_ps(pid: int) -> str | None:
    shown = subprocess.run(  # noqa: S603  a number is all that varies
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],  # noqa: S607  where ps is differs
        capture_output=True,
        text=True,
        env=os.environ | {"LC_ALL": "C"},
        check=False,
    )
    state, _, started = shown.stdout.strip().partition(" ")
    if not started or state[0] in _DEAD:
        return None
    return started.strip()
