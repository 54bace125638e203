"""JSON files that stand beside a library, for people to read, compare and commit."""

from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from server.core.installation import refuse_shipped
from server.storage.files import written_whole

M = TypeVar("M", bound=BaseModel)

_MODE: Final = 0o644
_LARGEST_BYTES: Final = 1_000_000


def write_library_file(path: Path, text: str) -> None:
    """Write it, whole or not at all, for all to read; raise OSError where that fails."""
    refuse_shipped(path)
    with written_whole(path, durable=True) as file:
        file.write(text.encode())
    path.chmod(_MODE)


def read_library_file(path: Path, model: type[M]) -> tuple[M | None, str | None]:
    """Return what stands in a file, or why it cannot be read; neither without a file. Blocks."""
    try:
        with path.open("rb") as file:
            return model.model_validate_json(file.read(_LARGEST_BYTES)), None
    except FileNotFoundError:
        return None, None
    except OSError as failed:
        return None, failed.strerror or str(failed)
    except ValidationError as invalid:
        error = invalid.errors()[0]
        place = ".".join(map(str, error["loc"]))
        return None, f"{place}: {error['msg']}" if place else error["msg"]
