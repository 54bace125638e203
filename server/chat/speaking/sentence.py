"""A sentence while it is spoken: words leave when they are complete and known to be true."""

import re
import unicodedata
from typing import Final

from server.chat.speaking.atoms import atoms_of
from server.chat.speaking.stating import Checker, Finding
from server.chat.streaming import Listening
from server.text.dates import MONTHS

_LAST_SPACE: Final = re.compile(r"\s(?=\S*\Z)")
_GOES_ON: Final = frozenset({"of", "the"})
_VALUES: Final = frozenset({"number", "date", "month", "time", "code", "sign"})


class Sentence:
    """Collects what a model says, and lets `listening` have what later words cannot change."""

    def __init__(
        self, checker: Checker, listening: Listening | None, template_id: str | None
    ) -> None:
        self._checker = checker
        self._listening = listening
        self._template_id = template_id
        self._told = 0
        self.text = ""

    def hear(self, piece: str) -> Finding:
        """Take more of the sentence; the finding is against what is settled of it by now."""
        self.text = (self.text + piece).lstrip()
        settled = _settled(self.text)
        if settled <= self._told:
            return Finding()
        finding = self._checker.check_beginning(self.text[:settled])
        if finding.good and self._listening is not None:
            # The space behind the last word goes with the next one.
            end = len(self.text[:settled].rstrip())
            self._tell(end)
        return finding

    @property
    def is_over(self) -> bool:
        """Whether a paragraph has ended: an answer has one."""
        return "\n\n" in self.text

    def end(self) -> Finding:
        """Judge the sentence as a whole, and let the rest of it go."""
        self.text = self.text.partition("\n\n")[0].strip()
        finding = self._checker.check(self.text) if self.text else Finding("it says nothing")
        if finding.good:
            self._tell(len(self.text))
        return finding

    def _tell(self, end: int) -> None:
        if self._listening is not None and end > self._told:
            self._listening.say(self.text[self._told : end], self._template_id)
        self._told = max(self._told, end)


def _settled(text: str) -> int:
    """How much of the text no later word can change: a number may yet become a date."""
    space = _LAST_SPACE.search(text)
    if space is None:
        return 0
    if not text.isascii() and unicodedata.normalize("NFKC", text) != text:
        return 0  # atoms are counted in other characters
    end = space.end()
    atoms = atoms_of(text[:end])
    while atoms:
        last = atoms.pop()
        after_number = bool(atoms) and atoms[-1].kind in _VALUES
        goes_on = last.value in MONTHS or (last.value in _GOES_ON and after_number)
        if last.kind not in _VALUES and not goes_on:
            break
        end = last.start
    return end
