"""What runs on a generator host: a session of the engine, in an actor of Dask. Answers are plain values."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

from netdyno import _engine
from netdyno.errors import NetdynoError


def is_wanted() -> bool:
    """Whether somebody waits for the task that this is part of."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state == "executing"


def describe_host() -> dict[str, Any]:
    """What must be the same on all hosts, and what Dask's worker here may not do beside the engine."""
    import dask
    from distributed import get_worker

    worker = get_worker()
    memory = "distributed.worker.memory."
    return {
        "netdyno": version("netdyno"),
        "engine": _engine.version(),
        "level": _engine.level(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "has_nanny": worker.nanny is not None,
        "nthreads": worker.state.nthreads,
        "profiles": bool(dask.config.get("distributed.worker.profile.enabled")),
        "moves_memory": any(
            dask.config.get(memory + name) for name in ("target", "spill", "pause", "terminate")
        ),
    }


_TAKEN: set[str] = set()
"""Interfaces that sessions of this process have: two load tests on one would count each other's frames."""


class InUseError(NetdynoError):
    """Another load test has an interface."""


def interfaces_of(session: Mapping[str, Any]) -> frozenset[str]:
    """The interfaces of a session's ports."""
    backends = (port["backend"] for port in session["ports"])
    return frozenset(one["interface"] for one in backends if "interface" in one)


@contextmanager
def hold_interfaces(interfaces: Collection[str]) -> Iterator[None]:
    """Keeps interfaces from load tests meanwhile. Raises InUseError."""
    wanted = frozenset(interfaces)
    for interface in sorted(wanted & _TAKEN):
        raise InUseError(
            f"another load test has the interface `{interface}`",
            "wait for its end, or give one of the plans another interface",
            code="interface-in-use",
        )
    _TAKEN.update(wanted)
    try:
        yield
    finally:
        _TAKEN.difference_update(wanted)


class Resident:
    """A session of the engine, for who is on another host. Closed when it is no longer referred to."""

    def __init__(self) -> None:
        self._session: _engine.Session | None = None
        self._held = ExitStack()

    def open(self, session: str) -> dict[str, Any]:
        """Opens the ports of a SessionSpec; what each turned out to be."""
        sys.audit("netdyno.real_time")

        def opened() -> str:
            with ExitStack() as opening:
                opening.enter_context(hold_interfaces(interfaces_of(json.loads(session))))
                self._session = _engine.Session(session)
                self._held = opening.pop_all()
            return self._session.ports()

        return answer(opened)

    def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method of the session. The engine's refusal is an answer as well: `{"error": ...}`."""
        return answer(lambda: getattr(self._session, method)(*arguments))

    def look(self) -> dict[str, Any]:
        """How the trial stands, and whether it has ended."""

        def looked() -> list[Any]:
            assert self._session is not None
            return [self._session.snapshot(), self._session.wait(0.0)]

        return answer(looked)

    async def clock_ps(self) -> int:
        """What the session's clock reads: asked in the worker's own loop, which answers soonest."""
        assert self._session is not None
        return self._session.clock_ps()

    def close(self) -> int:
        """Closes the ports; the process that had them."""
        session, self._session = self._session, None
        if session is not None:
            session.close()
        self._held.close()
        return os.getpid()

    def __del__(self) -> None:
        """Who opened it is gone."""
        self.close()


def answer(ask: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """What is asked, as `{"value": ...}`; or a refusal, `{"error": [message, hint, code]}`."""
    try:
        return {"value": ask(*arguments)}
    except (_engine.EngineError, NetdynoError) as refused:
        return {"error": [str(refused), refused.hint, refused.code]}
    except OSError as refused:
        # From here on an OSError is one of the connection to this host.
        return {"error": [str(refused), None, "command-failed"]}
