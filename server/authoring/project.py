"""A project that starts, checks and evaluates as it is written, and adapters for one."""

import json
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from server.authoring.drafts import Draft, draft_texts
from server.authoring.naming import identifier
from server.errors import RequestInvalid
from server.tools.sql.address import DatabaseAddress

_STARTER: Final = files("server.authoring") / "starter"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_INNER: Final = (".local", ".internal", ".localhost", ".lan", ".home", ".test")
_VARIABLE: Final = re.compile(r"\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}")
_TOOL: Final = "tools/shop_hours.py"
_SCHEMAS: Final = ".orbit/schemas"
_SCHEMA_OF: Final = {
    "config.yaml": "config",
    "adapter.yaml": "adapters",
    "domain.yaml": "domain",
    "templates.yaml": "templates",
    "questions.yaml": "questions",
}
"""The schema of each YAML file of a project."""
_AGENT: Final = "retrievers.implementations.intent.IntentAgentRetriever"
_SQL: Final = "retrievers.implementations.intent.IntentSQLRetriever"
DATA_FOLDER: Final = "adapters/{name}/data"
"""Where files of data are copied to."""
_PASSWORD: Final = "PASSWORD"  # noqa: S105  no password, a place for one
"""Stands for a password in what may be committed."""
_ODD: Final = re.compile(r"[\s'\"#$\\]")
_FIRST_QUESTION: Final = "what is 20% off 80"


@dataclass(frozen=True, slots=True)
class NewProject:
    """What is to be written, by path within the project; `question` is one to ask first.

    What is `generated` may be written over, for nobody writes it by hand.
    """

    name: str
    texts: Mapping[str, str]
    question: str
    notes: tuple[str, ...] = field(default=())
    generated: Mapping[str, str] = field(default_factory=dict)
    copied: Mapping[str, Path] = field(default_factory=dict)
    """Files of data, by where they are copied to."""


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """How a project names the database that it was drafted from."""

    database: str
    """What `database:` says."""
    env: str = ""
    """The line of `.env` with the address, where that holds a password."""
    example: str = ""
    """The same for `.env.example`, without the password."""
    files: tuple[Path, ...] = ()
    """Files that are copied into the project."""


def database_source(address: DatabaseAddress, name: str, folder: Path) -> DatabaseSource:
    """Return how a project in `folder` names a database; a password stands in `.env` alone."""
    if address.url is None:
        path = address.path or Path()
        inside = path.is_relative_to(folder.absolute())
        shown = path.relative_to(folder.absolute()) if inside else path
        return DatabaseSource(shown.as_posix())
    plain = address.url.render_as_string(hide_password=False)
    if not address.secrets:
        return DatabaseSource(plain)
    variable = f"{identifier(name).upper()}_DATABASE_URL"
    example = address.url.set(password=_PASSWORD).render_as_string(hide_password=False)
    return DatabaseSource(
        f"${{{variable}}}", f"{variable}={env_value(plain)}", f"{variable}={example}"
    )


def data_source(files: Sequence[Path], name: str) -> DatabaseSource:
    """Return how a project names files of data, which are copied into it."""
    return DatabaseSource(DATA_FOLDER.format(name=name), files=tuple(files))


