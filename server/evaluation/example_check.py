"""Whether a library's examples give what their own templates need."""

from collections.abc import Callable

from server.core.suggestions import quoted
from server.core.turn import Intent
from server.errors import Problem
from server.extraction.example_learning import ANY_DAY
from server.extraction.extractor import Extractor
from server.library.model import Library, Parameter, Template

_KIND = "example-unextractable"
_MOST_QUOTED = 3

ReadIntent = Callable[[str], Intent | None]
"""Reads a text by a rule pack, whose entities fill parameters too."""


def example_problems(
    library: Library, extractor: Extractor, read_intent: ReadIntent = lambda _: None
) -> list[Problem]:
    """Return a warning for each required parameter that `nl_examples` do not fill."""
    return [
        problem
        for template in library.templates.values()
        for problem in _template_problems(template, extractor, read_intent)
    ]


def _template_problems(
    template: Template, extractor: Extractor, read_intent: ReadIntent
) -> list[Problem]:
    lacking: dict[str, list[str]] = {}
    for example in template.nl_examples:
        found = extractor.extract(example, template, now=ANY_DAY, intent=read_intent(example))
        for missing in found.missing:
            because = f" ({missing.problem})" if missing.problem else ""
            lacking.setdefault(missing.name, []).append(f"{quoted(example)}{because}")
    return [
        _problem(template, parameter, lacking[parameter.name])
        for parameter in template.parameters
        if parameter.name in lacking
    ]


def _problem(template: Template, parameter: Parameter, examples: list[str]) -> Problem:
    shown = "; ".join(examples[:_MOST_QUOTED])
    rest = len(examples) - _MOST_QUOTED
    shown += f"; and {rest} more" if rest > 0 else ""
    if len(examples) == len(template.nl_examples) and parameter.required:
        what = (
            f"no example of {template.id!r} gives its {parameter.name!r}, so it is always asked "
            f"for: {shown}; show where it stands with an extraction pattern, or with the "
            "parameter's `example` in one of the nl_examples"
        )
    else:
        what = (
            f"{len(examples)} of {len(template.nl_examples)} examples of {template.id!r} leave "
            f"out its {parameter.name!r}, so it would be asked for: {shown}"
        )
    return Problem(what, template.where, _KIND, "warning", template.id)
