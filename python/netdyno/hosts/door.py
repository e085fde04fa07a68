"""The connection to generator hosts: Dask's scheduler and workers. Scheduling and transport are Dask's."""

from __future__ import annotations

import ipaddress
import os
import re
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from netdyno.errors import NetdynoError, names
from netdyno.hosts.clocks import Offset, measure_offset

CONNECT_S = 10.0
ANSWER_S = 45.0
"""The longest that a host may take to answer. The management network may be away for 20 s: TCP tries again
up to 25 s later. A worker that ends, or a host that says so, is known at once."""
SCHEDULER_S = 5.0
"""The longest that a scheduler may take to name its workers."""
NOTICE_S = 0.5
"""So long it takes at most to know that a scheduler ended whose workers did."""
ENDING = "cannot schedule new futures"
"""So answers a worker that is about to end, as with its scheduler."""
RULES = {"distributed.scheduler.allowed-failures": 0, "distributed.scheduler.work-stealing": False}
"""Of the scheduler. By default a task that is pinned to a lost worker waits for ever."""
WORKER_RULES = {
    "has_nanny": (False, "--no-nanny"),
    "nthreads": (1, "--nthreads 1"),
    "profiles": (False, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False"),
    "moves_memory": (False, "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=False, as SPILL, PAUSE and TERMINATE"),
}
"""Of a worker: what `describe_host` must say of it, and the setting that makes it so."""


class HostError(NetdynoError):
    """A generator host cannot be used, or is lost."""


def connect(scheduler: str) -> Door:
    """The connection of this process to a scheduler. Raises HostError."""
    key = (os.getpid(), scheduler)
    if key not in _DOORS:
        _DOORS[key] = Door(scheduler)
    return _DOORS[key]


_DOORS: dict[tuple[int, str], Door] = {}


def is_loopback(address: str) -> bool:
    """Whether `tcp://HOST:PORT` is of this machine alone."""
    host = re.sub(r"^\w+://", "", address).rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_unencrypted(scheduler: str) -> None:
    """Raises HostError for an address that others can reach without TLS."""
    if not scheduler.startswith("tls://") and not is_loopback(scheduler):
        raise HostError(
            f"the scheduler {scheduler} is not encrypted: who reaches a Dask port can run code on all hosts",
            "use TLS (`tls://`), as docs/hosts.md shows; or a scheduler on 127.0.0.1",
            code="host-not-encrypted",
        )


def refuse_without_certificate(scheduler: str) -> None:
    """Raises HostError if Dask has no authority to check the other end of a `tls://` address by."""
    import dask

    if scheduler.startswith("tls://") and not dask.config.get("distributed.comm.tls.ca-file", None):
        raise HostError(
            f"the scheduler {scheduler} has TLS, and this process has no certificate",
            "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and its fellows, as docs/hosts.md shows",
            code="host-not-encrypted",
        )


def read_workers(client: Any) -> Mapping[str, Any] | None:
    """What a scheduler says of its workers, by address; None: it does not answer.

    Asked anew: what Dask's client has of them is overwritten by a version without workers, every two seconds.
    """
    try:
        found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=SCHEDULER_S)
    except (OSError, TimeoutError):
        return None
    workers: Mapping[str, Any] = found["workers"]
    return workers


def find_unfit(host: str, found: Mapping[str, Any], ours: str) -> HostError | None:
    """Why a host cannot be used, by what `describe_host` found there; None: it can. ours: our version."""
    if found["netdyno"] != ours:
        return HostError(
            f"host `{host}` has netdyno {found['netdyno']}, and this one has {ours}",
            "install the same version on all hosts",
            code="host-version",
        )
    wrong = [setting for name, (value, setting) in WORKER_RULES.items() if found[name] != value]
    if wrong:
        return HostError(
            f"the worker of host `{host}` has other settings than it needs: {', '.join(wrong)}",
            "`netdyno worker` sets them",
            code="host-settings",
        )
    return None


