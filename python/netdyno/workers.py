"""Processes that run cases: as many as there are cores for virtual time, one after the other for real ports.

Each is started afresh (`spawn`): a lab may have to change the namespaces of its process, which only
one with a single thread can. A worker that loses its parent stops in order and takes its lab down.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType, TracebackType

from netdyno.case import Event, Failed, Interrupted, Job, Measured, run_case

_STOPPING = False
_PR_SET_PDEATHSIG = 1
_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

STOP_S = 90.0
"""Workers that were asked to stop and have not after this long, all together, are killed. So is one that
has said how its case ended and does not get done with taking its lab down."""


class Workers:
    """A fixed number of workers and the jobs they are given."""

    def __init__(self, count: int, *, fresh: bool) -> None:
        """fresh: a new process for each case."""
        self._count = count
        self._fresh = fresh
        self._running: dict[Connection, tuple[SpawnProcess, int | None]] = {}
        self._stopping = False

    def run(self, jobs: Iterable[Job], tick_s: float = 0.2) -> Iterator[Event | None]:
        """The events of all jobs as they come; None when none came for `tick_s`.

        Ends when all are done, or, after `stop`, when those under way have ended.
        """
        waiting = list(jobs)[::-1]
        while True:
            while waiting and not self._stopping and self._give(waiting[-1]):
                waiting.pop()
            busy = [connection for connection, (_, case) in self._running.items() if case is not None]
            if not busy:
                if self._stopping or not waiting:
                    return
                continue
            ready = wait(busy, tick_s)
            if not ready:
                yield None
            for connection in ready:
                assert isinstance(connection, Connection)
                yield self._receive(connection)

    def stop(self) -> None:
        """Asks the workers to end in order; no new job is given out."""
        self._stopping = True
        for process, _ in self._running.values():
            process.terminate()

    def kill(self) -> None:
        """Ends the workers at once."""
        self._stopping = True
        for process, _ in self._running.values():
            process.kill()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection, (process, case) in self._running.items():
            if case is not None:
                process.terminate()
            connection.close()
        end = time.monotonic() + STOP_S
        for process, _ in self._running.values():
            _await_end(process, end - time.monotonic())

    def _give(self, job: Job) -> bool:
        """Gives a job to an idle worker, or to a new one if there may be one more."""
        for connection, (process, case) in self._running.items():
            if case is None:
                self._running[connection] = (process, job.case.number)
                connection.send(job)
                return True
        if len(self._running) >= self._count:
            return False
        connection, process = _start()
        self._running[connection] = (process, job.case.number)
        if self._stopping:
            # The signal came while the process was being made: `stop` did not know it yet.
            process.terminate()
        connection.send(job)
        return True

    def _receive(self, connection: Connection) -> Event:
        process, case = self._running[connection]
        assert case is not None
        try:
            event: Event = connection.recv()
        except (EOFError, OSError):
            _await_end(process, STOP_S)
            connection.close()
            del self._running[connection]
            if self._stopping:
                return Interrupted(case)
            return Failed(
                case, f"the process that ran this case ended unexpectedly, {_exit(process.exitcode)}"
            )
        if isinstance(event, Measured | Failed | Interrupted):
            self._running[connection] = (process, None)
            if self._fresh:
                connection.close()
                _await_end(process, STOP_S)
                del self._running[connection]
        return event


def _start() -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, os.getpid()), daemon=False)
    # Until the worker has set up its own signals, one from the terminal must not end it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return ours, process


def _await_end(process: SpawnProcess, seconds: float) -> None:
    """Waits for the end of a process, and kills it if it has not come in time: none is forgotten alive."""
    process.join(max(seconds, 0.0))
    if process.is_alive():
        process.kill()
        process.join()


def _work(connection: Connection, parent: int) -> None:
    """The worker: jobs in, events out, until there are no more."""
    # Those of the terminal reach every process of the run; the first one says what they mean.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    if os.getppid() != parent:
        return

    def emit(event: Event) -> None:
        global _STOPPING
        try:
            connection.send(event)
        except OSError:
            # Nobody listens any more: stop in order, so that the lab is taken down.
            _STOPPING = True

    while not _STOPPING:
        try:
            job: Job = connection.recv()
        except (EOFError, OSError, InterruptedError):
            return
        run_case(job, emit, lambda: _STOPPING)


def _stop(number: int, frame: FrameType | None) -> None:
    global _STOPPING
    _STOPPING = True


def _exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by signal {signal.Signals(-code).name}"
    return f"with exit code {code}"
