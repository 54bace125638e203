"""The head of one library: a question's features to a probability for every template.

A head is learnt when the library or the encoder changed, and otherwise read from a file.
"""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.model.features import BUCKETS, DIMENSIONS, Rarity, hashed_features
from server.matching.model.softmax import Weights, softmax
from server.matching.model.training_set import SKETCH_SHARE, TrainingSet
from server.storage.files import written_whole

_REREAD_SHARE: Final = np.float32(0.7)

_VERSION: Final = "8"
"""Changes with what training would give, so that older files are learnt anew."""

_PARTS: Final = ("meaning", "words", "bias", "rarity")


@dataclass(frozen=True, slots=True)
class Head:
    """Calibrated weights of each answer, the last of which is "none of these".

    `meaning` is (d, templates + 1), `words` (sketch, templates + 1): a question touches
    few places of a sketch, and only their rows are read.
    """

    meaning: Weights
    words: Weights
    bias: NDArray[np.float32]
    rarity: Rarity

    @property
    def size(self) -> int:
        """How many weights of a meaning there are to multiply."""
        return int(self.meaning.size)

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question, the last one that of none.

        `vectors` and `texts` are its readings, one or two. The second is the first with
        its slips put right, and has more to say.
        """
        # One by one: a product with two rows of a large library takes longer than two with one.
        shares, *reread = [
            softmax(self._logits(vector, text)) for vector, text in zip(vectors, texts, strict=True)
        ]
        for other in reread:
            shares = (1 - _REREAD_SHARE) * shares + _REREAD_SHARE * other
        return shares

    def _logits(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float32]:
        places, weights = hashed_features(text, self.rarity)
        logits: NDArray[np.float32] = vector.dot(self.meaning)
        logits += self.bias
        logits += weights.dot(self.words.take(places, axis=0))
        return logits


def learn_head(lesson: TrainingSet) -> Head:
    """Learn and calibrate a head. Blocks for seconds when the library is large."""
    from server.matching.model.training import train

    learnt = train(lesson)
    dimensions = len(lesson.centre)
    return Head(
        meaning=np.ascontiguousarray(learnt.weights[:, :dimensions].T),
        words=np.ascontiguousarray(learnt.weights[:, dimensions:].T) * SKETCH_SHARE,
        bias=learnt.bias,
        rarity=lesson.weights,
    )


def head_key(ids: Sequence[str], strangers: Sequence[str]) -> str:
    """What a head depends on: vectors, whose ids say what they depend on, and the background."""
    digest = hashlib.blake2b(f"{_VERSION}\x00{DIMENSIONS}".encode(), digest_size=16)
    for part in (*ids, *strangers):
        digest.update(part.encode() + b"\x00")
    return digest.hexdigest()


def load_head(path: Path, key: str, templates: int) -> Head | None:
    """The head in a file, or None when there is none that fits."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if str(stored["key"]) != key:
                return None
            head = Head(**{name: stored[name] for name in _PARTS})
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # cut short or not ours: learning it anew costs seconds
    answers = templates + 1
    fits = (
        head.meaning.shape[1:] == head.bias.shape == (answers,)
        and head.words.shape == (DIMENSIONS, answers)
        and head.rarity.shape == (BUCKETS,)
        and all(bool(np.isfinite(getattr(head, name)).all()) for name in _PARTS)
    )
    return head if fits else None


def save_head(path: Path, key: str, head: Head) -> None:
    """Write a head so that a reader finds the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        np.savez(file, key=key, **{name: getattr(head, name) for name in _PARTS})
