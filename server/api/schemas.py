"""What travels over HTTP. Pydantic models, strict, unknown fields refused."""

import json
from importlib.resources import files
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.chat.form import in_words
from server.core.decision import Origin
from server.core.tools import Effect, ToolResultStatus
from server.core.turn import SESSION_ID

EXAMPLES: Final = json.loads(files("server.api").joinpath("examples.json").read_text("utf-8"))
"""Requests and answers as the documentation of the calls shows them, by name."""

SessionId = Annotated[str, StringConstraints(pattern=SESSION_ID)]


class StrictModel(BaseModel):
    """A body in which every field has to be known and of its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class MessageRequest(StrictModel):
    """What every request with a question has."""

    message: str = Field(description="The question, in plain words.")

    def question(self) -> str:
        """Return the question as it is understood, judged and remembered."""
        return self.message


_EXPLAIN: Final = "Say in `trace` how long each stage took, and to admins what it found."


class ChatRequest(MessageRequest):
    """A question. The key decides which adapter it goes to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message": "What is 15% of 200?"}]})

    session_id: SessionId | None = Field(
        None, description="Names the conversation; one is made up when it is left out."
    )
    stream: bool = Field(default=False, description="Answer as server-sent events.")
    explain: bool = Field(default=False, description=_EXPLAIN)
    arguments: dict[str, Any] | None = Field(
        None,
        max_length=100,
        description="Values by name for what the last answer of the session asked for "
        "(`metadata.missing`); `message` may then be empty.",
    )

    def question(self) -> str:
        return in_words(self.message, self.arguments or {})


class ConfirmRequest(StrictModel):
    """The yes or the no to a proposal."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["confirmation"]]})

    session_id: SessionId = Field(description="The conversation that the proposal is of.")
    proposal_id: str = Field(
        min_length=1, max_length=64, description="`metadata.proposal.proposal_id`."
    )
    accept: bool = Field(description="Whether it shall run.")
    seal: str | None = Field(
        None, max_length=64, description="`metadata.proposal.seal`; another one runs nothing."
    )
    explain: bool = Field(default=False, description=_EXPLAIN)


class FeedbackRequest(StrictModel):
    """What a person thinks of an answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"request_id": "5f0c2d", "verdict": "wrong"}]}
    )

    request_id: str = Field(
        pattern=r"^[A-Za-z0-9._-]{1,64}$", description="`X-Request-ID` of the answer."
    )
    verdict: Literal["right", "wrong"] = Field(description="Whether it was what was asked for.")
    session_id: SessionId | None = Field(
        None, description="The conversation of the answer; another one is not it."
    )
    comment: str = Field("", max_length=2000, description="What was wrong, in plain words.")
    expected: str | None = Field(
        None, min_length=1, max_length=255, description="Id of the template that was meant."
    )


class ToolExecution(BaseModel):
    """A call as it ran, or as it was refused."""

    tool_name: str
    operation: str
    parameters: dict[str, Any]
    status: ToolResultStatus
    execution_time_ms: float
    result: Any = Field(None, description="What the tool gave, with `success`.")
    error_message: str | None = Field(None, description="What went wrong, otherwise.")


class ShownProposal(BaseModel):
    """A call that waits for a yes, or what became of it."""

    model_config = ConfigDict(extra="allow")

    proposal_id: str = Field(description="Names it, for `POST /chat/confirm`.")
    status: str = Field(description="`held`, or what came of it.")
    expires_at: str | None = Field(None, description="Until when it can be confirmed.")
    template_id: str | None = None
    tool: str | None = None
    operation: str | None = None
    effect: Effect | None = None
    arguments: dict[str, Any] | None = Field(None, description="Without sensitive values.")
    intent: str | None = None
    target: str | None = None
    origin: Origin | None = None
    seal: str | None = Field(None, description="Changes with any of this.")


