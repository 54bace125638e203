"""A configuration with everything it imports becomes settings, or all its problems."""

from pathlib import Path

import pytest

from server.errors import Location
from server.settings.loader import LoadedSettings, load_settings
from server.settings.models import Settings

ADAPTER = "name: {name}\nconfig: {{domain_config_path: d.yaml, template_library_path: t.yaml}}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation's folder, from which files are named relative in messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config" / "adapters").mkdir(parents=True)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def load(home: Path, text: str, **environ: str) -> LoadedSettings:
    write(home / "config" / "config.yaml", text)
    return load_settings(home / "config" / "config.yaml", environ)


def settings(loaded: LoadedSettings) -> Settings:
    assert loaded.problems == ()
    assert loaded.settings is not None
    return loaded.settings


def messages(loaded: LoadedSettings) -> list[str]:
    return [str(problem) for problem in loaded.problems]


def adapter(name: str, indent: int = 0, **more: str) -> str:
    """One entry of a list of adapters, as YAML."""
    lines = ADAPTER.format(name=name).splitlines() + [f"{k}: {v}" for k, v in more.items()]
    return "".join(
        f"{' ' * indent}{'- ' if number == 0 else '  '}{line}\n"
        for number, line in enumerate(lines)
    )


def test_an_empty_configuration_has_every_default(home: Path) -> None:
    loaded = load(home, "# nothing yet\n")
    assert messages(loaded) == ["warning: is empty @ config/config.yaml"]
    assert loaded.settings is not None
    assert loaded.settings.data_dir == home / "data"
    assert loaded.settings.server.host == "127.0.0.1"
    assert loaded.settings.database_url == f"sqlite:///{home}/data/orbit.db"
    assert loaded.settings.adapters == ()


def test_relative_paths_start_at_the_folder_that_holds_config(home: Path) -> None:
    found = settings(load(home, "data_dir: var\nadapters:\n" + adapter("a", 2)))
    config = found.adapters[0].config
    assert found.data_dir == home / "var"
    assert config.domain_config_path == home / "d.yaml"
    assert config.template_library_path == (home / "t.yaml",)


def test_outside_a_folder_named_config_they_start_beside_the_file(home: Path) -> None:
    write(home / "orbit.yaml", "data_dir: var\n")
    assert settings(load_settings(home / "orbit.yaml", {})).data_dir == home / "var"


def test_imports_take_files_and_globs_nested_ones_too(home: Path) -> None:
    write(home / "config/adapters/a.yaml", adapter("a"))
    write(home / "config/adapters/b.yaml", "adapters:\n" + adapter("b", 2))
    write(home / "config/more.yaml", "import: server.yaml\n")
    write(home / "config/server.yaml", "server: {port: 9000}\n")
    found = settings(load(home, "import: [adapters/*.yaml, more.yaml]\nlogging: {level: debug}\n"))
    assert [a.name for a in found.adapters] == ["a", "b"]
    assert (found.server.port, found.logging.level) == (9000, "debug")
    assert [a.where for a in found.adapters] == [
        Location("config/adapters/a.yaml", 1),
        Location("config/adapters/b.yaml", 2),
    ]


def test_an_import_may_start_at_the_root_folder(home: Path) -> None:
    write(home / "config/adapters/a.yaml", adapter("a"))
    found = settings(load(home, "import: config/adapters/*.yaml\n"))
    assert [a.name for a in found.adapters] == ["a"]


def test_a_glob_leaves_out_the_file_it_stands_in(home: Path) -> None:
    write(home / "config/a.yaml", adapter("a"))
    assert [a.name for a in settings(load(home, "import: '*.yaml'\n")).adapters] == ["a"]


def test_a_file_that_two_import_is_read_once(home: Path) -> None:
    write(home / "config/a.yaml", adapter("a"))
    write(home / "config/b.yaml", "import: a.yaml\n")
    assert len(settings(load(home, "import: [a.yaml, b.yaml]\n")).adapters) == 1


def test_imports_that_go_round_are_named(home: Path) -> None:
    write(home / "config/a.yaml", "import: b.yaml\n")
    write(home / "config/b.yaml", "server: {}\nimport: a.yaml\n")
    assert messages(load(home, "import: a.yaml\n")) == [
        "import goes round: config/config.yaml → config/a.yaml → config/b.yaml → config/a.yaml"
        " @ config/b.yaml:2"
    ]


def test_an_imported_file_that_is_not_there_is_named_with_where_it_was_looked_for(
    home: Path,
) -> None:
    assert messages(load(home, "server: {}\nimport:\n  - a.yaml\n  - b/*.yaml\n")) == [
        "import: nothing at config/a.yaml or a.yaml @ config/config.yaml:3",
        "warning: import: nothing at config/b/*.yaml or b/*.yaml @ config/config.yaml:4",
    ]


def test_a_configuration_that_is_not_there_is_named(home: Path) -> None:
    loaded = load_settings(home / "config" / "gone.yaml", {})
    assert (loaded.settings, messages(loaded)) == (
        None,
        ["there is no such file @ config/gone.yaml"],
    )


def test_a_section_comes_from_one_file(home: Path) -> None:
    write(home / "config/a.yaml", "logging: {level: info}\n")
    assert messages(load(home, "import: a.yaml\n\nlogging: {level: debug}\n")) == [
        "'logging' is set twice; first at config/config.yaml:3 @ config/a.yaml:1"
    ]


