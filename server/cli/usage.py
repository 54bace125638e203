"""`usage`: turns counted by key, adapter and day."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli import options
from server.cli.output import fail, print_result, print_text

if TYPE_CHECKING:
    from server.settings.models import Settings
    from server.telemetry.usage import UsageQuery, UsageRow

Day = str | None


def usage(
    begin: Annotated[
        Day, typer.Option("--from", metavar="DAY", help="First day in UTC, such as 2025-03-04.")
    ] = None,
    end: Annotated[Day, typer.Option("--to", metavar="DAY", help="Last day; else today.")] = None,
    by: Annotated[
        str, options.option("NAMES", "A row for each of these: day, key_id, adapter.")
    ] = "key_id,adapter",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV on standard output.")] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show how many turns each key asked and what came of them; the last thirty days, if not told.

    A server that runs adds its latest turns within a second or two.
    """
    settings = options.configured(config, data=data).settings
    if not settings.telemetry.usage.enabled:
        fail("nothing is counted: telemetry.usage.enabled is off")
    from server.telemetry.usage import UsageQuery, usage_table

    asked = UsageQuery.read(begin, end, by)
    rows = asyncio.run(_report(settings, asked))
    table = usage_table(asked, rows)
    if as_csv:
        from server.api.csv_rows import csv_text

        print_text(csv_text(table).removesuffix("\r\n"))
        return
    found = {
        "from": asked.begin.isoformat(),
        "to": asked.end.isoformat(),
        "by": list(asked.by),
        "rows": [row.to_dict() for row in rows],
    }
    lines = ["  ".join("-" if cell is None else str(cell) for cell in row) for row in table]
    print_result(found, lines, as_json=as_json)


async def _report(settings: "Settings", asked: "UsageQuery") -> "list[UsageRow]":
    from server.storage.database import Database
    from server.telemetry.usage import UsageStore

    database = Database.open(settings.database_url, threads=1, migrate=settings.may_migrate)
    try:
        return await UsageStore(database, keep_days=settings.telemetry.usage.keep_days).report(
            asked
        )
    finally:
        await database.close()
