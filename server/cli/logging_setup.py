"""Logging as the configuration asks for it: console or JSON lines, on standard error."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from server.settings.models import LoggingSettings

_QUIET: Final = ("httpx", "httpcore", "chromadb", "uvicorn.access")
"""Libraries heard from WARNING on. Below that httpx writes down whole addresses, and a
service's key may be part of one."""


class JsonLines(logging.Formatter):
    """One JSON object a record, with the `fields` that were given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        row |= getattr(record, "fields", {})
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False, default=str)


def set_up_logging(settings: LoggingSettings) -> None:
    """Send everything from the configured level on to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    if settings.format == "json":
        handler.setFormatter(JsonLines())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
