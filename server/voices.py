"""What an adapter's models are for, which prompts they are told, and what is wrong with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from server import plugins
from server.chat.compose import Composer
from server.core.problems import Problem
from server.errors import ConfigurationInvalid, PluginInvalid
from server.library.model import Library
from server.settings.models import AdapterSettings

if TYPE_CHECKING:  # a server without models loads nothing of them
    from server.chat.speaking.opening import ModelOf
    from server.chat.speaking.prompting import Prompts
    from server.chat.speaking.voice import Voice


def speaks(adapter: AdapterSettings) -> bool:
    """Whether a model does anything in this adapter's turns."""
    agent = adapter.config.agent
    inference = adapter.inference_model_provider or adapter.inference_model
    return bool(inference or agent.function_model_provider or agent.function_model)


def read_prompts(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> "tuple[Prompts | None, list[Problem]]":
    """The prompts of an adapter whose models speak, and all that is wrong with its models."""
    problems = [
        Problem(str(unknown), adapter.where, "unknown-provider")
        for provider in dict.fromkeys(
            (adapter.inference_model_provider, adapter.config.agent.function_model_provider)
        )
        if provider is not None and (unknown := _unknown(provider)) is not None
    ]
    if not speaks(adapter):
        if adapter.config.prompts is not None:
            what = "prompts are for a model, and the adapter names none with inference_model"
            problems.append(Problem(what, adapter.where, "model-missing", "warning"))
            from server.chat.speaking.prompting import load_prompts

            problems += load_prompts(adapter.config.prompts, environ)[1]
        return None, problems
    from server.chat.speaking.prompting import load_prompts

    prompts, amiss = load_prompts(adapter.config.prompts, environ)
    return prompts, [*problems, *amiss]


def voice_of(
    adapter: AdapterSettings,
    library: Library,
    composer: Composer,
    prompts: "Prompts | None",
    model_of: "ModelOf",
) -> "Voice | None":
    """What the adapter's models do in a turn, if it names any.

    Raises:
        ConfigurationInvalid: a provider's class cannot be used.
    """
    if prompts is None:
        return None
    from server.chat.speaking.opening import open_voice

    try:
        return open_voice(adapter, library, composer, prompts, model_of)
    except PluginInvalid as invalid:
        problem = Problem(str(invalid), adapter.where, "unknown-provider")
        raise ConfigurationInvalid([problem]) from None


def _unknown(provider: str) -> PluginInvalid | None:
    try:
        plugins.resolve("chat provider", provider)
    except PluginInvalid as invalid:
        return invalid
    return None
