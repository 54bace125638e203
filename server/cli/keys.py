"""`keys`: make, list, end and replace API keys."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from server.access.key_request import check_adapter, check_role, new_key, parse_lifetime
from server.access.models import KeyRecord, is_key_id, issued_id, sample_name
from server.cli import options
from server.cli.changes import open_recorder, operator
from server.cli.output import CommandGroup, fail, print_json, print_text, say
from server.cli.runfile import read_running, url_of
from server.cli.server_messages import curl, example_question
from server.core.redaction import REDACTED
from server.errors import RequestInvalid

if TYPE_CHECKING:
    from server.access.keys import KeyStore
    from server.settings.models import Settings


T = TypeVar("T")

keys_app = typer.Typer(
    cls=CommandGroup, help="Make, list, end and replace API keys.", no_args_is_help=True
)


KeyAdapter = Annotated[
    str, typer.Option("--adapter", metavar="NAME", help="The one adapter that the key opens.")
]
KeyId = Annotated[str, typer.Argument(metavar="KEYID", help="The id that `keys list` shows.")]


@keys_app.command()
def create(
    adapter: KeyAdapter,
    user: Annotated[str | None, typer.Option(metavar="ID", help="Whose key it is.")] = None,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="What its holder may do: one of access.roles.")
    ] = "user",
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="RATE", help="How often it may ask: 60/minute. Repeatable."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Such as 12h, 30d, 2w or 1y; else never.")
    ] = None,
    label: Annotated[str, options.option("TEXT", "A note, for you to tell keys apart.")] = "",
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Make a key. It is shown this once: only a hash of it is kept."""
    new = new_key(
        adapter, user_id=user, role=role, limits=limit or (), expires=expires, label=label
    )
    settings = options.configured(config, data=data).settings
    _check_adapter(settings, adapter)
    try:
        check_role(role, settings.access.roles.names)
    except RequestInvalid as unknown:
        say(f"warning: {unknown}; it counts as a guest")
    raw, record = _changed(
        settings,
        "create",
        lambda store: store.create(new),
        lambda made: {"key_id": made[1].key_id},
        adapter=adapter,
        arguments=new.details(),
    )
    _show_key(settings, raw, record, as_json=as_json)


