"""What a template is about: the words of its examples, and what they do with values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from server.extraction.plan import TemplatePlan
from server.library.model import Domain, Template
from server.library.parameters import name_words
from server.text.senses import (
    ASKS_TO_BE_TOLD,
    BEARS_NOTHING,
    Action,
    MessageSenses,
    Mood,
    read_senses,
    sense_reader,
)
from server.text.stems import stem, without_accents
from server.text.tokens import Tokens, is_word

_ONE_EXAMPLE: Final = 1
_WORD_IN_PATTERN: Final = re.compile(r"(?<![\\a-z])[a-z]{3,}")
_EXPECTED_NOVELTY: Final = 0.15
"""Share of an example's words that no other has, where too few examples tell."""
_DOUBT: Final = 3.0

SIGNS: Final = frozenset("%+-*/=<>^€$£¥₪&@#°×÷−≥≤≠²³½¼¾~|")
"""Signs that mean something, and are accounted for as words are."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a template's own sentences teach about the words it knows.

    `stems` has, for each stem, how many examples hold it; none for those of the description.
    `phrases` are the operators that examples use, outside their values. `examples` are the
    telling stems of each. `novelty` is the share of an example's telling words that no other
    holds: how much that is new to expect of a question. `unused` are kinds of values that examples
    carry and no parameter takes; `takes` those that parameters take.
    """

    template_id: str
    language: str
    stems: Mapping[str, int] = field(default_factory=dict)
    phrases: frozenset[str] = frozenset()
    patterned: frozenset[str] = frozenset()
    """Words that its author's patterns look for beside values."""
    conditional: bool = False
    """Whether its examples name a condition, as an alert does: “when it rains”."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Its telling words as they are written, each with its stem."""
    moods: Mapping[Mood, float] = field(default_factory=dict)
    """The share of the examples that ask for something, ask about something, or tell."""
    actions: frozenset[int] = frozenset()
    """Groups of verbs by which its examples ask."""
    refused: frozenset[str] = frozenset()
    """Words right after what takes something back in its examples: the “disturb” of do not."""
    leads: frozenset[str] = frozenset()
    """Words right before the values of its examples."""
    acts: float = 0.0
    """The share of its examples that say by such a verb what is to be done."""
    examples: tuple[frozenset[str], ...] = ()
    novelty: float = _EXPECTED_NOVELTY
    unused: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    unaccented: frozenset[str] = frozenset()
    """Its telling words as they are typed without accents; none of a template in English."""


@dataclass(frozen=True, slots=True)
class ReadExample:
    """An example, what its words do, and which of its words stand in arguments."""

    tokens: Tokens
    senses: MessageSenses
    values: frozenset[int]
    texts: frozenset[int]
    """Those of its values that are free texts."""
    unused: frozenset[str]


