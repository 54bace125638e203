"""Options that many commands share, declared once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from server.cli.output import say
from server.errors import AdapterUnknown, ConfigurationInvalid
from server.settings.loader import load_settings
from server.settings.models import AdapterSettings, Settings

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


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings, and the variables that the files adapters name are filled from."""

    settings: Settings
    environ: Mapping[str, str] = field(repr=False)

    def with_data_dir(self, data_dir: Path) -> "Configured":
        return replace(self, settings=self.settings.model_copy(update={"data_dir": data_dir}))

    def adapter(self, name: str | None) -> AdapterSettings:
        """The adapter of that name; the first enabled one when no name is given.

        Raises:
            AdapterUnknown: there is no enabled adapter, or none of that name.
        """
        enabled = {a.name: a for a in self.settings.adapters if a.enabled}
        known = ", ".join(enabled) or "none"
        if name is None and enabled:
            first = next(iter(enabled.values()))
            if len(enabled) > 1:
                say(f"Asking {first.name}; --adapter names another of: {known}")
            return first
        if name not in enabled:
            what = "there is no enabled adapter" + (f" {name!r}" if name else "")
            raise AdapterUnknown(f"{what}; there are: {known}")
        return enabled[name]


def configured(
    config: Path, *, data: Path | None = None, host: str | None = None, port: int | None = None
) -> Configured:
    """Load settings, saying warnings on standard error.

    Raises:
        ConfigurationInvalid: with every problem of every file.
    """
    loaded = load_settings(config, os.environ)
    if loaded.settings is None:
        raise ConfigurationInvalid(loaded.problems)
    for problem in loaded.problems:
        say(str(problem))
    settings = loaded.settings
    if data is not None:
        settings = settings.model_copy(update={"data_dir": data.absolute()})
    overrides = {"host": host, "port": port}
    given = {name: value for name, value in overrides.items() if value is not None}
    if given:
        server = settings.server.model_copy(update=given)
        settings = settings.model_copy(update={"server": server})
    return Configured(settings, loaded.environ)
