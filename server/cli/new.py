"""`new`: a project to start from, empty or drafted from what an API says of itself."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from server.cli import options
from server.cli.options import option
from server.cli.output import fail, print_text, say
from server.cli.server_messages import command

if TYPE_CHECKING:
    from server.authoring.document import ApiDocument
    from server.authoring.drafts import Draft

_TIMEOUT_S: Final = 30.0


def new(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder of the project, new or not.")
    ] = None,
    name: Annotated[
        str | None, option("NAME", "Name of the adapter; by default that of the folder.")
    ] = None,
    from_openapi: Annotated[
        str | None,
        option("FILE_OR_URL", "Draft the library from an OpenAPI 3 or Swagger 2 document."),
    ] = None,
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
            fail("which folder? for example: orbit.sh new shop")
        folder = Path(typer.prompt("Folder of the project", default="shop", err=True))
        if from_openapi is None:
            answer = typer.prompt(
                "An OpenAPI document to draft from, a file or an address (none: a small example)",
                default="", show_default=False, err=True,
            )  # fmt: skip
            from_openapi = answer.strip() or None
    if with_model and from_openapi is None:
        fail("--with-model adds to a draft: name what to draft from with --from-openapi")
    if not with_model and (provider or model):
        fail("--provider and --model say what --with-model asks: add --with-model")
    draft = _draft(from_openapi) if from_openapi is not None else None
    if draft is not None and with_model:
        draft = _with_model(draft, folder, config, provider, model)
    project = new_project(folder, name, draft, command=command(), schemas=schema_texts())
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

    own = options.config_file(folder)
    file = own if own.is_file() else config
    if file == options.DEFAULT_CONFIG and not file.is_file():
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
