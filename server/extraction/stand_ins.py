"""Values of the data, put as the examples of the library have them.

To an encoder “trips for Delta Tools” is about tools, and near to nothing where the examples have
“trips for Acme Foods”. So a value that no example has is compared as one of the same column that
examples do have. What is learnt of the library does not change with its data.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from server.core.data_values import ValueVocabulary
from server.extraction.library_words import LibraryWords
from server.library.model import Template
from server.text.phrases import PhraseTable
from server.text.stems import stem
from server.text.tokens import Tokens

_NO_VALUES: Final[ValueVocabulary] = {}
_SHORTEST: Final = 3
"""Letters of a word that may stand for a value by itself."""


class StandIns:
    """What each value of the data is compared as; nothing while no values are known."""

    def __init__(
        self,
        values: ValueVocabulary = _NO_VALUES,
        templates: Sequence[Template] = (),
        library: LibraryWords | None = None,
        *,
        worded: Callable[[Sequence[str]], Mapping[str, object]] = dict.fromkeys,
        code: str = "en",
    ) -> None:
        """`worded` gives the words for values, each with the value that it is for."""
        self._library, self._code = library or LibraryWords(), code
        columns = dict.fromkeys(tuple(v) for own in values.values() for v in own.values())
        shown = _shown(values, templates, set(chain.from_iterable(columns)))
        by_value: dict[str, str] = {}
        words: dict[str, str] = {}
        # The value that most templates show tells them least apart.
        ranked = [(max(map(shown.__getitem__, column), default=0), column) for column in columns]
        for count, column in sorted(ranked, key=lambda one: -one[0]):
            best = next((value for value in column if shown[value] == count), "")
            for word, value in worded(column).items() if count else ():
                words.setdefault(word, by_value.setdefault(str(value), best))
        own = {value for value, count in shown.items() if count}
        self._table = PhraseTable({w: by for w, by in words.items() if self._is_name(w)})
        self._shown = PhraseTable({value: value for value in own})

    def __call__(self, text: str) -> str:
        """The text with the values that examples have in place of others."""
        if not self._table:
            return text
        tokens = Tokens(text)
        kept = {at for one in self._shown.find(tokens) for at in range(one.first, one.last)}
        parts, done = list[str](), 0
        for phrase in self._table.find(tokens):
            if phrase.weak or not kept.isdisjoint(range(phrase.first, phrase.last)):
                continue
            if phrase.slip and self._library.knows([tokens.words[phrase.first]], self._code):
                continue
            parts += text[done : tokens.starts[phrase.first]], phrase.value
            done = tokens.ends[phrase.last - 1]
        return "".join((*parts, text[done:]))

    def _is_name(self, text: str) -> bool:
        """Whether words tell a value by themselves, and are not those of what templates do."""
        words = [word for word in Tokens(text).words if len(word) >= _SHORTEST and word.isalpha()]
        return any(stem(word, self._code) not in self._library.stems for word in words)


def _shown(
    values: ValueVocabulary, templates: Iterable[Template], every: Iterable[str]
) -> Counter[str]:
    """How many templates have each value in an example."""
    table = PhraseTable({value: value for value in every})
    found: Counter[str] = Counter()
    for template in templates:
        own = {value for column in values.get(template.id, {}).values() for value in column}
        said = {
            phrase.value
            for example in template.nl_examples
            for phrase in table.find(Tokens(example))
            if not phrase.slip and not phrase.weak
        }
        found.update(said & own)
    return found
