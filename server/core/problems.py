"""What is wrong with something an author wrote, and where."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; `line` counts from 1, and is 0 when only the file is known."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding, read as `what @ file:line`.

    An `error` keeps the thing it is about from being used; a `warning` does not.
    `kind` is a stable short name (`duplicate-id`, `unknown-key` …) for tools and tests.
    """

    what: str
    where: Location
    kind: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        prefix = "warning: " if self.severity == "warning" else ""
        return f"{prefix}{self.what} @ {self.where}"
