"""What a process that asks one question has to open, which is what an author waits for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, threading
from server.cli.main import command_line
from server.providers.embeddings import local_models
load, loading = local_models._load, []
def noted(*wanted):
    loading.append((threading.current_thread().name, "server.adapters.local" in sys.modules))
    return load(*wanted)
local_models._load = noted
command_line("ask")(sys.argv[1:], standalone_mode=False)
heavy = {"chromadb", "alembic", "fastapi", "uvicorn", "pint", "holidays", "llama_cpp"}
print(sorted(heavy & sys.modules.keys()), loading)
"""


def test_a_question_opens_one_adapter_from_what_is_kept_of_it(tmp_path: Path) -> None:
    project = str(tmp_path / "shop")
    CliRunner().invoke(command_line("new"), ["new", project], catch_exceptions=False)
    shown = ""
    for _ in range(2):  # the first question computes the vectors and keeps them
        shown = subprocess.run(
            [sys.executable, "-c", PROGRAM, "ask", "take 25% off 40", project],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    # Loading begins in a thread of its own, before the rest is imported.
    assert shown.splitlines() == ["That is **30**", "[] [('encoder', False)]"]
