"""What a retriever is built from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.extraction.data_questions.questions import DataQuestions
from server.extraction.extractor import Extractor
from server.library.model import Library
from server.matching.matcher import Matcher
from server.retrievers.verifier import Verifier, shipped_verifier


@dataclass(frozen=True, slots=True)
class DeciderDependencies:
    """An open library and the two readers over it, with the adapter's own settings.

    `implementation:` names a class that is called with exactly one of these, and that
    has the methods of `server.core.ports.Decider`.
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
    data: DataQuestions | None = None
    """What reads questions by the domain's data model, where it has one."""
    verifier: Verifier = field(default_factory=shipped_verifier)
    """What says how likely a call is to be what was asked for."""
