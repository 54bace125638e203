"""What stands in the audit of a server or a data folder."""

from typing import Any

from server.audit.entry import verify_chain
from server.audit.writer import open_sink
from server.settings.models import Settings


def audited(settings: Settings, **wanted: str) -> list[dict[str, Any]]:
    """The events whose fields are as `wanted`, of a trail that is whole."""
    opened = open_sink(settings)
    assert opened is not None
    sink, seal = opened
    assert verify_chain(sink, seal).problems == ()
    events = [dict(entry.event) for entry in sink.entries()]
    sink.close()
    return [e for e in events if all(e.get(name) == value for name, value in wanted.items())]


def changes(settings: Settings, what: str) -> list[tuple[str, str]]:
    """How `what` was changed, and how each change ended."""
    found = audited(settings, kind="change", tool=what)
    return [(e["operation"], e["outcome"]) for e in found if e["outcome"] != "started"]
