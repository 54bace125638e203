"""`check` of a configuration: what is enabled and there is judged, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from server.cli.check import check_configuration
from tests.support.as_specified import AS_SPECIFIED
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

WEATHER: dict[str, Any] = {
    "id": "get_weather",
    "description": "Get current weather for a location",
    "tool_type": "query",
    "nl_examples": ["What's the weather in Paris?", "Show me weather for New York"],
    "method": "GET",
    "endpoint": "/weather",
    "query_params": {"location": "{{ location }}"},
    "parameters": [{"name": "location", "type": "string", "required": True}],
}
NOT_ABSOLUTE = "does not begin with http:// or https://"


def errors(folder: Path, **config: Any) -> list[str]:
    configure(folder, [adapter("sums", folder / "sums", config=config)])
    return [p.what for p in check_configuration(folder / "config.yaml") if p.is_error]


def test_questions_about_templates_that_are_not_loaded_are_not_judged(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    (library / "more.yaml").write_text(yaml.safe_dump({"templates": [NOW]}))
    asked = [("What is 5% of 80?", "calculate_percentage"), ("What time is it?", "current_time")]
    for extra, expected in (
        ([], []),
        ([("Is it late?", "nowhere")], ["no template is called 'nowhere'"]),
    ):
        questions = [{"ask": ask, "template": template} for ask, template in (*asked, *extra)]
        (library / "questions.yaml").write_text(yaml.safe_dump({"questions": questions}))
        assert errors(tmp_path) == expected


def test_what_an_adapter_that_is_switched_off_names_is_not_judged(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    gone = adapter("gone", tmp_path / "nowhere", enabled=False)
    configure(tmp_path, [adapter("sums", library), gone])
    assert check_configuration(tmp_path / "config.yaml") == []


@pytest.mark.parametrize(
    ("of_domain", "of_adapter", "expected"),
    [
        ("https://api.example/v1", "", []),
        ("", "https://api.example/v1", []),
        (
            "",
            "",
            [
                f"endpoint: '/weather' {NOT_ABSOLUTE}, and there is no base_url; write it under "
                "api_config of the domain, or under config.http of the adapter"
            ],
        ),
        ("https://a.example", "b.example", [f"http.base_url: 'b.example' {NOT_ABSOLUTE}"]),
    ],
)
def test_a_relative_endpoint_takes_the_address_of_domain_or_adapter(
    tmp_path: Path, of_domain: str, of_adapter: str, expected: list[str]
) -> None:
    domain = {"domain_name": "weather", "api_config": {"base_url": of_domain}}
    write_library(tmp_path / "sums", [WEATHER], domain)
    assert errors(tmp_path, http={"base_url": of_adapter}) == expected


def test_the_adapter_as_specified_has_no_problems(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "examples").symlink_to(Path("examples").resolve())
    (tmp_path / "config" / "intent.yaml").write_text(AS_SPECIFIED)
    (tmp_path / "config" / "config.yaml").write_text("import: intent.yaml\n")
    assert check_configuration(tmp_path / "config" / "config.yaml") == []
