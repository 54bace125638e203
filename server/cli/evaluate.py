"""`eval`: how well a library answers the questions its author wrote down."""

import asyncio
from collections.abc import Mapping
from functools import partial
from math import inf, isinf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from server.cli import options
from server.cli.output import fail, print_result, say
from server.core.suggestions import unknown

if TYPE_CHECKING:
    from server.evaluation.curves import Curves
    from server.evaluation.robustness import Robustness
    from server.evaluation.trial import LibraryTrial, Measured


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
    fail_under: Annotated[
        str | None,
        options.option(
            "FIGURE=VALUE", "Exit with 1 when a figure falls short: template_accuracy=0.9,…"
        ),
    ] = None,
    junit: Annotated[
        Path | None, options.option("FILE", "Write each question as a test of JUnit's XML.")
    ] = None,
    record: Annotated[
        Path | None, options.option("FILE", "Keep what the tools answer, for --replay.")
    ] = None,
    replay: Annotated[
        Path | None, options.option("FILE", "Take what the tools answered from --record.")
    ] = None,
    perturb: Annotated[
        bool, typer.Option("--perturb", help="Ask every question mistyped and dressed up, too.")
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="With --perturb: another seed, other slips.")
    ] = 1,
    curves: Annotated[
        bool, typer.Option("--curves", help="Show how confidence and being right go together.")
    ] = False,
    plot: Annotated[Path | None, options.option("FILE", "Draw those curves as SVG.")] = None,
    as_json: options.Json = False,
) -> None:
    """Measure accuracy, abstention, arguments and latency over a file of questions.

    With --calibrate, what they say of how sure to be is written beside the domain.

    The library is that of PATH, of --domain and --templates, or else of the adapter named.
    With --domain the settings of --adapter (encoder, threshold) still count, when given. The exit
    code is 1 when a question cannot be used or stands there twice, and when a figure falls short.
    """
    bounds = _bounds(fail_under)
    if record is not None and replay is not None:
        fail("--record and --replay are one or the other")
    place = None
    if domain is None and more_templates and len(more_templates) == 1 and not templates:
        place, more_templates = more_templates[0], None
    if domain is None and (templates or more_templates):
        fail("--templates goes with --domain: which domain.yaml do they belong to?")
    found = options.configured_at(place, config, data=data)
    chosen = found.library_adapter(adapter) if calibrate else found.adapter(adapter)
    if domain is not None:
        libraries = [*(templates or ()), *(more_templates or ())]
        if not libraries:
            fail("--domain needs --templates: which files hold the templates?")
        paths = tuple(path.absolute() for path in libraries)
        update = {"domain_config_path": domain.absolute(), "template_library_path": paths}
        library = chosen.config.model_copy(update=update)
        chosen = chosen.model_copy(update={"config": library})
    if questions is None and chosen.config.child_adapters:
        fail(f"{chosen.name} has no library of its own; name its questions with --questions")
    path = questions or chosen.config.domain_config_path.parent / "questions.yaml"
    if max_wrong is not None and not calibrate:
        fail("--max-wrong goes with --calibrate; an adapter's own stands in its settings")
    with TemporaryDirectory(prefix="orbit-eval-") as scratch:
        # A library that is only tried out leaves nothing behind.
        placed = found if domain is None else found.with_data_dir(Path(scratch))
        from server.evaluation.trial import LibraryTrial

        trial = LibraryTrial(placed.settings, placed.environ, chosen, path)
        if calibrate:
            _calibrate(trial, max_wrong, as_json=as_json)
            return
        wanted = _Wanted(record, replay, seed if perturb else None, curves or plot is not None)
        found_out = asyncio.run(_measure(trial, wanted))
    measured, figures = found_out.measured, found_out.measured.report.to_dict()
    for problem in measured.problems:
        say(str(problem))
    lines = [measured.report.to_text()]
    if found_out.robustness is not None:
        figures["robustness"] = found_out.robustness.to_dict()
        lines += ["", found_out.robustness.to_text()]
    if found_out.curves is not None:
        figures |= found_out.curves.to_dict()
        lines += ["", found_out.curves.to_text()] if curves else []
    print_result(figures, lines, as_json=as_json)
    if junit is not None:
        from server.evaluation.junit import junit_xml

        _write(junit, junit_xml(chosen.name, measured.questions, measured.outcomes))
    if plot is not None and found_out.curves is not None:
        _write(plot, found_out.curves.to_svg())
    short = [line for line in map(partial(_falls_short, figures), bounds.items()) if line]
    for line in short:
        say(line)
    if short or measured.problems:
        raise typer.Exit(1)


