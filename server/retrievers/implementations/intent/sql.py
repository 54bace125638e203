"""The retriever of libraries that ask a database."""

from dataclasses import replace
from typing import ClassVar, Final

from server.core.decision import Call, Decision, Match, NoMatch, SeveralCalls, Trace
from server.core.tools import Source
from server.core.turn import Turn
from server.extraction.data_questions.questions import ReadQuestion
from server.library.composed_sql import DATA_TEMPLATE, QUERY
from server.library.model import TemplateKind
from server.retrievers.base import TemplateRetriever
from server.text.normalizer import normalize_text

_CONFIDENCE: Final = 0.93
"""How often a query that every word of a question went into was right, over unseen databases."""


class IntentSQLRetriever(TemplateRetriever):
    """For libraries of SQL templates, over the adapter's database."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("sql",))
    datasource: ClassVar[str] = ""
    """The kind of database that a path is, where it does not tell that itself."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide by the templates, and by the data model, if the domain has one.

        An example of a template goes to that template. Any other question that can be read as a
        query is one: nothing of it was left unread.

        Raises:
            ProviderError: the question could not be embedded.
            IndexUnavailable: the vector store is the search, and cannot be used.
        """
        decision = await super().decide(turn, trace)
        data = self._parts.data
        if data is None or turn.intent is not None:
            return decision
        with trace.stage("compose query") as details:
            order = self._parts.library.domain.date_order
            found = data.read(turn.text, turn.received_at.astimezone(), order)
            details["query" if found.query is not None else "why"] = found.query or found.why
        if found.refused:
            why = f"the data do not tell what “{found.refused}” asks for"
            return NoMatch(why, (), (found.refused,), coverage=found.coverage)
        if isinstance(decision, SeveralCalls) and found.query is None:
            return decision
        if not isinstance(decision, Call):
            return (
                _with_words(decision, found) if found.query is None else self._composed(turn, found)
            )
        unread = decision.coverage.phrases("unread")
        if found.query is not None:
            examples = self._parts.library.templates[decision.match.template_id].nl_examples
            is_own = normalize_text(turn.text) in map(normalize_text, examples)
            return decision if is_own else self._composed(turn, found)
        unread = (*unread, *_taken_for_nothing(decision, found))
        is_example = self._parts.matcher.is_example(turn.text)
        if data.model.templates == "examples" and not is_example and not unread:
            why = f"it is no example of {decision.match.template_id}, and cannot be read as a query"
            return NoMatch(why, (decision.match,), coverage=found.coverage)
        if unread:
            # Neither the template nor the tables know these words.
            why = f"neither a template nor the data know {', '.join(unread)}"
            refusal = NoMatch(why, (decision.match,), unread, coverage=decision.coverage)
            return _with_words(refusal, found)
        return decision

    def _composed(self, turn: Turn, found: ReadQuestion) -> Call:
        template = self._parts.library.templates[DATA_TEMPLATE]
        match = Match(DATA_TEMPLATE, _CONFIDENCE, 0.0, "every word went into a query over the data")
        sources = {QUERY: Source("recognizer", (0, len(turn.text)), turn.text)}
        call = template.call({QUERY: found.query}, sources)
        return Call(match, call, coverage=found.coverage)


def _taken_for_nothing(call: Call, found: ReadQuestion) -> tuple[str, ...]:
    """Words that a template takes to say nothing, and that the data have or nobody knows."""
    kept = [word for word in call.coverage.words if word.role not in ("filler", "unread")]
    return tuple(
        found.coverage.shown(word.start, word.end)
        for word in found.coverage.words
        if word.role in ("unread", "value")
        if not any(word.start < other.end and other.start < word.end for other in kept)
    )


def _with_words(decision: Decision, found: ReadQuestion) -> Decision:
    """A refusal that names the words which no table knows, in place of those of one template."""
    unread = found.coverage.phrases("unread")
    if not isinstance(decision, NoMatch) or decision.objection or not unread:
        return decision
    return replace(decision, unread=unread, coverage=found.coverage)


class IntentSQLiteRetriever(IntentSQLRetriever):
    """The same, over SQLite."""

    datasource = "sqlite"


class IntentPostgreSQLRetriever(IntentSQLRetriever):
    """The same, over PostgreSQL."""

    datasource = "postgresql"


class IntentDuckDBRetriever(IntentSQLRetriever):
    """The same, over DuckDB."""

    datasource = "duckdb"
