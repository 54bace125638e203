"""Libraries for matching: texts alone, nothing that runs."""

from collections.abc import Mapping, Sequence

from server.library.model import BuiltinExecution, Domain, Library, Template

PLACES: Mapping[str, Sequence[str]] = {
    "weather": (
        "What's the weather in London?",
        "Is it going to rain in Rome tomorrow?",
        "How warm will it be in Oslo on Friday?",
        "Give me the forecast for New York",
    ),
    "trains": (
        "When does the next train to Berlin leave?",
        "Trains from Paris to Lyon",
        "Is the 9:30 train to York on time?",
        "Which platform does the Munich train go from?",
    ),
    "hotels": (
        "Find me a hotel in Vienna for two nights",
        "Cheap rooms near the station",
        "Book a double room in Prague from 2025-05-01",
        "Is there a hotel with a pool in Nice?",
    ),
}


def template(template_id: str, examples: Sequence[str], description: str = "") -> Template:
    return Template(
        id=template_id,
        description=description,
        kind="function",
        nl_examples=tuple(examples),
        parameters=(),
        execution=BuiltinExecution("calculator", "add"),
    )


def library_of(
    examples: Mapping[str, Sequence[str]],
    *,
    domain: str = "travel",
    synonyms: Mapping[str, tuple[str, ...]] | None = None,
) -> Library:
    templates = {name: template(name, texts) for name, texts in examples.items()}
    return Library(Domain(domain, synonyms=synonyms or {}), templates)
