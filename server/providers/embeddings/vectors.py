"""What a provider returned, checked and brought to unit length."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from server.core.ports import Vectors
from server.errors import ProviderRejected

_SMALLEST_NORM: Final = 1e-12


def unit_rows(raw: Sequence[Any] | np.ndarray[Any, Any], count: int, provider: str) -> Vectors:
    """`raw` as (count, d) float32 rows of unit length.

    Raises:
        ProviderRejected: not `count` rows of one length, not numbers, not finite, or a
            row of zeros; the message names `provider`.
    """
    try:
        rows = np.asarray(raw, dtype=np.float32)
    except (ValueError, TypeError):
        raise ProviderRejected(f"{provider} returned vectors that are not numbers") from None
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        shape = " x ".join(map(str, rows.shape)) or "a single number"
        raise ProviderRejected(f"{provider} returned {shape} for {count} texts")
    if not np.isfinite(rows).all():
        raise ProviderRejected(f"{provider} returned numbers that are not finite")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if (norms < _SMALLEST_NORM).any():
        raise ProviderRejected(f"{provider} returned a vector of zeros")
    return np.ascontiguousarray(rows / norms, dtype=np.float32)
