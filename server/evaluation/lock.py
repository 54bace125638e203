"""Locking a library: what it is judged with now, and how well its questions are answered."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from server import __version__
from server.adapters.library_lock import LibraryLock, basis_of, lock_path
from server.errors import RequestInvalid
from server.evaluation.questions import questions_digest
from server.evaluation.trial import LibraryTrial, Measured
from server.retrievers.calibration import read_calibration

FIGURES: Final[Mapping[str, int]] = {
    "template_accuracy": 1,
    "abstain_recall": 1,
    "wrong_call_rate": -1,
    "asked_back_rate": -1,
    "argument_accuracy": 1,
    "auroc": 1,
}
"""What is locked, and which way is better. All of it can be told without running a tool."""
_DIGITS: Final = 4


class Judged(NamedTuple):
    """A library as it is now: what would be locked, and the questions that say so."""

    lock: LibraryLock
    measured: Measured

    def fallen(self, before: LibraryLock) -> list[str]:
        """Return a line for each figure that is worse than it was."""
        lines = []
        for name, way in FIGURES.items():
            then, now = before.figures.get(name), self.lock.figures[name]
            if then is not None and (now is None or (now - then) * way < 0):
                shown = "not measured any more" if now is None else f"{now:g}"
                lines.append(f"{name} is {shown}, and was {then:g}")
        return lines


async def judge_library(trial: LibraryTrial) -> Judged:
    """Ask a library its questions; no tool is run. Raises as `LibraryTrial`."""
    measured = await trial.decide()
    config = trial.adapter.config
    report = measured.report
    figures = {name: getattr(report, name) for name in FIGURES}
    lock = LibraryLock(
        orbit=__version__,
        locked_at=datetime.now(UTC).replace(microsecond=0),
        asked=len(measured.questions),
        basis=basis_of(
            measured.library,
            config,
            read_calibration(config.domain_config_path).calibration,
            encoder=measured.encoder,
            questions=questions_digest(measured.questions),
        ),
        figures={n: None if v is None else round(v, _DIGITS) for n, v in figures.items()},
    )
    return Judged(lock, measured)


def write_lock(lock: LibraryLock, domain_path: Path) -> Path:
    """Write a lock beside its domain and return where; raise `RequestInvalid` if that fails."""
    path = lock_path(domain_path)
    try:
        lock.save(path)
    except OSError as failed:
        raise RequestInvalid(f"{path} cannot be written: {failed.strerror or failed}") from failed
    return path
