"""Three small libraries and an adapter before them: thefts in two cities, and sums."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from server.cli.options import Configured
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library

_TOOLS: Final = "tests.adapters.city_tools"
_KINDS: Final = ["bikes", "cars", "phones"]


def template(template_id: str, function: str, *examples: str, **more: Any) -> dict[str, Any]:
    schema = {"parameters": more.pop("parameters", [])}
    return {
        "id": template_id,
        "nl_examples": list(examples),
        "function_schema": schema,
        "execution": {"type": "python", "function": f"{_TOOLS}:{function}"},
        "effect": "read",
        **more,
    }


def thefts(template_id: str, function: str, **more: Any) -> dict[str, Any]:
    return template(
        template_id,
        function,
        "How many bikes were stolen in 2020?",
        "How many cars were stolen in 2021?",
        "stolen phones in 2019",
        "number of bikes stolen in 2018",
        "count the cars stolen in 2017",
        description="Count what was stolen in a year",
        parameters=[
            {"name": "kind", "type": "string", "enum": _KINDS, "required": True},
            {"name": "year", "type": "integer", "ge": 2000, "le": 2030, "required": True},
        ],
        response_template="{{ result }} {{ kind }}",
        **more,
    )


TORONTO: Final = [
    thefts("toronto_thefts", "count_toronto", topic="thefts"),
    template(
        "newest_thefts",
        "newest",
        "Which thefts are the newest?",
        "show the latest thefts",
        "list the newest thefts",
        description="List the newest thefts",
    ),
    template(
        "theft_details",
        "details",
        "Show theft 12",
        "details of theft 3",
        "tell me more about theft 44",
        description="Show one theft",
        parameters=[{"name": "theft_id", "type": "integer", "required": True}],
    ),
    template(
        "report_theft",
        "report",
        "Report a theft at King Street",
        "I want to report a theft at the station",
        "report a theft at Bay Street",
        description="Report a theft",
        parameters=[{"name": "where", "type": "string", "required": True}],
        effect="write",
        response_template="{{ result }}",
    ),
]
OTTAWA: Final = [
    thefts("stolen_in_year", "count_ottawa", topic="thefts"),
    template(
        "parks",
        "count_parks",
        "How many parks are there?",
        "number of parks",
        "count the parks",
        description="Count the parks",
        response_template="{{ result }} parks",
    ),
]
COMPOSITE: Final = "retrievers.implementations.intent.IntentCompositeRetriever"
CHILDREN: Final = ["toronto", {"adapter": "ottawa", "label": "Ottawa", "aliases": ["capital"]}]


def city(name: str, folder: Path, templates: Sequence[Any], **more: Any) -> dict[str, Any]:
    domain = {"domain": {"name": f"{name} police", "description": f"Thefts in {name}"}}
    return adapter(name, write_library(folder / name, templates, domain), **more)


def composite(children: Sequence[Any] = (*CHILDREN, "sums"), **config: Any) -> dict[str, Any]:
    return {
        "name": "cities",
        "datasource": "composite",
        "adapter": "composite",
        "implementation": COMPOSITE,
        "config": {"child_adapters": list(children), **config},
    }


def configure_cities(
    folder: Path, before: Mapping[str, Any] | None = None, **sections: Any
) -> Configured:
    """The three adapters and the one `before` them."""
    adapters = [
        city("toronto", folder, TORONTO),
        city("ottawa", folder, OTTAWA),
        adapter("sums", write_library(folder / "sums", [PERCENTAGE])),
        before or composite(),
    ]
    tools = {"modules": [_TOOLS]}
    return configure(folder, adapters, python_tools=tools, **sections)
