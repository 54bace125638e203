"""What a library was judged with, and how well it did: `library.lock.json` beside `domain.yaml`.

`lock` writes it. Whoever opens the library says when it is no longer what was judged.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from server.core.installation import command
from server.core.suggestions import join_words
from server.errors import Location, Problem
from server.library.model import Library
from server.library.templates import decision_digest
from server.retrievers.calibration import Calibration, verifier_digest
from server.retrievers.choice import least_confidence, most_wrong
from server.retrievers.verifier import shipped_verifier
from server.settings.adapters import AdapterConfig
from server.settings.documents import shown_path
from server.storage.library_files import read_library_file, write_library_file

FILE_NAME: Final = "library.lock.json"


class Basis(BaseModel):
    """What decides about a library's questions, beside the server itself.

    `library`, `verifier`, `calibration` and `questions` are digests; None of the last where
    nobody asks which they were. `encoder` is None where it is not known yet.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    library: str
    encoder: str | None
    verifier: str
    calibration: str | None
    threshold: FiniteFloat = Field(ge=0, le=1)
    max_wrong: FiniteFloat = Field(ge=0, le=1)
    questions: str | None = None

    def changes(self, now: "Basis") -> list[str]:
        """Return in words what is not the same any more; what is not known counts as the same."""
        return [
            text
            for name, text in _CHANGES.items()
            if getattr(now, name) != getattr(self, name)
            and (getattr(now, name) is not None or name == "calibration")
        ]


_CHANGES: Final[Mapping[str, str]] = {
    "library": "the library",
    "encoder": "the encoder",
    "verifier": "how the server weighs matches",
    "calibration": "the calibration",
    "threshold": "the threshold",
    "max_wrong": "max_wrong",
    "questions": "the questions",
}


class LibraryLock(BaseModel):
    """A basis, and what `asked` questions came to with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    orbit: str
    locked_at: datetime
    asked: int = Field(ge=1)
    basis: Basis
    figures: Mapping[str, FiniteFloat | None]

    def save(self, path: Path) -> None:
        """Write it, whole or not at all, for all to read; raise OSError where that fails."""
        write_library_file(path, json.dumps(self.model_dump(mode="json"), indent=1) + "\n")


@dataclass(frozen=True, slots=True)
class ReadLock:
    """What stands in a file: None where there is no file, or where `problem` says what is wrong."""

    lock: LibraryLock | None = None
    problem: Problem | None = None


def lock_path(domain_path: Path) -> Path:
    return domain_path.parent / FILE_NAME


def read_lock(domain_path: Path) -> ReadLock:
    """Read the lock beside a domain, if there is one. Blocks."""
    path = lock_path(domain_path)
    lock, why = read_library_file(path, LibraryLock)
    if why is None:
        return ReadLock(lock)
    what = f"the lock cannot be read: {why}; delete it, and lock again"
    # A lock decides nothing, so that one which is broken stops nothing.
    where = Location(shown_path(path))
    return ReadLock(None, Problem(what, where, "bad-lock", "warning"))


def basis_of(
    library: Library,
    config: AdapterConfig,
    calibration: Calibration | None,
    *,
    encoder: str | None = None,
    questions: str | None = None,
) -> Basis:
    """Return what questions to an adapter are decided with; `encoder` is a fingerprint."""
    shipped = shipped_verifier()
    verifier = calibration.applied(shipped) if calibration else shipped
    learnt = (verifier.scale, verifier.shift) if calibration else None
    return Basis(
        library=decision_digest(library),
        encoder=encoder,
        verifier=verifier_digest(shipped),
        calibration=sha256(repr(learnt).encode()).hexdigest()[:32] if learnt else None,
        threshold=least_confidence(config, verifier, calibration),
        max_wrong=most_wrong(config, calibration),
        questions=questions,
    )


def lock_problem(domain_path: Path, changes: Sequence[str], which: str) -> Problem | None:
    """Return the warning that a library is not what was judged, or None where it is.

    `which` is how `lock` is told of it: `--adapter NAME`, or a folder.
    """
    if not changes:
        return None
    what = (
        f"no longer what was judged, by a change of {join_words(changes, 'and')}; "
        f"run: {command('lock')} {which}"
    )
    return Problem(what, Location(shown_path(lock_path(domain_path))), "old-lock", "warning")
