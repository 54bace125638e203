"""A pair of sockets between a supervisor and a worker: lines of JSON, and connections."""

import json
import socket
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Self

_AT_ONCE: Final = 64 * 1024
_MOST_CONNECTIONS_AT_ONCE: Final = 64


class ChannelClosed(Exception):
    """The other end is gone."""


class Channel:
    """One end of a pair. It never blocks: who has it asks when it can be read or written.

    A message is a list that begins with its kind. A connection that is sent with one is this
    process's no more, unless sending it raises.
    """

    def __init__(self, end: socket.socket) -> None:
        end.settimeout(0)
        self._end = end
        self._unsent: deque[tuple[bytes, socket.socket | None]] = deque()
        self._begun = b""
        self._came: deque[int] = deque()

    @classmethod
    def pair(cls) -> tuple[Self, Self]:
        ours, theirs = socket.socketpair()
        return cls(ours), cls(theirs)

    def fileno(self) -> int:
        return self._end.fileno()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, message: Sequence[Any], connection: socket.socket | None = None) -> None:
        """Send a message, now or when `flush` is called. Raises `ChannelClosed`."""
        self._unsent.append((json.dumps(message).encode() + b"\n", connection))
        try:
            self.flush()
        except ChannelClosed:
            self._unsent.pop()
            raise

    def flush(self) -> None:
        """Send what can be sent. Raises `ChannelClosed`."""
        while self._unsent:
            line, connection = self._unsent[0]
            try:
                if connection is None:
                    sent = self._end.send(line)
                else:
                    sent = socket.send_fds(self._end, [line], [connection.fileno()])
            except BlockingIOError:
                return
            except OSError as failed:
                raise ChannelClosed from failed
            if connection is not None:
                connection.close()
            if sent == len(line):
                self._unsent.popleft()
            else:
                self._unsent[0] = line[sent:], None

    def receive(self) -> list[list[Any]]:
        """Return the messages that came. Raises `ChannelClosed`: no more will."""
        try:
            came, descriptors, _, _ = socket.recv_fds(
                self._end, _AT_ONCE, _MOST_CONNECTIONS_AT_ONCE
            )
        except BlockingIOError:
            return []
        except OSError as failed:
            raise ChannelClosed from failed
        self._came.extend(descriptors)
        if not came:
            raise ChannelClosed
        *lines, self._begun = (self._begun + came).split(b"\n")
        return [json.loads(line) for line in lines]

    def next_connection(self) -> socket.socket:
        """Return the connection of the oldest message that brought one."""
        return socket.socket(fileno=self._came.popleft())

    def close(self) -> None:
        for _, connection in self._unsent:
            if connection is not None:
                connection.close()
        self._unsent.clear()
        while self._came:
            self.next_connection().close()
        self._end.close()
