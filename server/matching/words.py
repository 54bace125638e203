"""A text as the words it is made of, for everything that looks at words."""

import re
from typing import Final

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Words and single signs, case-folded, in order: `5+7?` is `5`, `+`, `7`, `?`."""
    return _TOKEN.findall(text.casefold())
