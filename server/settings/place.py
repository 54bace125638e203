"""Where the configuration of a project is."""

from pathlib import Path


def config_file(path: Path) -> Path:
    """Return the configuration of a project where its folder is named."""
    inner = path / "config" / "config.yaml", path / "config.yaml"
    return next((file for file in inner if file.is_file()), path) if path.is_dir() else path
