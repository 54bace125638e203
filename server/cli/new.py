"""`new`: a project to start from, empty or drafted from what an API says of itself."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from server.cli import options
from server.cli.options import option
from server.cli.output import fail, print_text, say
from server.core.installation import EXAMPLE_CONFIG, command
from server.errors import ToolError
from server.settings.place import config_file

if TYPE_CHECKING:
    from server.authoring.document import ApiDocument
    from server.authoring.drafts import Draft
    from server.authoring.project import DatabaseSource

_TIMEOUT_S: Final = 30.0


def new(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder of the project, new or not.")
    ] = None,
    more_files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE…]", help="With --from-csv: further files.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, option("NAME", "Name of the adapter; by default that of the folder.")
    ] = None,
    from_openapi: Annotated[
        str | None,
        option("FILE_OR_URL", "Draft the library from an OpenAPI 3 or Swagger 2 document."),
    ] = None,
    from_database: Annotated[
        str | None,
        option("URL_OR_PATH", "Draft the library from a database: SQLite, PostgreSQL or DuckDB."),
    ] = None,
    from_csv: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Draft the library from a CSV, TSV, Parquet or JSON file, copied."
        ),
    ] = None,
    tables: Annotated[str | None, option("A,B", "With --from-database: only these tables.")] = None,
    skip_columns: Annotated[
        str | None, option("A,B", "Columns to leave out, as NAME or TABLE.NAME.")
    ] = None,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Look at no value; the examples have others.")
    ] = False,
    with_model: Annotated[
        bool,
        typer.Option("--with-model", help="Have a chat model propose more examples for a draft."),
    ] = False,
    provider: Annotated[
        str | None, option("NAME", "Provider of that model; by default the configured one.")
    ] = None,
    model: Annotated[
        str | None, option("NAME", "The model; by default that of the provider.")
    ] = None,
    config: options.Config = options.DEFAULT_CONFIG,
) -> None:
    """Write a project that starts, checks and evaluates as it is, and is yours to change.

    In a folder that is a project already, it adds another adapter. On a terminal it asks for what
    is not given.
    """
    from server.authoring.project import new_project, write_project
    from server.cli.schema import schema_texts

    asks = sys.stdin.isatty() and sys.stderr.isatty()
    if folder is None:
        if not asks:
            fail(f"which folder? for example: {command('new', 'shop')}")
        folder = Path(typer.prompt("Folder of the project", default="shop", err=True))
        if from_openapi is None:
            answer = typer.prompt(
                "An OpenAPI document to draft from, a file or an address (none: a small example)",
                default="", show_default=False, err=True,
            )  # fmt: skip
            from_openapi = answer.strip() or None
    sources = [each for each in (from_openapi, from_database, from_csv) if each]
    if len(sources) > 1:
        fail("--from-openapi, --from-database and --from-csv are one or the other")
    if more_files and not from_csv:
        fail(f"{more_files[0]} is for --from-csv; which project should be written?")
    if with_model and not sources:
        fail("--with-model adds to a draft: name what to draft from with --from-openapi")
    if not with_model and (provider or model):
        fail("--provider and --model say what --with-model asks: add --with-model")
    source = None
    if from_openapi is not None:
        draft: Draft | None = _draft(from_openapi)
    elif from_database is not None or from_csv:
        looked_at = LookedAtOptions(_names(tables), _names(skip_columns), not no_samples)
        files = [*(from_csv or ()), *(more_files or ())]
        draft, source = _draft_from_database(folder, name, from_database, files, looked_at)
    else:
        draft = None
    if draft is not None and with_model:
        draft = _with_model(draft, folder, config, provider, model)
    schemas = schema_texts()
    project = new_project(folder, name, draft, command=command(), source=source, schemas=schemas)
    paths = write_project(project, folder)
    for note in project.notes:
        say(f"note: {note}")
    for path in paths:
        print_text(str(path))
    say("Next:")
    for line in (
        ("check", str(folder)),
        ("eval", str(folder)),
        ("ask", project.question, str(folder), "--adapter", project.name),
        ("start", "--config", str(folder)),
    ):
        say(f"  {command(*line)}")


class LookedAtOptions(NamedTuple):
    """What of a database may be looked at."""

    tables: frozenset[str]
    skipped: frozenset[str]
    samples: bool


def _names(written: str | None) -> frozenset[str]:
    return frozenset(name.strip() for name in (written or "").split(",") if name.strip())


def _draft_from_database(
    folder: Path,
    name: str | None,
    written: str | None,
    files: Sequence[Path],
    options: LookedAtOptions,
) -> "tuple[Draft, DatabaseSource]":
    from server.authoring.databases.draft import draft_from_database
    from server.authoring.databases.survey import LookedAt
    from server.authoring.project import data_source, database_source, project_name
    from server.tools.sql.address import AddressInvalid, read_address, read_files
    from server.tools.sql.databases import open_database

    name = project_name(folder, name)
    try:
        address = read_files(files) if written is None else read_address(written)
        database = open_database(address)
    except AddressInvalid as invalid:
        fail(str(invalid))

    async def look() -> "Draft":
        try:
            return await draft_from_database(database, name, LookedAt(*options))
        finally:
            await database.close()

    try:
        draft = asyncio.run(look())
    except ToolError as failed:
        fail(f"{address.shown}: {failed}")
    if written is None:
        return draft, data_source(address.files, name)
    return draft, database_source(address, name, folder)


def _draft(source: str) -> "Draft":
    from server.authoring.drafts import draft_library

    draft = draft_library(_read(source))
    if not draft.templates["templates"]:
        for note in draft.notes:
            say(f"note: {note}")
        fail(f"{source} describes no operation that can be called")
    return draft


def _with_model(
    draft: "Draft", folder: Path, config: Path, provider: str | None, model: str | None
) -> "Draft":
    """Add what a model proposes, one that the project configures or the server's configuration."""
    from server.cli.model_examples import with_proposals
    from server.settings.models import Settings

    own = config_file(folder)
    file = own if own.is_file() else config
    if file == EXAMPLE_CONFIG or (file == options.DEFAULT_CONFIG and not file.is_file()):
        found = options.Configured(Settings(), os.environ)
    else:
        found = options.configured(file)
    return with_proposals(draft, found, provider, model)


def _read(source: str) -> "ApiDocument":
    from server.authoring.document import MAX_BYTES, read_document

    if source.startswith(("http://", "https://")):
        return read_document(_download(source, MAX_BYTES), source)
    path = Path(source)
    try:
        return read_document(path.read_bytes(), source)
    except OSError as unreadable:
        fail(f"{source} cannot be read: {unreadable.strerror}")


def _download(url: str, max_bytes: int) -> bytes:
    import httpx

    body = bytearray()
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=_TIMEOUT_S) as response:
            if not response.is_success:
                fail(f"{url} answered {response.status_code}")
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > max_bytes:
                    fail(f"{url} is larger than {max_bytes // 2**20} MiB")
    except (httpx.HTTPError, httpx.InvalidURL) as failed:
        fail(f"{url} cannot be read: {failed}")
    return bytes(body)
