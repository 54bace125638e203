"""`/admin/adapters/{name}/files` and `/library/changes`: what authors write, while it serves."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from pydantic import ConfigDict, Field, field_validator
from starlette.responses import Response

from server.adapters.authored import AuthoredFile
from server.api.auth import Author
from server.api.error_responses import json_response
from server.api.large_json import large_json_response
from server.api.problem_rows import ids_by_place, problem_rows
from server.api.requests import ApiState, State, cancel_on_disconnect, read_body
from server.api.routes.health import describe_status
from server.api.schemas import EXAMPLES, StrictModel, refusals, request_body
from server.authoring.library_changes import changed_texts
from server.authoring.saver import Check, Draft, Saved, Texts, contents_of
from server.core.storable import storable_text
from server.core.turn import Caller
from server.errors import FilesRefused, FileUnknown, Problem, RequestInvalid
from server.evaluation.decision_log import LoggedQuestion, Replayed
from server.evaluation.drafts import MOST_QUESTIONS, DraftTrial, diff_rows
from server.evaluation.questions import Question
from server.library.changes import ChangeKind, LibraryChange
from server.settings.models import AdapterSettings

_MOST_FILES: Final = 50
_MOST_CHANGES: Final = 100
_NO_STORE: Final = {"Cache-Control": "no-store"}

router = APIRouter(
    prefix="/admin/adapters/{name}",
    tags=["authoring"],
    responses=refusals(
        401,
        (403, "Not an admin key, or `console.authoring` shows and changes no files from here."),
        (404, "There is no adapter or no file of that name."),
    ),
)
_CONFLICTS: Final = refusals(
    (400, "The body is not JSON, or the adapter has no files of its own."),
    (409, "Nothing was written; the code says why, and `details` where."),
    422,
    (503, "The disk did not take it, or the adapter cannot be reached. Files are as they were."),
)
_TRIALS: Final = refusals(
    (400, "The body is not JSON, or the adapter has no files of its own."),
    (409, "Another draft is being tried."),
    422,
    503,
    (504, "It took too long."),
)


class DraftText(StrictModel):
    """What might stand in a file."""

    id: str = Field(max_length=1000, description="A file, by the id of the list.")
    text: str = Field(description="All of its text.")

    @field_validator("text")
    @classmethod
    def _is_storable(cls, text: str) -> str:
        if text != storable_text(text):
            raise ValueError("the text has characters that no file can hold")
        return text


class NewText(DraftText):
    """What shall stand in a file."""

    version: str = Field(max_length=64, description="The version that the text was made from.")


class CheckRequest(StrictModel):
    """Texts to look at in place of files."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["draft"]]})

    changes: list[DraftText] = Field(default_factory=list, max_length=_MOST_FILES)


class TriedQuestion(StrictModel):
    """A question, and what should come of it, if somebody knows."""

    ask: str = Field(min_length=1, max_length=8000)
    template: str | None = Field(None, max_length=255, description="Null: none may answer.")
    arguments: dict[str, Any] | None = None
    asks: list[str] = Field(default_factory=list, max_length=100)

    def read(self) -> Replayed:
        if "template" not in self.model_fields_set:
            return LoggedQuestion(self.ask)
        return Question(
            ask=self.ask, template=self.template, arguments=self.arguments, asks=tuple(self.asks)
        )


class TrialRequest(CheckRequest):
    """Texts to try in place of files, and questions to try them with."""

    questions: list[TriedQuestion] = Field(
        default_factory=list,
        max_length=MOST_QUESTIONS,
        description="Left out: those of questions.yaml, or else examples of the library.",
    )


class SaveRequest(StrictModel):
    """Texts to save."""

    changes: list[NewText] = Field(min_length=1, max_length=_MOST_FILES)


