"""The adapters that ship with rule packs, guards and conversations, and how each is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from utils.bench._blind import Verdict
from utils.bench._blind_lines import (
    GuardLine,
    HebrewLine,
    Line,
    Scored,
    ShopLine,
    StudyLine,
    read_lines,
)
from utils.bench._conversations import HELP_DESK, SHIPPED, open_shipped
from utils.bench._figures import Share


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one kind: what their lines are, which adapter is asked, and what is counted.

    `harm` is what the share of lines that did what they must not is called.
    """

    line: type[Line]
    config: Path
    adapter: str
    harm: str | None = None
    verdicts: tuple[Verdict, ...] = (Verdict.RIGHT,)

    async def score(self, lines: Sequence[Line], data: Path) -> list[Scored]:
        """Put every line to the adapter, which is opened anew and writes to `data`."""
        async with open_shipped(self.config, self.adapter, data) as adapter:
            return [await line.score(adapter) for line in lines]

    def figures(self, scored: Sequence[Scored]) -> dict[str, Share]:
        """The shares of all lines, and of those that must not do something, how many did."""
        figures = {
            verdict.value: Share.of_all(one.verdict is verdict for one in scored)
            for verdict in self.verdicts
        }
        if self.harm is not None:
            figures[self.harm] = Share.of_all(one.harm for one in scored if one.harm is not None)
        return figures


KINDS: Final[Mapping[str, Kind]] = {
    "hebrew": Kind(HebrewLine, SHIPPED, "gov-decisions"),
    "study": Kind(StudyLine, SHIPPED, "study", harm="wrote"),
    "guards": Kind(GuardLine, HELP_DESK, "litecoin-help", harm="falsely_blocked"),
    "shop": Kind(ShopLine, SHIPPED, "retail", verdicts=tuple(Verdict)),
}


async def score_files(kind: Kind, files: Sequence[Path], data: Path) -> dict[str, list[Scored]]:
    """Put files of one kind to their adapter, each to one that the others have not changed."""
    sets = {path.stem: read_lines(path, kind.line) for path in files}
    return {name: await kind.score(lines, data / name) for name, lines in sets.items()}
