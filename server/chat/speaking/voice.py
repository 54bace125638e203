"""What an adapter's models do in a turn, in one place."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from server.chat.respond import Composer
from server.chat.speaking.conversing import Talker
from server.chat.speaking.filling import Filler
from server.chat.speaking.synthesis import Spoken, Synthesizer
from server.chat.streaming import TurnDeadline
from server.core.answer import Answer, Trace
from server.core.decision import Call, MissingArguments
from server.core.ports import ChatModel
from server.core.tools import ToolCall, ToolResult
from server.core.turn import Turn
from server.errors import ProviderError
from server.library.model import Library

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voice:
    """The models of one adapter. What it lacks is not done: everything here is optional."""

    library: Library
    composer: Composer
    synthesizer: Synthesizer | None = None
    filler: Filler | None = None
    talker: Talker | None = None
    intent_tools: Mapping[str, tuple[str, ...]] | None = None
    """The templates that each intent allows, where the adapter says so."""
    models: tuple[ChatModel, ...] = ()

    async def warm(self) -> None:
        """Load or reach the models, so that no answer waits for that; one that is down may be."""
        for model in self.models:
            try:
                await model.warm()
            except ProviderError as down:
                _log.warning("%s does not speak yet: %s", model.name, down)

    def is_talk(self, turn: Turn) -> bool:
        """Whether a model may answer, and what is asked for can lead to no tool."""
        if self.talker is None or self.intent_tools is None or turn.intent is None:
            return False
        return not self.intent_tools.get(turn.intent.name)

    async def fill(
        self, turn: Turn, decision: MissingArguments, trace: Trace, airtime: TurnDeadline
    ) -> MissingArguments | Call:
        """The decision with what a model found to be said, where one is asked."""
        if self.filler is None or airtime.private:
            return decision
        return await self.filler.fill(decision, turn, trace, left_s=airtime.left_s)

    async def converse(
        self, turn: Turn, otherwise: Answer, trace: Trace, airtime: TurnDeadline
    ) -> Answer:
        """A model's reply where the adapter wants one, else what the server says itself."""
        if self.talker is None or airtime.private:
            return otherwise
        language = self.composer.language_for(turn.languages)
        return await self.talker.reply(turn, otherwise, trace, airtime, language=language)

    async def phrase(
        self,
        turn: Turn,
        call: ToolCall,
        result: ToolResult,
        answer: Answer,
        trace: Trace,
        airtime: TurnDeadline,
    ) -> Answer:
        """The answer in a model's words, where one words results and says what is true."""
        if self.synthesizer is None or airtime.private:
            return answer
        spoken = Spoken(
            question=turn.text,
            language=self.composer.language_for(turn.languages),
            template=self.library.templates[call.template_id],
            call=call,
            result=result,
            answer=answer,
        )
        return await self.synthesizer.phrase(
            spoken, trace, left_s=airtime.left_s, listening=airtime.listening
        )
