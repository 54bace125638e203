"""The client costs its programs httpx, and nothing of what a server is made of."""

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ("anyio.from_thread", "chromadb", "fastapi", "jinja2", "numpy", "pydantic", "re2",
         "sqlalchemy", "starlette", "typer", "yaml")  # fmt: skip
ROOT = Path(__file__).parents[2]


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, json, server.client; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    modules = json.loads(found.stdout)
    assert "httpx" in modules
    assert [name for name in HEAVY if name in modules] == []
    own = {name.split(".")[1] for name in modules if name.startswith("server.")}
    assert own == {"client", "core", "errors"}
