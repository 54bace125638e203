"""A question with its words marked by who took them, for the terminal and for a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.text import Text

from server.core.decision import (
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    Ending,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.redaction import REDACTED

Entries = Sequence[Mapping[str, Any]]
"""Words as `metadata.coverage` lists them."""

_STYLES: Final = {
    "value": "bold green",
    "frame": "cyan",
    "operator": "yellow",
    "filler": "dim",
    "unread": "underline red",
}
_SIGNS: Final = {
    "value": "[{}]",
    "frame": "{}",
    "operator": "{{{}}}",
    "filler": "({})",
    "unread": "*{}*",
}
_OBJECTIONS: Final = {
    "negation": "it says not to",
    "condition": "it depends on something",
    "exclusion": "it leaves something out",
    "restriction": "it asks for a part only",
    "question": "it asks about it and not for it",
    "statement": "it tells something and asks for nothing",
    "model": "only a language model could answer",
    "action": "it asks for something else",
    "reason": "it asks for a reason or a meaning, which no value answers",
    "detail": "it says something that nothing here takes",
    "sign": "it is a sign that nothing here works with",
    "counter": "it is what the template's author says it is not for",
}


class _Run(NamedTuple):
    """Neighbouring words of one role, with the text before them."""

    before: str
    text: str
    role: str
    of: str | None


def marked(question: str, entries: Entries, *, colours: bool) -> Text:
    """The question with its words marked: by colours, or else by signs; values with their name."""
    text = Text()
    for run in _runs(question, entries):
        shown = f"{run.text}={run.of}" if run.role == "value" and run.of else run.text
        text.append(run.before)
        if colours:
            text.append(run.text, style=_STYLES[run.role])
            text.append(shown[len(run.text) :], style="dim green")
        else:
            text.append(_SIGNS[run.role].format(shown))
    if entries and not _is_masked(entries):
        text.append(question[entries[-1]["span"][1] :])
    return text


def legend(*, colours: bool) -> Text:
    """What the marks mean."""
    text = Text()
    for role, sign in _SIGNS.items():
        name = "value=argument" if role == "value" else role
        text.append(" " if text else "")
        text.append(name if colours else sign.format(name), style=_STYLES[role] if colours else "")
    return text


def print_marked(console: Console, question: str, entries: Entries) -> None:
    """Print the marked question and what the marks mean; in colour where the console has any."""
    colours = console.is_terminal and not console.no_color
    console.print(marked(question, entries, colours=colours))
    console.print(Text("  ").append_text(legend(colours=colours)))


def obstacle(ending: Ending, policy: str = "") -> str:
    """What was in the way, where nothing ran; empty where something did.

    `policy` is how the policy judged a call that was decided.
    """
    match ending:
        case NoMatch(why, _, unread, objection):
            words = ", ".join(f"“{each}”" for each in unread)
            if objection:
                told = _OBJECTIONS.get(objection, objection)
                return f"{words}: {told}" if words else told
            is_said = all(each in why for each in unread)
            return why if is_said else f"{words} was not read; {why}"
        case MissingArguments(_, missing):
            return f"{', '.join(each.name for each in missing)} is not in the question"
        case Clarify(options):
            names = " and ".join(option.template_id for option in options)
            return f"{names} are too close to choose between"
        case ClarifyingQuestion():
            return ending.why or "the rules have to know more first"
        case Blocked(category):
            return f"a guard stopped it ({category})"
        case PendingConfirmation():
            return "it waits for a yes"
        case ProposalNotExecuted(why):
            return f"the proposal is {why}"
        case Cancelled():
            return "it was cancelled"
        case Courtesy(kind):
            return f"it is a courtesy ({kind}), which needs no tool"
        case Call():
            return f"the policy refused it ({policy})" if policy else ""
    return ""


def _runs(question: str, entries: Entries) -> Iterator[_Run]:
    is_masked = _is_masked(entries)
    run, end = _Run("", "", "", None), 0
    for entry in entries:
        start, stop = entry["span"]
        # What stands around a word that must not be shown may be a part of it.
        gap = question[end:start] if not is_masked else " " if end else ""
        same = (entry["as"], entry.get("of")) == (run.role, run.of)
        if run.text and same and (gap.isspace() or not gap):
            run = run._replace(text=f"{run.text}{gap}{entry['text']}")
        else:
            if run.text:
                yield run
            run = _Run(gap, entry["text"], entry["as"], entry.get("of"))
        end = stop
    if run.text:
        yield run


def _is_masked(entries: Entries) -> bool:
    return any(entry["text"] == REDACTED for entry in entries)
