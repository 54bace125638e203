"""What drafts of an adapter's files would change: looked at beside the adapter that runs.

Nothing is written but in a folder that is deleted again, and nothing is run.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from server.adapters.library_folder import question_files
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.core.decision import Ending
from server.errors import ConfigurationInvalid, DraftBusy, DraftTimedOut, Problem
from server.evaluation.decision_log import Replayed
from server.evaluation.diff import Diff, Version, compare
from server.evaluation.inbox import Cluster
from server.evaluation.inbox_review import Review, load_review
from server.evaluation.library_check import check_adapter
from server.evaluation.questions import Question, load_questions
from server.evaluation.rehearsals import Ask, Rehearsals, asking, confined, open_rehearsals, silent
from server.library.model import Library
from server.settings.documents import reading_instead
from server.settings.models import AdapterSettings
from server.storage.threads import BlockingCalls, CallTimedOut

Texts = Mapping[Path, bytes]
"""What stands in place of files, by their absolute paths."""

MOST_QUESTIONS: Final = 200
_CHECK_S: Final = 60.0
_TRIAL_S: Final = 300.0


class DraftTrial(NamedTuple):
    """What drafts change; `diff` is None where an adapter cannot be opened with them."""

    problems: Sequence[Problem]
    diff: Diff | None = None


@dataclass(frozen=True, slots=True)
class DraftDesk:
    """Looks at drafts of a server's adapters: checks one at a time, and tries one at a time."""

    resources: SharedResources
    _checks: BlockingCalls = field(default_factory=lambda: BlockingCalls(threads=1))
    _trying: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def check(self, adapter: AdapterSettings, texts: Texts) -> list[Problem]:
        """Return what is wrong with an adapter when texts stand in place of its files.

        Raises `DraftTimedOut`.
        """
        settings, environ = self.resources.settings, self.resources.environ

        def work() -> list[Problem]:
            with reading_instead(texts):
                return list(dict.fromkeys(check_adapter(adapter, environ, settings).problems))

        try:
            return await self._checks.run(work, timeout_s=_CHECK_S)
        except CallTimedOut:
            raise DraftTimedOut(f"the files were not checked within {_CHECK_S:g} s") from None

    async def compare(
        self,
        running: Adapter,
        adapter: AdapterSettings,
        texts: Texts,
        questions: Sequence[Replayed] = (),
        more: Sequence[Replayed] = (),
    ) -> DraftTrial:
        """Ask the version that runs and the drafts the same questions.

        Without `questions`, those beside the domain are asked, or else examples of the library, and
        `more` of them; at most 200. Raises `DraftBusy`, `DraftTimedOut`, and as `build_adapter` but
        for what is wrong with the drafts.
        """
        async with self._alone(adapter) as rehearsals:
            problems = await self.check(adapter, texts)
            asked = questions or await asyncio.to_thread(self._questions, running, adapter, texts)
            asked = list({each.ask: each for each in (*more, *asked)}.values())[:MOST_QUESTIONS]
            libraries: list[Library] = []

            def seen(library: Library) -> Library:
                libraries.append(library)
                return library

            async with AsyncExitStack() as opened:
                try:
                    with reading_instead(texts):
                        opening = rehearsals.opened(seen, guarded=False)
                        ask = await opened.enter_async_context(opening)
                except ConfigurationInvalid as invalid:
                    return DraftTrial(problems or invalid.problems)
                after = Version(libraries[-1], await _ask_all(ask, asked))
            with running.leases.hold():
                ask = asking(silent(running), self.resources.settings)
                before = Version(running.library, await _ask_all(ask, asked))
            return DraftTrial(problems, compare(asked, before, after))

    async def review(self, adapter: AdapterSettings, cluster: Cluster) -> Review:
        """Return what to do about a cluster of the inbox. Raises as `compare`."""
        async with self._alone(adapter) as rehearsals:
            environ = self.resources.environ
            review = await asyncio.to_thread(load_review, rehearsals, environ)
            (found,) = await review.review([cluster], most=1)
            return found

    def close(self) -> None:
        self._checks.close()

    @asynccontextmanager
    async def _alone(self, adapter: AdapterSettings) -> AsyncIterator[Rehearsals]:
        if self._trying.locked():
            raise DraftBusy("another draft is being tried just now: try again in a moment")
        async with self._trying:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="orbit-draft-"))
            try:
                async with asyncio.timeout(_TRIAL_S):
                    settings = confined(self.resources.settings, folder)
                    environ = self.resources.environ
                    async with open_rehearsals(
                        settings, environ, adapter, self.resources
                    ) as rehearsals:
                        yield rehearsals
            except TimeoutError:
                raise DraftTimedOut(f"the draft was not tried within {_TRIAL_S:g} s") from None
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _questions(
        self, running: Adapter, adapter: AdapterSettings, texts: Texts
    ) -> Sequence[Replayed]:
        found: list[Replayed] = []
        with reading_instead(texts):
            for path in question_files(adapter.config.domain_config_path.parent):
                found += load_questions(path, None, self.resources.environ)[0]
        return found or list(islice(_examples(running.library), MOST_QUESTIONS))


def _examples(library: Library) -> Iterator[Question]:
    """The first example of each template, then the second of each, and so on."""
    groups = (
        [Question(ask=example, template=template.id) for example in template.nl_examples]
        for template in library.templates.values()
    )
    return (each for each in chain.from_iterable(zip_longest(*groups)) if each is not None)


async def _ask_all(ask: Ask, questions: Sequence[Replayed]) -> list[Ending]:
    """Ask one after the other, and let those be served between them whose turn it is."""
    endings: list[Ending] = []
    for question in questions:
        endings.append(await ask(question.ask))
        await asyncio.sleep(0)
    return endings


def diff_rows(diff: Diff) -> list[dict[str, Any]]:
    """Return each change as it is sent over HTTP: what a question comes to, before and after."""
    return [
        {
            "ask": change.ask,
            "kind": change.how,
            "before": change.old.to_dict() | {"text": change.old.to_text()},
            "after": change.new.to_dict() | {"text": change.new.to_text()},
        }
        for change in diff.changes
    ]
