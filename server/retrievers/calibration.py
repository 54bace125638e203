"""What a library's own questions say of how sure to be: `calibration.json` beside `domain.yaml`.

`eval --calibrate` writes it, and every adapter of that domain reads it when it is opened.
"""

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator

from server.errors import Location, Problem
from server.retrievers.verifier import Verifier
from server.settings.documents import shown_path
from server.storage.library_files import read_library_file, write_library_file

FILE_NAME: Final = "calibration.json"

Share = Annotated[FiniteFloat, Field(ge=0, le=1)]


class Calibration(BaseModel):
    """Two numbers and a curve, learnt from `questions` questions.

    `scale` and `shift` put the verifier's logarithm of odds right. `risk` are pairs of a threshold
    and the share of questions that are answered wrongly over it. `library` and `verifier` are
    digests of what it was learnt for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: int = Field(ge=1)
    scale: FiniteFloat = Field(gt=0, le=20)
    shift: FiniteFloat = Field(ge=-20, le=20)
    max_wrong: FiniteFloat | None = Field(default=None, gt=0, le=0.5)
    library: str
    verifier: str
    risk: tuple[tuple[Share, Share], ...] = Field(min_length=1)

    @field_validator("risk")
    @classmethod
    def _ascends(cls, risk: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        if any(first >= second for (first, _), (second, _) in pairwise(risk)):
            raise ValueError("its thresholds have to ascend")
        return risk

    def applied(self, verifier: Verifier) -> Verifier:
        """Return a verifier that is as sure as this library's questions say."""
        return replace(verifier, scale=self.scale, shift=self.shift, risk=self.risk)

    def save(self, path: Path) -> None:
        """Write it, whole or not at all, for all to read; raise OSError where that fails."""
        fields = self.model_dump(mode="json", exclude={"risk"})
        # A pair a line: people compare such files.
        pairs = ",\n  ".join(json.dumps(pair) for pair in self.risk)
        head = json.dumps(fields, indent=1).removesuffix("\n}")
        write_library_file(path, f'{head},\n "risk": [\n  {pairs}\n ]\n}}\n')


@dataclass(frozen=True, slots=True)
class ReadCalibration:
    """What stands in a file: None where there is no file, or where `problem` says what is wrong."""

    calibration: Calibration | None = None
    problem: Problem | None = None


def verifier_digest(verifier: Verifier) -> str:
    """Return a hash of the weights, which other odds come from than before once they change."""
    return sha256(repr((verifier.weights, verifier.bias)).encode()).hexdigest()[:32]


def calibration_path(domain_path: Path) -> Path:
    return domain_path.parent / FILE_NAME


def read_calibration(domain_path: Path) -> ReadCalibration:
    """Read the calibration beside a domain, if there is one. Blocks."""
    path = calibration_path(domain_path)
    calibration, why = read_library_file(path, Calibration)
    if why is None:
        return ReadCalibration(calibration)
    what = f"the calibration cannot be used: {why}; delete it, and calibrate again"
    return ReadCalibration(None, Problem(what, Location(shown_path(path)), "bad-calibration"))
