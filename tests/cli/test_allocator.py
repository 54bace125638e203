"""How many arenas the C library's allocator uses is limited, unless the environment says it."""

import platform
import subprocess
import sys
from collections.abc import Mapping

import pytest

PROGRAM = """
import os, threading
from server.cli.allocator import limit_arenas
limited = limit_arenas(os.environ)
gate = threading.Barrier(9)

def hold():
    kept = [bytes(5000) for _ in range(100)]
    gate.wait()

threads = [threading.Thread(target=hold) for _ in range(8)]
[thread.start() for thread in threads]
gate.wait()
import ctypes
print(limited, flush=True)
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize(
    ("environ", "limited", "arenas"),
    [({}, "True", 2), ({"MALLOC_ARENA_MAX": "4"}, "False", 4)],
)
def test_arenas_are_few(environ: Mapping[str, str], limited: str, arenas: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=dict(environ), capture_output=True, text=True
    )
    assert run.stdout.split() == [limited], run.stderr
    assert run.stderr.count("Arena ") == arenas
