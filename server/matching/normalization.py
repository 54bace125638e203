"""The same question in plain words: courtesies left out, shorthand written in full.

"hi, could u pls round 17.8 for me" and "Round 17.8" ask for the same thing. English only;
other languages pass through as they are.
"""

import re
from typing import Final

_SHORTHAND: Final = {
    "can't": "can not",
    "cant": "can not",
    "don't": "do not",
    "dont": "do not",
    "gimme": "give me",
    "gonna": "going to",
    "how's": "how is",
    "hows": "how is",
    "i'd": "i would",
    "i'm": "i am",
    "im": "i am",
    "i've": "i have",
    "ive": "i have",
    "it's": "it is",
    "lemme": "let me",
    "let's": "let us",
    "pct": "percent",
    "rn": "right now",
    "that's": "that is",
    "thats": "that is",
    "there's": "there is",
    "tmrw": "tomorrow",
    "u": "you",
    "ur": "your",
    "wanna": "want to",
    "wat": "what",
    "what's": "what is",
    "whats": "what is",
    "where's": "where is",
    "wheres": "where is",
    "who's": "who is",
    "whos": "who is",
}
_WORD: Final = re.compile(r"[\w']+")

_PLEASE: Final = r"(?:please|pls|plz|kindly)"
_GREETING: Final = r"(?:hi there|hi|hey|hello|ok|okay|so|um|uh)"
_ASKING: Final = (
    r"(?:(?:can|could|would|will) you|i (?:want|need|would like) (?:you )?to(?: know)?"
    r"|tell me|do you know|let me know)"
)
_BEFORE: Final = re.compile(rf"^(?:(?:{_PLEASE}|{_GREETING}|{_ASKING})\b[\s,!.]*)+")
_AFTER: Final = re.compile(
    rf"(?:[\s,]*\b(?:{_PLEASE}|thanks|thank you|thx|for me|(?:would|will|can) you)\b)+(?=[\s?.!]*$)"
)
_LAST_WORDS: Final = ("please", "pls", "plz", "kindly", "thanks", "thx", "for me", "you")
"""How a text ends that ends in a courtesy: most do not, and looking for one takes long."""
_BETWEEN: Final = re.compile(rf"\b{_PLEASE}\b\s*")


def normalize_text(text: str) -> str:
    """Return `text`, which is in lower case, in plain words; a mere courtesy stays as it is."""
    full = text
    if not _SHORTHAND.keys().isdisjoint(_WORD.findall(text)):
        full = _WORD.sub(lambda word: _SHORTHAND.get(word[0], word[0]), text)
    bare = _BEFORE.sub("", full)
    if bare.rstrip(" ?.!").endswith(_LAST_WORDS):
        bare = _AFTER.sub("", bare)
    bare = _BETWEEN.sub("", bare).strip()
    return bare if _WORD.search(bare) else full


_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Words and single signs, case-folded, in order: `5+7?` is `5`, `+`, `7`, `?`."""
    return _TOKEN.findall(text.casefold())
