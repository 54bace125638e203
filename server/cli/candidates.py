"""What may be typed for an option, read from the configuration that the line names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from server.settings.adapters import AdapterSettings


def adapter_names(line: dict[str, Any]) -> Iterator[str]:
    """The adapters of the configuration; `line` has the values of the options before."""
    return (adapter.name for adapter in _adapters(line))


def template_ids(line: dict[str, Any]) -> Iterator[str]:
    """The templates of the adapter that is named, or of all."""
    from server.settings.documents import read_yaml
    from server.settings.fields import expand

    for adapter in _adapters(line):
        if line.get("adapter") not in (None, adapter.name):
            continue
        for path in (
            file for each in adapter.config.template_library_path for file in expand(each)
        ):
            data = read_yaml(path, {}, top=(dict, list)).data
            entries = data.get("templates") if isinstance(data, dict) else data
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                    yield entry["id"]


def _adapters(line: dict[str, Any]) -> Iterator["AdapterSettings"]:
    from server.cli.options import DEFAULT_CONFIG, chosen_config
    from server.settings.loader import load_settings

    place = line.get("place") or line.get("config") or DEFAULT_CONFIG
    loaded = load_settings(chosen_config(Path(place)), os.environ)
    yield from loaded.settings.adapters if loaded.settings is not None else ()
