"""How this Orbit was installed: what its command is called, how extras come, what it ships.

`bin/orbit.sh` names itself in ORBIT_COMMAND; without it, this is the command `orbit` of an
installed package. Every hint that names a command asks here.
"""

import errno
import os
import shlex
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
EXAMPLE_CONFIG: Final = PACKAGE / "example" / "config" / "config.yaml"
"""The project that is asked where there is no other."""


def command(*words: str) -> str:
    """Return an Orbit command to paste, by the name that Orbit was called by."""
    return shlex.join([os.environ.get("ORBIT_COMMAND") or "orbit", *words])


def program_name() -> str:
    """Return what usages call it: `orbit`, or the name of the script."""
    return Path(os.environ.get("ORBIT_COMMAND") or "orbit").name


def install_command(extra: str) -> str:
    """Return the command that installs an extra where this Orbit is installed."""
    if os.environ.get("ORBIT_COMMAND"):
        return command("install", extra)
    return shlex.join(["pip", "install", f"orbit-server[{extra}]"])


def is_shipped(path: Path) -> bool:
    """Return whether a file came with the package, so that the next version replaces it."""
    return path.resolve().is_relative_to(PACKAGE.resolve()) or path.absolute().is_relative_to(
        PACKAGE
    )


def refuse_shipped(path: Path) -> None:
    """Raise OSError for a file that came with the package."""
    if is_shipped(path):
        why = f"it ships with Orbit; for a project of your own: {command('new', 'DIR')}"
        raise OSError(errno.EROFS, why, str(path))


def example_data_dir() -> Path:
    """Return where the shipped example keeps its data: the user's folder for such things."""
    home = os.environ.get("XDG_DATA_HOME", "")
    # Relative ones are to be ignored, as the specification of base directories says.
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "share") / "orbit"
