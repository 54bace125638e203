"""What guards do to a question before they look at it, and before they speak of it."""

import re
import unicodedata
from typing import Final

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SECRETS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "[email]"),
    (re.compile(r"\bhttps?://\S+"), "[link]"),
    (re.compile(r"\b(?=\w*\d)\w{16,}\b"), "[id]"),
    (re.compile(r"\+?\d[\d .-]{4,}\d"), "[number]"),
)


def normalized(text: str) -> str:
    """`text` as patterns see it: one line, plain letters, nothing invisible, lower case."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    return " ".join(plain.split()).lower()


def redacted(text: str, *, limit: int) -> str:
    """The beginning of `text`, without what may name a person or open something."""
    if limit <= 0:
        return ""
    # Cut first, but not inside what is to be taken out.
    plain = " ".join(text[: limit * 8].split())
    for pattern, instead in _SECRETS:
        plain = pattern.sub(instead, plain)
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
