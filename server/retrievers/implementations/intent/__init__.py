"""Retrievers that decide by intent: templates matched by meaning, arguments extracted."""

from server.retrievers.implementations.intent.agent import (
    IntentAgentRetriever,
    IntentHTTPRetriever,
    IntentPackRetriever,
)
from server.retrievers.implementations.intent.composite import IntentCompositeRetriever
from server.retrievers.implementations.intent.sql import (
    IntentDuckDBRetriever,
    IntentPostgreSQLRetriever,
    IntentSQLiteRetriever,
    IntentSQLRetriever,
)

__all__ = [
    "IntentAgentRetriever",
    "IntentCompositeRetriever",
    "IntentDuckDBRetriever",
    "IntentHTTPRetriever",
    "IntentPackRetriever",
    "IntentPostgreSQLRetriever",
    "IntentSQLRetriever",
    "IntentSQLiteRetriever",
]
