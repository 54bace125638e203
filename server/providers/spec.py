"""What a provider of chat models or of embeddings is.

A provider is one module with a client class, a model of its options and a `ProviderSpec`
named `PROVIDER`; one row of `server.plugins.TABLES` gives it its short name. Its options
are the section of that name under `models:` or `embeddings:`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from server import plugins
from server.settings.fields import Seconds, Strict

ProviderKind = Literal["chat provider", "embedding provider"]

_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class NoOptions(Strict):
    """The options of a provider that has none."""


class ChatLimits(Strict):
    """How much a chat model is asked, and when it is left alone."""

    timeout_s: Seconds = 30.0
    """Seconds until an answer, until the first word of a stream, and between its words."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """How often a request that failed in passing is tried again: after 1 s, 2 s, 4 s …"""
    max_concurrent: int = Field(default=4, ge=1, le=1000)
    """Requests at one time; others wait, for `timeout_s` at most."""
    max_failures: int = Field(default=5, ge=1, le=1000)
    """Failures in a row after which the provider is left alone for `pause_s`."""
    pause_s: Seconds = 30.0
    """Seconds without requests after so many failures; then one is tried."""


class ChatOptions(ChatLimits):
    """What most providers of chat models have."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    """How freely words are chosen; 0 takes the likeliest, so that answers repeat."""
    max_tokens: int = Field(default=512, ge=1, le=1_000_000)
    """Most tokens of one reply."""


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """A provider: its client, the options it takes, and where what is left out comes from."""

    client: Callable[[Any, Any], Any]
    """Called with the name of a model and the options; makes a `ChatModel` or an `Embedder`."""
    options: type[Strict] = NoOptions
    default_model: str | None = None
    """The model where neither adapter, options nor environment name one."""
    model_variable: str | None = None
    """The environment variable that names a model."""
    key_variable: str | None = None
    """The environment variable with the API key, for options with `api_key` and `base_url`."""
    key_host: str = ""
    """The provider's own host: a key of the environment goes there and to this machine alone."""
    limits: ChatLimits | None = None
    """The limits of a chat provider whose options leave them out."""

    def options_in(self, section: object, environ: Mapping[str, str]) -> Any:
        """Return the options that a section of the settings holds, with the key to send."""
        options: Any = self.options.model_validate(section or {})
        if self.key_variable is None:
            return options
        key: SecretStr | None = options.api_key
        if key is None and urlsplit(options.base_url).hostname in _THIS_MACHINE | {self.key_host}:
            key = SecretStr(environ.get(self.key_variable, "").strip())
        return options.model_copy(update={"api_key": key or None})

    def limits_of(self, options: Any) -> ChatLimits:
        """Return the limits of a chat provider with these options."""
        if isinstance(options, ChatLimits):
            return options
        timeout_s = getattr(options, "timeout_s", ChatLimits().timeout_s)
        return (self.limits or ChatLimits()).model_copy(update={"timeout_s": timeout_s})

    def model_for(self, options: Any, environ: Mapping[str, str]) -> str | None:
        """Return the model to use where an adapter names none."""
        named = options.model if "model" in self.options.model_fields else None
        if not named and self.model_variable is not None:
            named = environ.get(self.model_variable, "").strip()
        return named or self.default_model


def find_provider(kind: ProviderKind, name: str) -> ProviderSpec:
    """Return the provider of a short name or dotted path.

    A dotted path may name a class as well, which is called with the model alone. Raises
    `PluginInvalid`: there is nothing of that name.
    """
    found = plugins.resolve(kind, name)
    if isinstance(found, ProviderSpec):
        return found
    return ProviderSpec(lambda model, _: found(model))
