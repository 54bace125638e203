"""Several processes on one new data folder: the server, and commands beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import asyncio, sys
from pathlib import Path
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey

async def main():
    folder = Path(sys.argv[1])
    store = await KeyStore.open(f"sqlite:///{folder}/orbit.db", folder / "secret")
    keys = [await store.create(NewKey("agent")) for _ in range(10)]
    await asyncio.gather(*(store.authenticate(raw) for raw, _ in keys))
    await store.close()
    store = await KeyStore.open(f"sqlite:///{folder}/orbit.db", folder / "secret")
    print(sum(record.last_used_at is not None for record in await store.list()) >= 10)
    await store.close()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main())
"""


def test_all_of_them_open_it_for_the_first_time_at_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "data")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outcomes = {process.communicate("go\n")[0] for process in processes}
    assert outcomes == {"True\n"}
