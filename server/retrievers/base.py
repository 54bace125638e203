"""What every retriever is built from."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.extraction.extractor import Extractor
from server.library.model import Library
from server.matching.matcher import Matcher


@dataclass(frozen=True, slots=True)
class RetrieverParts:
    """An open library and the two readers over it, with the adapter's own settings.

    `implementation:` names a class that is called with exactly one of these, and that
    has the methods of `server.core.ports.Retriever`.
    """

    adapter: str
    library: Library
    matcher: Matcher
    extractor: Extractor
    confidence_threshold: float
    max_templates: int
    clarify_margin: float
    intent_tools: Mapping[str, tuple[str, ...]] | None = None
    """The templates that each intent allows, where the adapter says so."""
