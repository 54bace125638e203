"""Retrievers that decide by intent: templates matched by meaning, arguments extracted."""

from server.retrievers.implementations.intent.agent import (
    IntentAgentRetriever,
    IntentHTTPRetriever,
    IntentPackRetriever,
)

__all__ = ["IntentAgentRetriever", "IntentHTTPRetriever", "IntentPackRetriever"]
