"""Retrievers that decide by intent: templates matched by meaning, arguments extracted."""

from server.retrievers.implementations.intent.agent import IntentAgentRetriever

__all__ = ["IntentAgentRetriever"]
