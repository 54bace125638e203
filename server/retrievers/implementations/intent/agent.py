"""The retriever for libraries of tools."""

from typing import ClassVar

from server.library.model import TemplateKind
from server.retrievers.implementations.intent.http import IntentHTTPRetriever


class IntentAgentRetriever(IntentHTTPRetriever):
    """Decides as the HTTP retriever does, over function templates as well."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("function", "query"))
