"""A logistic regression whose weights keep the signs that they are known to have."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from server.retrievers.evidence import FEATURES
from utils.train.observe import Observation, Row

_PENALTY: Final = 8.0
_STEPS: Final = 1500
_OF_OTHERS: Final = 0.3
"""What a row counts of a template that would not be chosen anyway."""
_OBJECTED: Final = 0.02

AGAINST: Final = frozenset({
    "outside", "outside_alone", "rivals", "verb_missing", "verb_missing_write",
    "statement_write", "question", "question_write",
    "missing", "doubtful", "by_order", "sense_in_text", "binding_in_text", "no_frame", "unread",
    "unread_new", "unread_share", "unread_data", "unread_sums", "unread_action", "unread_name",
    "unread_foreign", "inside", "after_preposition", "modifier", "next_to_value",
    "operator_at_value", "in_open_list", "action_write", "without_gains", "defaults_unread",
    "better_elsewhere", "amounts", "amounts_taken", "moments", "moments_taken", "other_values",
    "refused", "conditional", "longer", *(name for name in FEATURES if name.startswith("op_")),
})  # fmt: skip
"""Features that never speak for a call."""
FOR: Final = frozenset({
    "head", "head_alone", "lead", "lead_alone", "similarity", "example_share", "example_same",
    "moods", "arguments", "frame", "all_read", "only_one", "actions", "licensed", "near",
    "without_loses",
    "amounts_usual", "amounts_no_parameters", "moments_no_parameters", "unread_no_parameters",
    "share_no_parameters", "values_beside", "beside",
})  # fmt: skip
"""Features that never speak against one."""

Array = NDArray[np.float64]


class Weights(NamedTuple):
    """Weights of `FEATURES` in their order, and the bias."""

    weights: Array
    bias: float

    def probability(self, row: Row) -> float:
        """How likely a call is right."""
        score = float(np.dot(row.features, self.weights) + self.bias)
        return (_OBJECTED if row.objected else 1.0) / (1.0 + float(np.exp(-score)))


def learn(observations: Sequence[Observation]) -> Weights:
    """Fit weights; twice, since which templates count depends on which would be chosen."""
    head = FEATURES.index("head")
    found: Weights | None = None
    for _ in range(2):
        rows: list[Sequence[float]] = []
        right: list[float] = []
        counts: list[float] = []
        for observation in observations:
            open_rows = [row for row in observation.rows if not row.objected]
            if not open_rows:
                continue
            scores = [found.probability(r) if found else r.features[head] for r in open_rows]
            best = int(np.argmax(scores))
            for place, row in enumerate(open_rows):
                rows.append(row.features)
                right.append(float(row.right))
                counts.append(observation.weight * (1.0 if place == best else _OF_OTHERS))
        found = _fit(np.array(rows), np.array(right), np.array(counts))
    assert found is not None
    return found


def _fit(rows: Array, right: Array, counts: Array) -> Weights:
    """Accelerated projected gradients: the signs are walls that no step goes through."""
    spread = rows.std(axis=0) + 1e-6
    scaled = np.hstack([rows / spread, np.ones((len(rows), 1))])
    size = scaled.shape[1]
    penalty = np.full(size, _PENALTY)
    penalty[-1] = 1e-3
    low = np.array([0.0 if name in FOR else -np.inf for name in FEATURES] + [-np.inf])
    high = np.array([0.0 if name in AGAINST else np.inf for name in FEATURES] + [np.inf])
    step = 1 / (0.25 * np.linalg.norm((scaled * counts[:, None]).T @ scaled, 2) + _PENALTY)
    at, ahead, momentum = np.zeros(size), np.zeros(size), 1.0
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-scaled @ ahead))
        gradient = scaled.T @ (counts * (likely - right)) + penalty * ahead
        moved = np.clip(ahead - step * gradient, low, high)
        following = (1 + float(np.sqrt(1 + 4 * momentum**2))) / 2
        ahead = moved + (momentum - 1) / following * (moved - at)
        at, momentum = moved, following
    return Weights(at[:-1] / spread, float(at[-1]))
