"""One guard set, ready to judge: patterns compiled, examples embedded, a scorer learnt."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import re2

from server.core.ports import Embedder, Vectors
from server.guards.model import FAILED, Allowed, Category, GuardSet, GuardVerdict
from server.guards.scorer import ExampleVectors, GuardScorer, learn_scorer
from server.text.normalizer import normalize_text

Readings = Callable[[str], tuple[str, ...]]
"""The texts to embed for a question: those that matching embeds as well, where it has no word
that a pack reads as another."""

_TOO_CLOSE: Final = 0.9
"""Harmless questions that are nearer than this to an example teach nothing."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """`origin` is admin, settings (the environment included), pack or calibrated."""

    value: float
    origin: str


@dataclass(frozen=True, slots=True)
class GivenThresholds:
    """Thresholds from outside the packs: for all categories, and by an admin for one."""

    for_all: float | None = None
    by_admin: Mapping[str, float] | None = None

    def of(self, category: Category, calibrated: float) -> Threshold:
        values = {
            "admin": (self.by_admin or {}).get(category.name),
            "settings": self.for_all,
            "pack": category.threshold,
        }
        given = (Threshold(v, origin) for origin, v in values.items() if v is not None)
        return next(given, Threshold(calibrated, "calibrated"))


_MEMORY: Final = 64 << 20
"""RE2 gives up rather than use more for its automaton; then patterns are tried singly."""

_ALWAYS: Final = ""
"""A pattern that fits every text: a pass that does not report it has given up."""


class PatternStage:
    """Finds the first category, in their order, one of whose patterns is in a text."""

    def __init__(self, categories: Sequence[Category]) -> None:
        self._hits = [(c.name, pattern) for c in categories for pattern in c.patterns]
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = _MEMORY
        together = re2.Set.SearchSet(options)
        for pattern in (*(pattern for _, pattern in self._hits), _ALWAYS):
            together.Add(pattern)
        try:
            together.Compile()
        except re2.error:  # too many patterns for one automaton
            together = None
        self._set: re2.Set | None = together
        self._single = [re2.compile(pattern, options) for _, pattern in self._hits]

    def __len__(self) -> int:
        return len(self._hits)

    def find(self, text: str) -> tuple[str, str] | None:
        """Return the first category that a normalized text is in, and the pattern of it."""
        if not self._hits:
            return None
        found = self._set.Match(text) if self._set else None
        if not found or len(self._hits) not in found:
            found = [n for n, pattern in enumerate(self._single) if pattern.search(text)]
        first = min((n for n in found if n < len(self._hits)), default=None)
        return None if first is None else self._hits[first]


def with_read_as(read_as: Mapping[str, Sequence[str]], readings: Readings) -> Readings:
    """Return `readings` of texts in which each word or name of `read_as` gives way to its key."""
    instead = {word.casefold(): key for key, words in read_as.items() for word in words}
    if not instead:
        return readings
    longest_first = sorted(instead, key=len, reverse=True)
    # No word of its own inside another: "eth" is not in "method", nor "ada" in "ada-based".
    words = re.compile(
        rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE
    )

    def read(text: str) -> tuple[str, ...]:
        return readings(words.sub(lambda found: instead[found[0].casefold()], text))

    return read


class Engine:
    """Judges questions. Deadlines, shadow mode and failures are not its business."""

    def __init__(
        self,
        guards: GuardSet,
        scorer: GuardScorer | None,
        similar: Sequence[tuple[Allowed, Vectors]],
        given: GivenThresholds,
        readings: Readings,
    ) -> None:
        self.guards = guards
        self.readings = readings
        self.patterns = PatternStage(guards.categories)
        self._by_name = {category.name: category for category in guards.categories}
        self._semantic = guards.semantic
        self.scorer = scorer
        self.similar = tuple(similar)
        self._exact = {normalize_text(a.question) for a in guards.allowed}
        self.thresholds = {
            category.name: given.of(category, scorer.thresholds[n])
            for n, category in enumerate(self._semantic)
            if scorer is not None
        }

    @classmethod
    async def build(
        cls,
        guards: GuardSet,
        vectors: ExampleVectors,
        readings: Readings,
        harmless: Sequence[str],
        given: GivenThresholds,
    ) -> Self:
        """Embed what is not known yet and learn, or raise `ProviderError`."""
        categories = guards.semantic
        readings = with_read_as(guards.read_as, readings)
        owned = [
            (reading, n)
            for n, category in enumerate(categories)
            for example in category.examples
            for reading in readings(example)[:1]
        ]
        others = [reading for text in harmless for reading in readings(text)[:1]]
        allowed = [(a, readings(a.question)) for a in guards.allowed if a.similarity is not None]
        texts = [text for text, _ in owned] + others if owned else []
        rows = await vectors.of([*texts, *(text for _, found in allowed for text in found)])
        scorer = None
        if owned:
            owners = np.array([n for _, n in owned] + [-1] * len(others))
            scorer = await asyncio.to_thread(_learn, rows[: len(texts)], owners, guards.sides)
        similar, place = [], len(texts)
        for entry, found in allowed:
            similar.append((entry, rows[place : place + len(found)]))
            place += len(found)
        return cls(guards, scorer, similar, given, readings)

    def allowed_exactly(self, text: str) -> GuardVerdict | None:
        if text not in self._exact:
            return None
        return GuardVerdict(
            "allow", "allow_list", "allow_list", 1.0, "this very question is allowed"
        )

    def allowed_by_similarity(self, vectors: Vectors) -> GuardVerdict | None:
        for entry, rows in self.similar:
            if not rows.size or not vectors.size or entry.similarity is None:
                continue
            cosine = min(float((vectors @ rows.T).max()), 1.0)
            if cosine >= entry.similarity:
                why = f"{cosine:.2f} similar to the allowed {entry.question!r}"
                return GuardVerdict("allow", "allow_list", "allow_list", cosine, why)
        return None

    def by_pattern(self, text: str) -> GuardVerdict | None:
        hit = self.patterns.find(text)
        if hit is None:
            return None
        category, why = self._by_name[hit[0]], f"pattern {hit[1]}"
        return GuardVerdict(category.action, category.name, "regex", 1.0, why, route=category.route)

    def by_meaning(self, vectors: Vectors) -> tuple[GuardVerdict, dict[str, float]]:
        """Return the verdict by the likeliest category over its threshold, and all scores."""
        if self.scorer is None or not vectors.size:
            return GuardVerdict(None), {}
        names = [category.name for category in self._semantic]
        found = dict(zip(names, self.scorer.scores(vectors).tolist(), strict=True))
        best = max(found, key=lambda name: found[name])
        # What is likelier to be allowed is not restricted, however likely it seems.
        harmless = max((found[c.name] for c in self._semantic if c.action == "allow"), default=0.0)
        clear = [
            name for name in found if found[name] >= max(self.thresholds[name].value, harmless)
        ]
        if not clear:
            needed = self.thresholds[best]
            why = f"nearest is {best}, which needs {needed.value:.2f} ({needed.origin})"
            return GuardVerdict(None, confidence=found[best], why=why), found
        chosen = self._by_name[max(clear, key=found.__getitem__)]
        needed = self.thresholds[chosen.name]
        why = f"{found[chosen.name]:.2f}, at least {needed.value:.2f} ({needed.origin})"
        verdict = GuardVerdict(
            chosen.action, chosen.name, "semantic", found[chosen.name], why, route=chosen.route
        )
        return verdict, found


def _learn(
    rows: Vectors, owners: "np.ndarray[tuple[int], np.dtype[np.int64]]", sides: Sequence[int]
) -> GuardScorer:
    own = rows[owners >= 0]
    near = (rows @ own.T).max(axis=1) >= _TOO_CLOSE
    kept = (owners >= 0) | ~near
    return learn_scorer(rows[kept], owners[kept], sides)


_log = logging.getLogger(__name__)


class GuardQuestion:
    """A question on its way through guards; each reading is embedded at most once, if needed."""

    def __init__(self, text: str, embedder: Embedder) -> None:
        self.plain = normalize_text(text)
        self._text = text
        self._embedder = embedder
        self._vectors: dict[tuple[str, ...], Vectors] = {}

    async def vectors(self, readings: Readings) -> Vectors:
        """Return the vectors of its `readings`, embedded singly as matching caches them."""
        texts = readings(self._text)
        if texts not in self._vectors:
            parts = await asyncio.gather(*(self._embedder.embed([text]) for text in texts))
            self._vectors[texts] = np.vstack(parts) if parts else np.empty((0, 0), np.float32)
        return self._vectors[texts]


async def evaluate_set(
    engine: Engine, question: GuardQuestion, *, fail_closed: bool, stage_timeout_s: float
) -> tuple[GuardVerdict, dict[str, float]]:
    """Return the verdict of one set, and the score of each category that was compared.

    A stage that fails or is late has not found nothing: open, the other one still judges;
    closed, only a stage that ran can let the question pass.
    """
    allowed = engine.allowed_exactly(question.plain)
    if allowed is not None:
        return allowed, {}
    failures: list[str] = []
    found: GuardVerdict | None = None
    try:
        found = engine.by_pattern(question.plain)
    except Exception as failure:
        # Whatever it is, the policy for failures decides, and not the failure.
        _note(failures, "regex", failure)
    scores: dict[str, float] = {}
    restricts = found is not None and found.action != "allow"
    if (found is None and engine.scorer is not None) or (
        engine.similar and (found is None or restricts)
    ):
        try:
            async with asyncio.timeout(stage_timeout_s):
                vectors = await question.vectors(engine.readings)
            similar = engine.allowed_by_similarity(vectors)
            if similar is not None:
                return replace(similar, failures=tuple(failures)), {}
            if found is None:
                found, scores = engine.by_meaning(vectors)
        except Exception as failure:
            # It was late, or an encoder, perhaps an operator's own, raised anything.
            _note(failures, "semantic", failure)
    return _with_failures(found, failures, fail_closed=fail_closed), scores


def _with_failures(
    found: GuardVerdict | None, failures: Sequence[str], *, fail_closed: bool
) -> GuardVerdict:
    verdict = replace(found or GuardVerdict(None), failures=tuple(failures))
    restricts = verdict.action in ("block", "route")
    if not failures or restricts:
        return verdict
    which = " and ".join(failures)
    if fail_closed:
        why = f"the {which} stage could not judge, and this guard fails closed"
        return GuardVerdict("block", FAILED, "failure", 0.0, why, failures=tuple(failures))
    why = f"the {which} stage could not judge, and this guard fails open"
    return replace(verdict, why=f"{verdict.why}; {why}" if verdict.why else why)


def _note(failures: list[str], stage: str, failure: Exception) -> None:
    failures.append(stage)
    reason = str(failure) or type(failure).__name__
    _log.warning("guard stage %s failed: %s", stage, reason, extra={"fields": {"stage": stage}})