@keys_app.command()
def sample(
    adapter: KeyAdapter,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Make the well-known sample key of an adapter, for clients on this machine only."""
    settings = options.configured(config, data=data).settings
    _check_adapter(settings, adapter)
    if not settings.access.sample_keys:
        fail("sample keys are switched off (access.sample_keys); use keys create")
    raw = sample_name(adapter)
    record = _changed(
        settings,
        "sample",
        lambda store: store.create_sample(adapter, raw),
        lambda made: {"key_id": made.key_id},
        adapter=adapter,
    )
    _show_key(settings, raw, record, as_json=as_json)


@keys_app.command("list")
def show_keys(
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List every key, revoked and expired ones too. The keys themselves are not kept."""
    records = _in_store(options.configured(config, data=data).settings, lambda store: store.list())
    now = datetime.now(UTC)
    if as_json:
        print_json({"keys": [record.to_dict(now) for record in records]})
    elif records:
        print_text(_table(records, now))
    else:
        say("There are no keys yet. Make one with keys create --adapter NAME.")


@keys_app.command()
def revoke(
    key_id: KeyId,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """End a key for good. A running server refuses it within seconds."""
    settings = options.configured(config, data=data).settings
    key_id = issued_id(key_id) or key_id  # whoever found a leaked key has it whole
    record = _changed(
        settings,
        "revoke",
        lambda store: store.revoke(key_id),
        lambda made: made.details(),
        arguments=_named(key_id),
    )
    if as_json:
        print_json(record.to_dict(datetime.now(UTC)))
    else:
        say(f"Key {record.key_id} for adapter {record.adapter!r} is revoked")


@keys_app.command()
def rotate(
    key_id: KeyId,
    grace: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long the old one goes on; else it ends.")
    ] = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Replace a key by a new one that opens the same."""
    lasting = None if grace is None else parse_lifetime(grace)
    settings = options.configured(config, data=data).settings
    key_id = issued_id(key_id) or key_id
    raw, record = _changed(
        settings,
        "rotate",
        lambda store: store.rotate(key_id, grace=lasting),
        lambda made: made[1].details() | {"new_key_id": made[1].key_id},
        arguments=_named(key_id) | {"grace": grace},
    )
    old = "ends at once" if grace is None else f"goes on for {grace}, or until it expires"
    say(f"The old key {old}.")
    _show_key(settings, raw, record, as_json=as_json)


def _in_store(settings: "Settings", job: Callable[["KeyStore"], Awaitable[T]]) -> T:
    from server.access.keys import KeyStore
    from server.storage.installation import InstallationSecret

    async def run() -> T:
        secret = await asyncio.to_thread(InstallationSecret.of, settings)
        store = await KeyStore.open(settings.database_url, secret, migrate=settings.may_migrate)
        try:
            return await job(store)
        finally:
            await store.close()

    return asyncio.run(run())


def _changed(
    settings: "Settings",
    how: str,
    job: Callable[["KeyStore"], Awaitable[T]],
    describe: Callable[[T], Mapping[str, Any]],
    *,
    adapter: str = "",
    arguments: Mapping[str, Any] | None = None,
) -> T:
    """Make a change to keys, and write it into the audit."""
    from server.audit.changes import Change

    change = Change(operator(), "keys", how, adapter, arguments or {})

    async def run(store: "KeyStore") -> T:
        async with open_recorder(settings) as changes:
            return await changes.make(change, lambda: job(store), describe)

    return _in_store(settings, run)


def _named(key_id: str) -> dict[str, Any]:
    """Return the id that was typed, unless it could be a misspelt key."""
    return {"key_id": key_id if is_key_id(key_id) else REDACTED}


def _check_adapter(settings: "Settings", name: str) -> None:
    adapters = {adapter.name: adapter for adapter in settings.adapters}
    check_adapter(name, list(adapters))
    if not adapters[name].enabled:
        say(f"warning: adapter {name!r} is not enabled, so its keys open nothing yet")


def _show_key(settings: "Settings", raw: str, record: KeyRecord, *, as_json: bool) -> None:
    if as_json:
        print_json({"key": raw} | record.to_dict(datetime.now(UTC)))
        return
    print_text(raw)
    until = "" if record.expires_at is None else f" until {record.expires_at:%Y-%m-%d %H:%M} UTC"
    if record.sample:
        say(f"This sample key opens adapter {record.adapter!r} for clients on this machine.")
    else:
        say(f"This key opens adapter {record.adapter!r}{until}. Its id is {record.key_id}.")
        say("Keep it now: it is not shown again, and only a hash of it is stored.")
    running = read_running(settings.data_dir)
    url = running.url if running else url_of(settings.server.host, settings.server.port)
    adapter = next((a for a in settings.adapters if a.name == record.adapter), None)
    if adapter is not None:
        say(f"  {curl(url, raw, example_question(adapter))}")


_HEADINGS: Final = (
    "KEY ID", "STATE", "ADAPTER", "USER", "ROLE", "LIMITS", "EXPIRES", "LAST USED", "LABEL",
)  # fmt: skip


def _table(records: Sequence[KeyRecord], now: datetime) -> str:
    rows = [_HEADINGS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(record: KeyRecord, now: datetime) -> tuple[str, ...]:
    limits, user, label = ", ".join(record.limits) or "-", record.user_id or "-", record.label
    times = (
        "never" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
        for moment in (record.expires_at, record.last_used_at)
    )
    state = record.state(now)
    return (record.key_id, state, record.adapter, user, record.role, limits, *times, label or "-")
