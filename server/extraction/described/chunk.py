"""A part of a question that may be the text that a parameter takes."""

from dataclasses import dataclass
from typing import Any, Literal

Form = Literal["words", "quote", "code", "moment", "formula"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Words `first` up to `last` that may be a value.

    `lead` is the word before it, articles aside. `capital` says that it is written as a
    name is, `modifies` that a word of the template's own follows at once, `spoken` that
    it consists of such words. `head` is the word before an "of" inside it, which may be
    one of the template's, and `members` are the texts of a list.
    """

    start: int
    end: int
    first: int
    last: int
    text: str
    words: tuple[str, ...]
    lead: str
    form: Form = "words"
    capital: bool = False
    modifies: bool = False
    spoken: bool = False
    counted: bool = False
    """Whether a number stands before it, as before the miles of 5 miles."""
    inner: bool = False
    """Whether another word goes on where it ends, as concerts does after rock."""
    cut: bool = False
    """Whether it ends before an "of"."""
    mixed: bool = False
    """Whether a name stands among plain words in it."""
    joined: bool = False
    """Whether a comma stands inside it: Rome, Italy."""
    coupled: bool = False
    """Whether an "and" stands inside it: Pride and Prejudice."""
    torn: bool = False
    """Whether it is a part of words that belong together as far as anyone can tell."""
    edges: int = 0
    """How many of its ends are words of the template's own."""
    head: str = ""
    head_known: bool = False
    moment: Any = None
    """The date or time that it is."""
    members: tuple[str, ...] = ()