class _Wanted(NamedTuple):
    """What is to be measured beside the figures of the questions."""

    record: Path | None
    replay: Path | None
    seed: int | None
    curves: bool


class _FoundOut(NamedTuple):
    measured: "Measured"
    robustness: "Robustness | None"
    curves: "Curves | None"


async def _measure(trial: "LibraryTrial", wanted: _Wanted) -> _FoundOut:
    from server.evaluation.cassettes import Cassette

    if wanted.replay is not None:
        measured = await trial.measure(("replay", Cassette.read(wanted.replay)))
    elif wanted.record is not None:
        cassette = Cassette()
        measured = await trial.measure(("record", cassette))
        cassette.write(wanted.record)
        say(f"{len(cassette)} results are kept in {wanted.record}")
    else:
        measured = await trial.measure()
    robustness = None if wanted.seed is None else await trial.perturbed(wanted.seed)
    return _FoundOut(measured, robustness, await trial.curves() if wanted.curves else None)


def _calibrate(trial: "LibraryTrial", max_wrong: float | None, *, as_json: bool) -> None:
    changed = asyncio.run(trial.calibrate(max_wrong))
    for problem in changed.problems:
        say(str(problem))
    if changed.never_abstains:
        say(f"no question in {trial.path} has `template: null`, so none says when to abstain")
    if trial.adapter.config.confidence_threshold is not None:
        say("the adapter has a confidence_threshold, so that the curve does not set it")
    print_result(changed.to_dict(), [changed.to_text()], as_json=as_json)


_AT_MOST: Final = frozenset({"wrong_call_rate", "asked_back_rate", "latency_p50", "latency_p99"})
"""Figures that are the better the lower they are."""
_BOUNDED: Final = (
    "template_accuracy", "abstain_recall", "argument_accuracy", "answer_accuracy", "auroc",
    "tool_success_rate", *sorted(_AT_MOST),
)  # fmt: skip


def _bounds(written: str | None) -> dict[str, float]:
    """Read `template_accuracy=0.9,wrong_call_rate=0.03`."""
    found: dict[str, float] = {}
    for part in written.split(",") if written else ():
        name, _, value = part.strip().partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            fail(f"--fail-under takes FIGURE=VALUE, such as template_accuracy=0.9; got {part!r}")
        if name not in _BOUNDED:
            fail(f"--fail-under: {unknown('figure', name, _BOUNDED)}")
        most = inf if name.startswith("latency_") else 1.0
        if not 0 <= found[name] <= most or isinf(found[name]):
            right = "milliseconds" if isinf(most) else "a share from 0 to 1, such as 0.9"
            fail(f"--fail-under: {name} is {right}; got {value!r}")
    return found


def _falls_short(data: Mapping[str, Any], bound: tuple[str, float]) -> str | None:
    name, value = bound
    latency = name.removeprefix("latency_")
    found = data["latency_ms"][latency] if name.startswith("latency_") else data[name]
    if found is None:
        return f"{name} is not measured: no question bears on it"
    if name in _AT_MOST:
        return f"{name} is {found:g}, above {value:g}" if found > value else None
    return f"{name} is {found:g}, below {value:g}" if found < value else None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as failed:
        fail(f"{path} cannot be written: {failed.strerror or failed}")
