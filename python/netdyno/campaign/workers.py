"""Processes that run cases: as many as there are cores for virtual time, one after the other for real ports.

Each is forked from the process that holds the store: it has all modules loaded, which takes longer than most
cases in virtual time, and one thread, without which a lab could not change the namespaces of its process. It
closes what else its parent has open: the store, its lock, the pipes of other workers. The locks of a device
it shares: they are held until nobody can configure it. A worker that loses its parent stops in order and
takes its lab down.
"""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from tempfile import TemporaryFile
from types import FrameType
from typing import BinaryIO

from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Failed, Interrupted, Measured
from netdyno.campaign.job import Job
from netdyno.campaign.sessions import SESSIONS
from netdyno.ports.threads import keep_to
from netdyno.values.printable import printable
from netdyno.values.records import CaseError

_STOPPING = False
_PARENT = 0
_PR_SET_PDEATHSIG = 1
_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

STOP_S = 90.0
"""Workers that were asked to stop and have not after this long, all together, are killed. So is one that
has said how its case ended and does not get done with taking its lab down."""


ORPHAN_S = 0.5
"""A worker whose parent has died has this long to stop in order: nobody will read what a drain of seconds
would still count, and until its end its lab and its programs in the receive path are there."""

LAST_LINES = 3
"""Of what a process said on stderr before it ended unexpectedly, so many lines are reported."""

LAST_BYTES = 4096

PASSED_BYTES = 2**20
"""Of what a process that ended well said on stderr, so much is passed on."""


@dataclass
class _Worker:
    """A worker process, its case, and the file with its stderr."""

    process: ForkProcess
    said: BinaryIO
    case: int | None = None

    def end(self, seconds: float) -> None:
        """Waits so many seconds for its end, then kills it."""
        self.process.join(max(seconds, 0.0))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def last_words(self) -> list[str]:
        """The last lines it said on stderr."""
        return [line.strip() for line in self._lines(LAST_BYTES) if line.strip()][-LAST_LINES:]

    def pass_on(self) -> None:
        """Copies the stderr of a worker that ended well to our own: commands to enter have many lines."""
        for line in self._lines(PASSED_BYTES):
            print(printable(line.rstrip()), file=sys.stderr)
        self.said.close()

    def _lines(self, most: int) -> list[str]:
        size = self.said.seek(0, os.SEEK_END)
        self.said.seek(max(0, size - most))
        return self.said.read().decode(errors="replace").splitlines()


class Workers:
    """A fixed number of workers and the jobs they are given."""

    def __init__(self, count: int, *, fresh: bool, shared: Collection[int] = ()) -> None:
        """fresh: a new process for each case. shared: files of this process that they keep open."""
        self._count = count
        self._cores = os.sched_getaffinity(0)
        self._fresh = fresh
        self._shared = set(shared)
        self._jobs: tuple[Job, ...] = ()
        self._running: dict[Connection, _Worker] = {}
        self._stopping = False

    def run(self, jobs: Iterable[Job], tick_s: float = 0.2) -> Iterator[Event | None]:
        """The events of all jobs as they come; None when none came for `tick_s`.

        Ends when all are done, or, after `stop`, when those under way have ended. Called once.
        """
        self._jobs = tuple(jobs)
        waiting = list(range(len(self._jobs)))[::-1]
        while True:
            while waiting and not self._stopping:
                try:
                    if not self._give(waiting[-1]):
                        break
                except OSError as error:
                    yield _not_started(self._jobs[waiting[-1]], error)
                waiting.pop()
            busy = [connection for connection, worker in self._running.items() if worker.case is not None]
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
        for worker in self._running.values():
            worker.process.terminate()

    def kill(self) -> None:
        """Ends the workers at once."""
        self._stopping = True
        for worker in self._running.values():
            worker.process.kill()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for connection, worker in self._running.items():
            if worker.case is not None:
                worker.process.terminate()
            connection.close()
        end = time.monotonic() + STOP_S
        for worker in self._running.values():
            worker.end(end - time.monotonic())
            worker.pass_on()

    def _give(self, index: int) -> bool:
        """Gives the job of this index to an idle worker, or to a new one if there may be one more."""
        free = next((pair for pair in self._running.items() if pair[1].case is None), None)
        if free is None:
            if len(self._running) >= self._count:
                return False
            free = _start(self._cores, self._jobs, self._shared)
            self._running[free[0]] = free[1]
            if self._stopping:
                # The signal came while the process was being made: `stop` did not know it yet.
                free[1].process.terminate()
        connection, worker = free
        worker.case = self._jobs[index].case.number
        with suppress(BrokenPipeError):
            # One that has ended already is noticed, with its reason, where its answer is waited for.
            connection.send(index)
        return True

    def _receive(self, connection: Connection) -> Event:
        worker = self._running[connection]
        assert worker.case is not None
        try:
            event: Event = connection.recv()
        except (EOFError, OSError):
            worker.end(STOP_S)
            connection.close()
            del self._running[connection]
            if self._stopping:
                worker.pass_on()
                return Interrupted(worker.case)
            return _describe_end(worker)
        if isinstance(event, Measured | Failed | Interrupted):
            worker.case = None
            if self._fresh:
                connection.close()
                worker.end(STOP_S)
                worker.pass_on()
                del self._running[connection]
        return event


