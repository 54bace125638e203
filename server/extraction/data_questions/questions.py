"""Questions to the tables of a data model, with the values that the tables hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from server.core.coverage import Coverage, CoveredWord, WordRole
from server.core.data_values import NameVocabulary
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.lexicon import DataLexicon
from server.extraction.data_questions.reader import read_data_question
from server.library.data_model import DataModel
from server.text.parsed_text import ParsedText
from server.text.tokens import DateOrder

_LONGEST: Final = 600
"""Characters; a longer message is no question of this kind."""


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question as the data of a query; None where it is not wholly read, and `why` says so."""

    query: Mapping[str, Any] | None
    coverage: Coverage
    why: str = ""
    refused: str = ""
    """Words that ask for what the data do not have, whatever else could answer."""


class DataQuestions:
    """Reads questions by a data model. Values that are learnt stand in place of earlier ones."""

    def __init__(self, model: DataModel) -> None:
        self.model = model
        self._lexicon = DataLexicon(model, {})

    def learn(self, vocabulary: NameVocabulary) -> None:
        """Take the values of columns; may run in a thread while questions are read."""
        self._lexicon = DataLexicon(self.model, vocabulary)

    def read(self, text: str, now: datetime, date_order: DateOrder) -> ReadQuestion:
        if len(text) > _LONGEST:
            return ReadQuestion(None, Coverage(text), "the message is too long")
        found = read_data_question(ParsedText(text, now, date_order), self._lexicon)
        unknown = [item for item in found.items if item.kind == "unknown" and not item.role]
        if found.query is None and unknown:
            # What is known was not in the way.
            for item in found.items:
                item.role = item.role or ("" if item in unknown or item.is_filler else "frame")
        words = tuple(_covered(item) for item in found.items)
        coverage = Coverage(text, words)
        if found.query is None:
            refused = "" if found.is_held else found.why
            return ReadQuestion(None, coverage, found.why, refused)
        first = next((item for item in found.items if not item.is_filler), None)
        asks = found.items[0].first_word in self._lexicon.words.verdicts  # is there anything …
        if first is not None and first.has("nots") and not asks:
            return ReadQuestion(None, coverage, "it asks for nothing")  # don't list them
        query = found.query.model_dump(mode="json", exclude_defaults=True)
        return ReadQuestion(query, coverage)


def _covered(item: Item) -> CoveredWord:
    role: WordRole = item.role or ("filler" if item.is_filler or item.may_be_filler else "unread")
    kind = "" if item.role or role == "filler" else "word"
    return CoveredWord(item.start, item.end, role, "query" if role == "value" else None, kind)
