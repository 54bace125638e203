"""What an adapter's models do in a turn, built from its settings."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from server.core.decision import Answer, Call, MissingArguments, Trace
from server.core.ports import ChatModel, Decider
from server.core.streaming import TurnDeadline
from server.core.tools import ToolCall, ToolResult
from server.core.turn import Turn
from server.errors import ProviderError, ProviderUnavailable
from server.library.model import Library
from server.llm.prompts import PromptedModel, PromptName, Prompts
from server.llm.response_synthesizer import ResponseSynthesizer, RewriteRequest
from server.llm.slot_filling import SlotFiller
from server.llm.smalltalk import ChatResponder
from server.llm.tool_selection import AllowedTemplates, LLMDecider, SpeaksAgainst
from server.settings.adapters import AdapterSettings

_log = logging.getLogger(__name__)

ModelOf = Callable[[str | None, str | None], ChatModel]
"""The model of a provider and a name; the defaults stand in for None."""


@dataclass(frozen=True, slots=True)
class AdapterModels:
    """What models do for one adapter; each part is optional."""

    library: Library
    synthesizer: ResponseSynthesizer | None = None
    slot_filler: SlotFiller | None = None
    responder: ChatResponder | None = None
    intent_tools: Mapping[str, tuple[str, ...]] | None = None
    """The templates that each intent allows, where the adapter says so."""
    models: tuple[ChatModel, ...] = ()

    async def warm(self) -> None:
        """Load or reach the models before they are needed; one that is down is logged."""
        for model in self.models:
            try:
                await model.warm()
            except ProviderError as down:
                _log.warning("%s does not answer yet: %s", model.name, down)

    def is_talk(self, turn: Turn) -> bool:
        """Whether a model replies, because the turn's intent allows no tool."""
        if self.responder is None or self.intent_tools is None or turn.intent is None:
            return False
        return not self.intent_tools.get(turn.intent.name)

    async def fill(
        self, turn: Turn, decision: MissingArguments, trace: Trace, deadline: TurnDeadline
    ) -> MissingArguments | Call:
        """Return the decision with the arguments that a model found, if one is asked."""
        if self.slot_filler is None or deadline.private:
            return decision
        return await self.slot_filler.fill(decision, turn, trace, deadline)

    async def converse(
        self, turn: Turn, otherwise: Answer, trace: Trace, deadline: TurnDeadline
    ) -> Answer:
        """Return a model's reply if the adapter has one, else `otherwise`."""
        if self.responder is None or deadline.private:
            return otherwise
        language = self.library.domain.response.choose_language(turn.languages)
        return await self.responder.reply(turn, otherwise, trace, deadline, language=language)

    async def rewrite(
        self,
        turn: Turn,
        call: ToolCall,
        result: ToolResult,
        answer: Answer,
        trace: Trace,
        deadline: TurnDeadline,
    ) -> Answer:
        """Return the answer in a model's words, if one words results and they are true."""
        if self.synthesizer is None or deadline.private:
            return answer
        language = self.library.domain.response.choose_language(turn.languages)
        template = self.library.templates[call.template_id]
        request = RewriteRequest(turn.text, language, template, call, result, answer)
        return await self.synthesizer.rewrite(request, trace, deadline)


def build_models(
    adapter: AdapterSettings, library: Library, prompts: Prompts, model_of: ModelOf
) -> AdapterModels | None:
    """Build what the models of an adapter do; None when a model cannot be made.

    A provider that lacks something is a warning: the adapter serves without it.

    Raises:
        PluginInvalid: there is no such provider.
    """
    agent = adapter.config.agent
    inference = adapter.inference_model_provider, adapter.inference_model
    synthesizer = slot_filler = responder = None
    models: dict[int, ChatModel] = {}

    def prompted(model: ChatModel, prompt: PromptName) -> PromptedModel:
        models[id(model)] = model
        return PromptedModel(model, prompts[prompt], agent.model_timeout)

    try:
        if agent.synthesize_response and names_inference_model(adapter):
            model = prompted(model_of(*inference), "synthesis")
            date_order = library.domain.date_order
            synthesizer = ResponseSynthesizer(
                model, result_tokens=agent.result_tokens, date_order=date_order
            )
        if names_function_model(adapter):
            model = prompted(function_model_of(adapter, model_of), "filling")
            slot_filler = SlotFiller(model, library)
        if agent.conversation:
            model = prompted(model_of(*inference), "conversation")
            responder = ChatResponder(model, library, system_prompt=agent.system_prompt)
    except ProviderUnavailable as lacking:
        _log.warning("adapter %s answers without a model: %s", adapter.name, lacking)
        return None
    intent_tools = adapter.config.policy.intent_tools
    return AdapterModels(
        library, synthesizer, slot_filler, responder, intent_tools, tuple(models.values())
    )


def build_llm_decider(
    adapter: AdapterSettings,
    library: Library,
    allowed: AllowedTemplates,
    prompts: Prompts,
    model_of: ModelOf,
    otherwise: Decider,
    against: SpeaksAgainst,
) -> Decider:
    """Build the decider for `policy.mode: llm_first`; `otherwise` when no model can be made.

    Raises:
        PluginInvalid: there is no such provider.
    """
    try:
        model = function_model_of(adapter, model_of)
    except ProviderUnavailable as lacking:
        _log.warning("adapter %s decides without a model: %s", adapter.name, lacking)
        return otherwise
    prompted = PromptedModel(model, prompts["proposing"], adapter.config.agent.model_timeout)
    return LLMDecider(otherwise, prompted, library, allowed, against)


def names_inference_model(adapter: AdapterSettings) -> bool:
    return bool(adapter.inference_model_provider or adapter.inference_model)


def names_function_model(adapter: AdapterSettings) -> bool:
    return any(_function_model_name(adapter))


def function_model_of(adapter: AdapterSettings, model_of: ModelOf) -> ChatModel:
    """Return the function model; the inference model when none is named."""
    return model_of(*_function_model_name(adapter))


def _function_model_name(adapter: AdapterSettings) -> tuple[str | None, str | None]:
    agent = adapter.config.agent
    if agent.function_model_provider or agent.function_model:
        return agent.function_model_provider, agent.function_model
    return adapter.inference_model_provider, adapter.inference_model