def _describe_end(worker: _Worker) -> Failed:
    """The failure of a case whose process died: its exit status and its last words."""
    assert worker.case is not None
    code = worker.process.exitcode
    ended_by = None if code is None or code >= 0 else signal.Signals(-code)
    how = f"with exit code {code}" if ended_by is None else f"by signal {ended_by.name}"
    words = worker.last_words()
    worker.said.close()
    said = f"; it last said: {' | '.join(words)}" if words else ""
    hint = None if ended_by is None else _HINTS.get(ended_by)
    if hint is None and any("MemoryError" in line or "allocat" in line for line in words):
        hint = _NO_MEMORY
    message = f"the process that ran this case ended unexpectedly, {how}{said}"
    return Failed(worker.case, CaseError("process-ended", message, hint))


_NO_MEMORY = "it had not enough memory: look at `ulimit -v` and at the limits of its cgroup (memory.max)"

_HINTS: Mapping[signal.Signals, str] = {
    signal.SIGKILL: "somebody killed it: most often the kernel for want of memory, then `dmesg` says so and"
    " `memory.events` of its cgroup counts it",
    signal.SIGXCPU: "it used up the processor time it may have: `ulimit -t`",
    signal.SIGSYS: "a filter of system calls ended it: a container's seccomp profile",
    signal.SIGBUS: "memory it shares went away: is `/dev/shm` full, or did a peer cut its file short?",
    signal.SIGSEGV: "please report it with the plan and the run's folder",
    signal.SIGABRT: "please report it with the plan and the run's folder",
}


def _not_started(job: Job, error: OSError) -> Failed:
    """The failure of a case for which no process could be started."""
    hints = {
        errno.EAGAIN: "this user or cgroup has all the processes it may have: `ulimit -u`, pids.max",
        errno.ENOMEM: _NO_MEMORY,
        errno.EMFILE: "too many files are open: `ulimit -n`",
        errno.ENFILE: "too many files are open on this machine: `sysctl fs.file-max`",
        errno.ENOSPC: "the folder for temporary files is full: see `TMPDIR`",
    }
    message = f"no process could be started for this case: {error.strerror or error}"
    return Failed(job.case.number, CaseError("no-process", message, hints.get(error.errno or 0)))


def _start(cores: Collection[int], jobs: Sequence[Job], shared: set[int]) -> tuple[Connection, _Worker]:
    """Starts a worker process that may run on these cores. Raises OSError.

    shared: files of this process that it keeps open. jobs: those it may be given, by their index. It has them
    from its parent's memory: a plan is as large as it has cases, and sending it with each of them would cost
    the square of their number.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    said = TemporaryFile()  # noqa: SIM115, it is closed when the process has ended
    foreign = _open_files() - {0, 1, 2, theirs.fileno()} - shared
    process = context.Process(target=_work, args=(theirs, os.getpid(), foreign, cores, jobs), daemon=False)
    # Until the worker has set up its own signals, one from the terminal must not end it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        with _stderr_to(said):
            process.start()
    except BaseException:
        ours.close()
        said.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
    return ours, _Worker(process, said)


@contextmanager
def _stderr_to(file: BinaryIO) -> Iterator[None]:
    """Gives processes started inside this file as their stderr, from their first moment on."""
    sys.stderr.flush()
    own = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _open_files() -> set[int]:
    """The file descriptors of this process."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        # The folder itself was one while it was read.
        with suppress(OSError):
            os.fstat(int(name))
            found.add(int(name))
    return found


def _work(
    connection: Connection,
    parent: int,
    foreign: Iterable[int],
    cores: Collection[int],
    jobs: Sequence[Job],
) -> None:
    """The worker: indices of jobs in, events out, until there are no more.

    foreign: its parent's files, to be closed.
    """
    global _PARENT, _STOPPING
    _PARENT, _STOPPING = parent, False
    keep_to(cores)
    for file in foreign:
        with suppress(OSError):
            os.close(file)
    # The parent's may have words in it that are not ours to say.
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
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

    try:
        while not _STOPPING:
            try:
                index: int = connection.recv()
            except (EOFError, OSError, InterruptedError):
                return
            run_case(jobs[index], emit, lambda: _STOPPING)
    finally:
        SESSIONS.close()


def _stop(number: int, frame: FrameType | None) -> None:
    global _STOPPING
    _STOPPING = True
    if os.getppid() != _PARENT:
        # SIGALRM ends the process; namespaces, programs and the device's process end with it.
        signal.setitimer(signal.ITIMER_REAL, ORPHAN_S)