class ChangeRow(StrictModel):
    """One change of a library."""

    kind: ChangeKind
    text: str = Field(min_length=1, max_length=2000, description="The example, or the synonym.")
    template: str = Field("", max_length=255, description="Whose example it is.")
    word: str = Field("", max_length=200, description="The word that a synonym means.")

    @field_validator("text", "word")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if text and not text.strip():
            raise ValueError("there are only blanks")
        return storable_text(text)

    def read(self) -> LibraryChange:
        """Return the change, or raise `RequestInvalid`."""
        needed, other = ("word", "template") if self.kind == "add_synonym" else ("template", "word")
        if not getattr(self, needed) or getattr(self, other):
            raise RequestInvalid(f"{self.kind!r} needs {needed!r} and 'text', and no {other!r}")
        return LibraryChange(self.kind, self.text, self.template, self.word)


class ChangesRequest(StrictModel):
    """Changes of a library, to look at or to make."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["library_changes"]]})

    changes: list[ChangeRow] = Field(min_length=1, max_length=_MOST_CHANGES)
    preview: bool = Field(default=False, description="Only show what it would be.")


@router.get("/files", summary="The files that an adapter's author writes")
async def list_files(state: State, name: str, _: Author) -> Response:
    """Domain, templates, questions, packs, reformulator and prompts; no settings."""
    files = await asyncio.to_thread(state.manager.authored, name)
    rows = await asyncio.to_thread(lambda: [file.to_dict() for file in files.values()])
    return json_response({"files": rows}, headers=_NO_STORE)


@router.get(
    "/files/content",
    summary="One of these files, as it is written",
    responses=refusals((409, "It cannot be shown; the message says why.")),
)
async def get_file(
    request: Request,
    state: State,
    name: str,
    _: Author,
    file: Annotated[str, Query(alias="id", max_length=1000)],
) -> Response:
    """Variables such as `${NAME}` are shown as they are written, and not filled in."""
    files = await asyncio.to_thread(state.manager.authored, name)
    if file not in files:
        raise FileUnknown("the adapter has no file of that id; see the list of its files")

    def described() -> dict[str, Any]:
        content = files[file].read()
        return {"id": file, "text": content.text, "version": content.version}

    return await large_json_response(request, described, stored=False)


@router.post(
    "/files/check",
    summary="What is wrong when texts stand in place of files",
    responses=_TRIALS,
    openapi_extra=request_body(CheckRequest),
)
async def check_files(request: Request, state: State, name: str, _: Author) -> Response:
    """The whole library is checked, without asking its examples. Nothing is written."""
    asked = read_body(CheckRequest, await request.body())
    adapter = _own_library(state, name)
    files, texts = await _drafted(state, name, asked.changes)
    work = asyncio.create_task(state.desk.check(adapter, texts))
    problems = await cancel_on_disconnect(request.receive, work)
    return json_response({"problems": problem_rows(problems, files)})


@router.post(
    "/files/try",
    summary="What texts in place of files would change",
    responses=_TRIALS,
    openapi_extra=request_body(TrialRequest),
)
async def try_files(request: Request, state: State, name: str, _: Author) -> Response:
    """Ask the version that runs and the draft the same questions. Nothing is run or written."""
    asked = read_body(TrialRequest, await request.body())
    adapter = _own_library(state, name)
    files, texts = await _drafted(state, name, asked.changes)
    questions = [question.read() for question in asked.questions]
    running = state.adapters.get(name)
    work = asyncio.create_task(state.desk.compare(running, adapter, texts, questions))
    trial = await cancel_on_disconnect(request.receive, work)
    return json_response(_trial_rows(trial, files, whole=bool(questions)))


@router.put(
    "/files",
    summary="Save files, and answer by them from now on",
    responses=_CONFLICTS,
    openapi_extra=request_body(SaveRequest),
)
async def save_files(request: Request, state: State, name: str, author: Author) -> Response:
    """All of the files or none: checked first, with a backup, and put back if need be."""
    asked = read_body(SaveRequest, await request.body())
    adapter = _own_library(state, name)
    drafts = [Draft(each.id, each.text, each.version) for each in asked.changes]
    saved = await _save(request, state, name, drafts, adapter, author)
    return json_response(_saved(saved))


@router.post(
    "/library/changes",
    summary="Add examples, counter examples and synonyms, or take examples out",
    responses=_CONFLICTS | refusals((504, "It took too long.")),
    openapi_extra=request_body(ChangesRequest),
)
async def change_library(request: Request, state: State, name: str, author: Author) -> Response:
    """Comments and layout of the files stay. With `preview` nothing is written."""
    asked = read_body(ChangesRequest, await request.body())
    changes = [row.read() for row in asked.changes]
    adapter = _own_library(state, name)
    files = await asyncio.to_thread(state.manager.authored, name)
    environ = state.desk.resources.environ
    changed = await asyncio.to_thread(changed_texts, files, changes, environ)
    body: dict[str, Any] = {"files": [each.to_dict() for each in changed]}
    drafts = [Draft(each.file.id, each.text, each.before.version) for each in changed]
    if asked.preview:
        contents = await asyncio.to_thread(contents_of, files, drafts)
        running = state.adapters.get(name)
        own = [_asked_by(change) for change in changes if change.kind != "add_synonym"]
        trying = state.desk.compare(running, adapter, contents.texts, more=own)
        trial = await cancel_on_disconnect(request.receive, asyncio.create_task(trying))
        return json_response(body | {"would_change": _trial_rows(trial, files)})
    saved = await _save(request, state, name, drafts, adapter, author)
    return json_response(body | _saved(saved))


def _asked_by(change: LibraryChange) -> Replayed:
    """The sentence of a change, as a question."""
    if change.kind == "add_example":
        return Question(ask=change.text, template=change.template)
    return LoggedQuestion(change.text)


def _own_library(state: ApiState, name: str) -> AdapterSettings:
    adapter = state.manager.written(name)
    if adapter.config.child_adapters:
        others = ", ".join(child.adapter for child in adapter.config.child_adapters)
        raise RequestInvalid(f"{name} has no library of its own; name one behind it: {others}")
    return adapter


async def _drafted(
    state: ApiState, name: str, changes: Sequence[DraftText]
) -> tuple[Mapping[str, AuthoredFile], Texts]:
    files = await asyncio.to_thread(state.manager.authored, name)
    drafts = [Draft(each.id, each.text) for each in changes]
    contents = await asyncio.to_thread(contents_of, files, drafts)
    return files, contents.texts


async def _save(
    request: Request,
    state: ApiState,
    name: str,
    drafts: Sequence[Draft],
    adapter: AdapterSettings,
    author: Caller,
) -> Saved:
    files = await asyncio.to_thread(state.manager.authored, name)

    async def check(texts: Texts) -> Sequence[Problem]:
        return await state.desk.check(adapter, texts)

    checking: Check = check
    try:
        return await state.saver.save(name, drafts, checking, author, request.state.request_id)
    except FilesRefused as refused:
        # Where a problem is, a page knows by the ids of files.
        ids = ids_by_place(files)
        for row in refused.details:
            place, _, line = str(row.get("where", "")).rpartition(":")
            if place in ids:
                row |= {"id": ids[place], "line": int(line)}
        raise


def _saved(saved: Saved) -> dict[str, Any]:
    return describe_status(saved.status) | {
        "versions": dict(saved.versions),
        "backup": str(saved.backup),
    }


def _trial_rows(
    trial: DraftTrial, files: Mapping[str, AuthoredFile], *, whole: bool = False
) -> dict[str, Any]:
    problems = problem_rows(trial.problems, files)
    if trial.diff is None:
        return {"problems": problems, "tried": False, "changed": [], "counts": {}}
    counts = trial.diff.counts
    counts = {"asked": trial.diff.asked, **counts, "same": len(trial.diff.unchanged)}
    changed = diff_rows(trial.diff, whole=whole)
    return {"problems": problems, "tried": True, "changed": changed, "counts": counts}
