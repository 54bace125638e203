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


def example_problems(
    library: Library,
    extractor: Extractor,
    read: Callable[[str], Intent | None] = lambda _: None,
) -> list[Problem]:
    """Required parameters that `nl_examples` do not fill, as warnings about their template.

    `read` is what a rule pack makes of an example, whose entities fill parameters too. An
    example may leave an argument out on purpose, to be asked for. A template without
    examples has none.
    """
    problems: list[Problem] = []
    for template in library.templates.values():
        lacking: dict[str, list[str]] = {}
        for example in template.nl_examples:
            found = extractor.extract(example, template, now=ANY_DAY, intent=read(example))
            for missing in found.missing:
                because = f" ({missing.problem})" if missing.problem else ""
                lacking.setdefault(missing.name, []).append(f"{quoted(example)}{because}")
        problems += [
            _missing_argument(template, parameter, lacking[parameter.name])
            for parameter in template.parameters
            if parameter.name in lacking
        ]
    return problems


def _missing_argument(template: Template, parameter: Parameter, examples: list[str]) -> Problem:
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
