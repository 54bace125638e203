"""`new`: a project to start from, empty or drafted from what an API says of itself."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from server.cli.options import option
from server.cli.output import fail, print_text, say

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
    draft = _draft(from_openapi) if from_openapi is not None else None
    command = os.environ.get("ORBIT_COMMAND", "orbit")
    project = new_project(folder, name, draft, command=command, schemas=schema_texts())
    paths = write_project(project, folder)
    for note in project.notes:
        say(f"note: {note}")
    for path in paths:
        print_text(str(path))
    say("Next:")
    for line in (
        f"check {folder}",
        f"eval {folder}",
        f'ask "{project.question}" {folder} --adapter {project.name}',
        f"start --config {folder}",
    ):
        say(f"  {command} {line}")


def _draft(source: str) -> "Draft":
    from server.authoring.drafts import draft_library

    draft = draft_library(_read(source))
    if not draft.templates["templates"]:
        for note in draft.notes:
            say(f"note: {note}")
        fail(f"{source} describes no operation that can be called")
    return draft


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
