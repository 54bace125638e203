"""Changes by command, which are audited as those over HTTP are."""

import asyncio
import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from server.core.turn import Caller

if TYPE_CHECKING:
    from server.audit.changes import ChangeRecorder
    from server.settings.models import Settings


def operator() -> Caller:
    """Return who types commands, by the name that the system knows."""
    return Caller("", "", user_id=getpass.getuser(), role="command line")


@asynccontextmanager
async def open_recorder(settings: "Settings") -> "AsyncIterator[ChangeRecorder]":
    """Open the audit for changes, and write what waits at the end of the block."""
    from server.audit.changes import ChangeRecorder
    from server.audit.writer import AuditWriter, open_sink

    opened = await asyncio.to_thread(open_sink, settings)
    if opened is None:
        yield ChangeRecorder()
        return
    trail = AuditWriter(opened[0], timeout_s=settings.store_timeout_s)
    try:
        yield ChangeRecorder(trail, settings.access.audit.failing_writes)
    finally:
        await trail.close()
