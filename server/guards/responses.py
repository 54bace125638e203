"""Which of several responses a person reads."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

_OF_LAST_RESORT: Final = "I cannot help with that type of question."
WHEN_FAILED: Final = "I cannot answer that at the moment. Please try again later."
"""What is said when a guard could not judge, and its packs have no words for it."""


def choose_response(
    responses: Mapping[str, Sequence[str]], languages: Sequence[str], seed: str
) -> tuple[str, str]:
    """Return a Jinja text and its language, `""` when it is for every language.

    `languages` are what the reader prefers, best first; `fr-CA` finds `fr`. Of several
    texts, `seed` chooses, always the same one.
    """
    by_tag = {tag.lower(): tag for tag in responses}
    wanted = [c for tag in languages for c in (tag.lower(), tag.lower().split("-")[0])]
    found = next((by_tag[tag] for tag in (*wanted, "", *by_tag) if tag in by_tag), None)
    texts = [text for text in responses.get(found, ()) if text.strip()] if found is not None else []
    if found is None or not texts:
        return _OF_LAST_RESORT, ""
    return texts[zlib.crc32(seed.encode()) % len(texts)], found
