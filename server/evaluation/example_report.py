"""What `check` says of examples that would not be understood if they were not written down."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from server.core.suggestions import join_words, shortened
from server.errors import Problem
from server.evaluation.asked_examples import AskedExamples
from server.evaluation.example_failures import FailedExample, Failing
from server.library.model import Library, Template

KINDS: Final[Mapping[Failing, str]] = {
    "refused": "example-refused",
    "incomplete": "example-misread",
    "misread": "example-misread",
    "caught": "example-caught",
    "unclear": "example-caught",
}
_MOST_QUOTED: Final = 3
_MOST_WORDS: Final = 6


def problems_of(library: Library, asked: AskedExamples) -> list[Problem]:
    """Return warnings: what stays out of reach for each template, and which templates collide."""
    by_template: dict[str, list[FailedExample]] = defaultdict(list)
    for failed in asked.failed:
        by_template[failed.template.id].append(failed)
    found: list[Problem] = []
    for name, some in by_template.items():
        template = library.templates[name]
        found += _refusals(template, [f for f in some if f.failing == "refused"])
        found += _misread(template, [f for f in some if f.failing in ("incomplete", "misread")])
    found += _collisions(library, [f for f in asked.failed if f.failing in ("caught", "unclear")])
    found += _proposals(asked)
    return found


def _refusals(template: Template, some: Sequence[FailedExample]) -> Iterator[Problem]:
    if not some:
        return
    words = Counter(word for failed in some for word in failed.unread)
    what = (
        f"{_count(some, template)} of {template.id!r} would not be understood if "
        f"{_they(some)} not written here: {_quoted(some)}"
    )
    if words:
        named = [f"“{shortened(word)}”" for word, _ in words.most_common(_MOST_WORDS)]
        what += f"; in the way: {', '.join(named)}; write more examples that use such words"
    else:
        what += "; they are too unlike the others: write more examples like them"
    yield _warning(template, what, "refused")


def _misread(template: Template, some: Sequence[FailedExample]) -> Iterator[Problem]:
    names = dict.fromkeys(
        parameter.name
        for failed in some
        for parameter in template.parameters
        if failed.got.arguments.get(parameter.name) != failed.expected.arguments.get(parameter.name)
    )
    if some:
        what = (
            f"{_count(some, template)} of {template.id!r} would be read otherwise if "
            f"{_they(some)} not written here: {_quoted(some)}; unsure: {join_words(names, 'and')}"
        )
        yield _warning(template, what, "misread")


def _collisions(library: Library, some: Iterable[FailedExample]) -> Iterator[Problem]:
    pairs: dict[tuple[str, str], list[FailedExample]] = defaultdict(list)
    for failed in some:
        if failed.other is not None:
            pairs[failed.template.id, failed.other].append(failed)
    for (name, other), sentences in sorted(pairs.items(), key=lambda pair: -len(pair[1])):
        what = (
            f"{other!r} would take {len(sentences)} example{_s(sentences)} of {name!r}: "
            f"{_quoted(sentences)}"
        )
        yield _warning(library.templates[name], what, "caught")


def _proposals(asked: AskedExamples) -> Iterator[Problem]:
    """One line for all that the same line of YAML would help."""
    helped: dict[tuple[str, str], list[str]] = defaultdict(list)
    first: dict[tuple[str, str], Template] = {}
    of = {(f.template.id, f.example): f for f in asked.failed}
    for key, proposal in asked.proposals.items():
        said = proposal.place, proposal.line
        helped[said].append(key[1])
        first.setdefault(said, of[key].template)
    for (place, line), examples in helped.items():
        quoted = ", ".join(f"“{shortened(example)}”" for example in examples[:_MOST_QUOTED])
        what = f"add to {place}, if that is what it means: {line} (then {quoted} is understood)"
        template = first[place, line]
        yield Problem(what, template.where, "proposal", "warning", template.id)


def _warning(template: Template, what: str, failing: Failing) -> Problem:
    return Problem(what, template.where, KINDS[failing], "warning", template.id)


def _count(some: Sequence[FailedExample], template: Template) -> str:
    return f"{len(some)} of {len(template.nl_examples)} examples"


def _they(some: Sequence[object]) -> str:
    return "it were" if len(some) == 1 else "they were"


def _s(some: Sequence[object]) -> str:
    return "" if len(some) == 1 else "s"


def _quoted(some: Sequence[FailedExample]) -> str:
    shown = ", ".join(f"“{shortened(failed.example)}”" for failed in some[:_MOST_QUOTED])
    rest = len(some) - _MOST_QUOTED
    return f"{shown} and {rest} more" if rest > 0 else shown


def summary(asked: AskedExamples) -> str:
    """How many examples hold, in a line."""
    held, more = asked.asked - len(asked.failed), len(asked.proposals)
    said = f"{held} of {asked.asked} examples are understood when they are left out"
    return f"{said}; {more} more would be, with what is proposed" if more else said
