"""Small configurations, written to disk and read as any other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from server.cli.options import Configured
from server.settings.loader import load_settings

DOMAIN: dict[str, Any] = {"domain": {"name": "sums", "description": "Sums", "version": "1.0"}}

PERCENTAGE: dict[str, Any] = {
    "id": "calculate_percentage",
    "description": "Calculate a percentage of a given value",
    "tool_type": "function",
    "nl_examples": ["What is 15% of 200?", "Calculate 20 percent of 500", "Find 10% of 1000"],
    "tool_name": "calculator",
    "tool_operation": "percentage",
    "parameters": [
        {"name": "value", "type": "number", "description": "The base value", "required": True},
        {"name": "percentage", "type": "percentage", "description": "The part", "required": True},
    ],
    "response_template": "{{ percentage }}% of {{ value }} is **{{ result }}**",
}

NOW: dict[str, Any] = {
    "id": "current_time",
    "description": "Tell the current date and time",
    "tool_type": "function",
    "nl_examples": ["What time is it?", "What's today's date?", "current time please"],
    "tool_name": "date_time",
    "tool_operation": "now",
}


def write_library(
    folder: Path, templates: Sequence[Any] = (PERCENTAGE, NOW), domain: Any = None
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "domain.yaml").write_text(yaml.safe_dump(domain or DOMAIN))
    (folder / "tools.yaml").write_text(yaml.safe_dump({"templates": list(templates)}))
    return folder


def adapter(name: str, library: Path, **more: Any) -> dict[str, Any]:
    config = {
        "domain_config_path": str(library / "domain.yaml"),
        "template_library_path": str(library / "tools.yaml"),
        **more.pop("config", {}),
    }
    return {"name": name, "config": config, **more}


def configure(folder: Path, adapters: Sequence[Any], **sections: Any) -> Configured:
    """A configuration in `folder`, its data in `folder/data`."""
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({**sections, "adapters": list(adapters)}))
    loaded = load_settings(path, {})
    assert loaded.settings is not None, loaded.problems
    return Configured(loaded.settings, loaded.environ)
