"""Where the vectors of templates are kept: ChromaDB, in this process or on a server.

Chroma's client blocks and takes a second to import; both happen on threads of this class.
"""

import asyncio
import hashlib
import logging
import re
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

import httpx

from server.errors import IndexUnavailable
from server.settings.models import VectorStoreSettings
from server.storage.process_locks import ProcessLocks

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

T = TypeVar("T")

OWNER: Final = "orbit_adapter"
"""The key of a collection's metadata that says whose it is."""

_log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 60.0
_DATABASE: Final = "chroma.sqlite3"
_UNSAFE: Final = re.compile(r"[^a-zA-Z0-9]+")


class TemplateStore:
    """The collections of one installation. Opened on first use; safe to share."""

    def __init__(
        self, settings: VectorStoreSettings, data_dir: Path, locks: ProcessLocks | None = None
    ) -> None:
        """With `locks`, other processes may use the same folder, each in a session of its own."""
        self._settings = settings
        self._path = data_dir / "chroma"
        self._locks = locks
        self._sessions = 0
        self._entering = asyncio.Lock()
        self._session = AsyncExitStack()
        self._was_opened = False
        self._client: ClientAPI | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="chroma")

    @property
    def place(self) -> str:
        if self._settings.mode == "embedded":
            return str(self._path)
        return f"{self._settings.host}:{self._settings.port}"

    @property
    def is_shared(self) -> bool:
        """Whether other processes may be using the same collections."""
        return self._settings.mode == "server"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Be the one process that works with the folder for the block, and close it at the end.

        Those of this process go together. Without locks, and for a server, there is nothing to
        wait for, and nothing is closed.
        """
        if self._locks is None or not self.is_for_sessions:
            yield
            return
        async with self._entering:
            if self._sessions == 0:
                await self._session.enter_async_context(self._locks.held(_DATABASE))
            self._sessions += 1
        try:
            yield
        finally:
            await asyncio.shield(self._leave())

    async def _leave(self) -> None:
        async with self._entering:
            self._sessions -= 1
            if self._sessions == 0:
                try:
                    await asyncio.get_running_loop().run_in_executor(None, self._close_client)
                finally:
                    await self._session.aclose()

    def generation(self, collection: str) -> str | None:
        """Return what changes whenever a collection is written to.

        None when there is no such collection, or other processes may write to it.
        """
        if self.is_shared or not (self._path / _DATABASE).exists():
            return None
        try:
            # One that is empty was cut short, on a full disk perhaps.
            return self._marker(collection).read_text("utf-8") or None
        except (OSError, UnicodeDecodeError):
            return None

    def renew_generation(self, collection: str) -> None:
        """Say that a collection is being written to, before it is. Blocks."""
        if not self.is_shared:
            self._path.mkdir(parents=True, exist_ok=True)
            self._marker(collection).write_text(uuid4().hex, "utf-8")

    def _marker(self, collection: str) -> Path:
        return self._path / f"{collection}.generation"

    async def drop_unused(self, adapter: str, used: Collection[str]) -> list[str]:
        """Drop an adapter's collections that are not `used`, and return their names.

        Nothing is dropped where other processes may use them, nor before the client was opened:
        whatever makes a collection opens it.
        """
        if self.is_shared or not self._was_opened:
            return []
        async with self.session():
            return await self.run(partial(self._drop_unused, adapter=adapter, used=used))

    def _drop_unused(self, client: "ClientAPI", adapter: str, used: Collection[str]) -> list[str]:
        dropped = []
        for collection in client.list_collections():
            owner = (collection.metadata or {}).get(OWNER)
            if owner == adapter and collection.name not in used:
                client.delete_collection(collection.name)
                self._marker(collection.name).unlink(missing_ok=True)
                dropped.append(collection.name)
        return dropped

    async def warm(self) -> None:
        """Import Chroma and open the client, which takes a second or two.

        With locks it is opened in a session alone.
        """
        if not self.is_for_sessions:
            await self.run(lambda _: None)
        else:
            await asyncio.get_running_loop().run_in_executor(self._threads, _import_chroma)

    @property
    def is_for_sessions(self) -> bool:
        """Whether it is closed between sessions, so that no question can be looked up in it."""
        return self._locks is not None and not self.is_shared

    async def run(self, work: Callable[["ClientAPI"], T]) -> T:
        """Run `work` with the client, on a thread of the store.

        A folder that turns out to be damaged is put aside, and `work` is done in an empty one.
        Raises `IndexUnavailable` when Chroma cannot be reached, read or written, or is too slow.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await loop.run_in_executor(self._threads, self._run, work)
        except TimeoutError:
            raise IndexUnavailable(
                f"ChromaDB at {self.place} gave no answer within {_TIMEOUT_S:g} s"
            ) from None

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _run(self, work: Callable[["ClientAPI"], T]) -> T:
        client = self._opened()
        try:
            return self._work(work, client)
        except IndexUnavailable:
            if not self._set_aside(client):
                raise
            return self._work(work, self._opened())

    def _work(self, work: Callable[["ClientAPI"], T], client: "ClientAPI") -> T:
        from chromadb.errors import ChromaError

        try:
            return work(client)
        except (ChromaError, httpx.HTTPError, OSError) as failure:
            raise self._unavailable("used", failure) from failure

    def _opened(self) -> "ClientAPI":
        with self._opening:
            if self._client is None:
                self._client = self._open_or_rebuild()
                self._was_opened = True
            return self._client

    def _open_or_rebuild(self) -> "ClientAPI":
        try:
            return self._try_to_open()
        except IndexUnavailable:
            if not self._is_damaged():
                raise
            self._move_aside()
            return self._try_to_open()

    def _try_to_open(self) -> "ClientAPI":
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.errors import ChromaError

        try:
            return self._open()
        except (ChromaError, httpx.HTTPError, OSError, ValueError, RuntimeError) as failure:
            # An address that does not answer is a ValueError to Chroma. It would go on with
            # what it has of a folder that it could not open.
            SharedSystemClient.clear_system_cache()
            raise self._unavailable("opened", failure) from failure

    def _set_aside(self, client: "ClientAPI") -> bool:
        """Put a folder that turns out to be damaged aside; False when it is not."""
        with self._opening:
            if self._client is not client:
                return True  # another thread did
            if not self._is_damaged():
                return False
            self._close_client()
            self._move_aside()
        return True

    def _is_damaged(self) -> bool:
        if self.is_shared or not (self._path / _DATABASE).exists():
            return False
        try:
            with closing(sqlite3.connect(self._path / _DATABASE)) as database:
                return bool(database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
        except sqlite3.DatabaseError as failure:
            return failure.sqlite_errorcode in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

    def _move_aside(self) -> None:
        """Everything in the folder is made of the libraries, so that it can be made anew."""
        aside = self._path.with_name(f"{self._path.name}.damaged")
        try:
            shutil.rmtree(aside, ignore_errors=True)
            self._path.rename(aside)
        except OSError as failure:
            raise self._unavailable("opened: it is damaged, and cannot be moved", failure) from None
        _log.warning("%s is damaged and is built anew; what was there is in %s", self._path, aside)

    def _unavailable(self, what: str, failure: Exception) -> IndexUnavailable:
        said = next(iter(str(failure).splitlines()), "") or type(failure).__name__
        return IndexUnavailable(f"ChromaDB at {self.place} cannot be {what}: {said}")

    def _open(self) -> "ClientAPI":
        import chromadb
        from chromadb.config import Settings as ChromaSettings

        quiet = ChromaSettings(anonymized_telemetry=False)
        if self._settings.mode == "embedded":
            self._path.mkdir(parents=True, exist_ok=True)
            return chromadb.PersistentClient(path=str(self._path), settings=quiet)
        secrets = self._settings.headers.items()
        client = chromadb.HttpClient(
            host=self._settings.host,
            port=self._settings.port,
            ssl=self._settings.ssl,
            headers={name: secret.get_secret_value() for name, secret in secrets},
            settings=quiet,
            tenant=self._settings.tenant,
            database=self._settings.database,
        )
        for session in _sessions_of(client):
            session.timeout = httpx.Timeout(_TIMEOUT_S)
        return client

    def _close(self) -> None:
        self._threads.shutdown(wait=True)
        self._close_client()

    def _close_client(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        sessions = _sessions_of(client)
        if isinstance(client, AbstractContextManager):
            client.__exit__(None, None, None)  # closing is no part of Chroma's declared interface
        for session in sessions:
            session.close()


def _import_chroma() -> None:
    import chromadb  # noqa: F401


def _sessions_of(client: "ClientAPI") -> list[httpx.Client]:
    """The two HTTP sessions of a client, which Chroma opens without a timeout and never closes."""
    halves = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(half, "_server", None), "_session", None) for half in halves)
    return [session for session in sessions if isinstance(session, httpx.Client)]


def collection_name(adapter: str, domain: str, fingerprint: str) -> str:
    """A name that Chroma takes and no other adapter, domain or encoder has."""
    parts = "\x00".join((adapter, domain, fingerprint))
    return f"orbit-{_readable(adapter)}-{_digest(parts)}"


def learning_lock(adapter: str) -> str:
    """The name of what is held while an adapter's vectors are made and learnt from.

    It is the adapter's and not an index's: files of locks stay, and indexes come and go.
    """
    return f"learning-{_readable(adapter)}-{_digest(adapter)}"


def _readable(adapter: str) -> str:
    return _UNSAFE.sub("-", adapter).strip("-").lower()[:40] or "adapter"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def open_collection(client: "ClientAPI", name: str, about: Mapping[str, Any]) -> "ChromaCollection":
    """Return the collection of that name, made when there is none.

    Its space is the inner product: Chroma's cosine would change unit vectors in the last bit.
    """
    return client.get_or_create_collection(
        name, configuration={"hnsw": {"space": "ip"}}, metadata=dict(about), embedding_function=None
    )
