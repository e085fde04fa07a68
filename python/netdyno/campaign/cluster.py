"""Cases in virtual time on the workers of a Dask cluster, here or on other machines.

A case is a task: its events come back when it has ended, and a case whose worker was lost begins again. The
process that began the run writes the store. Scheduling, transport and heartbeats are Dask's.
"""

from __future__ import annotations

import logging
import pickle
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Failed, Interrupted, Looked, Waiting
from netdyno.campaign.job import Job
from netdyno.campaign.versions import versions
from netdyno.devices.extras import find_missing
from netdyno.errors import NetdynoError
from netdyno.hosts.door import read_workers, refuse_unencrypted
from netdyno.testers import TESTERS
from netdyno.values.records import CaseError

LOCAL = "local:"
MOST_WORKERS = 256
CONNECT_S = 10.0
WORKERS_S = 60.0
"""So long a cluster may take to have its first worker."""
ANSWER_S = 15.0
"""So long a call to all workers may take."""
ASK_S = 1.0
"""How often a case asks whether the run is being stopped."""
STOP_S = 30.0
"""Cases under way that were asked to stop are left to their workers after this."""
LOST_WORKERS = 20
"""After so many workers lost with the same case in hand, the case is the reason."""


class Cluster:
    """The workers of a cluster and the jobs they are given: as `Workers`, for cases in virtual time."""

    def __init__(self, where: str, versions: Mapping[str, str]) -> None:
        """where: `local:4` starts so many workers here; else a scheduler's address. versions: of this run."""
        self._where = where
        self._versions = {name: text for name, text in versions.items() if name in COMPARED}
        self._stack = ExitStack()
        self._is_stopping = self._is_killed = False

    def stop(self) -> None:
        """Asks the cases under way to end in order; no new one begins."""
        self._is_stopping = True

    def kill(self) -> None:
        """Waits for nothing any more."""
        self._is_stopping = self._is_killed = True

    def __enter__(self) -> Cluster:
        try:
            self._client = self._connect()
            self._prepare()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, TimeoutError):
            self._stack.close()

    def run(self, jobs: Iterable[Job], tick_s: float = 0.2) -> Iterator[Event | None]:
        """The events of all jobs as they come; None when none came for `tick_s`. Called once."""
        dask = _dask()
        given = tuple(jobs)
        name = f"netdyno-stop-{id(self)}-{time.time_ns()}"
        flag = dask.Event(name, client=self._client)
        # Computed on the cluster, so that a lost worker does not take it with it.
        loaded = self._client.submit(pickle.loads, pickle.dumps(given), key=f"{name}-jobs")
        numbers = {
            self._client.submit(_run, loaded, index, name, pure=False, retries=0): job.case.number
            for index, job in enumerate(given)
        }
        asked_s: float | None = None
        while numbers:
            if self._client.status != "running":
                yield from (_lost(self._where, number) for number in numbers.values())
                return
            if self._is_stopping and asked_s is None:
                asked_s = time.monotonic()
                flag.set()
            if self._is_killed or (asked_s is not None and time.monotonic() > asked_s + STOP_S):
                yield from map(Interrupted, numbers.values())
                return
            try:
                done = dask.wait(list(numbers), timeout=tick_s, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                yield None
                continue
            for future in done:
                yield from self._events(future, numbers.pop(future))

    def _events(self, future: Any, number: int) -> Iterator[Event]:
        try:
            events: Sequence[Event] = future.result(timeout=ANSWER_S)
        except _dask().KilledWorker:
            text = f"{LOST_WORKERS} workers were lost, one after the other, while they ran this case"
            hint = "most often for want of memory: `dmesg` on their machines says so"
            yield Failed(number, CaseError("host-lost", text, hint))
        except Exception as error:
            if self._client.status != "running" or future.status in ("cancelled", "lost"):
                yield _lost(self._where, number)
            else:
                text = f"its worker could not run it: {type(error).__name__}: {error}"
                yield Failed(number, CaseError("host-lost", text))
        else:
            yield from events

    def _connect(self) -> Any:
        missing = find_missing("hosts", "`--on`")
        if missing is not None:
            raise missing
        dask = _dask()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        if not self._where.startswith(LOCAL):
            refuse_unencrypted(self._where)
            try:
                return self._stack.enter_context(dask.Client(self._where, timeout=CONNECT_S))
            except (OSError, TimeoutError, ValueError) as error:
                text = f"--on: no Dask scheduler answers at {self._where}: {_in_a_line(error)}"
                hint = (
                    "start it there with `dask scheduler`, or look at the address; TLS is set by Dask's own"
                )
                raise NetdynoError(text, f"{hint} settings", code="host-unreachable") from None
        from dask import config

        count = int(self._where.removeprefix(LOCAL))
        self._stack.enter_context(
            config.set(
                {
                    "distributed.scheduler.allowed-failures": LOST_WORKERS,
                    "distributed.worker.profile.enabled": False,
                }
            )
        )
        # A port of a worker runs code for whoever reaches it, other users of this machine too.
        cluster = dask.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            security=dask.Security.temporary(),
            silence_logs=logging.CRITICAL,
        )
        self._stack.enter_context(cluster)
        return self._stack.enter_context(dask.Client(cluster, timeout=CONNECT_S))

    def _prepare(self) -> None:
        """Waits for a worker. NetdynoError if one cannot run cases as this process would."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError:
            hint = "start some: `dask worker ADDRESS --nthreads 1`"
            raise NetdynoError(
                f"--on: the scheduler at {self._where} has no worker", hint, code="host-unreachable"
            ) from None
        workers = read_workers(self._client) or {}
        threads = {name: one["nthreads"] for name, one in workers.items()}
        for name, count in threads.items():
            if count != 1:
                text = f"--on: the worker {name} has {count} threads; a case takes a process of its own"
                raise NetdynoError(text, "start it with `--nthreads 1`", code="host-settings")
        for name, theirs in self._client.run(_ready, self._where.startswith(LOCAL)).items():
            for what, version in self._versions.items():
                if theirs.get(what) != version:
                    text = f"--on: the worker {name} has {what} {theirs.get(what)}, this run {version}"
                    raise NetdynoError(text, "install the same version there", code="host-version")


COMPARED = ("netdyno", "engine")
"""Of the versions of a run, those that decide what is measured in virtual time."""


def check_address(text: str) -> str | None:
    """What is wrong with the place of a cluster; None if nothing is."""
    if text.startswith(LOCAL):
        count = text.removeprefix(LOCAL)
        if not re.fullmatch(r"[0-9]{1,4}", count) or not 1 <= int(count) <= MOST_WORKERS:
            return f"`{text}`: 1 to {MOST_WORKERS} workers, `local:4`"
        return None
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in ("tcp", "tls", "ucx", "ws", "wss") and parts.hostname and parts.port
    except ValueError:
        is_whole = None
    return None if is_whole else f"`{text}` is neither `local:4` nor a scheduler, `tcp://scheduler:8786`"


def _dask() -> Any:
    """The library, loaded when it is asked for. Its names have no types."""
    import distributed

    return distributed


def _lost(where: str, number: int) -> Failed:
    text = f"the scheduler at {where} is gone" if not where.startswith(LOCAL) else "the cluster has ended"
    return Failed(number, CaseError("host-lost", text, "`netdyno run --resume` goes on with the rest"))


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _ready(is_local: bool) -> dict[str, str]:
    """On a worker: makes it ready for cases. What it has of the versions."""
    if is_local:
        _ignore_interrupts()
    return versions(TESTERS["netdyno"])


def _ignore_interrupts() -> None:
    # Those of the terminal reach every process of the run; the first one says what they mean.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(jobs: Sequence[Job], index: int, flag: str) -> list[Event]:
    """On a worker: runs a case. Its events, but for those that only show that it goes on."""
    dask = _dask()
    is_set = dask.Event(flag, client=dask.get_client()).is_set
    events: list[Event] = []

    def emit(event: Event) -> None:
        if not isinstance(event, Looked | Waiting):
            events.append(event)

    run_case(jobs[index], emit, _now_and_then(is_set))
    return events


def _now_and_then(is_set: Callable[[], Any]) -> Callable[[], bool]:
    """Asks at most every `ASK_S`: each answer comes from the scheduler."""
    asked_s, answer = -ASK_S, False

    def is_stopping() -> bool:
        nonlocal asked_s, answer
        if not answer and time.monotonic() >= asked_s + ASK_S:
            asked_s, answer = time.monotonic(), bool(is_set())
        return answer

    return is_stopping
