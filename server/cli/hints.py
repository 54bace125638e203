"""Commands to paste, written the way this person runs Orbit."""

import json
import os
import shlex
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from server.settings.models import AdapterSettings

_SCRIPT: Final = "utils/scripts/generate-sample-api-keys.sh"


def command(*words: str) -> str:
    """An Orbit command, by the name it was called by."""
    return shlex.join([os.environ.get("ORBIT_COMMAND") or "orbit", *words])


def curl(url: str, key: str, question: str) -> str:
    """The line that asks a question over HTTP."""
    return (
        f"curl -X POST {url}/chat -H {_quoted(f'Authorization: Bearer {key}')} "
        f"-H {_quoted('Content-Type: application/json')} "
        f"-d {shlex.quote(json.dumps({'message': question}, ensure_ascii=False))}"
    )


def example_question(adapter: "AdapterSettings") -> str:
    """The first question that the adapter's own templates give as an example."""
    import yaml

    for pattern in adapter.config.template_library_path:
        for file in sorted(glob(str(pattern))):
            library = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
            for template in library.get("templates") or ():
                if template.get("nl_examples"):
                    return str(template["nl_examples"][0])
    return "What can you do?"


def sample_key_command(adapter: str, options: tuple[str, ...] = ()) -> str:
    """The command that makes the sample key of an adapter."""
    home = os.environ.get("ORBIT_HOME")
    if home and (Path(home) / _SCRIPT).exists():
        script = Path(os.environ.get("ORBIT_COMMAND", "")).parent.parent / _SCRIPT
        shown = script if script.exists() else Path(home) / _SCRIPT
        named = str(shown) if shown.is_absolute() else f"./{shown}"
        return shlex.join([named, "--adapter", adapter, *options])
    return command("keys", "sample", "--adapter", adapter, *options)


def _quoted(text: str) -> str:
    return (
        f'"{text}"' if text.isprintable() and not set(text) & set('"$`\\!') else shlex.quote(text)
    )
