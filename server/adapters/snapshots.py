"""The files of each library as they were when they last made an adapter, kept in the data folder.

They stand in for files that cannot be read any more, at a start and nowhere else, and only
under the policy that they were kept with: see `server.library.earlier` for what serves of them.
"""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from server.library.earlier import EarlierTexts
from server.settings.models import AdapterSettings, Settings
from server.storage.files import make_private, written_whole

_log = logging.getLogger(__name__)

_FORMAT: Final = 1

_NO_POLICY: Final[Mapping[str, Any]] = {
    "enabled": True,
    "embedding_provider": True,
    "embedding_model": True,
    "inference_model_provider": True,
    "inference_model": True,
    "config": {
        "domain_config_path",
        "template_library_path",
        "max_wrong",
        "confidence_threshold",
        "max_templates",
        "intents_semantic",
        "agent",
        "prompts",
    },
}
"""How questions are read and answered, and where files stand. Whatever is not here is policy."""


class Snapshots:
    """One file for each adapter, readable by its owner alone. All of it blocks."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / "snapshots"
        self._settings = settings

    def keep(self, adapter: AdapterSettings, texts: Mapping[Path, bytes]) -> None:
        """Keep the files that an adapter was made of, in the place of those before."""
        found = {
            "format": _FORMAT,
            "policy": self._policy(adapter),
            "files": {
                str(path): {"sha256": sha256(raw).hexdigest(), "text": raw.decode("utf-8")}
                for path, raw in texts.items()
            },
        }
        path = self._path(adapter.name)
        try:
            before = _read(path)
            if before.items() >= found.items():
                return
            make_private(path.parent)
            at = datetime.now(UTC).isoformat(timespec="seconds")
            with written_whole(path) as written:
                written.write(json.dumps({"read_at": at, **found}, ensure_ascii=False).encode())
        except OSError as failed:
            _log.warning("adapter %s: no snapshot can be kept of it: %s", adapter.name, failed)

    def of(self, adapter: AdapterSettings) -> EarlierTexts | None:
        """Return the files that the adapter was made of last, if they are kept and whole."""
        found = _read(self._path(adapter.name))
        if found.get("format") != _FORMAT:
            return None
        try:
            read_at = datetime.fromisoformat(found["read_at"])
            texts = {
                Path(path): raw
                for path, kept in found["files"].items()
                if sha256(raw := kept["text"].encode()).hexdigest() == kept["sha256"]
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            return None  # it was changed by hand, or cut short
        unchanged = found.get("policy") == self._policy(adapter)
        why = "" if unchanged else "the policy of the adapter in the configuration has changed"
        return EarlierTexts(read_at, texts, why)

    def forget(self, name: str) -> None:
        """Delete what is kept of an adapter that is no longer in the configuration."""
        self._path(name).unlink(missing_ok=True)

    def _policy(self, adapter: AdapterSettings) -> str:
        """Return a digest of all that says what the adapter may do, and for whom."""
        settings = self._settings
        said = {
            "adapter": adapter.model_dump(mode="json", exclude=dict(_NO_POLICY)),
            "roles": settings.access.roles.model_dump(mode="json"),
            "guards": settings.guards.model_dump(mode="json"),
            "tools": settings.tools,
            "python_tools": settings.python_tools.model_dump(mode="json"),
        }
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
