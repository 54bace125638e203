"""The composition root: settings in, an ASGI application out.

This is the one module that knows every other. Nothing imports it but the command line.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import uuid4

from fastapi import FastAPI

from server import __version__
from server.access.clients import is_local_host
from server.access.gateway import Gateway
from server.access.keys import KeyStore
from server.access.models import ADMIN
from server.access.sign_in import LinkIssuer, SignInLinks
from server.access.wrong_keys import WrongKeys
from server.adapters.manager import AdapterManager, Reread, Sources, cancel_tasks
from server.adapters.read_ahead import read_units_ahead
from server.adapters.registry import Adapters
from server.adapters.resources import SharedResources
from server.adapters.watch import AdapterWatch
from server.api.auth import caller_of
from server.api.error_responses import describe_failure
from server.api.factory import create_api
from server.api.log_level import LOG_LEVELS, set_log_level
from server.api.requests import ApiState
from server.authoring.saver import LibrarySaver
from server.console import page as console
from server.core.claims import MemoryClaims
from server.core.ports import Claims
from server.evaluation.drafts import DraftDesk
from server.evaluation.live import Evaluations
from server.mcp import http as mcp
from server.mcp.peer import Host
from server.metrics.metrics import Metrics
from server.settings.models import ServerSettings, Settings
from server.storage.announcements import Announcement, Announcer
from server.storage.installation import InstallationSecret
from server.telemetry.traces import OtelTracer
from server.workers.parent import Parent

_log = logging.getLogger(__name__)


def create_app(
    settings: Settings,
    environ: Mapping[str, str],
    reread: Reread | None = None,
    sources: Sources = tuple,
    *,
    watches: bool = False,
    say: Callable[[str], None] | None = None,
    metrics: Metrics | None = None,
    parent: Parent | None = None,
    instance: str | None = None,
) -> FastAPI:
    """Return the whole server but for its socket; its lifespan opens and closes what it needs.

    `environ` fills the variables of the files that adapters name. `reread` reads the adapters
    of the configuration again, for a reload; without it, a reload reads their files alone.
    `sources` names the files that it reads. With `watches`, what is saved is reloaded, and `say`
    tells people so; without, only what is at fault is. A worker has a `parent`, and tells by
    `instance` that it is of the same start as others.

    Entering the lifespan raises `StoreUnavailable` or `ConfigurationInvalid` when keys cannot
    be checked. Adapters go on opening after it.
    """
    metrics = metrics or Metrics(__version__)

    def manage(adapters: Adapters, resources: SharedResources) -> AdapterManager:
        again, alone = reread or (lambda: settings.adapters), settings.worker_count == 1
        return AdapterManager(adapters, resources, again, sources, alone=alone)

    def watch(manager: AdapterManager) -> AdapterWatch:
        return AdapterWatch(manager, everything=watches, say=say)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        opening = _open_state(settings, environ, metrics, manage, watch, parent, instance)
        async with opening as state:
            app.state.api = state
            app.state.mcp = _mcp_endpoint(settings, state)
            serving = asyncio.create_task(app.state.mcp.serve())
            try:
                yield
            finally:
                await cancel_tasks([serving])

    api = create_api(
        metrics,
        max_body_bytes=_max_body_bytes(settings),
        allowed_hosts=_allowed_hosts(settings.server),
        serve_metrics=settings.metrics.enabled,
        serve_console=settings.console.enabled,
        lifespan=lifespan,
    )
    api.include_router(mcp.create_router(caller_of))
    if settings.console.enabled:
        api.include_router(console.router)
    return api


def _max_body_bytes(settings: Settings) -> int:
    return settings.server.max_body_kb * 1024


def _mcp_endpoint(settings: Settings, state: ApiState) -> mcp.McpEndpoint:
    host = Host(state.adapters, describe_failure, state.turn_timeout_s, state.max_message_chars)
    return mcp.McpEndpoint(host, max_body_bytes=_max_body_bytes(settings))


def _allowed_hosts(server: ServerSettings) -> frozenset[str] | None:
    """Return the names the server goes by, or None for any.

    On loopback a foreign name can only come from a web page that has been pointed here.
    """
    if server.allowed_hosts is None:
        return frozenset() if is_local_host(server.host) else None
    return frozenset(name.lower().rstrip(".") for name in server.allowed_hosts)


@asynccontextmanager
async def _open_state(
    settings: Settings,
    environ: Mapping[str, str],
    metrics: Metrics,
    manage: Callable[[Adapters, SharedResources], AdapterManager],
    watch: Callable[[AdapterManager], AdapterWatch],
    parent: Parent | None,
    instance: str | None,
) -> AsyncIterator[ApiState]:
    enabled = [adapter for adapter in settings.adapters if adapter.enabled]
    adapters = Adapters(tuple(adapter.name for adapter in enabled))
    announcer = Announcer.of_process()
    async with AsyncExitStack() as closing:  # closes in the opposite order
        secret = await asyncio.to_thread(InstallationSecret.of, settings)
        keys = await KeyStore.open(
            settings.database_url,
            secret,
            timeout_s=settings.store_timeout_s,
            metrics=metrics,
            migrate=settings.may_migrate,
            announcer=announcer,
        )
        closing.push_async_callback(keys.close)
        tracer = await asyncio.to_thread(OtelTracer.open, settings.telemetry.traces)
        if tracer is not None:
            closing.push_async_callback(tracer.close)
        resources = await SharedResources.open(
            settings,
            environ,
            metrics,
            adapters=adapters,
            watched=True,
            announcer=announcer,
            parent=parent,
        )
        closing.push_async_callback(resources.close)
        await resources.announcements.begin()
        resources.announcements.hear("keys", lambda _: _forget(keys))
        resources.announcements.hear("log", _take_up_level)
        manager, desk = manage(adapters, resources), DraftDesk(resources)
        closing.push_async_callback(desk.close)
        for close in (adapters.close, manager.close, resources.finish, manager.stop):
            closing.push_async_callback(close)
        work = (
            *resources.background_work(),
            watch(manager).serve(),
            read_units_ahead(adapters),
        )
        behind = [asyncio.create_task(each) for each in work]
        closing.push_async_callback(cancel_tasks, behind)
        for adapter in enabled:
            manager.open(adapter)
        access, token = settings.access, settings.metrics.token
        instance = instance or uuid4().hex
        claims: Claims = parent or MemoryClaims()
        yield ApiState(
            adapters=adapters,
            manager=manager,
            announcements=resources.announcements,
            guards=resources.guards,
            keys=keys,
            limits=resources.guardrails.limits,
            changes=resources.guardrails.changes,
            desk=desk,
            saver=LibrarySaver(
                manager, resources.guardrails.changes, settings.data_dir / "backups"
            ),
            metrics=metrics,
            max_message_chars=settings.server.max_message_chars,
            turn_timeout_s=settings.server.turn_timeout_s,
            heartbeat_s=settings.server.heartbeat_s,
            blocked_in=settings.guards.stream_blocked,
            sample_keys=access.sample_keys,
            gateway=_gateway(settings, claims),
            wrong_keys=WrongKeys(access.wrong_keys, parent),
            roles=access.roles.names,
            metrics_token=token.get_secret_value() if token else None,
            listens_locally=is_local_host(settings.server.host),
            authoring=settings.console.authoring,
            instance=instance,
            sign_in=_sign_in_links(settings, secret.value, instance, claims),
            evaluations=Evaluations(claims),
            parent=parent,
            stopping=parent.stopping if parent else asyncio.Event(),
            inbox=resources.conversation.inbox,
            proposals=resources.conversation.proposals,
            audit=resources.audit,
            usage=resources.usage,
            tracer=tracer,
            transcripts=resources.conversation.transcripts,
        )


async def _forget(keys: KeyStore) -> None:
    keys.forget()


async def _take_up_level(announced: Announcement) -> None:
    level = announced.subject
    if level in LOG_LEVELS:
        set_log_level(level)
        _log.warning("the log has level %s now, as set by %s", level, announced.origin)


def _sign_in_links(
    settings: Settings, secret: bytes, instance: str, claims: Claims
) -> SignInLinks | None:
    """Return the links into the console, where there is one, and a role for who comes by them."""
    if not settings.console.enabled or ADMIN not in settings.access.roles.names:
        return None
    return SignInLinks(LinkIssuer(secret), instance, claims)


def _gateway(settings: Settings, claims: Claims) -> Gateway:
    """Return the gateway that may speak for users; one without a secret is always refused."""
    gateway = settings.access.gateway
    secret = gateway.secret.get_secret_value().encode() if gateway.secret is not None else b""
    roles = settings.access.roles.names
    return Gateway(secret, frozenset(gateway.keys), roles, gateway.max_age_s, seen=claims)
