"""Changes to a library in the words of its authors: an example more, another word for one."""

from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["add_example", "remove_example", "add_counter_example", "add_synonym"]


@dataclass(frozen=True, slots=True)
class LibraryChange:
    """One change.

    Examples have the `template` that they are of and their `text`; a synonym is a `text` that
    means the same as `word`.
    """

    kind: ChangeKind
    text: str
    template: str = ""
    word: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return it as it is sent over HTTP."""
        of = {"word": self.word} if self.kind == "add_synonym" else {"template": self.template}
        return {"kind": self.kind, "text": self.text, **of}
