"""`demo-services`: local stand-ins for the services that the examples call."""

from typing import Annotated, Final

import typer

from server.cli import options
from server.cli.example_code import load_example
from server.cli.output import say
from server.cli.ports import listen
from server.core.installation import command

DEFAULT_PORT: Final = 8900
SWITCH: Final = "DEMO_SERVICES_URL"
"""The variable that points every example at the stand-ins."""


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

    app = load_example(root_of(config), "services", "app").create_app(
        delay_s=delay, fail_with=fail_with
    )
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listening.getsockname()[1]}"
    say(f"Stand-ins on {url} (Ctrl-C to stop). In another terminal:\n")
    say(f'  export {SWITCH}={url}\n  {command("ask")} "What\'s the weather in London?"')
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    server.run(sockets=[listening])
