"""The C library's allocator, in a process that lives long."""

import ctypes
import os
from collections.abc import Mapping
from typing import Final

_MOST_ARENAS: Final = 2
_M_ARENA_MAX: Final = -8
"""The number of the option in glibc's `malloc.h`."""


def limit_arenas(environ: Mapping[str, str]) -> bool:
    """Keep glibc's arenas few, unless the environment says how many, and return whether they are.

    glibc gives each thread an arena of its own, up to eight for each core, and what is freed in
    one is of no use to the others: an adapter that is read again on other threads would take new
    memory for what the last one gave back. Call it before there are threads.
    """
    if "MALLOC_ARENA_MAX" in environ or "arena_max" in environ.get("GLIBC_TUNABLES", ""):
        return False
    try:
        is_glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, OSError, ValueError):  # another system, or another C library
        return False
    return is_glibc and bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _MOST_ARENAS))
