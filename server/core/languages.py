"""The languages that whoever asks prefers."""

from typing import Final

_MAX_LANGUAGES: Final = 8


def accepted_languages(header: str) -> tuple[str, ...]:
    """Return the tags of an Accept-Language header, best first; what is malformed is skipped."""
    weighted = []
    for position, part in enumerate(header.split(",")[:_MAX_LANGUAGES]):
        tag, _, weight = "".join(part.split()).partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if tag and tag != "*" and quality > 0:
            weighted.append((-quality, position, tag))
    return tuple(tag for _, _, tag in sorted(weighted))
