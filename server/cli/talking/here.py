"""The adapter itself as the partner: in this process, with no server and no key."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from server.app import ask_once, forget, opened_adapter
from server.chat.adapter import Adapter
from server.cli.talking.partner import Answered, Say
from server.settings.models import AdapterSettings, Settings


class Here:
    def __init__(self, settings: Settings, adapter: Adapter, session_id: str) -> None:
        self._settings = settings
        self._adapter = adapter
        self._session_id = session_id

    @property
    def name(self) -> str:
        return self._adapter.name

    async def answer(self, text: str, say: Say) -> Answered:
        answer = await ask_once(
            self._settings, self._adapter, text, self._session_id, continues=True
        )
        say(answer.content)
        return Answered(answer.metadata, answer.trace)

    async def clear(self) -> None:
        await forget(self._settings, self._adapter, self._session_id)


@asynccontextmanager
async def here(
    settings: Settings, environ: Mapping[str, str], adapter: AdapterSettings, session_id: str
) -> AsyncIterator[Here]:
    """The adapter, open; it remembers the session.

    Raises:
        ConfigurationInvalid, ProviderError, PluginInvalid, StoreUnavailable.
    """
    async with opened_adapter(settings, environ, adapter, remembers=True) as opened:
        yield Here(settings, opened, session_id)
