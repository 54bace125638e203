"""`init`: a first draft of a library, from what an API says of itself."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from server.cli.output import fail, print_text, say

if TYPE_CHECKING:
    from server.authoring.document import ApiDocument

_TIMEOUT_S: Final = 30.0


def init(
    from_openapi: Annotated[
        str, typer.Option(metavar="FILE_OR_URL", help="An OpenAPI 3 or Swagger 2 document.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the new library.")],
) -> None:
    """Write a domain, a template for each operation, and questions to test them with."""
    from server.authoring.drafts import draft_library, write_draft

    draft = draft_library(_read(from_openapi))
    for note in draft.notes:
        say(f"note: {note}")
    templates = draft.templates["templates"]
    if not templates:
        fail(f"{from_openapi} describes no operation that can be called")
    for path in write_draft(draft, out):
        print_text(str(path))
    count = len(templates)
    say(f"{count} template{'s' if count != 1 else ''}. Now make the examples yours, then run")
    say(f"  ./bin/orbit.sh check {out}")


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