def new_project(
    folder: Path,
    name: str | None,
    draft: Draft | None,
    *,
    command: str,
    source: DatabaseSource | None = None,
    schemas: Mapping[str, str] = MappingProxyType({}),
) -> NewProject:
    """Return the files of a project, or of another adapter where there is a project already.

    `name` is the adapter's, by default that of the draft's API or of the folder. `schemas` are
    those that editors check the files by, as `editor_schema` makes them, by file name. Raises
    `RequestInvalid`: the name is none, or such an adapter is there.
    """
    name = name or (draft.name.replace("_", "-") if draft else _name_of(folder))
    if not _NAME.fullmatch(name):
        raise RequestInvalid(
            f"{name!r} is no name of an adapter: small letters, digits, '.', '_' and '-', which "
            "--name gives"
        )
    question = draft.questions["questions"][0]["ask"] if draft else _FIRST_QUESTION
    filled = {"name": name, "folder": name, "command": command, "here": shlex.quote(str(folder))}
    filled |= {"question": shlex.quote(question), "http": "", "variables": "", "database": ""}
    filled["implementation"] = _AGENT
    texts: dict[str, str] = {}
    if draft is not None:
        filled["http"] = _http_settings(draft)
        texts = {f"adapters/{name}/{file}": text for file, text in draft_texts(draft).items()}
        filled["variables"] = _variables(texts.values())
    if source is not None:
        filled["implementation"] = _SQL
        filled["database"] = f"\n  database: {json.dumps(source.database)}"
        filled["variables"] = source.example
    parts = ["adapter.yaml"]
    if draft is None:
        parts += ["domain.yaml", "templates.yaml", "questions.yaml"]
    for part in parts:
        texts[f"adapters/{name}/{part}"] = _starter(f"adapters/{part}", filled)
    if not (folder / "config" / "config.yaml").exists():
        texts |= {
            "config/config.yaml": _starter("config/config.yaml", filled),
            "README.md": _starter("README.md", filled),
            ".env.example": _starter("env.example", filled),
            ".gitignore": _starter("gitignore", filled),
        }
    if draft is None and not (folder / _TOOL).exists():
        texts[_TOOL] = _starter(_TOOL, filled)
    texts = {path: _schema_line(path, schemas) + text for path, text in texts.items()}
    generated = {f"{_SCHEMAS}/{file}": text for file, text in schemas.items()}
    notes = draft.notes if draft else ()
    if source is None:
        return NewProject(name, texts, question, notes, generated)
    if source.env:
        written = _read_if_there(folder / ".env")
        ends = "" if not written or written.endswith("\n") else "\n"
        generated[".env"] = f"{written}{ends}{source.env}\n"
        notes = (*notes, "the password is in .env, which is not for version control")
    copied = {f"{DATA_FOLDER.format(name=name)}/{file.name}": file for file in source.files}
    return NewProject(name, texts, question, notes, generated, copied)


def write_project(project: NewProject, folder: Path) -> tuple[Path, ...]:
    """Write the files of a project and return the paths of those that are not generated.

    Raises `RequestInvalid`: one of them is there already; nothing is written then.
    """
    paths = {folder / name: text for name, text in project.texts.items()}
    taken = [
        path for path in (*paths, *(folder / name for name in project.copied)) if path.exists()
    ]
    if taken:
        raise RequestInvalid(
            f"{taken[0]} is there already, and nothing was written; choose another folder, or "
            "another --name"
        )
    generated = {folder / name: text for name, text in project.generated.items()}
    for path, text in (paths | generated).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == ".env" and not path.exists():
            path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    for target, file in project.copied.items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / target)
    return (*paths, *(folder / target for target in project.copied))


def project_name(folder: Path, name: str | None) -> str:
    """The name of the adapter of a new project: the one that is given, or the folder's."""
    return name or _name_of(folder)


def env_value(value: str) -> str:
    """A value as a line of `.env` has it."""
    return (
        "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" if _ODD.search(value) else value
    )


def _read_if_there(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _schema_line(path: str, schemas: Mapping[str, str]) -> str:
    """The line at the top of a YAML file that names its schema to editors, if there is one."""
    file = PurePosixPath(path)
    kind = _SCHEMA_OF.get(file.name, "")
    if f"{kind}.json" not in schemas:
        return ""
    up = "../" * len(file.parent.parts)
    return f"# yaml-language-server: $schema={up}{_SCHEMAS}/{kind}.json\n"


def _starter(path: str, filled: Mapping[str, str]) -> str:
    text = _STARTER.joinpath(path).read_text(encoding="utf-8")
    for name, value in filled.items():
        text = text.replace(f"@{name}@", value)
    return text


def _http_settings(draft: Draft) -> str:
    """Where the service may be, if that is not on the internet."""
    place = urlsplit(draft.base_url).netloc
    host = (urlsplit(draft.base_url).hostname or "").lower()
    try:
        public = ip_address(host).is_global
    except ValueError:
        public = "." in host and not host.endswith(_INNER)
    if public or not host:
        return ""
    return (
        "\n    # Calls go to public addresses only, but for these hosts.\n"
        f'    http:\n      private_hosts: ["{place}"]'
    )


def variables_of(texts: Iterable[str]) -> dict[str, str | None]:
    """The variables that a library names, each with its default, if it has one."""
    return {m[1]: m[2] for text in texts for m in _VARIABLE.finditer(text)}


def _variables(texts: Iterable[str]) -> str:
    """The variables of a library as lines of `.env`, those that have a default as comments."""
    return "\n".join(
        f"# {name}={default}" if default else f"{name}="
        for name, default in sorted(variables_of(texts).items())
    )


def _name_of(folder: Path) -> str:
    """A name for the adapter of a folder: what there is of letters and digits in its own."""
    words = re.sub(r"[^a-z0-9._-]+", "-", folder.absolute().name.lower()).strip("-._")
    return words or "library"
