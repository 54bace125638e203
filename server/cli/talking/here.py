"""The adapter itself as the partner: in this process, with no server and no key."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from server.app import ask_once, forget, opened_adapter
from server.chat.adapter import Adapter
from server.chat.listening import Heard, Listening
from server.cli.talking.partner import Answered, Hearer
from server.settings.models import AdapterSettings, Settings


class Here:
    def __init__(self, settings: Settings, adapter: Adapter, session_id: str) -> None:
        self._settings = settings
        self._adapter = adapter
        self._session_id = session_id

    @property
    def name(self) -> str:
        return self._adapter.name

    async def answer(self, text: str, hearer: Hearer) -> Answered:
        listening = Listening()
        telling = asyncio.create_task(_tell(listening, hearer))
        try:
            answer = await ask_once(
                self._settings,
                self._adapter,
                text,
                self._session_id,
                continues=True,
                listening=listening,
            )
        finally:
            telling.cancel()
        while not listening.events.empty():
            _pass_on(listening.events.get_nowait(), hearer)
        # The answer is what counts; mostly it was heard already.
        if not answer.content.startswith(listening.spoken):
            hearer.take_back()
            listening.spoken = ""
        hearer.say(answer.content[len(listening.spoken) :])
        return Answered(answer.metadata, answer.trace)

    async def clear(self) -> None:
        await forget(self._settings, self._adapter, self._session_id)


async def _tell(listening: Listening, hearer: Hearer) -> None:
    """Pass words on as they are spoken, until it is cancelled."""
    while True:
        _pass_on(await listening.events.get(), hearer)


def _pass_on(heard: Heard, hearer: Hearer) -> None:
    if heard.kind == "said":
        hearer.say(heard.text)
    else:
        hearer.take_back()


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
