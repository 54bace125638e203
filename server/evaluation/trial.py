"""Asking a library its questions: once, mistyped, as if nothing were too unsure, or from a tape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Literal, NamedTuple

from server.adapters.local import ask_once, open_adapter
from server.chat.adapter import Adapter
from server.chat.sources import shared_library
from server.errors import Problem, RequestInvalid
from server.evaluation.calibration import (
    LEAST_QUESTIONS,
    Calibrated,
    ScoredCall,
    calibrate,
    held_out,
    scored_call,
)
from server.evaluation.cassettes import Cassette, Recording, Replaying
from server.evaluation.curves import Curves, curves
from server.evaluation.outcomes import Outcome, Rehearsal, outcome_of, tool_succeeded
from server.evaluation.perturbations import perturbed
from server.evaluation.questions import Question, load_questions
from server.evaluation.report import Report, score
from server.evaluation.robustness import Robustness, robustness
from server.library.model import Library
from server.library.templates import library_digest
from server.retrievers.calibration import calibration_path, read_calibration
from server.retrievers.choice import least_confidence, most_wrong
from server.retrievers.verifier import shipped_verifier
from server.settings.models import AdapterSettings, Settings

Tape = tuple[Literal["record", "replay"], Cassette]
"""A cassette, and whether what tools answer is put into it or taken from it alone."""


class Measured(NamedTuple):
    """What came of questions; `problems` are of those that cannot be used or stand there twice."""

    library: Library
    questions: Sequence[Question]
    outcomes: Sequence[Outcome]
    problems: Sequence[Problem] = ()
    encoder: str | None = None
    """The fingerprint of what made the vectors."""

    @property
    def report(self) -> Report:
        return score(self.questions, self.outcomes)

    @property
    def calls(self) -> list[ScoredCall]:
        """The outcomes as calibration judges them."""
        templates = self.library.templates
        return [
            scored_call(
                question,
                outcome,
                by_verifier=outcome.template is not None
                and outcome.template in templates
                and bool(templates[outcome.template].nl_examples),
            )
            for question, outcome in zip(self.questions, self.outcomes, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class LibraryTrial:
    """One adapter and its file of questions. `settings` say where its index is kept.

    Every method raises `RequestInvalid` where no question can be used, and else as opening an
    adapter does.
    """

    settings: Settings
    environ: Mapping[str, str]
    adapter: AdapterSettings
    path: Path

    async def measure(self, tape: Tape | None = None) -> Measured:
        """Ask the questions; calls that read are made, or taken from the tape."""
        return await self._ask(self.adapter, tape=tape)

    async def decide(self) -> Measured:
        """Ask the questions; no tool is run, so that no service has a say in what comes of them."""
        return await self._ask(self.adapter, reads=False)

    async def perturbed(self, seed: int) -> Robustness:
        """Ask them mistyped and dressed up; no tool is run."""
        questions, _ = load_questions(self.path, None, self.environ)
        changed = [(way, other) for q in questions for way, other in perturbed(q, seed)]
        asked = [other for _, other in changed]
        tried = await self._ask(self.adapter, questions=asked, reads=False)
        return robustness([way for way, _ in changed], tried.questions, tried.outcomes)

    async def curves(self) -> Curves:
        """Ask them as if nothing were too unsure; no tool is run."""
        return curves((await self._ask(self._unsure, reads=False)).calls)

    async def calibrate(self, max_wrong: float | None) -> Calibrated:
        """Learn from them how sure the adapter has to be, and write that beside its domain.

        Nothing is written where they are too few. Raises `RequestInvalid`.
        """
        config, shipped = self.adapter.config, shipped_verifier()
        tried = await self._ask(self._unsure, calibrated=False, reads=False)
        if len(tried.questions) < LEAST_QUESTIONS:
            raise RequestInvalid(
                f"{self.path} has {len(tried.questions)} questions that can be used, and fewer "
                f"than {LEAST_QUESTIONS} say too little of how sure to be; nothing was written"
            )
        before = await self.measure()
        known = read_calibration(config.domain_config_path).calibration
        verifier = known.applied(shipped) if known else shipped
        threshold = least_confidence(config, verifier, known)
        digest = library_digest(tried.library)
        calibration = calibrate(tried.calls, shipped, library=digest, max_wrong=max_wrong)
        written_to = calibration_path(config.domain_config_path)
        try:
            calibration.save(written_to)
        except OSError as failed:
            why = failed.strerror or failed
            raise RequestInvalid(f"{written_to} cannot be written: {why}") from failed
        then = least_confidence(config, calibration.applied(shipped), calibration)
        after = await self.measure()
        most = most_wrong(config, calibration)
        return Calibrated(
            calibration=calibration,
            written_to=str(written_to),
            max_wrong=most,
            before=before.report,
            after=after.report,
            thresholds=(threshold, then),
            held_out=held_out(tried.calls, shipped, most),
            never_abstains=all(question.template is not None for question in tried.questions),
            problems=before.problems,
        )

    @property
    def _unsure(self) -> AdapterSettings:
        config = self.adapter.config.model_copy(update={"confidence_threshold": 0.0})
        return self.adapter.model_copy(update={"config": config})

    async def _ask(
        self,
        adapter: AdapterSettings,
        *,
        calibrated: bool = True,
        reads: bool = True,
        questions: Sequence[Question] | None = None,
        tape: Tape | None = None,
    ) -> Measured:
        opening = open_adapter(
            self.settings,
            self.environ,
            adapter,
            calibrated=calibrated,
            learnt=True,
            changed=_templates_alone,
        )
        async with opening as opened:
            library = shared_library(opened)
            templates = library.templates
            problems: Sequence[Problem] = ()
            if questions is None:
                questions, problems = load_questions(self.path, templates, self.environ)
            if not questions:
                said = "".join(f"; {problem}" for problem in problems[:1])
                raise RequestInvalid(f"no question in {self.path} can be used{said}")
            # The library is what is measured: no model fills or words anything.
            rehearsed = _rehearsed(opened, tape, reads=reads)

            async def ask(text: str) -> Outcome:
                start = perf_counter()
                answer = await ask_once(self.settings, rehearsed, text, session_id="eval")
                return outcome_of(
                    answer.decision,
                    templates,
                    latency_ms=(perf_counter() - start) * 1000,
                    answer=answer.content,
                    tool_succeeded=tool_succeeded(answer, templates) if reads else None,
                )

            await ask(questions[0].ask)  # the first question pays for what is compiled once
            outcomes = [await ask(question.ask) for question in questions]
            encoder = opened.encoder.fingerprint if opened.encoder is not None else None
            return Measured(library, questions, outcomes, problems, encoder)


def _templates_alone(library: Library) -> Library:
    return library.templates_alone


def _rehearsed(adapter: Adapter, tape: Tape | None, *, reads: bool) -> Adapter:
    """The adapter, and those behind it, with tools that are tried and no models."""
    chain = adapter.chain
    if tape is not None:
        way, cassette = tape
        taped = Recording if way == "record" else Replaying
        chain = chain.rehearsed(partial(taped, cassette=cassette))
    chain = chain.rehearsed(partial(Rehearsal, reads=reads))
    resolve = adapter.resolve_adapter

    def behind(name: str) -> Adapter:
        assert resolve is not None  # noqa: S101  only an adapter with others behind it asks
        return _rehearsed(resolve(name), tape, reads=reads)

    found = behind if adapter.composite is not None else resolve
    return replace(adapter, chain=chain, models=None, resolve_adapter=found)
