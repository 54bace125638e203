"""Names in the examples of a library over a database, whoever takes them.

A filter that may be left out takes no value of an example while the values of its column are not
known. Its words are a value all the same, and none of what the template is about: a question that
has them, and gives no such argument, asks for something else.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from server.extraction.free_text import capital_runs
from server.extraction.plan import ParameterPlan
from server.extraction.slot_filling import SlotFilling
from server.extraction.small_words import small_words
from server.extraction.text_edges import Place
from server.extraction.values import SpanSet
from server.library.model import Template
from server.library.sql_model import SqlExecution
from server.text.tokens import Tokens

_NO_PLACES: Final = SpanSet()


class ShownNames:
    """What is known of a library's names from its own parameters: the `example` of each."""

    def __init__(self, templates: Sequence[Template] = ()) -> None:
        self._examples: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for template in templates:
            for parameter in template.parameters:
                if isinstance(parameter.example, str) and isinstance(
                    template.execution, SqlExecution
                ):
                    self._examples[parameter.name].add(tuple(Tokens(parameter.example).words))

    def places(self, example: SlotFilling) -> Iterator[Place]:
        """Where an example of a template over a database names something."""
        template, reading = example.plan.template, example.reading
        texts = [one for one in example.plan.groups["text"] if not one.parameter.enum]
        if not texts or not isinstance(template.execution, SqlExecution):
            return
        words = reading.tokens.words
        for name in {name for one in texts for name in self._known(one, example)}:
            for first in range(len(words) - len(name) + 1):
                if name and tuple(words[first : first + len(name)]) == name:
                    yield first, first + len(name)
        for one in texts:
            for said in one.choices.find(reading.tokens):
                if one.key in example.problems and not said.slip:
                    yield said.first, said.last
        if not small_words(reading.languages).capital_nouns:
            described = set(Tokens(f"{template.description} {template.id}").words)
            yield from capital_runs(reading, _NO_PLACES, described)

    def _known(self, plan: ParameterPlan, example: SlotFilling) -> set[tuple[str, ...]]:
        context = example.contexts.texts.get(plan.key)
        return self._examples.get(plan.key, set()) | set(context.known if context else ())
