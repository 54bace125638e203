"""A message that answers what was asked, or chooses one of what was offered."""

from dataclasses import dataclass
from typing import Any, Final

from server.conversation.followups.references import by_place, by_words
from server.core.decision import (
    Call,
    Clarify,
    ClarifyingQuestion,
    Decision,
    MissingArguments,
    NoMatch,
)
from server.core.tools import Source
from server.core.turn import OfferedChoices, PendingQuestion
from server.library.model import Template
from server.retrievers.followups.context import FollowUpContext, FollowUpDecision
from server.retrievers.followups.provided_values import (
    ProvidedValues,
    is_written_as_name,
    provided_values,
    whole_message,
)

_WHY: Final = "it answers what was asked"


@dataclass(frozen=True, slots=True)
class FilledAnswer:
    """What an answer to a question leads to.

    `by_text` says that the whole message was taken for free text: it may as well be a
    question of its own.
    """

    asked: PendingQuestion
    decision: Call | MissingArguments
    given: ProvidedValues
    by_text: bool

    def is_meant(self, ctx: FollowUpContext, first: Decision) -> bool:
        """Whether free text is the answer, rather than the question that `first` decides."""
        problems = self.given.problems
        if isinstance(first, NoMatch | ClarifyingQuestion):
            return True
        if problems and isinstance(first, Clarify):
            return True  # it would be asked about anyway
        if not isinstance(first, Call):
            return not problems and is_written_as_name(ctx, ctx.utterance.words)
        # All that a call has of the question may be one text, which the answer is as well.
        read = [name for name, source in first.call.sources.items() if source.span is not None]
        reads_text = len(read) == 1 and isinstance(first.call.arguments[read[0]], str)
        if not problems and is_written_as_name(ctx, ctx.utterance.words):
            return reads_text
        spans = [source.span for source in first.call.sources.values() if source.span]
        return reads_text and not problems and not ctx.utterance.left(spans, ctx.lexicon)


def answer_to_question(ctx: FollowUpContext) -> FilledAnswer | None:
    """The call that was asked about, when the message is nothing but values for it."""
    asked = ctx.asked
    if asked is None:
        return None
    template = ctx.library.templates[asked.template_id]
    names = [p.name for p in template.parameters if p.name not in asked.arguments]
    missing = [name for name in asked.missing if name in names]
    given = provided_values(ctx, template, names)
    is_named = given.whole and any(name in given.arguments for name in missing)
    is_wrong = not given.left and any(name in given.problems for name in missing)
    by_text = False
    if not (is_named or is_wrong):
        given = ProvidedValues()
        if ctx.utterance.form == "correction":
            given = _corrected_value(ctx, asked, template)
        if given.nothing:
            # The whole message as the first of the missing values that it can be.
            texts = (whole_message(ctx, template, name) for name in missing)
            given = next((text for text in texts if not text.nothing), given)
            by_text = True
    if given.nothing:
        return None
    arguments: dict[str, Any] = {**asked.arguments, **given.arguments}
    sources = {**dict.fromkeys(asked.arguments, Source("conversation")), **given.sources}
    decision = ctx.call_or_ask(template, arguments, sources, _WHY, given.problems)
    return FilledAnswer(asked, decision, given, by_text)


def more_arguments(ctx: FollowUpContext, first: Decision) -> FollowUpDecision | None:
    """More arguments for the call that was asked about, in a sentence that names it again."""
    asked = ctx.asked
    if (
        asked is None
        or not isinstance(first, MissingArguments)
        or first.match.template_id != asked.template_id
        or not first.arguments.keys() - asked.arguments.keys()
    ):
        return None
    template = ctx.library.templates[asked.template_id]
    arguments = {**asked.arguments, **first.arguments}
    problems = {missing.name: missing.problem for missing in first.missing if missing.problem}
    decision = ctx.call_or_ask(template, arguments, first.sources, _WHY, problems)
    return FollowUpDecision(decision, ctx.turn.intent, "answer")


def _corrected_value(
    ctx: FollowUpContext, asked: PendingQuestion, template: Template
) -> ProvidedValues:
    """What takes the place of a value that was known, where it fits only one."""
    values = (provided_values(ctx, template, [name]) for name in asked.arguments)
    fitting = [given for given in values if given.whole]
    return fitting[0] if len(fitting) == 1 else ProvidedValues()


def chosen_by_place(ctx: FollowUpContext) -> FollowUpDecision | None:
    """What the message chooses by its place in what was offered."""
    options = ctx.turn.context.options
    if options is None:
        return None
    template = by_place(ctx.utterance, _offered_templates(ctx, options), ctx.lexicon)
    return _chosen_template(ctx, options, template)


def chosen_by_words(ctx: FollowUpContext, first: Decision) -> FollowUpDecision | None:
    """What the message chooses by its words, or by what it would ask for alone."""
    options = ctx.turn.context.options
    if options is None:
        return None
    offered = _offered_templates(ctx, options)
    if isinstance(first, MissingArguments):
        meant = first.match.template_id
        template = next((each for each in offered if each.id == meant), None)
    else:
        template = by_words(ctx.utterance, offered, ctx.lexicon)
    return _chosen_template(ctx, options, template)


def _offered_templates(ctx: FollowUpContext, options: OfferedChoices) -> list[Template]:
    templates = ctx.library.templates
    return [templates[name] for name in options.template_ids if name in templates]


def _chosen_template(
    ctx: FollowUpContext, options: OfferedChoices, template: Template | None
) -> FollowUpDecision | None:
    if template is None:
        return None
    found = ctx.extractor.extract(options.question, template, now=ctx.now)
    given = {n: value for n, value in found.arguments.items() if found.sources[n].span is not None}
    problems = {missing.name: missing.problem for missing in found.missing if missing.problem}
    why = "it was chosen of what was offered"
    decision = ctx.call_or_ask(template, given, {}, why, problems)
    return ctx.decided(decision, options.intent, "choice")