class AnswerMetadata(BaseModel):
    """Why an answer is this one. Only what applies is there."""

    model_config = ConfigDict(extra="allow")

    source: Literal["intent", "guard", "model"]
    template_id: str | None = Field(description="The template that answers.")
    synthesized: bool = Field(description="Whether a model wrote `content`.")
    synthesis: dict[str, Any] | None = Field(None, description="What a model did to the words.")
    tool_execution: ToolExecution | None = None
    policy: dict[str, Any] | None = Field(None, description="Why a call was refused.")
    match: dict[str, Any] | None = Field(None, description="How the template was chosen.")
    arguments: dict[str, Any] | None = Field(None, description="Where each argument came from.")
    missing: list[dict[str, Any]] | None = Field(None, description="What it asks for.")
    options: list[dict[str, Any]] | None = Field(None, description="Templates it asks between.")
    nearest: list[dict[str, Any]] | None = Field(None, description="What came closest.")
    why: str | None = Field(None, description="Why nothing fits, or why it asks back.")
    unread: list[str] | None = Field(None, description="The words that were in the way.")
    objection: str | None = Field(None, description="What those words do.")
    courtesy: dict[str, Any] | None = None
    blocked: dict[str, Any] | None = Field(None, description="Which guard refused it.")
    guard: dict[str, Any] | None = Field(None, description="What a guard did or would have done.")
    coverage: list[dict[str, Any]] | None = Field(None, description="Who took each word.")
    notes: list[str] | None = Field(None, description="What the call left out, in sentences.")
    intent: dict[str, Any] | None = Field(None, description="What the rule pack found.")
    conversation: dict[str, Any] | None = Field(None, description="What it is a follow-up of.")
    proposal: ShownProposal | None = None
    chart: dict[str, Any] | None = Field(None, description="In Vega-Lite.")
    download: dict[str, Any] | None = Field(None, description="Where all rows are.")
    calls: list[dict[str, Any]] | None = Field(None, description="Each of several calls.")
    skipped: list[str] | None = Field(None, description="Parts that were not understood.")
    answered_by: dict[str, Any] | None = Field(None, description="Whose answer it is, of several.")
    unanswered: list[dict[str, Any]] | None = Field(None, description="Who was named in vain.")


class ChatResponse(BaseModel):
    """An answer, and why it is this one."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["answer"]]})

    trace: list[dict[str, Any]] | None = Field(
        None, description="Its stages, each with its `ms`; only with `explain`."
    )
    content: str = Field(description="The answer as Markdown.")
    metadata: AnswerMetadata
    confidence: float = Field(ge=0, le=1, description="Calibrated probability of the match.")
    session_id: str


class ToolsResponse(BaseModel):
    """What an adapter can do, as other programs and their models are told of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["tools"]]})

    tools: list[dict[str, Any]] = Field(
        description="Each template as OpenAI's clients take it in `tools`."
    )


class LibraryResponse(BaseModel):
    """What an adapter's library says to whoever may use it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["library"]]})

    adapter: str
    name: str = Field(description="Of the domain.")
    description: str
    languages: list[str] = Field(description="Those that answers are given in.")
    version: str = Field(description="Of the domain, as its author counts.")
    synonyms: dict[str, list[str]] = Field(description="Words, and others that mean the same.")
    sources: list[dict[str, Any]] | None = Field(
        None, description="The adapters behind it, if it has some, and which of them serve."
    )
    templates: list[dict[str, Any]] = Field(
        description="Each with its examples, parameters and effect, as the key's role may run it."
    )


class FoundProblem(BaseModel):
    what: str
    id: str | None = Field(description="The file, if it is one of the library's.")
    line: int | None
    kind: Literal["error", "warning"]
    rule: str = Field(description="Stable name of the kind of problem.")
    template: str | None
    where: str | None = Field(None, description="The place, if it is in another file.")
    hint: str | None = Field(None, description="What mends it, where that is certain.")


class ProblemsResponse(BaseModel):
    """What is wrong with an adapter's settings and the files of its library."""

    problems: list[FoundProblem]


