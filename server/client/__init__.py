"""A client of the HTTP API: `Client` waits for answers, `AsyncClient` is awaited.

It needs httpx and nothing else of what a server is made of. `clients` has both, `calls` what they
send and read, `answers` and `states` what comes back, `errors` what may go wrong.
"""

from server.client.answers import (
    Answer,
    AnswerPieces,
    AsyncAnswerPieces,
    Outcome,
    Piece,
    Proposal,
)
from server.client.clients import AsyncClient, Client
from server.client.errors import (
    ClientError,
    KeyRefused,
    Refused,
    ResponseInvalid,
    ServerUnreachable,
    TryLater,
)
from server.client.states import AdapterReadiness, Health, KeyInfo, Library, Readiness

__all__ = [
    "AdapterReadiness",
    "Answer",
    "AnswerPieces",
    "AsyncAnswerPieces",
    "AsyncClient",
    "Client",
    "ClientError",
    "Health",
    "KeyInfo",
    "KeyRefused",
    "Library",
    "Outcome",
    "Piece",
    "Proposal",
    "Readiness",
    "Refused",
    "ResponseInvalid",
    "ServerUnreachable",
    "TryLater",
]
