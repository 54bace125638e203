"""The configuration that ships is right as it stands."""

from pathlib import Path

from server.settings.loader import load_settings

ROOT = Path(__file__).parents[2]


def test_the_shipped_configuration_has_no_problem_and_needs_no_variable() -> None:
    loaded = load_settings(ROOT / "config" / "config.yaml", {})
    assert loaded.problems == ()
    assert loaded.settings is not None
    example = ROOT / "examples" / "intent-templates" / "agent-template"
    adapter, http, decisions, retail, shop, rides, study = loaded.settings.adapters
    assert (
        adapter.name,
        adapter.enabled,
        adapter.embedding_provider,
        adapter.inference_model_provider,
        adapter.config.domain_config_path,
        adapter.config.template_library_path,
    ) == (
        "intent-agent-example",
        True,
        "local",
        None,
        example / "domain.yaml",
        (example / "tools.yaml", example / "http_tools.yaml"),
    )
    assert (http.name, http.enabled) == ("intent-http-example", True)
    assert (decisions.name, decisions.enabled) == ("gov-decisions", False)
    assert decisions.config.intents == ROOT / "examples" / "intent-packs" / "gov-decisions-he"
    assert (shop.name, shop.enabled) == ("shop-sql", False)
    assert (rides.name, rides.enabled) == ("open-data", False)
    assert (study.name, study.enabled) == ("study", False)
    assert (retail.name, retail.enabled) == ("retail", False)
