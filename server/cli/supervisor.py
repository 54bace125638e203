"""The parent of several processes that answer: it accepts for them, and replaces those that end.

It has one thread and no event loop, so that it can fork at any time. Workers never listen: each
connection goes to the one that has fewest, so that none is refused while workers come and go.
"""

import contextlib
import errno
import gc
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NoReturn

from server.access.rate_limits import LocalCounts
from server.api.connections import ConnectionCount, admitted
from server.core.claims import MemoryClaims
from server.errors import OrbitError
from server.workers.channel import Channel, ChannelClosed
from server.workers.notes import Notes

_log = logging.getLogger(__name__)

_ACCEPTED_AT_ONCE: Final = 64
_WITHOUT_DESCRIPTORS_S: Final = 0.5
_WIND_DOWN_S: Final = 5.0
_LIVED_LONG_S: Final = 10.0
"""A worker that ends after this long is replaced at once."""
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0
_TRIES: Final = 3
"""How often the first worker may be killed before anything serves."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)

State = Literal["starting", "serving", "ready", "draining"]


@dataclass(frozen=True, slots=True)
class Seat:
    """What a new worker is: which one, which of those that run at once, and its channel."""

    number: int
    """From 1 to `count`: a worker that replaces another has its number."""
    slot: int
    """Nobody else's while it runs, from 1; free again when it has ended."""
    count: int
    channel: Channel


@dataclass(frozen=True, slots=True)
class Plan:
    """What workers are made of; another one for those after a change of the configuration."""

    count: int
    grace_s: float
    run: Callable[[Seat], None]
    """What a worker does, in a process of its own, until it ends."""
    drain_s: float = 0.0
    """For which all go on once the server is asked to stop, and say so."""


@dataclass(slots=True, eq=False)
class _Worker:
    number: int
    slot: int
    generation: int
    pid: int
    channel: Channel
    born_s: float
    state: State = "starting"
    hosts: Counter[str] = field(default_factory=Counter)
    claims: set[tuple[str, str]] = field(default_factory=set)
    chosen: int = 0
    leave_by_s: float | None = None
    is_lost: bool = False
    """Whether its channel is closed: it has ended, or is about to."""


