"""What a running server says of itself on `/ready`."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Readiness:
    """`status` is ready, degraded, opening or unavailable; `adapters` has a row for each."""

    status: str
    adapters: tuple[Mapping[str, Any], ...]

    @property
    def serves(self) -> bool:
        """Whether at least one adapter answers questions."""
        return self.status in ("ready", "degraded")

    @property
    def opening(self) -> tuple[str, ...]:
        """Names of the adapters that are still being opened."""
        return self._named("opening")

    @property
    def serving(self) -> tuple[str, ...]:
        return self._named("ready")

    @property
    def complaints(self) -> tuple[str, ...]:
        """One line for each adapter that does not serve and is not about to."""
        settled = [row for row in self.adapters if row.get("state") not in ("ready", "opening")]
        return tuple(
            f"adapter {row.get('name')} is {row.get('state')}"
            + (f": {row['why']}" if row.get("why") else "")
            for row in settled
        )

    def _named(self, state: str) -> tuple[str, ...]:
        return tuple(str(row.get("name")) for row in self.adapters if row.get("state") == state)


def ask_readiness(url: str, *, timeout_s: float = 2.0) -> Readiness | None:
    """Return what the server at `url` says; None when it does not answer (yet)."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", "/ready")
        body = json.loads(connection.getresponse().read())
        return Readiness(str(body["status"]), tuple(dict(row) for row in body["adapters"]))
    except (OSError, http.client.HTTPException):
        return None
    except (ValueError, KeyError, TypeError):
        return None  # something else answers there
    finally:
        connection.close()
