"""`demo-services`: local stand-ins for the services that the examples call."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final

import typer

from server.cli import options
from server.cli.output import fail, say
from server.cli.ports import listen

DEFAULT_PORT: Final = 8900
SWITCH: Final = "DEMO_SERVICES_URL"
"""The variable that points every example at the stand-ins."""

_PACKAGE: Final = "orbit_demo_services"


def demo_services(
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port to listen on.")
    ] = DEFAULT_PORT,
    delay: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, max=600, help="Make every answer late.")
    ] = 0.0,
    fail_with: Annotated[
        int | None,
        typer.Option(metavar="STATUS", min=400, max=599, help="Answer everything with a failure."),
    ] = None,
    config: options.Config = options.DEFAULT_CONFIG,
) -> None:
    """Stand in for the examples' public services on this machine, until Ctrl-C."""
    import uvicorn

    from server.settings.loader import root_of

    app = _load(root_of(config) / "examples" / "services").create_app(
        delay_s=delay, fail_with=fail_with
    )
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listening.getsockname()[1]}"
    say(f"Stand-ins on {url} (Ctrl-C to stop). In another terminal:\n")
    say(f'  export {SWITCH}={url}\n  ./bin/orbit.sh ask "What\'s the weather in London?"')
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    server.run(sockets=[listening])


def _load(folder: Path) -> ModuleType:
    """Return the stand-ins' package, from the project's examples: it is no part of the wheel."""
    init = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, init, submodule_search_locations=[str(folder)]
    )
    if not init.is_file() or spec is None or spec.loader is None:
        fail(f"there are no stand-ins in {folder}; they come with the project's source")
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{_PACKAGE}.app")
