"""What a customer wants, read from the conversation: a proposal, never a command.

Rules answer first; a model is asked only where they do not know, and what it says is
checked against the list of intents and against the conversation itself.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast, get_args

from server.conversation.reformulation.mentions import Mentions, Read, is_pronoun
from server.conversation.reformulation.model import (
    Reformulation,
    Understanding,
    schema_for,
    unclear,
)
from server.core.chat_messages import Message, SpeakerRole
from server.core.ports import ChatModel
from server.core.turn import Intent
from server.errors import ProviderError, ProviderRejected

_log = logging.getLogger(__name__)

_MAX_TOKENS: Final = 80
_HALF_SURE: Final = 0.5
_ROLES: Final = tuple(role for role in get_args(SpeakerRole) if role != "system")


class _RuleResult(NamedTuple):
    """What rules understood; `open` when a model may know more than they do."""

    understood: Understanding
    open: bool = False


class Reformulator:
    """Reads conversations by rules, by a model, or by both.

    `read` is the adapter's rule pack, whose intents count where they bear the name of one
    that may be proposed. Without it and without a model everything is ambiguous.
    """

    def __init__(
        self,
        reformulation: Reformulation,
        *,
        read: Read | None = None,
        model: ChatModel | None = None,
    ) -> None:
        self.reformulation = reformulation
        self._read = read
        self._model = model
        self._mentions = Mentions(read, reformulation.targets)

    async def process_chat(self, chat_history: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Return `{status, intent, target}`: `PROPOSED`, or `AMBIGUOUS` with two Nones.

        `chat_history` is what was said, oldest first, each with `role` and `content`.

        Raises:
            ValueError: a role is neither user nor assistant.
        """
        messages = [_message(said) for said in chat_history]
        return (await self.understand(messages)).to_dict()

    async def understand(self, messages: Sequence[Message]) -> Understanding:
        """Return what the latest message of the user asks for. A model that fails is no error."""
        last = max((at for at, m in enumerate(messages) if m.role == "user"), default=None)
        if last is None:
            return unclear("nobody has said anything yet")
        before, message = messages[:last], messages[last]
        found = self._read_by_rules(before, message)
        if found is not None and not found.open:
            return found.understood
        if self._model is None:
            return found.understood if found else unclear("no rule fits, and there is no model")
        understood = await self._read_by_model(self._model, messages, last)
        return found.understood if found and understood.intent is None else understood

    def _read_by_rules(self, before: Sequence[Message], message: Message) -> _RuleResult | None:
        """Return what the rules understand, None when they do not know."""
        if self._read is None:
            return None
        read = self._read(message.content)
        own = self._mentions.of(read)
        offered = self._offered(read)
        if offered is not None:
            # Which of several is meant is more than a rule can tell.
            targets = own or self._mentions.latest(before)
            target = targets[0] if len(targets) == 1 else None
            found = Understanding(
                offered, target, "rules", read.explanation, read.confidence, not own
            )
            return _RuleResult(found, open=len(targets) > 1)
        if read.method != "default":
            return _RuleResult(unclear(read.explanation))
        if len(own) == 1 and self._mentions.is_hardly_more(message.content, read):
            return self._earlier_request(before, own[0])
        return None

    def _earlier_request(self, before: Sequence[Message], target: str) -> _RuleResult | None:
        """Return what was asked for earlier without the target, which is named only now."""
        for message in reversed(before):
            if message.role == "user" and self._read is not None:
                read = self._read(message.content)
                offered = self._offered(read)
                if offered is not None:
                    why = "the target of what was asked before"
                    return _RuleResult(
                        Understanding(offered, target, "rules", why, read.confidence)
                    )
        return None

    def _offered(self, read: Intent) -> str | None:
        name = normalize_target(read.name)
        return name if name in self.reformulation.intents and read.method != "default" else None

    async def _read_by_model(
        self, model: ChatModel, messages: Sequence[Message], last: int
    ) -> Understanding:
        before, message = messages[:last], messages[last]
        said = await self._ask_model(model, messages)
        if not isinstance(said, Mapping) or not isinstance(said.get("verb"), str):
            return unclear("the model did not say what is wanted")
        verb = normalize_target(said["verb"])
        if verb not in self.reformulation.intents:
            return unclear("what the model found is nothing that may be proposed")
        target, earlier = said.get("object"), False
        if not isinstance(target, str) or not target.strip() or is_pronoun(target):
            target = None
        else:
            here = self._mentions.as_written(target, [message])
            earlier = here is None
            target = here or self._mentions.as_written(target, before)
            if target is None:
                return unclear("the model named a target that nobody has mentioned")
        own = self._mentions.in_text(message.content)
        if len(own) == 1:
            target, earlier = own[0], False  # the customer's own words count more than a model
        elif target is None and not own:
            latest = self._mentions.latest(before)
            target, earlier = (latest[0] if len(latest) == 1 else None), True
        why = f"read by {model.name}"
        return Understanding(verb, target, "model", why, _HALF_SURE, earlier)

    async def _ask_model(self, model: ChatModel, messages: Sequence[Message]) -> Any:
        """Return what the model reads in the conversation, None when it fails or is late."""
        asked = [Message("system", self.reformulation.prompt), *messages]
        by_list, free = schema_for(self.reformulation.intents), schema_for()
        try:
            async with asyncio.timeout(self.reformulation.model_timeout_s):
                try:
                    reply = await model.complete(asked, schema=by_list, max_tokens=_MAX_TOKENS)
                except ProviderRejected:
                    # It may mean one of them all the same, in a spelling of its own.
                    reply = await model.complete(asked, schema=free, max_tokens=_MAX_TOKENS)
        except (ProviderError, TimeoutError) as failed:
            _log.warning("reformulating by rules alone: %s", str(failed) or "the model is late")
            return None
        return reply.data


def normalize_target(verb: str) -> str:
    """Return a verb in its one spelling: ` Cancel-Order ` becomes `cancel_order`."""
    return "_".join(verb.strip().lower().replace("-", " ").replace("_", " ").split())


def _message(said: Mapping[str, str]) -> Message:
    role = said["role"]
    if role not in _ROLES:
        raise ValueError(f"role must be one of {', '.join(_ROLES)}, got {role!r}")
    return Message(cast("SpeakerRole", role), said["content"])
