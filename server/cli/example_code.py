"""Code of the examples, which comes with the project's source and is no part of the wheel."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from server.cli.output import fail


def load_example(root: Path, package: str, module: str) -> ModuleType:
    """Return a module of one of the packages in the folder `examples` of a project."""
    folder = root / "examples" / package
    init, name = folder / "__init__.py", f"orbit_demo_{package}"
    spec = importlib.util.spec_from_file_location(
        name, init, submodule_search_locations=[str(folder)]
    )
    if not init.is_file() or spec is None or spec.loader is None:
        fail(f"there is no example in {folder}; examples come with the project's source")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return importlib.import_module(f"{name}.{module}")