class MapRequest(MessageRequest):
    """A question to find on the map."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message": "What is 15% of 200?"}]})


class MapPoint(BaseModel):
    template: str
    example: str
    x: float
    y: float


class MapResponse(BaseModel):
    """The examples of a library in two dimensions."""

    points: list[MapPoint]
    explained: list[float] = Field(description="The share of all difference along x, and along y.")
    left_out: list[str] = Field(
        description="Adapters behind it whose examples another encoder reads, so that they "
        "cannot be compared."
    )


class NearExample(BaseModel):
    template: str
    example: str
    similarity: float = Field(description="Cosine of the vectors.")


class PlaceResponse(BaseModel):
    """Where a question lies on the map."""

    x: float
    y: float
    nearest: list[NearExample]


class SentenceBetween(NearExample):
    near: str = Field(description="The nearest example of the other template.")


class TemplatePair(BaseModel):
    templates: list[str] = Field(min_length=2, max_length=2)
    sentences: list[SentenceBetween] = Field(
        description="Examples of one that are about as near to the other as to their own."
    )


class CollisionsResponse(BaseModel):
    """Templates that are easily confused, the likeliest first."""

    pairs: list[TemplatePair]
    left_out: list[str] = Field(description="As on the map.")


class WordUseRow(BaseModel):
    template: str | None = Field(description="Null for the vocabulary, which templates share.")
    where: Literal["example", "counter_example", "description", "synonym", "parameter", "choice"]
    text: str
    span: list[int] = Field(description="From which character of `text` to which.")
    parameter: str | None = None


class WordsResponse(BaseModel):
    """Where a library uses a word, in whatever form."""

    word: str
    stem: str = Field(description="In the first language of the domain.")
    uses: list[WordUseRow]
    more: bool = Field(description="Whether there are more than are listed.")


class IntentRequest(MessageRequest):
    """A question to read, and not to answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"message": "השווה בין ממשלה 36 ל-37"}]}
    )


class ErrorBody(BaseModel):
    code: str = Field(description="Stable name of the kind of error.")
    message: str = Field(description="What was wrong, and what would be right.")
    request_id: str
    details: list[dict[str, Any]] | None = None


class ErrorResponse(BaseModel):
    """The shape of every error, whatever the call."""

    error: ErrorBody


_REASONS: Final = {
    401: "No key, or one that is unknown, expired or revoked.",
    403: "A good key, but not for this.",
    413: "The body is too large.",
    422: "A field is missing, unknown or of the wrong type.",
    429: "The key or its adapter was used too often; `Retry-After` says when to come back.",
    503: "The adapter, or a provider that it needs, is unavailable.",
    504: "No answer within the turn's deadline.",
}


def refusals(*rows: int | tuple[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of a route's errors.

    A status alone has its usual reason; a pair has one of its own.
    """
    reasons = [row if isinstance(row, tuple) else (row, _REASONS[row]) for row in rows]
    return {status: {"model": ErrorResponse, "description": why} for status, why in reasons}


def request_body(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return the documentation of a body that the route reads itself, for `openapi_extra`."""
    schema = model.model_json_schema()
    # Here a reference to another model would point into nothing.
    content = {"application/json": {"schema": _inlined(schema, schema.pop("$defs", {}))}}
    return {"requestBody": {"required": required, "content": content}}


def _inlined(schema: Any, models: dict[str, Any]) -> Any:
    """A schema with the models that it refers to in place of the references."""
    if isinstance(schema, list):
        return [_inlined(each, models) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(models[schema["$ref"].rpartition("/")[2]], models)
    return {key: _inlined(each, models) for key, each in schema.items()}


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str
    instance: str = Field(description="Changes with every start of the server.")
    workers: int | None = Field(None, description="Processes that answer, where there are several.")


class AdapterReadiness(BaseModel):
    name: str
    state: Literal["opening", "ready", "unavailable"]
    why: str | None = None
    details: dict[str, Any] | None = None


class WorkerReadiness(BaseModel):
    number: int
    pid: int
    state: Literal["starting", "serving", "ready", "draining"]
    restarts: int = Field(description="How often it was replaced because it had ended by itself.")
    generation: int = Field(description="After how many rolling restarts it was started.")


class WorkersReadiness(BaseModel):
    """The processes of a server with several; the adapters are those of `answered_by`."""

    count: int
    answered_by: int
    rolling: bool = Field(description="Whether one worker after the other is being replaced.")
    failed: str | None = Field(None, description="Why the last rolling restart was given up.")
    processes: list[WorkerReadiness]


class Readiness(BaseModel):
    """`ready`: all adapters serve; `degraded`: some do; otherwise none does (yet).

    `draining`: the server is about to stop, and answers until it does.
    """

    status: Literal["ready", "degraded", "opening", "unavailable", "draining"]
    adapters: list[AdapterReadiness]
    workers: WorkersReadiness | None = None
