"""The secret of an installation: one, private, and whole."""

import logging
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from server.errors import ConfigurationInvalid, StoreUnavailable
from server.settings.loader import load_settings
from server.storage.database import open_database
from server.storage.files import load_or_create_secret
from server.storage.installation import InstallationSecret, check_secret
from tests.support import postgresql


def test_the_secret_is_made_once_and_then_kept(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret"
    first, created = load_or_create_secret(path)
    assert (created, len(first)) == (True, 64)
    assert load_or_create_secret(path) == (first, False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["secret"]


def test_every_folder_that_is_made_for_it_is_private(tmp_path: Path) -> None:
    load_or_create_secret(tmp_path / "a" / "b" / "secret")
    modes = {stat.S_IMODE((tmp_path / folder).stat().st_mode) for folder in ("a", "a/b")}
    assert modes == {0o700}


def test_of_many_first_starts_at_once_all_get_the_same_secret(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; "
        "from server.storage.files import load_or_create_secret; "
        "sys.stdin.read(); print(load_or_create_secret(Path(sys.argv[1]))[0].decode())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "data" / "secret")]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
        racer.stdin = None
    secrets = {racer.communicate()[0] for racer in racers}
    assert [len(secret.strip()) for secret in secrets] == [64]


def test_a_secret_others_can_read_is_closed_to_them_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "secret"
    load_or_create_secret(path)
    path.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        load_or_create_secret(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert caplog.messages == [f"{path} had mode 0644, so others could read it; it is 0600 now"]


@pytest.mark.parametrize("content", [b"", b"short", b" \n" * 40])
def test_a_secret_too_short_to_be_safe_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(ConfigurationInvalid, match=r"32 is the least; restore it .* @ .*/secret$"):
        load_or_create_secret(path)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda whole: whole[:40], "it holds 40 of 64 hexadecimal digits"),
        (lambda whole: b"\0" * len(whole), "it holds bytes that are no text"),
        (lambda whole: b"\xff" + whole[1:], "it holds bytes that are no text"),
    ],
)
def test_a_damaged_secret_is_refused(
    damage: Callable[[bytes], bytes], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "secret"
    load_or_create_secret(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ConfigurationInvalid, match=f"{says}.*; restore it from a backup"):
        load_or_create_secret(path)


def test_a_secret_of_somebody_elses_is_any_long_text(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"A base64 one, such as this: 8J+Yig==\n")
    path.chmod(0o600)
    assert load_or_create_secret(path) == (b"A base64 one, such as this: 8J+Yig==", False)


def test_a_place_where_no_secret_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationInvalid, match="the secret that protects keys cannot be used"):
        load_or_create_secret(tmp_path / "file" / "secret")


def test_a_new_secret_beside_old_keys_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import asyncio

    from server.access.keys import KeyStore
    from server.access.models import NewKey

    async def scenario() -> None:
        url = f"sqlite:///{tmp_path}/orbit.db"
        store = await KeyStore.open(url, tmp_path / "secret")
        await store.create(NewKey("agent"))
        await store.close()
        (tmp_path / "secret").unlink()
        await (await KeyStore.open(url, tmp_path / "secret")).close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    (message,) = caplog.messages
    assert message.startswith(
        f"{tmp_path}/secret was missing and has been made anew: none of the 1"
    )


def test_an_empty_database_beside_an_old_secret_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import asyncio

    from server.access.keys import KeyStore

    async def opened() -> None:
        await (await KeyStore.open(f"sqlite:///{tmp_path}/orbit.db", tmp_path / "secret")).close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(opened())
        asyncio.run(opened())
        assert caplog.messages == []
        (tmp_path / "orbit.db").write_bytes(b"")
        asyncio.run(opened())
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path}/orbit.db is new, though there is a secret")


def test_a_damaged_database_is_refused_at_once(tmp_path: Path) -> None:
    import asyncio

    from server.access.keys import KeyStore

    (tmp_path / "orbit.db").write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    with pytest.raises(StoreUnavailable, match="restore it from a backup, together with the se"):
        asyncio.run(KeyStore.open(f"sqlite:///{tmp_path}/orbit.db", tmp_path / "secret"))


def test_a_database_in_a_folder_that_others_can_read_is_its_owners_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    engine = open_database(f"sqlite:///{tmp_path / 'orbit.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE some (value INTEGER)")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    engine.dispose()
    assert modes == {"orbit.db": 0o600, "orbit.db-shm": 0o600, "orbit.db-wal": 0o600}


GOOD = "8J+Yig== of a secret manager, and 5 more"
OTHER = "another one of a secret manager, as good"


def of_project(folder: Path, access: str, environ: Mapping[str, str]) -> InstallationSecret:
    """Return the secret of a project whose configuration says `access`."""
    (folder / "config.yaml").write_text(f"data_dir: data\naccess: {access}\n")
    loaded = load_settings(folder / "config.yaml", environ)
    if loaded.settings is None or any(each.is_error for each in loaded.problems):
        raise ConfigurationInvalid(loaded.problems)
    return InstallationSecret.of(loaded.settings)


