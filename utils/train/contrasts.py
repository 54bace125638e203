"""Sentences made from those of a library, that differ in one thing from what it can do.

What is put in takes the request back, narrows it, or has nothing to do with it, so that it is
known what should come of the sentence.
"""

import random
from collections.abc import Iterator, Sequence

from server.evaluation.questions import Question
from server.library.model import Library
from utils.train.observe import Asked, labelled

_WEIGHT = 0.15
_NOTHING = {"template": None, "arguments": None, "asks": (), "answer": None}
_TAKEN_BACK = ("don't {}", "never {}", "no need to {}", "why did you {}", "if it rains, {}")
_NARROWED = (
    "{} except the last one",
    "{} but only on Tuesdays",
    "{} in Zanzibar",
    "{} for Quillon",
)
_BESIDE = ("my kids are asleep, {}", "{}, it's raining", "could you please {}", "{}, thanks a lot")


def contrasts(
    questions: Sequence[Question], library: Library, foreign: Sequence[str], seed: int
) -> Iterator[Asked]:
    """Yield a few contrasts of each second question that has an answer.

    `foreign` are words of other libraries; one takes the place of a word of the question.
    """
    chance = random.Random(seed)
    for question in questions[::2]:
        if question.template is None:
            continue
        ask = question.ask[:1].lower() + question.ask[1:].rstrip("?.!")
        for pattern in (chance.choice(_TAKEN_BACK), chance.choice(_NARROWED)):
            yield _nothing(question, pattern.format(ask), library)
        beside = question.model_copy(update={"ask": chance.choice(_BESIDE).format(ask)})
        yield labelled(beside, library, _WEIGHT)
        swapped = _swapped(ask, library.templates[question.template].nl_examples, foreign, chance)
        if swapped is not None:
            yield _nothing(question, swapped, library)


def _nothing(question: Question, ask: str, library: Library) -> Asked:
    return labelled(question.model_copy(update={**_NOTHING, "ask": ask}), library, _WEIGHT)


def _swapped(
    ask: str, examples: Sequence[str], foreign: Sequence[str], chance: random.Random
) -> str | None:
    """Put a foreign word for one that the template's examples share, if there is one."""
    said = {word for example in examples for word in example.lower().split() if len(word) > 4}
    words = ask.split()
    places = [at for at, word in enumerate(words) if word.lower() in said]
    if not places or not foreign:
        return None
    words[chance.choice(places)] = chance.choice(foreign)
    return " ".join(words)
