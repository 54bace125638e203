"""Who proposes calls in an adapter: the server, or a model."""

from collections.abc import Mapping
from typing import Literal

from server.settings.models import AdapterSettings


def mode_of(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> Literal["system_first", "llm_first"]:
    """Who proposes calls: as the adapter says, else by `SYSTEM_FIRST_ARCHITECTURE`."""
    if adapter.config.policy.mode is not None:
        return adapter.config.policy.mode
    asked = environ.get("SYSTEM_FIRST_ARCHITECTURE", "true").strip().lower()
    return "llm_first" if asked in {"false", "0", "no", "off"} else "system_first"
