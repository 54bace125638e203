"""What an adapter's models are for, which prompts they are told, and what is wrong with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from server import plugins
from server.core.ports import Decider
from server.errors import ConfigurationInvalid, PluginInvalid, Problem
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings
from server.tools.policy.chain import PolicyChain

if TYPE_CHECKING:
    from server.llm.models import AdapterModels, ModelOf
    from server.llm.prompts import Prompts


def call_mode(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> Literal["system_first", "llm_first"]:
    """Who proposes calls: as the adapter says, else by `SYSTEM_FIRST_ARCHITECTURE`."""
    if adapter.config.policy.mode is not None:
        return adapter.config.policy.mode
    asked = environ.get("SYSTEM_FIRST_ARCHITECTURE", "true").strip().lower()
    return "llm_first" if asked in {"false", "0", "no", "off"} else "system_first"


def speaks(adapter: AdapterSettings, environ: Mapping[str, str]) -> bool:
    """Whether a model does anything in this adapter's turns."""
    agent = adapter.config.agent
    return (
        _names_inference(adapter)
        or bool(agent.function_model_provider or agent.function_model)
        or _asks(adapter, environ)
    )


def _names_inference(adapter: AdapterSettings) -> bool:
    return bool(adapter.inference_model_provider or adapter.inference_model)


def _asks(adapter: AdapterSettings, environ: Mapping[str, str]) -> bool:
    """Whether the adapter asks for a model whether or not it names one."""
    return adapter.config.agent.conversation or call_mode(adapter, environ) == "llm_first"


def _missing(
    adapter: AdapterSettings, settings: Settings | None, environ: Mapping[str, str]
) -> list[Problem]:
    """What an adapter asks for that needs a model, when none is named anywhere."""
    provider = settings.models.provider if settings is not None else None
    if _names_inference(adapter) or provider or environ.get("LLM_PROVIDER", "").strip():
        return []
    agent, problems = adapter.config.agent, []
    if agent.conversation:
        what = "agent.conversation needs a model that speaks; name one with inference_model"
        problems.append(Problem(what, adapter.where, "model-missing"))
    named = agent.function_model_provider or agent.function_model
    if call_mode(adapter, environ) == "llm_first" and not named:
        what = "policy.mode llm_first needs a model that proposes; name one with agent."
        what += "function_model or inference_model"
        problems.append(Problem(what, adapter.where, "model-missing"))
    return problems


def read_prompts(
    adapter: AdapterSettings, environ: Mapping[str, str], settings: Settings | None = None
) -> "tuple[Prompts | None, list[Problem]]":
    """The prompts of an adapter whose models speak, and all that is wrong with its models."""
    problems = [
        Problem(str(unknown), adapter.where, "unknown-provider")
        for provider in dict.fromkeys(
            (adapter.inference_model_provider, adapter.config.agent.function_model_provider)
        )
        if provider is not None and (unknown := _unknown(provider)) is not None
    ]
    problems += _missing(adapter, settings, environ)
    if not speaks(adapter, environ):
        if adapter.config.prompts is not None:
            what = "prompts are for a model, and the adapter names none with inference_model"
            problems.append(Problem(what, adapter.where, "model-missing", "warning"))
            from server.llm.prompts import load_prompts

            problems += load_prompts(adapter.config.prompts, environ)[1]
        return None, problems
    from server.llm.prompts import load_prompts

    prompts, amiss = load_prompts(adapter.config.prompts, environ)
    return prompts, [*problems, *amiss]


def adapter_models(
    adapter: AdapterSettings,
    library: Library,
    prompts: "Prompts | None",
    model_of: "ModelOf",
) -> "AdapterModels | None":
    """What the adapter's models do in a turn, if it names any.

    Raises:
        ConfigurationInvalid: a provider's class cannot be used.
    """
    if prompts is None:
        return None
    from server.llm.models import build_models

    try:
        return build_models(adapter, library, prompts, model_of)
    except PluginInvalid as invalid:
        problem = Problem(str(invalid), adapter.where, "unknown-provider")
        raise ConfigurationInvalid([problem]) from None


def retriever_of(
    adapter: AdapterSettings,
    library: Library,
    chain: PolicyChain,
    prompts: "Prompts | None",
    model_of: "ModelOf",
    retriever: Decider,
    environ: Mapping[str, str],
) -> Decider:
    """What decides: `retriever`, or a model before it where `policy.mode` says so."""
    if prompts is None or call_mode(adapter, environ) != "llm_first":
        return retriever
    from server.llm.models import build_llm_decider

    try:
        return build_llm_decider(adapter, library, chain.open_to, prompts, model_of, retriever)
    except PluginInvalid as invalid:
        problem = Problem(str(invalid), adapter.where, "unknown-provider")
        raise ConfigurationInvalid([problem]) from None


def _unknown(provider: str) -> PluginInvalid | None:
    try:
        plugins.resolve("chat provider", provider)
    except PluginInvalid as invalid:
        return invalid
    return None
