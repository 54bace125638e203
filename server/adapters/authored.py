"""The files that an adapter's author writes, by ids, and how they are read and replaced.

Ids are looked up among these files and are never made into paths, so that whoever sends one
reaches no other file.
"""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os.path import normpath
from pathlib import Path
from typing import Any, Final, Literal

from server.adapters.library_folder import question_files
from server.core.installation import is_shipped
from server.errors import FilesRefused, FileUnknown
from server.settings.documents import read_yaml
from server.settings.fields import expand
from server.settings.models import AdapterSettings, Settings
from server.storage.files import written_whole

Kind = Literal["domain", "templates", "questions", "pack", "guards", "reformulator", "prompts"]

MOST_BYTES: Final = 4 * 1024 * 1024
"""Largest file that is shown and changed; a larger one is for an editor."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read. `version` tells it from any other content."""

    raw: bytes

    @property
    def version(self) -> str:
        return sha256(self.raw).hexdigest()[:32]

    @property
    def text(self) -> str:
        """What it says, without the mark of its encoding. Raises `UnicodeDecodeError`."""
        return self.raw.decode("utf-8-sig")

    def rewritten(self, text: str) -> bytes:
        """Return `text` as the file would have it: with its encoding mark and its line breaks.

        A form in a page has `\\n` alone, which would change every line of a file without them.
        """
        of_windows = b"\r\n" in self.raw and self.raw.count(b"\n") == self.raw.count(b"\r\n")
        if of_windows and "\r" not in text:
            text = text.replace("\n", "\r\n")
        mark = BOM_UTF8 if self.raw.startswith(BOM_UTF8) else b""
        return mark + text.removeprefix("\ufeff").encode()


@dataclass(frozen=True, slots=True)
class AuthoredFile:
    """One file of an adapter. `id` is its path below the project's `root`, or its whole path."""

    id: str
    kind: Kind
    path: Path
    root: Path

    def read(self) -> Content:
        """Return what stands in it. Blocks; raises `FileUnknown` or `FilesRefused`."""
        try:
            # Nobody waits for a pipe that somebody put in its place.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise FilesRefused(f"{self.id} is not a regular file")
                raw = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            raise FileUnknown(f"{self.id} is not there any more") from None
        except OSError as failed:
            raise FilesRefused(f"{self.id} cannot be read: {failed.strerror}") from None
        if len(raw) > MOST_BYTES:
            most = MOST_BYTES // 2**20
            raise FilesRefused(f"{self.id} is larger than {most} MiB; use an editor")
        content = Content(raw)
        try:
            _ = content.text
        except UnicodeDecodeError:
            raise FilesRefused(f"{self.id} is not UTF-8 text; use an editor") from None
        return content

    def why_fixed(self) -> str:
        """Return why it cannot be written; nothing for a file that can be. Blocks."""
        if is_shipped(self.path):
            return "it ships with Orbit, whose next version replaces it"
        if self.path.is_symlink():
            return "it is a link to another file"
        if not self.path.resolve().is_relative_to(self.root.resolve()):
            return "it lies outside of the project's folder"
        if not self.path.is_file():
            return "it is not a regular file"
        if not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            return "the server may not write it"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return what a list of files says of it. Blocks."""
        why = self.why_fixed()
        try:
            content = self.read()
        except (FileUnknown, FilesRefused) as failed:
            return self._row(size=None, version=None, writable=False, why=str(failed))
        row = self._row(size=len(content.raw), version=content.version, writable=not why)
        return row | ({"why": why} if why else {})

    def _row(self, **more: Any) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "name": self.path.name, **more}


def authored_files(
    adapter: AdapterSettings, settings: Settings, environ: Mapping[str, str], root: Path
) -> dict[str, AuthoredFile]:
    """Return the files of an adapter that are there, by their ids. Blocks.

    One with others behind it has none of its own.
    """
    found: dict[str, AuthoredFile] = {}
    if adapter.config.child_adapters:
        return found
    for kind, path in _files(adapter, settings, environ):
        file = AuthoredFile(_id_of(path, root), kind, path, root)
        found.setdefault(file.id, file)
    return found


def _id_of(path: Path, root: Path) -> str:
    """The path as people write it: without `..`, since what is kept of a file goes by its id."""
    path, root = Path(normpath(path)), Path(normpath(root))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _files(
    adapter: AdapterSettings, settings: Settings, environ: Mapping[str, str]
) -> Iterator[tuple[Kind, Path]]:
    config, guards, shared = adapter.config, adapter.guards, settings.guards
    compare = shared.compare if guards.compare is None else guards.compare
    written: Sequence[tuple[Kind, Sequence[Path]]] = (
        ("domain", (config.domain_config_path,)),
        ("templates", config.template_library_path),
        ("questions", question_files(config.domain_config_path.parent)),
        ("pack", _pack_files(config.intents, environ) if config.intents is not None else ()),
        ("guards", (*shared.packs, *guards.packs, *compare)),
        ("reformulator", (config.reformulator,) if config.reformulator is not None else ()),
        ("prompts", (config.prompts,) if config.prompts is not None else ()),
    )
    for kind, paths in written:
        for path in (file.absolute() for each in paths for file in expand(each)):
            if not path.is_dir():
                yield kind, path


def _pack_files(path: Path, environ: Mapping[str, str]) -> list[Path]:
    """The file of a rule pack, and those of its own languages, which stand beside it."""
    file = path / "pack.yaml" if path.is_dir() else path
    data = read_yaml(file, environ).data
    named = data.get("languages") if isinstance(data, dict) else None
    languages = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    own = (file.parent / name for name in languages if name.endswith((".yaml", ".yml")))
    folder = file.parent.resolve()
    return [file, *(f for f in own if f.is_file() and f.resolve().is_relative_to(folder))]


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Replace files that are there, each whole, with the rights that they have. Blocks.

    All are on the disk before the first takes its place. Raises `OSError`: none was replaced.
    """
    before = {path: path.read_bytes() for path in contents}
    done: list[Path] = []
    try:
        _replace(list(contents.items()), done)
    except BaseException:
        for path in done:
            _replace([(path, before[path])], [])
        raise


def _replace(contents: Sequence[tuple[Path, bytes]], done: list[Path]) -> None:
    if not contents:
        return
    (path, raw), *others = contents
    mode = stat.S_IMODE(path.stat(follow_symlinks=False).st_mode)
    with written_whole(path) as draft:
        draft.write(raw)
        draft.flush()
        os.fchmod(draft.fileno(), mode)
        os.fsync(draft.fileno())
        _replace(others, done)
    done.append(path)
