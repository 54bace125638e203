"""What stands in the inbox, in clusters of turns that seem to want the same."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from server.conversation.inbox import InboxTurn
from server.core.ports import Vectors
from server.errors import ClusterUnknown

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]

NEAR: Final = 0.6
"""Mean cosine between two groups of questions from which they are one."""
_MOST_COMPARED: Final = 1000
"""Different questions about one template of which the nearness is worked out; the latest."""

_NAMES: Final[Mapping[str, str]] = {
    "declined": "declined",
    "asked_back": "asked back",
    "corrected": "corrected",
    "wrong": "marked wrong",
}


@dataclass(frozen=True)
class Cluster:
    """Turns about one template whose questions are near each other, or whose words were not kept.

    `template` is what should have answered, where somebody showed or said it, and else what was
    called or leaned to. `central` is the question that is nearest to all others.
    """

    template: str | None
    turns: tuple[InboxTurn, ...]
    central: str = ""

    @property
    def number(self) -> int:
        """The number of its oldest turn, by which it is called."""
        return min(turn.number for turn in self.turns)

    @property
    def masked(self) -> bool:
        return self.turns[0].masked

    @property
    def called_wrongly(self) -> bool:
        """Whether the template answered what nobody meant it to answer."""
        return _was_called_wrongly(self.turns[0])

    @property
    def expected(self) -> bool:
        """Whether somebody showed or said that the template should have answered."""
        return any(turn.expected is not None for turn in self.turns)

    @cached_property
    def questions(self) -> Mapping[str, int]:
        """Each question and how often it was asked, the most frequent first."""
        return dict(Counter(turn.question for turn in self.turns if turn.question).most_common())

    @property
    def kinds(self) -> Mapping[str, int]:
        """How often it came to what, in words."""
        kinds = Counter("wrong" if t.verdict == "wrong" else t.kind for t in self.turns)
        return {_NAMES[kind]: count for kind, count in kinds.most_common()}

    @property
    def comments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(turn.comment for turn in self.turns if turn.comment))

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "turns": len(self.turns),
            "kinds": dict(self.kinds),
            "template": self.template,
            "expected": self.expected,
            "questions": dict(self.questions),
            "comments": list(self.comments),
            "from": min(turn.at for turn in self.turns).isoformat(),
            "until": max(turn.at for turn in self.turns).isoformat(),
        }


async def clusters_of(turns: Sequence[InboxTurn], embed: Embed) -> list[Cluster]:
    """Return clusters, the largest first. Raises `ProviderError`."""
    groups: dict[tuple[bool, bool, str | None], list[InboxTurn]] = defaultdict(list)
    for turn in turns:
        about = turn.expected or turn.template_id
        groups[turn.masked, _was_called_wrongly(turn), about].append(turn)
    found: list[Cluster] = []
    for (masked, _, template), some in groups.items():
        if masked:
            found.append(Cluster(template, tuple(some)))
        else:
            found += await _near_ones(template, some, embed)
    return sorted(found, key=lambda cluster: (-len(cluster.turns), cluster.number))


def cluster_of(clusters: Sequence[Cluster], number: int) -> Cluster:
    """Return the cluster of that number, or raise `ClusterUnknown`."""
    found = next((cluster for cluster in clusters if cluster.number == number), None)
    if found is None:
        known = ", ".join(str(cluster.number) for cluster in clusters)
        there = f"there are {known}" if known else "the inbox is empty"
        raise ClusterUnknown(f"no cluster has the number {number}; {there}")
    return found


def _was_called_wrongly(turn: InboxTurn) -> bool:
    answered = turn.kind in ("answered", "asked", "corrected")
    return turn.verdict == "wrong" and turn.expected is None and answered


async def _near_ones(
    template: str | None, turns: Sequence[InboxTurn], embed: Embed
) -> list[Cluster]:
    of_question: dict[str, list[InboxTurn]] = defaultdict(list)
    for turn in turns:
        of_question[turn.question].append(turn)
    questions = list(of_question)[-_MOST_COMPARED:]
    vectors = await embed(questions)
    found = []
    for members in await asyncio.to_thread(merge_near, vectors @ vectors.T, NEAR):
        inside = vectors[members]
        counts = np.array([len(of_question[questions[at]]) for at in members])
        central = members[int((inside @ inside.T @ counts).argmax())]
        some = [turn for at in members for turn in of_question[questions[at]]]
        found.append(Cluster(template, tuple(some), questions[central]))
    return found


def merge_near(cosines: Vectors, least: float) -> list[list[int]]:
    """Merge the two groups of the highest mean cosine, until none is as high as `least`."""
    groups = [[at] for at in range(len(cosines))]
    means = np.array(cosines, np.float64)
    np.fill_diagonal(means, -np.inf)
    while len(groups) > 1:
        one, other = divmod(int(means.argmax()), len(means))
        if means[one, other] < least:
            break
        sizes = len(groups[one]), len(groups[other])
        mean = (sizes[0] * means[one] + sizes[1] * means[other]) / sum(sizes)
        means[one], means[:, one] = mean, mean
        means[one, one] = -np.inf
        groups[one] += groups[other]
        # The last group takes the place of the one that is gone.
        last = len(groups) - 1
        means[other], means[:, other] = means[last], means[:, last]
        means[other, other] = -np.inf
        means = means[:last, :last]
        groups[other] = groups[last]
        groups.pop()
    return [sorted(group) for group in groups]