def build_frame(plan: TemplatePlan, examples: Sequence[ReadExample], domain: Domain) -> Frame:
    """Learn a template's frame from its examples as they were read."""
    template = plan.template
    language = examples[0].senses.reader.code if examples else "en"
    stems: Counter[str] = Counter()
    told: list[frozenset[str]] = []
    phrases: set[str] = set()
    moods: Counter[Mood] = Counter()
    written: dict[str, str] = {}
    actions: set[int] = set()
    acts = 0
    for example in examples:
        code = example.senses.reader.code
        # What stands in a remark beside the request says nothing of the request.
        asides = [] if all(c.tells for c in example.senses.clauses) else example.senses.clauses
        telling = frozenset(example.senses.telling_stems_without(example.values))
        told.append(telling)
        words = [w for at, w in enumerate(example.senses.words) if at not in example.values]
        stems.update(telling)
        written |= {word: root for word in words if (root := stem(word, code)) in telling}
        phrases |= {
            sense.phrase
            for sense in example.senses.senses
            if sense.sense not in BEARS_NOTHING
            and sense.first not in example.values
            and not any(c.tells and c.first <= sense.first < c.last for c in asides)
        }
        phrases |= {
            w
            for at, w in enumerate(example.senses.words)
            if w in SIGNS and at not in example.values
        }
        mood = example.senses.reader.mood(example.senses.words)
        moods[mood] += 1
        # To “how much do I have to pay” nothing is to be paid.
        asked = [] if mood == "question" else example.senses.actions
        asked = [action for action in asked if action.first not in example.texts]
        acts += any(action.first not in example.senses.empty for action in asked)
        if template.effect == "read":
            asked = [one for one in asked if _is_verb(one, example)]
            asked = [one for one in asked if not _is_told(one, example)]
        actions.update(*(action.groups for action in asked))
    counts = Counter(word for words in told for word in words)
    new = sum(1 for word, count in counts.items() if count == _ONE_EXAMPLE)
    total = sum(counts.values())
    described = {word: stem(word, language) for word in _described(template, plan, domain)}
    return Frame(
        template_id=template.id,
        language=language,
        stems={**dict.fromkeys(described.values(), 0), **stems},
        words=described | written,
        phrases=frozenset(phrases),
        patterned=frozenset(
            word
            for one in plan.parameters
            for pattern in one.parameter.extraction_patterns
            for word in _WORD_IN_PATTERN.findall(pattern.lower())
        ),
        conditional=any(
            sense.sense == "condition" or sense.phrase == "when"
            for example in examples
            for sense in example.senses.senses
            if sense.phrase in phrases
        ),
        moods={mood: count / len(examples) for mood, count in moods.items()},
        leads=frozenset(
            example.senses.words[at - 1]
            for example in examples
            for at in example.values
            if at and at - 1 not in example.values
        ),
        refused=frozenset(
            example.senses.words[one.last]
            for example in examples
            for one in example.senses.refusals()
            if one.last < len(example.senses.words)
        ),
        actions=frozenset(actions | _named_actions(template)),
        acts=acts / max(1, len(examples)),
        examples=tuple(told),
        novelty=(new + _DOUBT * _EXPECTED_NOVELTY) / (total + _DOUBT),
        unused=frozenset().union(*(example.unused for example in examples)),
        takes=frozenset(one.role for one in plan.parameters),
        unaccented=frozenset(map(without_accents, described | written if language != "en" else ())),
    )


def _is_verb(action: Action, example: ReadExample) -> bool:
    """Whether it is no noun, as in the status of an order, but asks for something: divide 10."""
    return action.last in example.values or example.senses.is_command(action)


def _is_told(action: Action, example: ReadExample) -> bool:
    """Whether the verb only says that somebody is to be told: send me the bill."""
    words = example.senses.words
    after = words[action.last] if action.last < len(words) else ""
    return example.senses.reader.is_to_me(after)


def _named_actions(template: Template) -> set[int]:
    """Groups of the verbs that the id and the description of a template begin with.

    What reads tells, whatever its name begins with: the status of a repair repairs nothing.
    """
    if template.effect == "read":
        return {ASKS_TO_BE_TOLD}
    found: set[int] = set()
    for text in (template.id.replace("_", " "), template.description):
        read = read_senses(Tokens(text), ("en",))
        found.update(*(action.groups for action in read.actions))
    return found


def _described(template: Template, plan: TemplatePlan, domain: Domain) -> set[str]:
    texts = [template.description, template.function_name, template.id.replace("_", " ")]
    texts += template.tags
    for one in plan.parameters:
        texts += [one.parameter.description, *name_words(one.parameter.name)]
        entity = domain.entities.get(one.parameter.type)
        if entity is not None:
            texts += [entity.name.replace("_", " "), *entity.synonyms]
    words = {word for text in texts for word in Tokens(text or "").words if is_word(word)}
    code = "en"
    small = sense_reader(code)
    words = {word for word in words if not small.knows([word])}
    for word in tuple(words):
        words.update(domain.synonyms.get(word, ()))
    return words
