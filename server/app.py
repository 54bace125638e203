"""The composition root: settings in, open adapters and an ASGI application out.

This is the one module that knows every other. Nothing imports it but the command line.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from fastapi import FastAPI

from server import __version__
from server.access.gateway import Gateway
from server.access.keys import KeyStore
from server.adapters.build import build_adapter
from server.adapters.manager import AdapterManager, Reread
from server.adapters.registry import Adapters
from server.adapters.resources import SharedResources
from server.api.factory import create_api
from server.api.state import ApiState
from server.chat.adapter import Adapter
from server.chat.pipeline import run_confirmation, run_turn
from server.core.answer import Answer
from server.core.streaming import StreamListener
from server.core.turn import Caller, Turn
from server.errors import OrbitError
from server.metrics.metrics import Metrics
from server.settings.models import AdapterSettings, Settings


@asynccontextmanager
async def running(
    settings: Settings, environ: Mapping[str, str], reread: Reread | None = None
) -> AsyncIterator[FastAPI]:
    """The whole server but for its socket; adapters go on opening after it is up.

    `reread` reads the adapters of the configuration again, for whoever asks for a reload;
    without it, a reload reads their files alone.

    Raises:
        StoreUnavailable, ConfigurationInvalid: keys cannot be checked, so nothing can
            be served.
    """
    enabled = [adapter for adapter in settings.adapters if adapter.enabled]
    adapters = Adapters(tuple(adapter.name for adapter in enabled))
    metrics = Metrics(__version__)
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    try:
        resources = await SharedResources.open(settings, environ, metrics, adapters=adapters)
    except OrbitError:
        await keys.close()
        raise
    serving = asyncio.create_task(resources.conversation.serve())
    manager = AdapterManager(adapters, resources, reread or (lambda: settings.adapters))
    for adapter in enabled:
        manager.open(adapter)
    token = settings.metrics.token
    state = ApiState(
        adapters=adapters,
        keys=keys,
        max_message_chars=settings.server.max_message_chars,
        turn_timeout_s=settings.server.turn_timeout_s,
        sample_keys=settings.access.sample_keys,
        limits=resources.guardrails.limits,
        gateway=_gateway(settings),
        guards=resources.guards,
        reloading=manager,
        roles=settings.access.roles.names,
        heartbeat_s=settings.server.heartbeat_s,
        metrics=metrics,
        metrics_token=token.get_secret_value() if token else None,
        serve_metrics=settings.metrics.enabled,
    )
    try:
        yield create_api(state, max_body_bytes=settings.server.max_body_kb * 1024)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await manager.stop()
        await resources.finish()
        await manager.close()
        await adapters.close()
        await resources.close()
        await keys.close()


def _gateway(settings: Settings) -> Gateway:
    """The gateway that may speak for users; one without a secret is refused everything."""
    gateway = settings.access.gateway
    secret = gateway.secret.get_secret_value().encode() if gateway.secret is not None else b""
    roles = settings.access.roles.names
    return Gateway(secret, frozenset(gateway.keys), roles, gateway.max_age_s)


@asynccontextmanager
async def opened_adapter(
    settings: Settings,
    environ: Mapping[str, str],
    adapter: AdapterSettings,
    *,
    remembers: bool = False,
) -> AsyncIterator[Adapter]:
    """One adapter, open, with no server around it; with `remembers`, it keeps conversations.

    Raises:
        ConfigurationInvalid, ProviderError, IndexUnavailable: as `build_adapter`.
    """
    resources = await SharedResources.open(settings, environ, remembers=remembers)
    try:
        opened = await build_adapter(adapter, resources)
        try:
            yield opened
        finally:
            await resources.finish(deliver=True)
            await opened.close()
    finally:
        await resources.close()


async def ask_once(
    settings: Settings,
    adapter: Adapter,
    text: str,
    session_id: str,
    *,
    continues: bool = False,
    listener: StreamListener | None = None,
) -> Answer:
    """One question to an open adapter, from the person at this machine.

    `continues` says that there may be earlier turns of the session to remember, and
    `listener` hears what a model says of the answer.
    """
    turn = _local_turn(settings, adapter, text, session_id, continues=continues)
    timeout_s = settings.server.turn_timeout_s
    return await run_turn(adapter, turn, timeout_s=timeout_s, listener=listener)


async def confirm_once(
    settings: Settings, adapter: Adapter, proposal_id: str, session_id: str, *, accept: bool
) -> Answer:
    """The yes or the no of the person at this machine to what waits for it.

    Raises:
        ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered: nothing ran.
    """
    text = "yes" if accept else "no"
    turn = _local_turn(settings, adapter, text, session_id, continues=True)
    timeout_s = settings.server.turn_timeout_s
    return await run_confirmation(adapter, turn, proposal_id, accept=accept, timeout_s=timeout_s)


def _local_turn(
    settings: Settings, adapter: Adapter, text: str, session_id: str, *, continues: bool
) -> Turn:
    return Turn(
        id=uuid4().hex,
        text=text,
        session_id=session_id,
        caller=_at_this_machine(settings, adapter),
        received_at=datetime.now(UTC),
        continues=continues,
    )


async def forget_session(settings: Settings, adapter: Adapter, session_id: str) -> None:
    """Forget what the person at this machine said in a session.

    Raises:
        StoreUnavailable: it could not be forgotten.
    """
    if adapter.conversations is not None:
        await adapter.conversations.forget(_at_this_machine(settings, adapter), session_id)


def _at_this_machine(settings: Settings, adapter: Adapter) -> Caller:
    role = settings.access.roles.names[-1]  # who is at this machine may do everything
    return Caller(key_id="local", adapter=adapter.name, user_id="local", role=role)
