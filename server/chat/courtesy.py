"""What an adapter tells about itself: what it is for, with examples from its own library."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from server.chat.adapter import Adapter
from server.core.suggestions import shortened
from server.core.turn import Turn
from server.library.model import Template
from server.text.senses import languages_of

_EXAMPLES: Final = 3
_MOST_COMPARED: Final = 10
"""Examples of one template that are looked at for one in the language of the question."""
_LONGEST_EXAMPLE: Final = 120
_LONGEST_DESCRIPTION: Final = 300


def describe_abilities(adapter: Adapter, turn: Turn, language: str) -> dict[str, Any]:
    """What the texts of courtesies see: `name`, `description`, and `examples`.

    The examples are of templates that the caller may run, and in the language of the question
    where there are such.
    """
    domain = adapter.library.domain
    sharing = (adapter, *adapter.behind.values())
    open_to = [t for one in sharing for t in one.chain.open_to(turn.caller, any_intent=True)]
    chosen = [_example(template, language) for template in _spread(open_to)]
    return {
        "name": domain.name,
        "description": _sentence(domain.description, _LONGEST_DESCRIPTION),
        "examples": chosen,
    }


def _spread(templates: Sequence[Template]) -> Iterator[Template]:
    """A few templates from all over, of different tools where there are as many."""
    fit = [t for t in templates if any(map(_fits, t.nl_examples))]
    fit = fit or [t for t in templates if t.description]
    first_of_tool = {t.execution.tool: t for t in reversed(fit)}
    if len(first_of_tool) >= _EXAMPLES:
        fit = [t for t in fit if first_of_tool[t.execution.tool] is t]
    count = min(_EXAMPLES, len(fit))
    return (fit[at * len(fit) // count] for at in range(count))


def _example(template: Template, language: str) -> dict[str, str]:
    examples = [text for text in template.nl_examples if _fits(text)][:_MOST_COMPARED]
    said = next((text for text in examples if languages_of([text]) == (language,)), None)
    return {
        "template_id": template.id,
        "description": _sentence(template.description, _LONGEST_EXAMPLE),
        "example": said or (examples[0] if examples else ""),
    }


def _fits(example: str) -> bool:
    return len(example) <= _LONGEST_EXAMPLE and "\n" not in example


def _sentence(text: str, most: int) -> str:
    """The first sentence of a text, without the full stop at its end."""
    line = " ".join(text.split())
    return shortened(line.partition(". ")[0].rstrip(". "), most)
