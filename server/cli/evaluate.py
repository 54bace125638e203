"""`eval`: how well a library answers the questions its author wrote down."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from server.cli import options
from server.cli.output import fail, print_result, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.evaluation.calibration import Calibrated
    from server.evaluation.outcomes import Outcome
    from server.evaluation.questions import Question
    from server.evaluation.report import Report
    from server.library.model import Library
    from server.settings.models import AdapterSettings


def eval_library(
    more_templates: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]",
            help="The folder of a project or of a library; with --domain, further templates.",
        ),
    ] = None,
    domain: Annotated[Path | None, options.option("D", "The domain.yaml of the library.")] = None,
    templates: Annotated[
        list[Path] | None,
        typer.Option(metavar="T…", help="Template libraries: files, one or more."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="Q", help="Questions; else questions.yaml beside the domain."),
    ] = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Learn from the questions how sure to be, and keep it."),
    ] = False,
    max_wrong: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.001,
            max=0.5,
            help="With --calibrate: the share of questions that may be answered wrongly.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Measure accuracy, abstention, arguments and latency over a file of questions.

    With --calibrate, what they say of how sure to be is written beside the domain.

    The library is that of --domain and --templates, or else of the adapter named.
    With --domain the settings of --adapter (encoder, threshold) still count, when given.
    """
    place = None
    if domain is None and more_templates and len(more_templates) == 1 and not templates:
        place, more_templates = more_templates[0], None
    if domain is None and (templates or more_templates):
        fail("--templates goes with --domain: which domain.yaml do they belong to?")
    found = options.configured_at(place, config, data=data)
    chosen = found.adapter(adapter)
    if domain is not None:
        libraries = [*(templates or ()), *(more_templates or ())]
        if not libraries:
            fail("--domain needs --templates: which files hold the templates?")
        paths = tuple(path.absolute() for path in libraries)
        update = {"domain_config_path": domain.absolute(), "template_library_path": paths}
        library = chosen.config.model_copy(update=update)
        chosen = chosen.model_copy(update={"config": library})
    path = questions or chosen.config.domain_config_path.parent / "questions.yaml"
    keep = domain is None
    if calibrate:
        changed = asyncio.run(
            calibrate_adapter(found, chosen, path, keep=keep, max_wrong=max_wrong)
        )
        print_result(changed.to_dict(), [changed.to_text()], as_json=as_json)
        return
    if max_wrong is not None:
        fail("--max-wrong goes with --calibrate; an adapter's own stands in its settings")
    report = asyncio.run(evaluate_adapter(found, chosen, path, keep=keep))
    print_result(report.to_dict(), [report.to_text()], as_json=as_json)


async def evaluate_adapter(
    found: options.Configured, adapter: "AdapterSettings", path: Path, *, keep: bool
) -> "Report":
    """Return how well an adapter answers the questions of a file.

    `keep` uses the adapter's own index; a library tried out leaves nothing behind.
    """
    from server.evaluation.report import score

    with _index_of(found, keep=keep) as placed:
        measured = await _measure(placed, adapter, path)
    return score(measured.questions, measured.outcomes)


