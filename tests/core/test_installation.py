"""What ships with the package is read from it, and never written."""

import os
from pathlib import Path

import pytest

from server.adapters.authored import authored_files
from server.core import installation
from server.core.installation import EXAMPLE_CONFIG, PACKAGE, example_data_dir, is_shipped
from server.settings.loader import load_settings
from server.storage.library_files import write_library_file

LIBRARY = EXAMPLE_CONFIG.parents[1] / "examples" / "intent-templates" / "agent-template"


def test_the_shipped_example_is_the_adapter_of_the_repository() -> None:
    shipped = load_settings(EXAMPLE_CONFIG, {})
    own = load_settings(PACKAGE.parent / "config" / "config.yaml", {})
    assert shipped.problems == ()
    assert shipped.settings is not None
    assert own.settings is not None
    (adapter,) = shipped.settings.adapters
    first = own.settings.adapters[0]
    assert adapter.name == first.name
    assert adapter.config.domain_config_path.samefile(first.config.domain_config_path)
    for ours, theirs in zip(
        adapter.config.template_library_path, first.config.template_library_path, strict=True
    ):
        assert ours.is_relative_to(PACKAGE)
        assert ours.samefile(theirs)


def test_services_beside_the_example_are_named_by_variables() -> None:
    given = {
        "ORBIT_DATABASE_URL": "postgresql+psycopg://orbit@postgres/orbit",
        "ORBIT_RATE_LIMITS": "redis://redis:6379/0",
        "ORBIT_VECTOR_STORE": "server",
        "ORBIT_CHROMA_HOST": "chroma",
    }
    found = load_settings(EXAMPLE_CONFIG, given).settings
    assert found is not None
    limits = found.access.rate_limits.storage
    assert found.database_url == given["ORBIT_DATABASE_URL"]
    assert limits is not None
    assert limits.get_secret_value() == given["ORBIT_RATE_LIMITS"]
    assert (found.vector_store.mode, found.vector_store.host) == ("server", "chroma")
    plain = load_settings(EXAMPLE_CONFIG, {}).settings
    assert plain is not None
    assert not plain.access.rate_limits.storage
    assert plain.database_url.startswith("sqlite:///")


def test_what_ships_is_told_from_what_is_somebodys_own(tmp_path: Path) -> None:
    ours = LIBRARY / "tools.yaml"
    assert is_shipped(ours)
    assert is_shipped(Path(os.path.relpath(ours)))
    (tmp_path / "linked").symlink_to(PACKAGE / "example" / "config")
    assert is_shipped(tmp_path / "linked" / "config.yaml")
    assert not is_shipped(tmp_path / "tools.yaml")
    assert not is_shipped(PACKAGE.parent / "config" / "config.yaml")


def test_the_console_offers_none_of_it_for_saving() -> None:
    settings = load_settings(EXAMPLE_CONFIG, {}).settings
    assert settings is not None
    root = EXAMPLE_CONFIG.parents[1]
    files = authored_files(settings.adapters[0], settings, {}, root)
    assert {"domain.yaml", "tools.yaml"} <= {each.path.name for each in files.values()}
    why = {each.why_fixed() for each in files.values()}
    assert why == {"it ships with Orbit, whose next version replaces it"}


def test_nothing_is_written_beside_the_shipped_example() -> None:
    before = sorted(LIBRARY.iterdir())
    with pytest.raises(OSError, match=r"ships with Orbit; .*: orbit new DIR") as refused:
        write_library_file(LIBRARY / "library.lock.json", "{}")
    assert refused.value.filename == str(LIBRARY / "library.lock.json")
    assert sorted(LIBRARY.iterdir()) == before


@pytest.mark.parametrize(
    ("variable", "folder"),
    [("/srv/data", "/srv/data/orbit"), ("", "HOME/orbit"), ("relative", "HOME/orbit")],
)
def test_the_examples_data_goes_where_a_users_data_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, folder: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = str(tmp_path / ".local" / "share")
    assert str(installation.example_data_dir()) == folder.replace("HOME", home)
    assert not example_data_dir().exists()
