"""`keys`: make, list, end and replace API keys."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from server.access.models import KeyRecord
from server.cli.options import DEFAULT_CONFIG, ConfigOption, DataOption, JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say
from server.errors import RequestInvalid

if TYPE_CHECKING:
    from server.access.keys import KeyStore
    from server.settings.models import Settings


_T = TypeVar("_T")

keys_app = typer.Typer(help="Make, list, end and replace API keys.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(keys_app, name="keys")


KeyAdapter = Annotated[
    str, typer.Option("--adapter", metavar="NAME", help="The one adapter that the key opens.")
]
KeyId = Annotated[str, typer.Argument(metavar="KEYID", help="The id that `keys list` shows.")]


@keys_app.command()
def create(
    adapter: KeyAdapter,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Whose key it is.")
    ] = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="ROLE", help="What its holder may do: one of access.roles."),
    ] = "user",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="RATE", help="How often it may ask: 60/minute. Repeatable."
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="Such as 12h, 30d, 2w or 1y; else never."),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="A note, for you to tell keys apart.")
    ] = "",
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key. It is shown this once: only a hash of it is kept."""
    with failures_as_messages():
        from server.access.key_request import check_role, new_key

        new = new_key(
            adapter, user_id=user, role=role, limits=limit or (), expires=expires, label=label
        )
        settings = _settings(config, data)
        _check_adapter(settings, adapter)
        try:
            check_role(role, settings.access.roles.names)
        except RequestInvalid as unknown:
            say(f"warning: {unknown}; it counts as a guest")
        raw, record = _in_store(settings, lambda store: store.create(new))
        _show_key(settings, raw, record, as_json=as_json)


@keys_app.command()
def sample(
    adapter: KeyAdapter,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the well-known sample key of an adapter, for clients on this machine only."""
    with failures_as_messages():
        from server.access.key_format import sample_name

        settings = _settings(config, data)
        _check_adapter(settings, adapter)
        if not settings.access.sample_keys:
            fail("sample keys are switched off (access.sample_keys); use keys create")
        raw = sample_name(adapter)
        record = _in_store(settings, lambda store: store.create_sample(adapter, raw))
        _show_key(settings, raw, record, as_json=as_json)


@keys_app.command("list")
def list_keys(
    config: ConfigOption = DEFAULT_CONFIG, data: DataOption = None, as_json: JsonOption = False
) -> None:
    """List every key, revoked and expired ones too. The keys themselves are not kept."""
    with failures_as_messages():
        records = _in_store(_settings(config, data), lambda store: store.list())
        now = datetime.now(UTC)
        if as_json:
            print_json({"keys": [record.to_dict(now) for record in records]})
        elif records:
            print_text(table_of(records, now))
        else:
            say("There are no keys yet. Make one with keys create --adapter NAME.")


@keys_app.command()
def revoke(
    key_id: KeyId,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a key for good. A running server refuses it within seconds."""
    with failures_as_messages():
        record = _in_store(_settings(config, data), lambda store: store.revoke(_id_in(key_id)))
        if as_json:
            print_json(record.to_dict(datetime.now(UTC)))
        else:
            say(f"Key {record.key_id} for adapter {record.adapter!r} is revoked")


@keys_app.command()
def rotate(
    key_id: KeyId,
    grace: Annotated[
        str | None,
        typer.Option("--grace", metavar="TIME", help="How long the old one goes on; else it ends."),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace a key by a new one that opens the same."""
    with failures_as_messages():
        from server.access.key_request import parse_lifetime

        lasting = None if grace is None else parse_lifetime(grace)
        settings = _settings(config, data)
        raw, record = _in_store(settings, lambda store: store.rotate(_id_in(key_id), grace=lasting))
        old = "ends at once" if grace is None else f"goes on for {grace}, or until it expires"
        say(f"The old key {old}.")
        _show_key(settings, raw, record, as_json=as_json)


def _settings(config: Path, data: Path | None) -> "Settings":
    from server.cli.options import configured

    return configured(config, data=data).settings


def _in_store(settings: "Settings", job: Callable[["KeyStore"], Awaitable[_T]]) -> _T:
    from server.access.keys import KeyStore

    async def done() -> _T:
        store = await KeyStore.open(settings.database_url, settings.secret_path)
        try:
            return await job(store)
        finally:
            await store.close()

    return asyncio.run(done())


def _check_adapter(settings: "Settings", name: str) -> None:
    from server.access.key_request import check_adapter

    adapters = {adapter.name: adapter for adapter in settings.adapters}
    check_adapter(name, list(adapters))
    if not adapters[name].enabled:
        say(f"warning: adapter {name!r} is not enabled, so its keys open nothing yet")


def _id_in(text: str) -> str:
    """The id in what was typed: somebody who has a leaked key has it whole."""
    from server.access.key_format import issued_id

    return issued_id(text) or text


def _show_key(settings: "Settings", raw: str, record: "KeyRecord", *, as_json: bool) -> None:
    from server.cli import server_messages
    from server.cli.runfile import read_running, url_of

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
        say(f"  {server_messages.curl(url, raw, server_messages.example_question(adapter))}")


_HEADINGS: Final = (
    "KEY ID", "STATE", "ADAPTER", "USER", "ROLE", "LIMITS", "EXPIRES", "LAST USED", "LABEL",
)  # fmt: skip


def table_of(records: Sequence[KeyRecord], now: datetime) -> str:
    """Every record on a line of its own, times in UTC."""
    rows = [_HEADINGS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _row(record: KeyRecord, now: datetime) -> tuple[str, ...]:
    return (
        record.key_id,
        record.state(now),
        record.adapter,
        record.user_id or "-",
        record.role,
        ", ".join(record.limits) or "-",
        _minute(record.expires_at, "never"),
        _minute(record.last_used_at, "never"),
        record.label or "-",
    )


def _minute(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else f"{moment:%Y-%m-%d %H:%M}"
