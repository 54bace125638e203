"""Options that many commands share, declared once."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_CONFIG = Path("config/config.yaml")

ConfigOption = Annotated[
    Path,
    typer.Option("--config", metavar="FILE", help="The configuration to use."),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="Folder for everything that changes; overrides data_dir."
    ),
]
HostOption = Annotated[
    str | None,
    typer.Option("--host", metavar="HOST", help="Address to listen on; overrides server.host."),
]
PortOption = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port; overrides server.port."),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(
        "--adapter", metavar="NAME", help="Adapter to ask; needed when there are several."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