async def calibrate_adapter(
    found: options.Configured,
    adapter: "AdapterSettings",
    path: Path,
    *,
    keep: bool,
    max_wrong: float | None,
) -> "Calibrated":
    """Learn from the questions of a file how sure an adapter has to be, and write that down.

    Nothing is written where the questions are too few.
    """
    from server.evaluation.calibration import (
        LEAST_QUESTIONS,
        Calibrated,
        calibrate,
        held_out,
        scored_call,
    )
    from server.evaluation.report import score
    from server.library.templates import library_digest
    from server.retrievers.calibration import calibration_path, read_calibration
    from server.retrievers.choice import least_confidence, most_wrong
    from server.retrievers.verifier import shipped_verifier

    config, shipped = adapter.config, shipped_verifier()
    with _index_of(found, keep=keep) as placed:
        # As if nothing were too unsure to be called; and then nothing must run.
        unsure = config.model_copy(update={"confidence_threshold": 0.0})
        raw = adapter.model_copy(update={"config": unsure})
        tried = await _measure(placed, raw, path, calibrated=False, reads=False)
        if len(tried.questions) < LEAST_QUESTIONS:
            fail(
                f"{path} has {len(tried.questions)} questions that can be used, and fewer than "
                f"{LEAST_QUESTIONS} say too little of how sure to be; nothing was written"
            )
        if all(question.template is not None for question in tried.questions):
            say(f"no question in {path} has `template: null`, so none says when to abstain")
        before = await _measure(placed, adapter, path)
        templates = tried.library.templates
        calls = [
            scored_call(
                question,
                outcome,
                by_verifier=outcome.template is not None
                and bool(templates[outcome.template].nl_examples),
            )
            for question, outcome in zip(tried.questions, tried.outcomes, strict=True)
        ]
        known = read_calibration(config.domain_config_path).calibration
        verifiers = [known.applied(shipped) if known else shipped]
        thresholds = [least_confidence(config, verifiers[0], known)]
        calibration = calibrate(
            calls, shipped, library=library_digest(tried.library), max_wrong=max_wrong
        )
        written_to = calibration_path(config.domain_config_path)
        try:
            calibration.save(written_to)
        except OSError as failed:
            fail(f"{written_to} cannot be written: {failed.strerror or failed}")
        thresholds.append(least_confidence(config, calibration.applied(shipped), calibration))
        after = await _measure(placed, adapter, path)
    if config.confidence_threshold is not None:
        say("the adapter has a confidence_threshold, so that the curve does not set it")
    return Calibrated(
        calibration=calibration,
        written_to=str(written_to),
        max_wrong=most_wrong(config, calibration),
        before=score(before.questions, before.outcomes),
        after=score(after.questions, after.outcomes),
        thresholds=(thresholds[0], thresholds[1]),
        held_out=held_out(calls, shipped, most_wrong(config, calibration)),
    )


class _Measured(NamedTuple):
    library: "Library"
    questions: "Sequence[Question]"
    outcomes: "list[Outcome]"


@contextmanager
def _index_of(found: options.Configured, *, keep: bool) -> Iterator[options.Configured]:
    with TemporaryDirectory(prefix="orbit-eval-") as scratch:
        yield found if keep else found.with_data_dir(Path(scratch))


async def _measure(
    found: options.Configured,
    adapter: "AdapterSettings",
    path: Path,
    *,
    calibrated: bool = True,
    reads: bool = True,
) -> _Measured:
    """Ask an adapter the questions of a file; without `reads`, no tool is run for them."""
    from server.adapters.local import ask_once, open_adapter
    from server.evaluation.outcomes import Rehearsal, outcome_of
    from server.evaluation.questions import load_questions

    opening = open_adapter(found.settings, found.environ, adapter, calibrated=calibrated)
    async with opening as opened:
        templates = opened.library.templates
        questions, problems = load_questions(path, templates, found.environ)
        for problem in problems if reads else ():
            say(str(problem))
        if not questions:
            fail(f"no question in {path} can be used")
        # The library is what is measured: no model fills or words anything.
        chain = opened.chain.rehearsed(partial(Rehearsal, reads=reads))
        rehearsed = replace(opened, chain=chain, models=None)

        async def ask(text: str) -> "Outcome":
            start = perf_counter()
            answer = await ask_once(found.settings, rehearsed, text, session_id="eval")
            latency_ms = (perf_counter() - start) * 1000
            return outcome_of(
                answer.decision, templates, latency_ms=latency_ms, answer=answer.content
            )

        await ask(questions[0].ask)  # the first question pays for what is compiled once
        outcomes = [await ask(question.ask) for question in questions]
        return _Measured(opened.library, questions, outcomes)
