"""Retrievers that decide by intent: templates matched by meaning, arguments extracted."""

from server.retrievers.implementations.intent.agent import IntentAgentRetriever
from server.retrievers.implementations.intent.http import IntentHTTPRetriever
from server.retrievers.implementations.intent.pack import IntentPackRetriever

__all__ = ["IntentAgentRetriever", "IntentHTTPRetriever", "IntentPackRetriever"]
