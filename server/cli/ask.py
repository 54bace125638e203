"""`ask` and `explain`: one question, in process, with no server and no key."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from server.cli.options import (
    DEFAULT_CONFIG,
    AdapterOption,
    ConfigOption,
    DataOption,
    JsonOption,
)
from server.cli.output import fail, failures_as_messages, print_json, print_text, say

if TYPE_CHECKING:
    from server.cli.configured import Configured
    from server.core.answer import Answer
    from server.settings.models import AdapterSettings

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]


def ask(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Say yes to what needs it, and do it.")
    ] = False,
) -> None:
    """Ask one question; --json prints exactly what POST /chat would answer."""
    with failures_as_messages():
        answer, session_id = _answer(question, adapter, config, data, yes=yes)
        if not as_json:
            print_text(answer.content)
            if answer.metadata.get("proposal", {}).get("status") == "held":
                say("Nothing was done. To do it, ask the same with --yes.")
            return
        print_json(answer.to_dict(session_id))


def explain(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask one question, and show every stage on the way to its answer."""
    with failures_as_messages():
        from server.cli.explaining import print_explanation

        answer, session_id = _answer(question, adapter, config, data)
        if as_json:
            print_json(answer.to_dict(session_id) | {"trace": answer.trace.to_list()})
            return
        print_explanation(answer)


def register(app: typer.Typer) -> None:
    app.command()(ask)
    app.command()(explain)


def _answer(
    question: str, adapter: str | None, config: Path, data: Path | None, *, yes: bool = False
) -> tuple["Answer", str]:
    from server.cli.configured import configured

    session_id = uuid4().hex
    if not question.strip():
        fail("the question is empty")
    found = configured(config, data=data)
    asked = _ask(found, found.adapter(adapter), question, session_id, yes=yes)
    return asyncio.run(asked), session_id


async def _ask(
    found: "Configured", adapter: "AdapterSettings", question: str, session_id: str, *, yes: bool
) -> "Answer":
    from server.app import ask_once, confirm_once, opened_adapter
    from server.core.decision import Held

    async with opened_adapter(found.settings, found.environ, adapter) as opened:
        answer = await ask_once(found.settings, opened, question, session_id)
        if not (yes and isinstance(answer.decision, Held)):
            return answer
        held = answer.decision.proposal_id
        return await confirm_once(found.settings, opened, held, session_id, accept=True)
