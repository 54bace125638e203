"""What an author could add to a library for a cluster of the inbox, and what that would change."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.adapters.check import load_adapter
from server.adapters.library_folder import QUESTIONS
from server.core.decision import Ending, NoMatch
from server.core.suggestions import shortened
from server.errors import ConfigurationInvalid
from server.evaluation.decided import decided
from server.evaluation.decision_log import LoggedQuestion, Replayed
from server.evaluation.diff import Diff, Version, ask_all, compare
from server.evaluation.inbox import Cluster
from server.evaluation.proposals import Proposal, counter_example, new_example, synonyms_for
from server.evaluation.questions import Question, load_questions
from server.evaluation.rehearsals import Rehearsals
from server.extraction.extractor import Extractor
from server.library.model import Library

_LEAST: Final = 0.3
_AHEAD: Final = 2.0
"""The likeliest template is clear when it is at least this likely, and so many times as likely as
the next."""
_MOST_SHOWN: Final = 5
_NOTHING_HELPS: Final = (
    "an example, a synonym or a counter-example alone does not help: look at it with explain"
)


@dataclass(frozen=True, slots=True)
class Review:
    """A cluster, and what to do about it: a proposal that helps, or in words why there is none.

    `diff` has every decision that the proposal would change.
    """

    cluster: Cluster
    proposal: Proposal | None = None
    diff: Diff | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        said: dict[str, Any] = self.cluster.to_dict()
        if self.proposal is not None and self.diff is not None:
            said["proposal"] = {"place": self.proposal.place, "add": self.proposal.line}
            said["would_change"] = self.diff.to_dict()
        return said | ({"why": self.why} if self.why else {})

    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """What to print of it; `whole` with every question and every change."""
        cluster = self.cluster
        kinds = ", ".join(f"{count} {kind}" for kind, count in cluster.kinds.items())
        yield f"{cluster.number:>5}  {kinds}; {_about(cluster)}"
        questions = list(cluster.questions.items())
        for text, count in questions if whole else questions[:_MOST_SHOWN]:
            yield f"       “{text if whole else shortened(text)}”{f' ×{count}' * (count > 1)}"
        if cluster.masked:
            yield "       their words were not kept, since they may be sensitive"
        elif not whole and len(questions) > _MOST_SHOWN:
            yield f"       and {len(questions) - _MOST_SHOWN} more"
        for comment in cluster.comments if whole else ():
            yield f"       said of it: {comment}"
        if self.proposal is not None and self.diff is not None:
            yield f"       add to {self.proposal.place}, if that is what it means:"
            yield f"         {self.proposal.line}"
            yield f"       {self.diff.summary()}"
            if whole:
                yield from (f"       {line}" for line in self.diff.to_text().splitlines()[:-1])
        elif self.why:
            yield f"       {self.why}"


def _about(cluster: Cluster) -> str:
    if cluster.template is None:
        return "near no template"
    how = "called" if cluster.called_wrongly else "meant" if cluster.expected else "leaning to"
    return f"{how} {cluster.template}"


@dataclass(frozen=True, slots=True)
class InboxReview:
    """Reviews clusters with one library. `questions` are those that its author wrote down."""

    library: Library
    rehearsals: Rehearsals
    questions: Sequence[Question]

    async def review(self, clusters: Sequence[Cluster], most: int) -> list[Review]:
        """Return what to do about each cluster; of no more than `most`, proposals are tried.

        Nothing is run. Raises what opening an adapter does.
        """
        known: list[Replayed] = [*self.questions, *self._examples()]
        about = await asyncio.to_thread(self._telling_words)
        found: list[Review] = []
        async with self.rehearsals.opened(lambda whole: whole) as ask:
            before = await ask_all(ask, known)
            own = {each.number: await ask_all(ask, _asked(each)) for each in clusters}
        tried = 0
        for cluster in clusters:
            endings = own[cluster.number]
            target = self._target(cluster, endings)
            why = self._why_not(cluster, endings, target)
            if not why and tried >= most:
                why = f"nothing was tried: there are more than {most}"
            if why or target is None:
                found.append(Review(cluster, why=why))
                continue
            tried += 1
            asked = [*known, *_asked(cluster)]
            now = Version(self.library, [*before, *endings])
            review = Review(cluster, why=_NOTHING_HELPS)
            for proposal in await self._proposals(cluster, endings, target, about):
                changed = proposal.apply(self.library)
                async with self.rehearsals.opened(proposal.apply) as ask:
                    then = Version(changed, await ask_all(ask, asked))
                own_now = then.endings[len(known) :]
                came_to = decided(_central(cluster, own_now), changed).template
                if (came_to == target) != cluster.called_wrongly:
                    review = Review(cluster, proposal, compare(asked, now, then))
                    break
            found.append(review)
        return found

    def _examples(self) -> Iterator[Question]:
        written = {question.ask for question in self.questions}
        for template in self.library.templates.values():
            for example in template.nl_examples:
                if example not in written:
                    written.add(example)
                    yield Question(ask=example, template=template.id)

    def _telling_words(self) -> Mapping[str, Sequence[str]]:
        extractor = Extractor(self.library.domain)
        extractor.prepare(tuple(self.library.templates.values()))
        return extractor.telling_words()

    def _target(self, cluster: Cluster, endings: Sequence[Ending]) -> str | None:
        """The template that should answer, or that should not have, where that is clear."""
        if cluster.masked:
            return None
        if cluster.expected or cluster.called_wrongly:
            return cluster.template if cluster.template in self.library.templates else None
        central = _central(cluster, endings)
        if isinstance(central, NoMatch) and not central.objection and central.nearest:
            first, *others = central.nearest
            least = max([_LEAST, *(_AHEAD * each.confidence for each in others[:1])])
            return first.template_id if first.confidence >= least else None
        if all(turn.kind == "declined" for turn in cluster.turns):
            return decided(central, self.library).template
        return None

    def _why_not(self, cluster: Cluster, endings: Sequence[Ending], target: str | None) -> str:
        """Why nothing is proposed; empty where something may help."""
        if cluster.masked:
            return "nothing is proposed for words that were not kept"
        if target is None:
            return "what is meant is not clear: if it is yours, write an example"
        answered = {decided(ending, self.library).template for ending in endings}
        if cluster.called_wrongly:
            return "" if target in answered else "not taken for it any more: drop these"
        return "understood by now: drop these" if answered == {target} else ""

    async def _proposals(
        self,
        cluster: Cluster,
        endings: Sequence[Ending],
        target: str,
        about: Mapping[str, Sequence[str]],
    ) -> list[Proposal]:
        """What may help, the least that is to be written first."""
        central, template = _central(cluster, endings), self.library.templates[target]
        if cluster.called_wrongly:
            return [counter_example(template, cluster.central)]
        proposals = []
        if isinstance(central, NoMatch) and central.unread and not central.objection:
            language = self.library.domain.response.default_language
            words, embed = about.get(target, ()), self.rehearsals.embed
            synonym = await synonyms_for(words, central.unread, embed, language)
            proposals += [synonym] if synonym else []
        proposals.append(new_example(template, cluster.central))
        taken = decided(central, self.library).template
        if taken is not None and taken != target:
            proposals.append(counter_example(self.library.templates[taken], cluster.central))
        return proposals


def load_review(rehearsals: Rehearsals, environ: Mapping[str, str]) -> InboxReview:
    """Read the library that is rehearsed, and the questions beside it. Blocks.

    Raises `ConfigurationInvalid`.
    """
    adapter = rehearsals.adapter
    loaded = load_adapter(adapter, environ, rehearsals.settings)
    if loaded.library is None:
        raise ConfigurationInvalid(loaded.problems)
    path = adapter.config.domain_config_path.parent / f"{QUESTIONS}.yaml"
    questions, _ = load_questions(path, loaded.library.templates, environ)
    return InboxReview(loaded.library, rehearsals, questions)


def _central(cluster: Cluster, endings: Sequence[Ending]) -> Ending:
    return endings[list(cluster.questions).index(cluster.central)]


def _asked(cluster: Cluster) -> list[Replayed]:
    return [LoggedQuestion(text) for text in cluster.questions]
