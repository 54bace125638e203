"""Any sentence encoder in ONNX: a folder with `model.onnx` and `tokenizer.json`."""

import hashlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from server.errors import ProviderRejected, ProviderUnavailable

_MAX_TOKENS: Final = 512
_CHUNK: Final = 1 << 20


class OnnxModel:
    """Tokens in, the mean of the last hidden states out.

    An output that is (n, d) already is used as it is.
    """

    def __init__(self, folder: Path, threads: int | None) -> None:
        options = onnxruntime.SessionOptions()
        if threads is not None:
            options.intra_op_num_threads = threads
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as broken:  # both libraries raise bare Exceptions of their own
            raise ProviderUnavailable(f"{folder} cannot be loaded: {broken}") from broken
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {node.name for node in self._session.get_inputs()}
        self.revision = _digest(folder / "model.onnx")

    def encode(self, texts: list[str]) -> np.ndarray[Any, Any]:
        """Return (n, d) float32 rows, not normalised."""
        encodings = self._tokenizer.encode_batch(texts)
        offered = {
            "input_ids": np.array([e.ids for e in encodings], dtype=np.int64),
            "attention_mask": np.array([e.attention_mask for e in encodings], dtype=np.int64),
            "token_type_ids": np.array([e.type_ids for e in encodings], dtype=np.int64),
        }
        feed = {name: rows for name, rows in offered.items() if name in self._inputs}
        (states, *_) = self._session.run(None, feed)
        states = np.asarray(states, dtype=np.float32)
        if states.ndim == 2:
            return states
        if states.ndim != 3:
            raise ProviderRejected("model.onnx returns neither token states nor sentence vectors")
        weights = offered["attention_mask"][:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1).clip(min=1))


def _digest(path: Path) -> str:
    """Return a digest of the size and the first and last megabyte."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        head = stream.read(_CHUNK)
        stream.seek(max(size - _CHUNK, 0))
        tail = stream.read(_CHUNK)
    return hashlib.sha256(head + tail + str(size).encode()).hexdigest()[:16]