def test_two_adapters_of_one_name_are_named_with_both_places(home: Path) -> None:
    write(home / "config/a.yaml", adapter("a") + adapter("b"))
    assert messages(load(home, "import: a.yaml\nadapters:\n" + adapter("b", 2))) == [
        "adapter 'b' is defined twice; first at config/config.yaml:3; "
        "keep one, or rename one @ config/a.yaml:3"
    ]


def test_all_problems_of_all_files_come_at_once(home: Path) -> None:
    write(home / "config/a.yaml", "- name: a\n  confg: {}\n")
    write(home / "config/b.yaml", "logging:\n  level: loud\n")
    loaded = load(home, "import: [a.yaml, b.yaml]\nserver:\n  port: high\n  prot: 1\n")
    assert loaded.settings is None
    assert messages(loaded) == [
        "port: expected a whole number between 0 and 65535, got 'high' @ config/config.yaml:3",
        "unknown key 'prot'; did you mean 'port'? @ config/config.yaml:4",
        "'config' is missing @ config/a.yaml:1",
        "unknown key 'confg'; did you mean 'config'? @ config/a.yaml:2",
        "level: expected debug, info, warning or error, got 'loud' @ config/b.yaml:2",
    ]


def test_variables_come_from_the_process_and_then_from_the_env_file(home: Path) -> None:
    write(home / ".env", "PORT=7000\nHOST='::1'\n# a comment\nexport LEVEL=debug\n")
    text = "server: {host: '${HOST}', port: '${PORT}'}\nlogging: {level: '${LEVEL}'}\n"
    found = settings(loaded := load(home, text, PORT="9000"))
    assert (found.server.host, found.server.port, found.logging.level) == ("::1", 9000, "debug")
    assert loaded.environ["HOST"] == "::1"
    assert loaded.from_environment == {"::1", "9000", "debug"}


@pytest.mark.parametrize(
    ("written", "environ", "said"),
    [
        ("server: {}\n", {"LLM_PROVIDER": "gemni"}, "LLM_PROVIDER: {} @ environment"),
        ("models: {provider: gemni}\n", {}, "{} @ config/config.yaml:1"),
        ("models: {provider: gemini}\n", {"LLM_PROVIDER": " openai "}, ""),
        ("server: {}\n", {"LLM_PROVIDER": " "}, ""),
    ],
)
def test_an_unknown_provider_of_models_is_refused(
    home: Path, written: str, environ: dict[str, str], said: str
) -> None:
    unknown = (
        "chat provider 'gemni' is unknown; write one of gemini, llama_cpp, ollama, openai, "
        "scripted, or a dotted path to a class"
    )
    loaded = load(home, written, **environ)
    assert messages(loaded) == ([said.format(unknown)] if said else [])
    assert (loaded.settings is None) == bool(said)


def test_a_broken_env_file_is_named(home: Path) -> None:
    write(home / ".env", "GOOD=1\nno value here\n")
    assert messages(load(home, "server: {}\n")) == ["expected NAME=value @ .env:2"]


def test_an_adapter_that_is_off_needs_no_variables(home: Path) -> None:
    off = adapter("a", 2, enabled="false", embedding_model="${MODEL}")
    found = settings(load(home, "adapters:\n" + off))
    assert [(a.name, a.enabled) for a in found.adapters] == [("a", False)]
    on = adapter("a", 2, enabled="true", embedding_model="${MODEL}")
    assert messages(load(home, "adapters:\n" + on)) == [
        "environment variable MODEL is not set; set it, or write ${MODEL:-default}"
        " @ config/config.yaml:5"
    ]


@pytest.mark.parametrize("form", ["adapters:\n{}", "import: a.yaml\n"])
def test_a_variable_that_even_a_disabled_adapter_cannot_do_without_is_named(
    home: Path, form: str
) -> None:
    """A number has to be a number, whether or not it is used."""
    entry = "- name: a\n  enabled: false\n  config:\n    max_templates: ${MOST}\n"
    entry += "    domain_config_path: d\n    template_library_path: t\n"
    write(home / "config/a.yaml", entry)
    loaded = load(home, form.format(entry))
    assert [problem.kind for problem in loaded.problems] == ["missing-variable"]
    assert loaded.settings is None


def test_the_section_of_a_provider_is_judged_by_its_own_options(home: Path) -> None:
    loaded = load(
        home,
        "models:\n  olama: {}\n  openai:\n    temperature: 3\n    modle: m\n"
        "embeddings:\n  local: {threads: none}\n",
    )
    assert messages(loaded) == [
        "unknown key 'olama'; did you mean 'ollama'? @ config/config.yaml:2",
        "temperature: expected a number between 0 and 2, got 3 @ config/config.yaml:4",
        "unknown key 'modle'; did you mean 'model'? @ config/config.yaml:5",
        "threads: expected a whole number between 1 and 256, got 'none' @ config/config.yaml:7",
    ]


def test_secrets_do_not_show(home: Path) -> None:
    found = settings(load(home, "embeddings: {openai: {api_key: '${KEY}'}}\n", KEY="sk-1234"))
    assert "sk-1234" not in repr(found)
    key = found.embeddings.section("openai").api_key
    assert key is not None
    assert key.get_secret_value() == "sk-1234"


@pytest.mark.parametrize("name", ["''", "a b", "-a", "a/b"])
def test_adapter_names_can_stand_in_commands_and_urls(home: Path, name: str) -> None:
    (problem,) = load(home, "adapters:\n" + adapter(name, 2)).problems
    assert (problem.kind, problem.where) == ("bad-name", Location("config/config.yaml", 2))
