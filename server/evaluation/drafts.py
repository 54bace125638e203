"""What drafts of an adapter's files would change: looked at beside the adapter that runs.

Nothing is written but in a folder that is deleted again, and nothing is run.
"""

import asyncio
import logging
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from server.adapters.library_folder import question_files
from server.adapters.manager import cancel_tasks
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

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

Texts = Mapping[Path, bytes]
"""What stands in place of files, by their absolute paths."""

MOST_QUESTIONS: Final = 200
_CHECK_S: Final = 60.0
_TRIAL_S: Final = 300.0
_MOST_DELETIONS: Final = 10
_CLOSING_S: Final = 0.1


class DraftTrial(NamedTuple):
    """What drafts change; `diff` is None where an adapter cannot be opened with them."""

    problems: Sequence[Problem]
    diff: Diff | None = None


class _Trial:
    """A draft that is being tried, as long as somebody wants to know."""

    def __init__(self) -> None:
        self.is_wanted = True
        self.task: asyncio.Future[Any] | None = None

    async def ask_all(self, ask: Ask, questions: Sequence[Replayed]) -> list[Ending]:
        """Ask one after the other, and let those be served between them whose turn it is."""
        endings: list[Ending] = []
        for question in questions:
            if not self.is_wanted:
                raise asyncio.CancelledError
            endings.append(await ask(question.ask))
            await asyncio.sleep(0)
        return endings


class DraftDesk:
    """Looks at drafts of a server's adapters: checks one at a time, and tries one at a time."""

    def __init__(self, resources: SharedResources) -> None:
        self.resources = resources
        self._checks = BlockingCalls(threads=1)
        self._trial: _Trial | None = None

    async def check(self, adapter: AdapterSettings, texts: Texts) -> list[Problem]:
        """Return what is wrong with an adapter when texts stand in place of its files.

        Raises `DraftTimedOut`.
        """
        settings, environ = self.resources.settings, self.resources.environ

        def work() -> list[Problem]:
            with reading_instead(texts):
                found = check_adapter(adapter, environ, settings, suggests=False)
                return list(dict.fromkeys(found.problems))

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
        return await self._tried(partial(self._compare, running, adapter, texts, questions, more))

    async def review(self, adapter: AdapterSettings, cluster: Cluster) -> Review:
        """Return what to do about a cluster of the inbox. Raises as `compare`."""
        return await self._tried(partial(self._review, adapter, cluster))

    async def close(self) -> None:
        """End what is under way."""
        self._checks.close()
        if self._trial is not None and self._trial.task is not None:
            await cancel_tasks([self._trial.task])

    async def _tried(self, work: Callable[["_Trial"], Awaitable[_T]]) -> _T:
        """Return what `work` returns, if nothing else is under way.

        Who leaves does not stop it in the middle, where threads would go on in a folder that is
        being deleted: it ends itself, and makes room then.
        """
        if self._trial is not None:
            raise DraftBusy("another draft is being tried just now: try again in a moment")
        trial = self._trial = _Trial()
        task = trial.task = asyncio.ensure_future(work(trial))
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(_TRIAL_S):
                return await asyncio.shield(task)
        except TimeoutError:
            raise DraftTimedOut(f"the draft was not tried within {_TRIAL_S:g} s") from None
        finally:
            trial.is_wanted = False

    def _ended(self, task: "asyncio.Future[Any]") -> None:
        self._trial = None
        if not task.cancelled():
            task.exception()  # seen, even if nobody waits for it any longer

    async def _compare(
        self,
        running: Adapter,
        adapter: AdapterSettings,
        texts: Texts,
        questions: Sequence[Replayed],
        more: Sequence[Replayed],
        trial: "_Trial",
    ) -> DraftTrial:
        problems = await self.check(adapter, texts)
        asked = questions or await asyncio.to_thread(self._questions, running, adapter, texts)
        asked = list({each.ask: each for each in (*more, *asked)}.values())[:MOST_QUESTIONS]
        libraries: list[Library] = []

        def seen(library: Library) -> Library:
            libraries.append(library)
            return library

        async with self._rehearsals(adapter) as rehearsals, AsyncExitStack() as opened:
            try:
                with reading_instead(texts):
                    opening = rehearsals.opened(seen, guarded=False)
                    ask = await opened.enter_async_context(opening)
            except ConfigurationInvalid as invalid:
                return DraftTrial(problems or invalid.problems)
            after = Version(libraries[-1], await trial.ask_all(ask, asked))
        with running.leases.hold():
            ask = asking(silent(running, guarded=False), self.resources.settings)
            before = Version(running.library, await trial.ask_all(ask, asked))
        return DraftTrial(problems, compare(asked, before, after))

    async def _review(self, adapter: AdapterSettings, cluster: Cluster, _: "_Trial") -> Review:
        async with self._rehearsals(adapter) as rehearsals:
            environ = self.resources.environ
            review = await asyncio.to_thread(load_review, rehearsals, environ)
            (found,) = await review.review([cluster], most=1)
            return found

    @asynccontextmanager
    async def _rehearsals(self, adapter: AdapterSettings) -> AsyncIterator[Rehearsals]:
        folder = Path(tempfile.mkdtemp(prefix="orbit-draft-"))
        settings, environ = confined(self.resources.settings, folder), self.resources.environ
        try:
            async with open_rehearsals(settings, environ, adapter, self.resources) as rehearsals:
                yield rehearsals
        finally:
            await asyncio.to_thread(_delete, folder)

    def _questions(
        self, running: Adapter, adapter: AdapterSettings, texts: Texts
    ) -> Sequence[Replayed]:
        found: list[Replayed] = []
        with reading_instead(texts):
            for path in question_files(adapter.config.domain_config_path.parent):
                found += load_questions(path, None, self.resources.environ)[0]
        return found or list(islice(_examples(running.library), MOST_QUESTIONS))


def _delete(folder: Path) -> None:
    """Delete a folder, into which a database may write something while it is closed."""
    for _ in range(_MOST_DELETIONS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_CLOSING_S)
    _log.warning("%s could not be deleted", folder)


def _examples(library: Library) -> Iterator[Question]:
    """The first example of each template, then the second of each, and so on."""
    groups = (
        [Question(ask=example, template=template.id) for example in template.nl_examples]
        for template in library.templates.values()
    )
    return (each for each in chain.from_iterable(zip_longest(*groups)) if each is not None)


def diff_rows(diff: Diff, *, whole: bool = False) -> list[dict[str, Any]]:
    """Return each change as it is sent over HTTP: what a question comes to, before and after.

    With `whole`, questions of which the same comes are among them.
    """
    return [
        {
            "ask": change.ask,
            "kind": change.how,
            "before": change.old.to_dict() | {"text": change.old.to_text()},
            "after": change.new.to_dict() | {"text": change.new.to_text()},
        }
        for change in (*diff.changes, *(diff.unchanged if whole else ()))
    ]