def test_a_secret_comes_from_the_environment_and_no_file_is_made(tmp_path: Path) -> None:
    found = of_project(tmp_path, "{secret: '${SECRET}'}", {"SECRET": f" {GOOD}\n"})
    assert (found.value, found.place, found.is_new) == (GOOD.encode(), "access.secret", False)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("path", ["mounted", "${PLACE}"])
def test_a_secret_comes_from_a_file_that_is_left_as_it_is(tmp_path: Path, path: str) -> None:
    file = tmp_path / "mounted"
    file.write_text(f"{GOOD}\n")
    file.chmod(0o444)  # as what is mounted into a container
    found = of_project(tmp_path, f"{{secret_file: '{path}'}}", {"PLACE": str(file)})
    assert (found.value, found.place) == (GOOD.encode(), str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o444
    assert not (tmp_path / "data").exists()


def test_a_file_that_was_named_is_never_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"No such file or directory @ .*/mounted$"):
        of_project(tmp_path, "{secret_file: mounted}", {})
    assert not (tmp_path / "mounted").exists()


BAD = [
    ("s8ort" + " " * 40, "it holds 5 bytes, and 32 is the least"),
    ("hunter2-hunter2-hunter2-hunter2", "it holds 31 bytes, and 32 is the least"),
    ("0123456789abcdef" * 3, "it holds 48 of 64 hexadecimal digits"),
    (f"{GOOD}\N{SNOWMAN}", "it holds bytes that are no text"),
    (f"{GOOD}\0", "it holds bytes that are no text"),
]


@pytest.mark.parametrize("place", ["environment", "file"])
@pytest.mark.parametrize(("secret", "says"), BAD)
def test_one_that_cannot_be_safe_is_refused_and_not_shown(
    tmp_path: Path, place: str, secret: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mounted").write_text(secret)
    access = "{secret: '${SECRET}'}" if place == "environment" else "{secret_file: mounted}"
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigurationInvalid) as refused:
        of_project(tmp_path, access, {"SECRET": secret})
    told = str(refused.value)
    assert says in told
    assert secret.strip() not in f"{told} {refused.value.problems!r} {caplog.text}"


def test_two_places_for_one_secret_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mounted").write_text(GOOD)
    access = f"{{secret: '{OTHER}', secret_file: mounted}}"
    with pytest.raises(ConfigurationInvalid, match="by `secret` or by `secret_file`, not by both"):
        of_project(tmp_path, access, {})


def test_a_secret_is_in_nothing_that_is_printed(tmp_path: Path) -> None:
    found = of_project(tmp_path, "{secret: '${SECRET}'}", {"SECRET": GOOD})
    loaded = load_settings(tmp_path / "config.yaml", {"SECRET": GOOD}).settings
    assert loaded is not None
    shown = f"{found!r} {found.fingerprint} {loaded!r} {loaded.model_dump_json()}"
    assert GOOD not in shown
    assert found.fingerprint != InstallationSecret(OTHER.encode(), "access.secret").fingerprint


def held_by(place: str, value: str) -> InstallationSecret:
    return InstallationSecret(value.encode(), place)


def test_a_local_database_is_used_on_with_another_secret_and_that_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'orbit.db'}")
    with caplog.at_level(logging.WARNING):
        check_secret(engine, held_by("/srv/secret", GOOD))
        check_secret(engine, held_by("/srv/secret", GOOD))
        assert caplog.messages == []
        for _ in range(2):
            check_secret(engine, held_by("access.secret", OTHER))
    engine.dispose()
    (told,) = caplog.messages
    assert told.startswith("access.secret is another secret than ")
    assert GOOD not in told
    assert OTHER not in told


@pytest.mark.skipif(postgresql.why_not() is not None, reason=str(postgresql.why_not()))
def test_a_second_server_with_another_secret_is_refused_by_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with postgresql.postgresql() as url, caplog.at_level(logging.DEBUG):
        first, second = open_database(url), open_database(url)
        check_secret(first, held_by("access.secret", GOOD))
        check_secret(second, held_by("/run/secrets/orbit", GOOD))
        with pytest.raises(ConfigurationInvalid) as refused:
            check_secret(second, held_by("/run/secrets/orbit", OTHER))
        first.dispose()
        second.dispose()
    told = str(refused.value)
    this = f"process {os.getpid()} on {socket.gethostname()}"
    assert f"is used with another secret, first by {this} at " in told
    assert told.endswith("(docs/operations.md, 'Replicas') @ /run/secrets/orbit")
    shown = f"{told} {caplog.text}"
    assert [each for each in (GOOD, OTHER, postgresql.PASSWORD) if each in shown] == []