class Supervisor:
    """Keeps workers running until it is told to stop.

    SIGTERM and SIGINT stop it, after the plan's `drain_s`: requests in flight finish first. Ctrl-C
    ends that wait, and once more that for requests in flight. SIGHUP replaces one worker after
    the other by one that has read the configuration anew.
    """

    def __init__(
        self,
        listening: socket.socket,
        plan: Plan,
        connections: ConnectionCount,
        *,
        replan: Callable[[], Plan],
        serving: Callable[[], None] = lambda: None,
        ended: Callable[[int], None] = lambda _: None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`replan` reads the configuration anew, and may raise ConfigurationInvalid.

        `serving` is called when the first worker answers, and `ended` with the slot of each that
        has ended.
        """
        self._listening = listening
        self._plan = plan
        self._next_plan = plan
        self._replan = replan
        self._connections = connections
        self._said_serving = serving
        self._ended = ended
        self._clock_s = clock_s
        self._workers: dict[int, _Worker] = {}
        """By process id."""
        self._counts: dict[tuple[str, str], LocalCounts] = {}
        self._claims = MemoryClaims(clock_s)
        self._questions: list[tuple[_Worker, list[Any]]] = []
        self._notes = Notes()
        self._restarts: Counter[int] = Counter()
        self._quick_ends: Counter[int] = Counter()
        self._due: dict[int, float] = {}
        """When a worker that ended is to be replaced, by number."""
        self._to_replace: deque[int] = deque()
        self._candidate: _Worker | None = None
        self._generation = 0
        self._roll_failed: str | None = None
        self._ever_served = False
        self._chosen = 0
        self._drain_until_s: float | None = None
        """When it is to stop; from then on `_stop_by_s` says how long workers may take."""
        self._stop_by_s: float | None = None
        self._stopped_by = signal.SIGTERM
        self._exit_code = 0
        self._accepts = False
        self._accept_again_s: float | None = None

    def run(self) -> int:
        """Serve until stopped; the exit code."""
        with self._watching() as wakeups:
            self._wakeups = wakeups
            self._spawn(1)
            while self._workers or (self._due and self._stop_by_s is None):
                for key, events in self._selector.select(self._pause_s()):
                    self._handle(key, events)
                self._answer_all()
                self._step()
        if unwritten := self._notes.unwritten:
            _log.error("%d values of workers could not be written, and are lost", unwritten)
        return self._exit_code

    @contextlib.contextmanager
    def _watching(self) -> Iterator[socket.socket]:
        """Have signals wake the loop up, and put everything back at the end."""
        self._selector = selectors.DefaultSelector()
        wakeups, waking = socket.socketpair()
        for end in (wakeups, waking):
            end.setblocking(False)
        self._listening.setblocking(False)
        self._waking = waking
        before = {each: signal.signal(each, _noted) for each in _SIGNALS}
        before_fd = signal.set_wakeup_fd(waking.fileno())
        self._selector.register(wakeups, selectors.EVENT_READ, self._on_signal)
        try:
            yield wakeups
        finally:
            for worker in self._workers.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGKILL)
            signal.set_wakeup_fd(before_fd)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._selector.close()
            wakeups.close()
            waking.close()

    # What wakes the loop up

    def _handle(self, key: selectors.SelectorKey, events: int) -> None:
        if isinstance(key.data, _Worker):
            if key.data.pid in self._workers:
                self._talk(key.data, events)
        else:
            key.data()

    def _on_signal(self) -> None:
        try:
            came = self._wakeups.recv(4096)
        except BlockingIOError:
            return
        for number in came:
            if number == signal.SIGHUP:
                self._begin_roll()
            elif number in (signal.SIGTERM, signal.SIGINT):
                self._stop(signal.Signals(number))
        self._reap()

    def _talk(self, worker: _Worker, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                worker.channel.flush()
            if events & selectors.EVENT_READ:
                for kind, *rest in worker.channel.receive():
                    self._hear(worker, kind, rest)
            self._watch(worker)
        except ChannelClosed:
            self._lose(worker)

    def _lose(self, worker: _Worker) -> None:
        """Give a worker nothing any more; `_bury` sees to the rest once it has ended."""
        if not worker.is_lost:
            worker.is_lost = True
            self._selector.unregister(worker.channel)

    def _hear(self, worker: _Worker, kind: str, rest: list[Any]) -> None:
        if kind == "ask":
            self._questions.append((worker, rest))
        elif kind == "note":
            self._notes.put(*rest)
        elif kind == "give_notes_back":
            self._notes.give_back(rest[0], worker.pid, written=rest[1])
        elif kind == "left":
            worker.hosts[rest[0]] -= 1
            self._connections.leave(rest[0])
        elif kind == "serving" and worker.state == "starting":
            worker.state = "serving"
            if not self._ever_served:
                self._ever_served = True
                self._said_serving()
            if self._drain_until_s is not None:
                self._tell(worker, "stopping")
        elif kind == "ready" and worker.state in ("starting", "serving"):
            worker.state = "ready"
            _log.info("worker %d (pid %d) is ready", worker.number, worker.pid)

    def _answer_all(self) -> None:
        """Answer what was asked, after all that was said before by whatever worker.

        Who was answered by one worker may ask another: what the first has noted is there by then.
        """
        questions, self._questions = self._questions, []
        for worker, (number, question, *about) in questions:
            answer = self._answer(worker, question, about)
            try:
                worker.channel.send(["answer", number, answer])
                self._watch(worker)
            except ChannelClosed:
                self._lose(worker)

    def _answer(self, worker: _Worker, question: str, about: list[Any]) -> Any:
        if question == "count":
            space, window, what, limit, *who = about
            if (space, window) not in self._counts:
                self._counts[space, window] = LocalCounts(window, self._clock_s)
            return self._counts[space, window].ask(what, limit, *who)
        if question == "claim":
            kind, name, for_s = about
            claimed = self._claims.claim_now(kind, name, for_s)
            if claimed == "taken" and for_s is None:
                worker.claims.add((kind, name))
            return claimed
        if question == "release":
            self._claims.release_now(*about)
            worker.claims.discard((about[0], about[1]))
            return None
        if question == "is_claimed":
            return self._claims.is_claimed_now(*about)
        if question == "noted":
            return self._notes.get(*about)
        if question == "take_notes":
            return self._notes.take(about[0], worker.pid)
        if question == "drop_note":
            return self._notes.drop(*about)
        return self._describe()

    def _describe(self) -> dict[str, Any]:
        rows = sorted(self._workers.values(), key=lambda each: (each.number, each.generation))
        return {
            "rolling": self._is_rolling(),
            "failed": self._roll_failed,
            "processes": [
                {
                    "number": each.number,
                    "pid": each.pid,
                    "state": each.state,
                    "restarts": self._restarts[each.number],
                    "generation": each.generation,
                }
                for each in rows
            ],
        }

    # Connections

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            if self._fittest() is None:
                return
            try:
                connection, address = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as failed:
                if failed.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                self._connections.note("descriptors", "")
                self._accept_again_s = self._clock_s() + _WITHOUT_DESCRIPTORS_S
                return
            host = admitted(connection, address, self._connections)
            if host is None:
                continue
            self._give(connection, host)

    def _give(self, connection: socket.socket, host: str) -> None:
        """Give a connection to a worker, or close it where there is none any more."""
        while (chosen := self._fittest()) is not None:
            try:
                chosen.channel.send(["connection", host], connection)
            except ChannelClosed:
                self._lose(chosen)
                continue
            chosen.hosts[host] += 1
            self._chosen += 1
            chosen.chosen = self._chosen
            self._watch(chosen)
            return
        connection.close()
        self._connections.leave(host)

    def _fittest(self) -> _Worker | None:
        """The worker with the fewest connections, of those that have tried all adapters if any."""
        for state in ("ready", "serving"):
            able = [w for w in self._workers.values() if w.state == state and not w.is_lost]
            if able:
                return min(able, key=lambda each: (each.hosts.total(), each.chosen))
        return None

    # Workers

    def _spawn(self, number: int, *, candidate: bool = False) -> None:
        """Start a worker. In the new process this never returns."""
        plan = self._next_plan if candidate else self._plan
        taken = {each.slot for each in self._workers.values()}
        slot = next(each for each in range(1, len(taken) + 2) if each not in taken)
        ours, theirs = Channel.pair()
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # what is there already is not looked through, and so not copied, by a worker
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._become(plan, Seat(number, slot, plan.count, theirs))
        theirs.close()
        worker = _Worker(number, slot, self._generation, pid, ours, self._clock_s())
        self._workers[pid] = worker
        self._selector.register(ours, selectors.EVENT_READ, worker)
        if candidate:
            self._candidate = worker

    def _become(self, plan: Plan, seat: Seat) -> NoReturn:
        """Be a worker, in a process that was forked just now, and end it."""
        code = 70
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for number in (signal.SIGINT, signal.SIGHUP):  # of a terminal: it is told to end
                signal.signal(number, signal.SIG_IGN)
            self._selector.close()
            for each in (self._listening, self._wakeups, self._waking):
                each.close()
            for worker in self._workers.values():
                worker.channel.close()
            plan.run(seat)
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
        except BaseException:
            _log.exception("worker %d failed", seat.number)
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)  # nothing of the supervisor's is to be ended here

    def _reap(self) -> None:
        while self._workers:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if (worker := self._workers.pop(pid, None)) is not None:
                self._bury(worker, os.waitstatus_to_exitcode(status))

    def _bury(self, worker: _Worker, code: int) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(worker.channel)
        worker.channel.close()
        for host in worker.hosts.elements():
            self._connections.leave(host)
        self._notes.lose(worker.pid)
        for kind, name in worker.claims:
            self._claims.release_now(kind, name)
        self._ended(worker.slot)
        if self._stop_by_s is not None or worker.state == "draining":
            return
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        told = f"worker {worker.number} (pid {worker.pid}) {how}"
        if worker is self._candidate:
            self._give_up_roll(f"{told} before it was ready")
            return
        self._restarts[worker.number] += 1
        if self._ever_served or (code < 0 and self._restarts[worker.number] < _TRIES):
            pause_s = self._pause_before(worker)
            self._due[worker.number] = self._clock_s() + pause_s
            after = f" in {pause_s:g} s" if pause_s else ""
            _log.error("%s; it is started anew%s", told, after)
            return
        _log.error("%s, and none has served", told)
        self._exit_code = code if code > 0 else 1
        self._stop(signal.SIGTERM)

    def _pause_before(self, worker: _Worker) -> float:
        """Seconds before a worker is replaced: more each time, where it ends soon every time."""
        if self._clock_s() - worker.born_s > _LIVED_LONG_S:
            self._quick_ends[worker.number] = 0
            return 0.0
        ends = self._quick_ends[worker.number]
        self._quick_ends[worker.number] += 1
        return 0.0 if not ends else min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (ends - 1))

    # Replacing one after the other

    def _begin_roll(self) -> None:
        if self._drain_until_s is not None:
            return
        try:
            self._next_plan = self._replan()
        except OrbitError as invalid:
            self._give_up_roll(f"the configuration cannot be used: {invalid}")
            return
        self._generation += 1
        self._roll_failed = None
        self._to_replace = deque(range(1, self._next_plan.count + 1))
        _log.info("replacing %d workers, one after the other", self._next_plan.count)

    def _give_up_roll(self, why: str) -> None:
        _log.error("workers are not replaced: %s; those that run go on", why)
        self._roll_failed = why
        self._candidate = None
        self._to_replace.clear()
        self._next_plan = self._plan

    def _is_rolling(self) -> bool:
        draining = any(each.state == "draining" for each in self._workers.values())
        return bool(self._to_replace) or self._candidate is not None or draining

    def _roll(self) -> None:
        """Take the next step of a replacement, if there is one to take."""
        candidate = self._candidate
        if candidate is not None and candidate.state == "ready":
            self._candidate = None
            self._plan = self._next_plan
            last = not self._to_replace
            for each in list(self._workers.values()):
                surplus = last and each.number > self._plan.count
                if each is not candidate and (each.number == candidate.number or surplus):
                    self._drain(each)
            if last:
                _log.info("all workers are replaced")
        if self._candidate is None and self._to_replace:
            if any(each.state == "draining" for each in self._workers.values()):
                return  # at most one more than there are to be, for the sake of memory
            number = self._to_replace.popleft()
            self._due.pop(number, None)
            self._spawn(number, candidate=True)

    def _drain(self, worker: _Worker) -> None:
        if worker.state == "draining":
            return
        worker.state = "draining"
        worker.leave_by_s = self._clock_s() + self._plan.grace_s + _WIND_DOWN_S
        self._tell(worker, "drain")

    def _tell(self, worker: _Worker, what: str) -> None:
        with contextlib.suppress(ChannelClosed):  # it has ended, or is about to
            worker.channel.send([what])
            self._watch(worker)

    # Each time round

    def _step(self) -> None:
        now = self._clock_s()
        drained = self._drain_until_s is not None and now >= self._drain_until_s
        if drained and self._stop_by_s is None:
            self._end_workers()
        if self._stop_by_s is not None:
            if now > self._stop_by_s:
                self._kill_all()
            return
        for worker in self._workers.values():
            if worker.leave_by_s is not None and now > worker.leave_by_s:
                self._kill(worker)
        for number, at in list(self._due.items()):
            if at <= now:
                del self._due[number]
                self._spawn(number)
        running = {each.number for each in self._workers.values()} | self._due.keys()
        first = min(self._workers.values(), key=lambda each: each.number, default=None)
        # The first makes what the others find: a schema, an index, what was learnt.
        if first is not None and first.state == "ready" and not self._is_rolling():
            for number in range(1, self._plan.count + 1):
                if number not in running:
                    self._spawn(number)
        if self._drain_until_s is None:
            self._roll()
        self._listen(now)

    def _listen(self, now: float) -> None:
        """Accept while there is a worker to take what comes; else clients wait to be accepted."""
        if self._accept_again_s is not None and now >= self._accept_again_s:
            self._accept_again_s = None
        wanted = self._accept_again_s is None and self._fittest() is not None
        if wanted and not self._accepts:
            self._selector.register(self._listening, selectors.EVENT_READ, self._accept)
        elif self._accepts and not wanted:
            self._selector.unregister(self._listening)
        self._accepts = wanted

    def _watch(self, worker: _Worker) -> None:
        """Look whether the channel can be written to, while there is something to write."""
        events = selectors.EVENT_READ
        if worker.channel.has_unsent:
            events |= selectors.EVENT_WRITE
        with contextlib.suppress(KeyError):
            if self._selector.get_key(worker.channel).events != events:
                self._selector.modify(worker.channel, events, worker)

    def _pause_s(self) -> float | None:
        """How long nothing is due, if nothing comes."""
        leaving = (each.leave_by_s for each in self._workers.values())
        ends = self._drain_until_s if self._stop_by_s is None else self._stop_by_s
        times = [*self._due.values(), *leaving, ends, self._accept_again_s]
        due = [each for each in times if each is not None]
        return max(0.0, min(due) - self._clock_s()) if due else None

    def _stop(self, by: signal.Signals) -> None:
        if self._stop_by_s is not None:
            if by == signal.SIGINT:
                self._kill_all()
        elif self._drain_until_s is None:
            self._stopped_by = by
            drain_s = self._plan.drain_s if self._ever_served else 0.0
            self._drain_until_s = self._clock_s() + drain_s
            self._to_replace.clear()
            if drain_s:
                _log.info("stops in %g s, and answers until then", drain_s)
                for worker in self._workers.values():
                    self._tell(worker, "stopping")
            else:
                self._end_workers()
        elif by == signal.SIGINT:
            self._end_workers()

    def _end_workers(self) -> None:
        """Accept no more, and have every worker finish what it does."""
        self._stop_by_s = self._clock_s() + self._plan.grace_s + _WIND_DOWN_S
        if self._accepts:
            self._selector.unregister(self._listening)
            self._accepts = False
        self._listening.close()
        self._due.clear()
        for worker in self._workers.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGTERM)

    def _kill_all(self) -> None:
        for worker in self._workers.values():
            self._kill(worker)
        self._stop_by_s = self._clock_s() + _WIND_DOWN_S

    def _kill(self, worker: _Worker) -> None:
        _log.error(
            "worker %d (pid %d) did not end in time, and is killed", worker.number, worker.pid
        )
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        worker.leave_by_s = None

    @property
    def stopped_by(self) -> signal.Signals:
        """The signal that stopped it."""
        return self._stopped_by


def _noted(_signal: int, _frame: object) -> None:
    """Do nothing: the number has woken the loop up."""
