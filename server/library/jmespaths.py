"""JMESPath expressions, compiled once."""

from functools import lru_cache
from typing import Any

import jmespath


@lru_cache(maxsize=4096)
def compile_path(path: str) -> Any:
    """Return the compiled expression, which has `search(data)`.

    Raises:
        jmespath.exceptions.JMESPathError: it does not compile.
    """
    return jmespath.compile(path)
