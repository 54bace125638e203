"""What every retriever is built from."""

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
