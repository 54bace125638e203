"""Retrievers that decide by intent: templates matched by meaning, arguments extracted."""

from server.retrievers.implementations.intent.agent import (
    IntentAgentRetriever,
    IntentHTTPRetriever,
    IntentPackRetriever,
)
from server.retrievers.implementations.intent.composite import IntentCompositeRetriever

__all__ = [
    "IntentAgentRetriever",
    "IntentCompositeRetriever",
    "IntentHTTPRetriever",
    "IntentPackRetriever",
]
