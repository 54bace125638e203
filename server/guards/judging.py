"""One set judges one question: both stages, what they may take, and what failed."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from server.core.ports import Embedder, Vectors
from server.guards.engine import Engine, Readings
from server.guards.model import FAILED, Verdict
from server.guards.texts import normalized

_log = logging.getLogger(__name__)


class Question:
    """A question on its way through guards; embedded at most once, and only when needed."""

    def __init__(self, text: str, readings: Readings, embedder: Embedder) -> None:
        self.plain = normalized(text)
        self._text = text
        self._readings = readings
        self._embedder = embedder
        self._vectors: Vectors | None = None

    async def vectors(self) -> Vectors:
        """The vectors of its readings, each asked for by itself: the embedder knows some
        already, and matching, which asks for the same, will find them known.
        """
        if self._vectors is None:
            texts = self._readings(self._text)
            parts = await asyncio.gather(*(self._embedder.embed([text]) for text in texts))
            self._vectors = np.vstack(parts) if parts else np.empty((0, 0), np.float32)
        return self._vectors


async def judge(
    engine: Engine, question: Question, *, fail_closed: bool, stage_timeout_s: float
) -> tuple[Verdict, dict[str, float]]:
    """Return the verdict of one set, and the score of each category that was compared.

    A stage that fails or is late is in the verdict's `failures`, and is never taken for a
    stage that found nothing: open, the other stage still judges; closed, only a stage
    that ran can let the question pass.
    """
    allowed = engine.allowed_exactly(question.plain)
    if allowed is not None:
        return allowed, {}
    failures: list[str] = []
    found: Verdict | None = None
    try:
        found = engine.by_pattern(question.plain)
    except Exception as failure:
        # Whatever it is, the policy for failures decides, and not the failure.
        _note(failures, "regex", failure)
    scores: dict[str, float] = {}
    restricts = found is not None and found.action != "allow"
    if (found is None and engine.needs_vectors) or (
        engine.allows_by_similarity and (found is None or restricts)
    ):
        try:
            async with asyncio.timeout(stage_timeout_s):
                vectors = await question.vectors()
            similar = engine.allowed_by_similarity(vectors)
            if similar is not None:
                return replace(similar, failures=tuple(failures)), {}
            if found is None:
                meant, scores = engine.by_meaning(vectors)
                found = meant
        except TimeoutError as late:
            _note(failures, "semantic", late)
        except Exception as failure:
            # An encoder, perhaps an operator's own, may raise anything.
            _note(failures, "semantic", failure)
    return _closed(found, failures, fail_closed=fail_closed), scores


def _closed(found: Verdict | None, failures: Sequence[str], *, fail_closed: bool) -> Verdict:
    verdict = replace(found or Verdict(None), failures=tuple(failures))
    restricts = verdict.action in ("block", "route")
    if not failures or restricts:
        return verdict
    which = " and ".join(failures)
    if fail_closed:
        why = f"the {which} stage could not judge, and this guard fails closed"
        return Verdict("block", FAILED, "failure", 0.0, why, failures=tuple(failures))
    why = f"the {which} stage could not judge, and this guard fails open"
    return replace(verdict, why=f"{verdict.why}; {why}" if verdict.why else why)


def _note(failures: list[str], stage: str, failure: BaseException) -> None:
    failures.append(stage)
    said = str(failure) or type(failure).__name__
    _log.warning("guard stage %s failed: %s", stage, said, extra={"fields": {"stage": stage}})
