"""Whether a server that runs would be the same if it were started now, but for its files."""

import os
import re
import sysconfig
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from server.workers import METRICS_VARIABLE

_PACKAGE: Final = Path(__file__).parents[1]
_OF_A_SESSION: Final = re.compile(
    r"_|PWD|OLDPWD|SHLVL|LINES|COLUMNS|LS_COLORS|PS1|HIST.*|TERM.*|COLORTERM|SSH_.*|XDG_.*|TMUX.*"
    r"|STY|WINDOW.*|DISPLAY|WAYLAND_.*|DBUS_.*|GPG_.*|VTE_.*|MAIL|LOGNAME|EDITOR|PAGER"
)
"""What a shell and its terminal set, which differs from one to the next."""
_OURS: Final = frozenset({"ORBIT_IN_BACKGROUND", "ORBIT_COMMAND", METRICS_VARIABLE})


def code_token() -> str:
    """Return what changes with the code of the server, and with what is installed beside it."""
    digest = sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        found = path.stat()
        digest.update(f"{path}:{found.st_mtime_ns}:{found.st_size}\n".encode())
    digest.update(str(Path(sysconfig.get_path("purelib")).stat().st_mtime_ns).encode())
    return digest.hexdigest()


def changed_variables(pid: int, environ: Mapping[str, str] = os.environ) -> list[str] | None:
    """Return the environment variables that a process was started with otherwise.

    Those of a shell's session are left out. None where that cannot be told.
    """
    try:
        raw = (Path("/proc") / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    pairs = (os.fsdecode(each).partition("=") for each in raw.split(b"\0") if each)
    before = {name: value for name, _, value in pairs}
    return sorted(
        name
        for name in before.keys() | environ.keys()
        if before.get(name) != environ.get(name)
        and name not in _OURS
        and not _OF_A_SESSION.fullmatch(name)
    )
