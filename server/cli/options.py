"""Options that many commands share, declared once."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_CONFIG: Final = Path(os.environ.get("ORBIT_HOME", "")) / "config" / "config.yaml"
"""The launcher says where the project is, whatever folder the command was typed in."""

ConfigOption = Annotated[
    Path,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The configuration to use.",
        show_default="config/config.yaml",
    ),
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
        "--adapter", metavar="NAME", help="Adapter to ask; without it, the first that is enabled."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