class Door:
    """A scheduler and its workers. Calls have deadlines of their own."""

    def __init__(self, scheduler: str) -> None:
        refuse_unencrypted(scheduler)
        try:
            import dask
            import distributed
        except ImportError as error:
            raise HostError(
                "generator hosts need the Python package `distributed`, which is not installed",
                "install it here and on each host: `pip install 'distributed<2026.9'`",
                code="extra-missing",
            ) from error

        refuse_without_certificate(scheduler)
        client: Any = distributed.Client
        self.scheduler = scheduler
        try:
            # Straight to the workers: an answer comes in half the time, and clocks are known twice as well.
            self._client = client(scheduler, timeout=CONNECT_S, direct_to_workers=True)
            found = {name: self._client.run_on_scheduler(dask.config.get, name) for name in RULES}
        except (OSError, TimeoutError) as error:
            raise self._silent(f": {error}") from error
        wrong = [f"{name}: {RULES[name]}" for name in RULES if found[name] != RULES[name]]
        if wrong:
            self._client.close()
            raise HostError(
                f"Dask's scheduler {scheduler} has other settings than hosts need: {', '.join(wrong)}",
                f"start it with `netdyno scheduler {scheduler}`",
                code="host-settings",
            )
        self._known: dict[str, str] = {}

    def _silent(self, why: str = "") -> HostError:
        return HostError(
            f"Dask's scheduler {self.scheduler} does not answer{why}",
            f"start it there: `netdyno scheduler {self.scheduler}`",
            code="host-unreachable",
        )

    def address(self, host: str) -> str:
        """The address of the worker that has a host's name. Raises HostError if it is missing or unfit."""
        if host not in self._known:
            workers = read_workers(self._client)
            if workers is None:
                raise self._silent()
            by_name = {str(one["name"]): address for address, one in workers.items()}
            if host not in by_name:
                there = f"there are {names(by_name)}" if by_name else "there is none"
                raise HostError(
                    f"host `{host}` has no worker at {self.scheduler}; {there}",
                    f"start it there: `netdyno worker {self.scheduler} --name {host}`",
                    code="host-unreachable",
                )
            self._known[host] = by_name[host]
            self._check(host)
        return self._known[host]

    def _check(self, host: str) -> None:
        from netdyno.hosts.resident import describe_host

        unfit = find_unfit(host, self._run(host, describe_host), version("netdyno"))
        if unfit is not None:
            raise unfit

    def call(self, host: str, function: Callable[..., Any], *arguments: Any, most_s: float = ANSWER_S) -> Any:
        """What a function answers on a host within `most_s`. Raises HostError: the function raised a
        NetdynoError there, or the host does not answer.

        Interrupted, it says to the host that nobody waits for it.
        """
        from netdyno.hosts.resident import answer

        return _value(host, self._run(host, answer, function, *arguments, most_s=most_s))

    def _run(self, host: str, function: Callable[..., Any], *arguments: Any, most_s: float = ANSWER_S) -> Any:
        address = self.address(host)
        future = self._client.submit(
            function, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        try:
            return self._answer(host, future.result, most_s)
        except BaseException:
            future.cancel()
            raise

    def create(self, host: str, kind: type) -> Remote:
        """An object of a class that lives on a host. Raises HostError."""
        address = self.address(host)
        future = self._client.submit(
            kind, workers=[address], allow_other_workers=False, pure=False, retries=0, actor=True
        )
        return Remote(host, self._answer(host, future.result), self)

    def open(self, host: str, session: str) -> RemoteSession:
        """Opens the ports of a SessionSpec on a host. Raises HostError."""
        from netdyno.hosts.resident import Resident

        return RemoteSession(self.create(host, Resident), session)

    def _answer(self, host: str, wait: Callable[..., Any], most_s: float = ANSWER_S) -> Any:
        """What is waited for, `most_s` at most."""
        from distributed.scheduler import KilledWorker

        deadline = time.monotonic() + most_s
        while True:
            left_s = deadline - time.monotonic()
            try:
                return wait(timeout=min(max(left_s, 0), NOTICE_S))
            except TimeoutError as error:
                if left_s <= NOTICE_S:
                    raise self.lost(host, f"it did not answer for {most_s:.0f} s") from error
            except (OSError, KilledWorker) as error:
                raise self.lost(host) from error
            except RuntimeError as error:
                if not str(error).startswith(ENDING):
                    raise
                raise self.lost(host) from error
            # Dask never answers what waits for a worker that ended, or was under way then.
            workers = read_workers(self._client)
            if workers is not None and self._known.get(host) not in workers:
                raise self.lost(host)

    def lost(self, host: str, why: str = "its worker ended, or cannot be reached") -> HostError:
        """The error of a host that was there and is no longer."""
        self._known.pop(host, None)
        # Workers end with their scheduler: which of the two is gone is known a moment later.
        time.sleep(NOTICE_S)
        if self._client.status != "running":
            return HostError(
                f"Dask's scheduler {self.scheduler} is gone, and with it its workers",
                f"start it again, `netdyno scheduler {self.scheduler}`, and the workers that ended",
                code="host-lost",
            )
        return HostError(
            f"host `{host}` is lost: {why}",
            f"look there at the worker's log and at the management network; `netdyno worker {self.scheduler}"
            f" --name {host}` starts it again",
            code="host-lost",
        )


class Remote:
    """An object that lives on a host, asked from here. Its methods answer as `resident.answer` does."""

    def __init__(self, host: str, actor: Any, door: Door) -> None:
        self._host, self._actor, self._door = host, actor, door

    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """Calls a method; what waits for its answer. Raises HostError."""
        found = self.wait_for(method, *arguments)
        return lambda: _value(self._host, found())

    def wait_for(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """The same, of a method that answers a plain value."""
        try:
            pending = getattr(self._actor, method)(*arguments)
        except RuntimeError as error:
            # So Dask says that the worker is gone.
            raise self._door.lost(self._host) from error
        return lambda: self._door._answer(self._host, pending.result)

    def offset(self) -> Offset:
        """How far its clock, which its `clock_ps` reads, is from ours. Raises HostError."""
        return measure_offset(lambda: int(self.wait_for("clock_ps")()))


class RemoteSession:
    """A session of the engine on a host, asked from here."""

    def __init__(self, remote: Remote, session: str) -> None:
        self._remote = remote
        self.ports = remote.call("open", session)()

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """Calls a method of the session; what waits for its answer. Raises HostError."""
        return self._remote.call("ask", method, *arguments)

    def look(self) -> Callable[[], Any]:
        """How the trial stands, JSON, and whether it has ended."""
        return self._remote.call("look")

    def offset(self) -> Offset:
        """How far its clock is from ours."""
        return self._remote.offset()

    def close(self) -> None:
        """Closes the ports, as far as the host is there."""
        self._remote.wait_for("close")()


def _value(host: str, answer: Mapping[str, Any]) -> Any:
    """What a host answered. Raises HostError for a refusal."""
    if "error" in answer:
        message, hint, code = answer["error"]
        raise HostError(f"host `{host}`: {message}", hint, code=code)
    return answer["value"]
