"""`eval`: how well a library answers the questions its author wrote down."""

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli import options
from server.cli.output import fail, print_result, say

if TYPE_CHECKING:
    from server.evaluation.outcomes import Outcome
    from server.evaluation.report import Report
    from server.settings.models import AdapterSettings


def eval_library(
    more_templates: Annotated[
        list[Path] | None, typer.Argument(metavar="T", help="Further template libraries.")
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
    as_json: options.Json = False,
) -> None:
    """Measure accuracy, abstention, arguments and latency over a file of questions.

    The library is that of --domain and --templates, or else of the adapter named.
    With --domain the settings of --adapter (encoder, threshold) still count, when given.
    """
    found = options.configured(config, data=data)
    if domain is None and (templates or more_templates):
        fail("--templates goes with --domain: which domain.yaml do they belong to?")
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
    report = asyncio.run(evaluate_adapter(found, chosen, path, keep=domain is None))
    print_result(report.to_dict(), [report.to_text()], as_json=as_json)


async def evaluate_adapter(
    found: options.Configured, adapter: "AdapterSettings", path: Path, *, keep: bool
) -> "Report":
    """Return how well an adapter answers the questions of a file.

    `keep` uses the adapter's own index; a library tried out leaves nothing behind.
    """
    from server.adapters.local import ask_once, open_adapter
    from server.evaluation.outcomes import Rehearsal, outcome_of
    from server.evaluation.questions import load_questions
    from server.evaluation.report import evaluate

    with TemporaryDirectory(prefix="orbit-eval-") as scratch:
        if not keep:
            found = found.with_data_dir(Path(scratch))
        async with open_adapter(found.settings, found.environ, adapter) as opened:
            templates = opened.library.templates
            questions, problems = load_questions(path, templates, found.environ)
            for problem in problems:
                say(str(problem))
            if not questions:
                fail(f"no question in {path} can be used")
            # The library is what is measured: no model fills or words anything.
            rehearsed = replace(opened, chain=opened.chain.rehearsed(Rehearsal), models=None)

            async def ask(text: str) -> "Outcome":
                start = perf_counter()
                answer = await ask_once(found.settings, rehearsed, text, session_id="eval")
                latency_ms = (perf_counter() - start) * 1000
                return outcome_of(
                    answer.decision, templates, latency_ms=latency_ms, answer=answer.content
                )

            await ask(questions[0].ask)  # the first question pays for what is compiled once
            return await evaluate(ask, questions)
