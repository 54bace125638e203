"""Reloads adapters when the files that they are read from change.

Files are looked at again and again, rather than asked of the system: so it works on network folders
and mounts, for globs and files that are not there yet, and however an editor saves.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from server import errors
from server.adapters.files import Fingerprint, fingerprint
from server.adapters.manager import AdapterManager, FilesRead
from server.adapters.registry import AdapterStatus
from server.core.turn import Caller

_log = logging.getLogger(__name__)

WATCH: Final = Caller("", "", role="watch")
"""Who reloads what was saved, in the audit."""

_WATCHING_S: Final = 0.25
_MENDING_S: Final = 1.0

_LOOKS_FOR_VANISHED: Final = 4

_CONFIGURATION: Final = ""
"""Among the names of adapters, which are never empty."""


class AdapterWatch:
    """Takes up a file once it has stayed the same from one look to the next.

    Everything is watched, or only what adapters that are at fault are read from, so that they
    come back when it is mended.
    """

    def __init__(
        self,
        manager: AdapterManager,
        *,
        everything: bool,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._manager = manager
        self._everything = everything
        self._say = say or (lambda _: None)
        self._pause_s = _WATCHING_S if everything else _MENDING_S
        self._looks: dict[str, tuple[Fingerprint, int]] = {}

    async def serve(self) -> None:
        while True:
            await asyncio.sleep(self._pause_s)
            try:
                await self._look()
            except Exception:
                _log.exception("what was saved could not be taken up")

    async def _look(self) -> None:
        manager = self._manager
        watched = manager.files if self._everything else manager.faulty
        if not watched:
            return
        places = {name: manager.files[name] for name in watched if name in manager.files}
        places[_CONFIGURATION] = manager.configuration
        now = await asyncio.to_thread(_look_at, places)
        settled = [name for name, place in places.items() if self._has_settled(name, place, now)]
        if _CONFIGURATION not in settled:
            for name in settled:
                await self._reload(name)
        elif self._everything:
            await self._reload_all()
        else:
            for name in sorted(manager.faulty):
                await self._reload(name)

    def _has_settled(self, name: str, place: FilesRead, now: Mapping[str, Fingerprint]) -> bool:
        """Whether files changed, and have stayed as they are for long enough to be read.

        What vanished may be about to come back, so it is given more time.
        """
        found = now[name]
        if found == place.was or name in self._manager.rewriting:
            self._looks.pop(name, None)
            return False
        before, looks = self._looks.get(name, (None, 0))
        looks = looks + 1 if found == before else 0
        self._looks[name] = found, looks
        has_vanished = bool({file[0] for file in place.was} - {file[0] for file in found})
        return looks == (_LOOKS_FOR_VANISHED if has_vanished else 1)

    async def _reload(self, name: str) -> None:
        try:
            self._tell(await self._manager.reload(name, WATCH), None)
        except errors.OrbitError as failed:
            self._tell(AdapterStatus(name, "unavailable"), failed)

    async def _reload_all(self) -> None:
        try:
            outcomes = await self._manager.reload_all(WATCH)
        except errors.OrbitError as failed:
            text = f"the configuration is not reloaded: {_why(failed)}; what it said before holds"
            _log.warning("%s", text)
            self._say(text)
            return
        for status, failure in outcomes:
            self._tell(status, failure)

    def _tell(self, status: AdapterStatus, failed: errors.OrbitError | None) -> None:
        name = status.name
        if failed is not None:
            version = self._manager.version(name)
            rest = f"the version of {version} goes on" if version else "it does not serve"
            self._say(f"{name} is not reloaded: {_why(failed)}; {rest}")
            return
        if status.state == "closed":
            self._say(f"closed {name}: it is no longer in the configuration")
            return
        self._say(f"reloaded {name}")
        for each in status.details.get("left_out", ()):
            self._say(f"  {each['template'] or 'a template'} is left out: {each['why']}")


def _look_at(places: Mapping[str, FilesRead]) -> dict[str, Fingerprint]:
    return {name: fingerprint(place.paths) for name, place in places.items()}


def _why(failed: errors.OrbitError) -> str:
    rows = getattr(failed, "details", None)
    if not rows:
        return str(failed)
    more = f" (and {len(rows) - 1} more; see check)" if len(rows) > 1 else ""
    return f"{rows[0]['what']} @ {rows[0]['where']}{more}"
