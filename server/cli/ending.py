"""Ending a server: asked first, and made to only when it does not listen."""

import os
import signal
import time
from typing import Final, Literal

from server.cli.interruption import noted
from server.cli.output import fail
from server.cli.progress import Progress
from server.cli.runfile import Running

Ending = Literal["stopped", "killed", "left"]

_POLL_S: Final = 0.05
_WIND_DOWN_S: Final = 5.0
"""Beyond the grace for requests: closing providers, writing down what is pending."""


def end(running: Running) -> Ending:
    """Ask a server to end, and wait while it finishes its requests.

    `killed` when it took longer than its own grace allows, `left` when somebody did
    not want to wait for it.
    """
    with noted() as interruption, Progress("Stopping") as progress:
        _send(running, signal.SIGTERM)
        deadline = time.monotonic() + running.shutdown_grace_s + _WIND_DOWN_S
        ending: Ending = "stopped"
        while running.is_alive():
            if interruption.signal is not None:
                return "left"
            if ending == "stopped" and time.monotonic() > deadline:
                _send(running, signal.SIGKILL)
                ending = "killed"
            progress.show("requests in flight may finish")
            time.sleep(_POLL_S)
        return ending


def _send(running: Running, number: signal.Signals) -> None:
    """Signal that process, and no other that may have its pid by now."""
    if not running.is_alive():
        return
    try:
        os.kill(running.pid, number)
    except ProcessLookupError:
        return  # it ended in between
    except PermissionError:
        fail(f"pid {running.pid} belongs to another user, who has to stop it")
