"""`migrate`: bring the database to the schema of this version, or say where it stands."""

from typing import Annotated, Final

import typer

from server.cli import options
from server.cli.output import print_result, say

_SOMETHING_TO_DO: Final = 3


def migrate(
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; exit code 3 when there is something to do."),
    ] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Bring the database to the schema of this version, without loss."""
    from server.storage.database import failures_named, open_engine
    from server.storage.schema import MIGRATIONS, read_version

    engine = open_engine(options.configured(config, data=data).settings.database_url)
    with failures_named(engine):
        before = read_version(engine)
        pending = MIGRATIONS.pending(engine, before)
        if pending and not check:
            before = MIGRATIONS.run(engine)
    engine.dispose()
    place = engine.url.render_as_string(hide_password=True)
    had, newest = before or "none", MIGRATIONS.newest
    lines = [f"{version}  {about}" for version, about in pending.items()]
    if not pending:
        say(f"The schema of {place} is {newest}, the newest that this version knows.")
    elif check:
        say(f"The schema of {place} is {had}; to be done:")
    else:
        say(f"The schema of {place} was {had} and is {newest} now; done:")
    found = {
        "database": place,
        "schema": before if check else newest,
        "newest": newest,
        "pending": list(pending) if check else [],
        "done": [] if check else list(pending),
    }
    print_result(found, lines, as_json=as_json)
    if pending and check:
        raise typer.Exit(_SOMETHING_TO_DO)
