"""The retriever of libraries that ask a database."""

from typing import ClassVar, Final

from server.core.decision import Call, Decision, Match, NoMatch, SeveralCalls, Trace
from server.core.tools import Source
from server.core.turn import Turn
from server.extraction.data_questions.questions import ReadQuestion
from server.library.composed_sql import DATA_TEMPLATE, QUERY
from server.library.model import TemplateKind
from server.retrievers.base import TemplateRetriever

_SURE_OF_TEMPLATE: Final = 0.95
"""A template that is so sure is taken, though the question can be read as a query as well."""
_CONFIDENCE: Final = 0.93
"""How often a query that every word of a question went into was right, over unseen databases."""


class IntentSQLRetriever(TemplateRetriever):
    """For libraries of SQL templates, over the adapter's database."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("sql",))
    datasource: ClassVar[str] = ""
    """The kind of database that a path is, where it does not tell that itself."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide by the templates; where none is sure, by the data model, if the domain has one.

        Raises:
            ProviderError: the question could not be embedded.
            IndexUnavailable: the vector store is the search, and cannot be used.
        """
        decision = await super().decide(turn, trace)
        data = self._parts.data
        if data is None or turn.intent is not None or isinstance(decision, SeveralCalls):
            return decision
        with trace.stage("compose query") as details:
            order = self._parts.library.domain.date_order
            found = data.read(turn.text, turn.received_at.astimezone(), order)
            details["query" if found.query is not None else "why"] = found.query or found.why
        if not isinstance(decision, Call):
            return decision if found.query is None else self._composed(turn, found)
        unread = decision.coverage.phrases("unread")
        if found.query is not None:
            sure = decision.match.confidence >= _SURE_OF_TEMPLATE and not unread
            return decision if sure else self._composed(turn, found)
        if unread:
            # Neither the template nor the tables know these words.
            why = f"neither a template nor the data know {', '.join(unread)}"
            return NoMatch(why, (decision.match,), unread, coverage=decision.coverage)
        return decision

    def _composed(self, turn: Turn, found: ReadQuestion) -> Call:
        template = self._parts.library.templates[DATA_TEMPLATE]
        match = Match(DATA_TEMPLATE, _CONFIDENCE, 0.0, "every word went into a query over the data")
        sources = {QUERY: Source("question", (0, len(turn.text)), turn.text)}
        call = template.call({QUERY: found.query}, sources)
        return Call(match, call, coverage=found.coverage)


class IntentSQLiteRetriever(IntentSQLRetriever):
    """The same, over SQLite."""

    datasource = "sqlite"


class IntentPostgreSQLRetriever(IntentSQLRetriever):
    """The same, over PostgreSQL."""

    datasource = "postgresql"


class IntentDuckDBRetriever(IntentSQLRetriever):
    """The same, over DuckDB."""

    datasource = "duckdb"
