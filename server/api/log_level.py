"""How much the log says, set at the start and changed while the server runs."""

import logging
from typing import Final, get_args

from server.settings.models import LogLevel

LOG_LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)

_QUIET: Final = (
    "alembic",
    "chromadb",
    "httpcore",
    "httpx",
    "mcp",
    "sse_starlette",
    "uvicorn.access",
)
"""Libraries heard from WARNING on. Below that httpx writes down whole addresses, and a
service's key may be part of one; mcp writes down messages with their arguments."""


def set_log_level(level: LogLevel) -> None:
    root = logging.getLogger()
    root.setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def log_level() -> str:
    """Return the least severity that is written, as the configuration names it."""
    return logging.getLevelName(logging.getLogger().level).lower()
