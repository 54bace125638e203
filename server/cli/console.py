"""`console`, and the link into the console that `start` prints."""

import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from server.access.clients import is_local_host
from server.access.models import ADMIN
from server.access.sign_in import LinkIssuer
from server.cli import options
from server.cli.launcher import ask_instance
from server.cli.output import fail, print_text, say
from server.cli.runfile import Running, read_running
from server.core.installation import command
from server.storage.files import make_private, written_whole
from server.storage.installation import InstallationSecret

if TYPE_CHECKING:
    from server.settings.models import Settings

_ONCE: Final = "signs in once, within ten minutes"
_EVERYWHERE: Final = ("", "0.0.0.0", "::")  # noqa: S104  read, not bound
_PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>Orbit</title>
"""


def console(
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser as well.")] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Print a link that signs in on the page of the running server, once."""
    settings = options.configured(config, data=data).settings
    running = read_running(settings.data_dir)
    if running is None:
        given = options.repeated(config, data)
        fail(f"Orbit is not running (data folder {settings.data_dir}): {command('start', *given)}")
    if not settings.console.enabled:
        fail("there is no page to open: console.enabled is false in the configuration")
    link = console_link(running, settings)
    if link is None:
        say("This address signs nobody in: the page asks for a key.")
    print_text(link or console_address(running))
    if opens:
        _open_in_browser(link or console_address(running), settings.data_dir)


def console_address(running: Running) -> str:
    # By its address: `localhost` may be another's socket of the other IP version.
    return f"{running.url.replace('//localhost:', '//127.0.0.1:')}/"


def console_link(running: Running, settings: "Settings") -> str | None:
    """Return a fresh one-time link; None where this machine cannot sign in by one."""
    reaches_itself = is_local_host(running.host) or running.host in _EVERYWHERE
    if not reaches_itself or ADMIN not in settings.access.roles.names:
        return None
    instance = ask_instance(running.url)
    if instance is None:
        return None
    secret = InstallationSecret.of(settings).value
    # Behind a hash, which browsers send to nobody: no log and no other site learns of it.
    return f"{console_address(running)}#link={LinkIssuer(secret).issue(instance)}"


def start_line(running: Running, settings: "Settings") -> str:
    """Return what `start` says of the page; nothing where there is none.

    A link only where the server is for this machine alone: others read elsewhere what is said.
    """
    if not settings.console.enabled:
        return ""
    link = console_link(running, settings) if is_local_host(running.host) else None
    return f"{link}  ({_ONCE})" if link else console_address(running)


def _open_in_browser(link: str, data_dir: Path) -> None:
    """Open a link by way of a private file: everybody may read the words of a command."""
    page = data_dir / "run" / "console.html"
    make_private(page.parent)
    with written_whole(page) as file:
        file.write(_PAGE.format(link=escape(link)).encode())
    if not webbrowser.open(page.absolute().as_uri()):
        say("There is no browser to open here: copy the address.")
