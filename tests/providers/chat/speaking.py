"""Small words for talking to models in tests."""

from contextlib import aclosing

from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel
from server.errors import ProviderError


def said(text: str) -> list[Message]:
    return [Message("user", text)]


async def broken_off(model: ChatModel, text: str) -> tuple[list[str], type[Exception] | None]:
    """The pieces of a stream until it failed, and how it did."""
    pieces: list[str] = []
    try:
        async for piece in model.stream(said(text)):
            pieces.append(str(piece))  # noqa: PERF401 - what came before a failure counts
    except ProviderError as failure:
        return pieces, type(failure)
    return pieces, None


async def heard(model: ChatModel, text: str) -> tuple[list[str], Reply | None]:
    """The pieces of a stream, and the reply at its end."""
    pieces: list[str] = []
    reply = None
    async with aclosing(model.stream(said(text))) as stream:
        async for piece in stream:
            if isinstance(piece, Reply):
                reply = piece
            else:
                pieces.append(piece)
    return pieces, reply
