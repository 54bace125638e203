"""Questions to the tables of a data model, read step by step into one query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from server.extraction.data_questions.asked import DataRequest, NotHeld, Unclear
from server.extraction.data_questions.composing.query import compose_query
from server.extraction.data_questions.items import Item, items_of
from server.extraction.data_questions.lexicon import DataLexicon
from server.extraction.data_questions.steps.addresses import read_addresses
from server.extraction.data_questions.steps.calendar import read_calendar
from server.extraction.data_questions.steps.comparisons import read_comparisons
from server.extraction.data_questions.steps.counts import read_counts
from server.extraction.data_questions.steps.days import read_days, read_leftovers
from server.extraction.data_questions.steps.discounts import read_discounts
from server.extraction.data_questions.steps.ends import read_ends, read_limits
from server.extraction.data_questions.steps.figures import read_figures
from server.extraction.data_questions.steps.groups import read_groups
from server.extraction.data_questions.steps.lateness import read_durations, read_lateness
from server.extraction.data_questions.steps.manner import read_manner, read_times
from server.extraction.data_questions.steps.negations import read_negations
from server.extraction.data_questions.steps.ratios import read_ratios
from server.extraction.data_questions.steps.rest import read_rest
from server.extraction.data_questions.steps.shared_values import read_shared_values
from server.extraction.data_questions.steps.targets import read_target
from server.extraction.data_questions.steps.verbs import read_verbs
from server.extraction.data_questions.words import Words
from server.library.data_query import DataQuery
from server.text.parsed_text import ParsedText

_STEPS: Final[tuple[Callable[[Words, DataRequest], None], ...]] = (
    read_manner,
    read_times,
    read_lateness,
    read_discounts,
    read_comparisons,
    read_limits,
    read_shared_values,
    read_negations,
    read_ends,
    read_groups,
    read_durations,
    read_ratios,
    read_counts,
    read_figures,
    read_target,
    read_calendar,
    read_days,
    read_addresses,
    read_rest,
    read_verbs,
    read_leftovers,
)
"""What is read of a question, in this order: a step takes the words that no other has taken."""


@dataclass(frozen=True, slots=True)
class DataReading:
    """What a question comes to: the query where it could be read, and its parts."""

    query: DataQuery | None
    items: Sequence[Item]
    why: str = ""
    is_held: bool = True
    """Whether the data may have what is asked for, as far as one can tell."""

    def unread(self) -> list[Item]:
        """The parts that say something and are not in the query."""
        return [i for i in self.items if not i.role and not i.is_filler and not i.may_be_filler]


def read_data_question(reading: ParsedText, lexicon: DataLexicon) -> DataReading:
    """Read a question as a query; without one, `unread` or `why` says what was in the way."""
    items = items_of(reading, lexicon)
    words, request = Words(reading.text, items, lexicon), DataRequest(today=reading.today)
    try:
        for read in _STEPS:
            read(words, request)
        query = compose_query(words, request)
    except Unclear as unclear:
        return DataReading(None, items, str(unclear))
    except NotHeld as unknown:
        return DataReading(None, items, str(unknown), is_held=False)
    found = DataReading(query, items)
    return DataReading(None, items, "unread") if found.unread() else found
