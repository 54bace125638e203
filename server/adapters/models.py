"""Which models an adapter asks, what they are told, and what is wrong with that."""

from collections.abc import Iterator, Mapping
from typing import Literal

from server.errors import PluginInvalid, Problem
from server.llm.models import names_function_model, names_inference_model
from server.llm.prompts import Prompts, load_prompts
from server.providers.chat.factory import named_provider
from server.providers.spec import find_provider
from server.settings.models import AdapterSettings, ModelsSettings, Settings


def call_mode(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> Literal["system_first", "llm_first"]:
    """Return who proposes calls: as the adapter says, else by `SYSTEM_FIRST_ARCHITECTURE`.

    Of its values, `true` alone means the server; left out it means the server as well, since
    an adapter that names no model has nobody else.
    """
    if adapter.config.policy.mode is not None:
        return adapter.config.policy.mode
    written = environ.get("SYSTEM_FIRST_ARCHITECTURE", "").strip().lower() or "true"
    return "system_first" if written == "true" else "llm_first"


def names_provider(settings: Settings | None, environ: Mapping[str, str]) -> bool:
    """Whether settings or environment name the provider of models that adapters leave out."""
    models = settings.models if settings is not None else ModelsSettings()
    return named_provider(models, environ) is not None


def load_adapter_prompts(
    adapter: AdapterSettings, environ: Mapping[str, str], settings: Settings | None = None
) -> tuple[Prompts | None, list[Problem]]:
    """Return the prompts of an adapter, None where it asks no model, and all model problems."""
    config = adapter.config
    problems = [*_unknown_providers(adapter), *_missing_models(adapter, settings, environ)]
    asks_model = (
        names_function_model(adapter)
        or config.agent.conversation
        or call_mode(adapter, environ) == "llm_first"
    )
    if not asks_model and config.prompts is None:
        return None, problems
    prompts, amiss = load_prompts(config.prompts, environ)
    if asks_model:
        return prompts, [*problems, *amiss]
    what = "prompts are for a model, and the adapter names none with inference_model"
    return None, [*problems, Problem(what, adapter.where, "model-missing", "warning"), *amiss]


def _unknown_providers(adapter: AdapterSettings) -> Iterator[Problem]:
    agent = adapter.config.agent
    for name in dict.fromkeys((adapter.inference_model_provider, agent.function_model_provider)):
        try:
            if name is not None:
                find_provider("chat provider", name)
        except PluginInvalid as unknown:
            yield Problem(str(unknown), adapter.where, "unknown-provider")


def _missing_models(
    adapter: AdapterSettings, settings: Settings | None, environ: Mapping[str, str]
) -> Iterator[Problem]:
    if names_inference_model(adapter) or names_provider(settings, environ):
        return
    if adapter.config.agent.conversation:
        what = "agent.conversation needs a model that speaks; name one with inference_model"
        yield Problem(what, adapter.where, "model-missing")
    if call_mode(adapter, environ) == "llm_first" and not names_function_model(adapter):
        what = "policy.mode llm_first needs a model that proposes"
        how = "name one with agent.function_model or inference_model"
        yield Problem(f"{what}; {how}", adapter.where, "model-missing")
