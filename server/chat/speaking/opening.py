"""From an adapter's settings to what its models do in a turn."""

import logging
from collections.abc import Callable

from server.chat.respond import Composer
from server.chat.speaking.conversing import Talker
from server.chat.speaking.filling import Filler, Judge
from server.chat.speaking.prompting import Prompts
from server.chat.speaking.proposing import ProposingRetriever
from server.chat.speaking.synthesis import Synthesizer
from server.chat.speaking.voice import Voice
from server.core.ports import ChatModel, Retriever
from server.errors import ProviderUnavailable
from server.library.model import Library
from server.settings.adapters import AdapterSettings
from server.tools.policy.chain import PolicyChain

_log = logging.getLogger(__name__)

ModelOf = Callable[[str | None, str | None], ChatModel]
"""The model of a provider and a name, either of which may be left to the defaults."""


def open_voice(
    adapter: AdapterSettings,
    library: Library,
    composer: Composer,
    prompts: Prompts,
    model_of: ModelOf,
) -> Voice | None:
    """What the models of an adapter do; None when it names none, or they cannot be made.

    A provider that lacks something is a warning: the adapter serves without it.

    Raises:
        PluginInvalid: there is no such provider.
    """
    agent = adapter.config.agent
    synthesizer = filler = talker = None
    models: list[ChatModel] = []

    def inference() -> ChatModel:
        models.append(model_of(adapter.inference_model_provider, adapter.inference_model))
        return models[-1]

    try:
        if agent.synthesize_response and names_inference_model(adapter):
            synthesizer = Synthesizer(
                inference(),
                prompts["synthesis"],
                timeout_s=agent.model_timeout,
                result_tokens=agent.result_tokens,
                date_order=library.domain.date_order,
            )
        if names_function_model(adapter):
            model = function_model_of(adapter, model_of)
            models.append(model)
            filler = Filler(
                model, prompts["filling"], library, Judge(library), timeout_s=agent.model_timeout
            )
        if agent.conversation:
            talker = Talker(
                inference(),
                prompts["conversation"],
                library,
                timeout_s=agent.model_timeout,
                system_prompt=agent.system_prompt,
            )
    except ProviderUnavailable as lacking:
        _log.warning("adapter %s answers without a model: %s", adapter.name, lacking)
        return None
    return Voice(
        library,
        composer,
        synthesizer,
        filler,
        talker,
        adapter.config.policy.intent_tools,
        tuple({id(model): model for model in models}.values()),
    )


def open_proposing(
    adapter: AdapterSettings,
    library: Library,
    chain: PolicyChain,
    prompts: Prompts,
    model_of: ModelOf,
    otherwise: Retriever,
) -> Retriever:
    """The retriever for `policy.mode: llm_first`; `otherwise` itself when no model can be made.

    Raises:
        PluginInvalid: there is no such provider.
    """
    try:
        model = function_model_of(adapter, model_of)
    except ProviderUnavailable as lacking:
        _log.warning("adapter %s decides without a model: %s", adapter.name, lacking)
        return otherwise
    return ProposingRetriever(
        otherwise,
        model,
        prompts["proposing"],
        library,
        chain,
        Judge(library),
        timeout_s=adapter.config.agent.model_timeout,
    )


def names_inference_model(adapter: AdapterSettings) -> bool:
    return bool(adapter.inference_model_provider or adapter.inference_model)


def names_function_model(adapter: AdapterSettings) -> bool:
    agent = adapter.config.agent
    named = agent.function_model_provider or agent.function_model
    return bool(named) or names_inference_model(adapter)


def function_model_of(adapter: AdapterSettings, model_of: ModelOf) -> ChatModel:
    """The function model; the inference model where none is named."""
    agent = adapter.config.agent
    if agent.function_model_provider or agent.function_model:
        return model_of(agent.function_model_provider, agent.function_model)
    return model_of(adapter.inference_model_provider, adapter.inference_model)
