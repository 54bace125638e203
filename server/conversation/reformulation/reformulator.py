"""What a customer wants, read from the conversation: a proposal, never a command.

Rules answer first; a model is asked only where they do not know, and what it says is
checked against the list of intents and against the conversation itself.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast, get_args

from server.conversation.followups.lexicon import shipped_lexicon
from server.conversation.reformulation.mentions import Mentions, Read
from server.conversation.reformulation.model import (
    Reformulation,
    Understanding,
    schema_for,
    unclear,
)
from server.conversation.reformulation.wishes import SlipReader, read_wishes
from server.core.chat_messages import Message, SpeakerRole
from server.core.ports import ChatModel
from server.core.turn import Intent
from server.errors import ProviderError
from server.text.joints import joint_reader
from server.text.language import shipped_names
from server.text.tokens import Tokens

_log = logging.getLogger(__name__)

_MAX_TOKENS: Final = 80
_HALF_SURE: Final = 0.5
_ROLES: Final = tuple(role for role in get_args(SpeakerRole) if role != "system")


class _RuleResult(NamedTuple):
    """What rules understood; `open` when a model may know more than they do."""

    understood: Understanding
    open: bool = False


class _Heard(NamedTuple):
    """A message as the rules read it: the text that they took for what is wanted, and its intent.

    `offered` is the intent that may be proposed.
    """

    text: str
    read: Intent
    offered: str | None


class _ModelFailed(Exception):
    """A model gave no answer that can be used; the message says which and why."""


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
        self._lexicon = shipped_lexicon()
        intents = tuple(reformulation.intents.values())
        things = [each.target.replace("_", " ") for each in intents if each.target]
        self._mentions = Mentions(read, reformulation.targets, things, self._lexicon)
        self._slips = SlipReader(
            text
            for each in intents
            for text in (each.name.replace("_", " "), each.description, *each.examples)
        )

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
        try:
            understood = await self._read_by_model(self._model, messages, last)
        except _ModelFailed as failed:
            _log.warning("reformulating by rules alone: %s", failed)
            understood = replace(unclear(str(failed)), model_failed=True)
        return found.understood if found and understood.intent is None else understood

    def _read_by_rules(self, before: Sequence[Message], message: Message) -> _RuleResult | None:
        """Return what the rules understand, None when they do not know."""
        if self._read is None:
            return None
        heard = self._hear(self._read, message.content)
        read = heard.read
        if heard.offered is None and read.method != "default":
            return _RuleResult(unclear(read.explanation))
        if heard.offered is None:
            return self._answered(self._read, before, message)
        targets = own = self._mentions.of(read) or self._mentions.in_text(message.content)
        if len(own) > 1 and self._asks_for_several(self._read, heard.text):
            return _RuleResult(unclear("several things are asked for at once"), open=True)
        if not own:
            targets = self._referred_to(heard.text, before)
        elif len(own) > 1:
            targets = own = self._mentions.chosen_in(message.content, own)
        found = _aimed(heard.offered, targets, read.explanation, read.confidence)
        found = replace(found, earlier=not own, wish=heard.text)
        # Which of several is meant is more than a rule can tell.
        return _RuleResult(found, open=len(targets) > 1)

    def _referred_to(self, text: str, before: Sequence[Message]) -> tuple[str, ...]:
        """The targets that a text without one means: those it points to, else the latest."""
        reference = self._mentions.reference_in(text)
        if reference is not None:
            return self._mentions.resolved(reference, before)
        return self._mentions.latest(before)

    def _hear(self, read: Read, text: str) -> _Heard:
        """Return a message as it asks for something; as it is written, where it does not.

        Slips are put right only where no rule fits what is written.
        """
        whole = self._heard(read, text)
        corrected = self._slips.corrected(text) if whole.read.method == "default" else None
        heard = [whole] if corrected is None else [whole, self._heard(read, corrected)]
        for each in heard:
            asked = self._wanted(read, each) or each
            if asked.offered is not None:
                return asked
        return next((each for each in heard if each.read.method != "default"), whole)

    def _wanted(self, read: Read, heard: _Heard) -> _Heard | None:
        """Return the part of a message that is wanted, where it asks for something.

        What contradicts itself asks for nothing: the same is wanted of the same, and not wanted.
        """
        wishes = read_wishes(heard.text, self._lexicon)
        if wishes is None:
            return None
        wanted, unwanted = self._heard(read, wishes.wanted), self._heard(read, wishes.unwanted)
        if wanted.offered is None:
            return None
        if wanted.offered == unwanted.offered:
            own, other = self._mentions.of(wanted.read), self._mentions.of(unwanted.read)
            if not own or not other or own == other:
                return None
        return wanted

    def _asks_for_several(self, read: Read, text: str) -> bool:
        """Whether the parts of a text ask for different things, each of a target of its own."""
        tokens = Tokens(text)
        joints = joint_reader(shipped_names()).joints(tokens)
        starts, ends = [0, *(each.start for each in joints)], [each.end for each in joints]
        parts = (text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True))
        heard = (self._heard(read, part) for part in parts)
        asked = {each.offered for each in heard if self._mentions.of(each.read)}
        return len(asked - {None}) > 1

    def _heard(self, read: Read, text: str) -> _Heard:
        found = read(text)
        return _Heard(text, found, self._offered(found))

    def _answered(
        self, read: Read, before: Sequence[Message], message: Message
    ) -> _RuleResult | None:
        """Return what was asked for earlier without the target, or with one that is put right."""
        wishes = read_wishes(message.content, self._lexicon)
        text = wishes.wanted if wishes is not None else message.content
        found = read(text)
        own = self._mentions.of(found)
        reference = None if own else self._mentions.reference_in(text)
        targets = self._mentions.resolved(reference, before) if reference else own
        if not targets or not self._mentions.is_hardly_more(text, found, reference):
            return None
        for earlier in reversed(before):
            heard = self._hear(read, earlier.content) if earlier.role == "user" else None
            if heard is not None and heard.offered is not None:
                why = "the target of what was asked before"
                meant = _aimed(heard.offered, targets, why, heard.read.confidence)
                meant = replace(meant, earlier=not own, wish=text)
                return _RuleResult(meant, open=len(targets) > 1)
        return None

    def _offered(self, read: Intent) -> str | None:
        name = normalize_target(read.name)
        return name if name in self.reformulation.intents and read.method != "default" else None

    async def _read_by_model(
        self, model: ChatModel, messages: Sequence[Message], last: int
    ) -> Understanding:
        before, message = messages[:last], messages[last]
        said = await self._ask_model(model, messages)
        verb = normalize_target(said["verb"])
        if verb not in self.reformulation.intents:
            return unclear("what the model found is nothing that may be proposed")
        target, earlier = said.get("object"), False
        if not isinstance(target, str) or not target.strip() or self._mentions.points(target):
            target = None
        else:
            here = self._mentions.as_written(target, [message])
            earlier = here is None
            target = here or self._mentions.as_written(target, before)
            if target is None:
                return unclear("the model named a target that nobody has mentioned")
        own, among = self._mentions.in_text(message.content), tuple[str, ...]()
        if len(own) == 1:
            target, earlier = own[0], False  # the customer's own words count more than a model
        elif target is None and not own:
            targets = self._referred_to(message.content, before)
            target, earlier = (targets[0] if len(targets) == 1 else None), True
            among = targets if len(targets) > 1 else ()
        elif target is None:
            among = own
        why = f"read by {model.name}"
        return Understanding(verb, target, "model", why, _HALF_SURE, earlier, among)

    async def _ask_model(self, model: ChatModel, messages: Sequence[Message]) -> Mapping[str, Any]:
        """Return the verb and the object that the model reads in the conversation.

        Raises:
            _ModelFailed: it did not answer in time, or not as it was asked to.
        """
        asked = [Message("system", self.reformulation.prompt), *messages]
        schema, limit_s = schema_for(self.reformulation.intents), self.reformulation.model_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                reply = await model.complete(asked, schema=schema, max_tokens=_MAX_TOKENS)
        except ProviderError as failed:
            raise _ModelFailed(f"{model.name} failed: {failed}") from failed
        except TimeoutError as late:
            raise _ModelFailed(f"{model.name} failed: no answer within {limit_s:g} s") from late
        if not isinstance(reply.data, Mapping) or not isinstance(reply.data.get("verb"), str):
            raise _ModelFailed(f"{model.name} failed: its answer is not what it was asked for")
        return reply.data


def _aimed(offered: str, targets: Sequence[str], why: str, confidence: float) -> Understanding:
    """An intent with its target; with several, the target is open."""
    target = targets[0] if len(targets) == 1 else None
    among = tuple(targets) if len(targets) > 1 else ()
    return Understanding(offered, target, "rules", why, confidence, among=among)


def normalize_target(verb: str) -> str:
    """Return a verb in its one spelling: ` Cancel-Order ` becomes `cancel_order`."""
    return "_".join(verb.strip().lower().replace("-", " ").replace("_", " ").split())


def _message(said: Mapping[str, str]) -> Message:
    role = said["role"]
    if role not in _ROLES:
        raise ValueError(f"role must be one of {', '.join(_ROLES)}, got {role!r}")
    return Message(cast("SpeakerRole", role), said["content"])
