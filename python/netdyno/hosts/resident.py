"""What runs on a generator host: a session of the engine, in an actor of Dask. Answers are plain values."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


def _interfaces_of(session: Mapping[str, Any]) -> frozenset[str]:
    """The interfaces of a session's ports, which nobody has. Raises InUseError."""
    backends = (port["backend"] for port in session["ports"])
    wanted = frozenset(one["interface"] for one in backends if "interface" in one)
    for interface in sorted(wanted & _TAKEN):
        raise InUseError(
            f"another load test has the interface `{interface}`",
            "wait for its end, or give one of the plans another interface",
            code="interface-in-use",
        )
    return wanted


@contextmanager
def hold_interfaces(session: Mapping[str, Any]) -> Iterator[None]:
    """Keeps the interfaces of a session from load tests meanwhile. Raises InUseError."""
    wanted = _interfaces_of(session)
    _TAKEN.update(wanted)
    try:
        yield
    finally:
        _TAKEN.difference_update(wanted)


class Resident:
    """A session of the engine, for who is on another host. Closed when it is no longer referred to."""

    def __init__(self) -> None:
        self._session: _engine.Session | None = None
        self._interfaces: frozenset[str] = frozenset()

    def open(self, session: str) -> dict[str, Any]:
        """Opens the ports of a SessionSpec; what each turned out to be."""
        sys.audit("netdyno.real_time")

        def opened() -> str:
            wanted = _interfaces_of(json.loads(session))
            self._session = _engine.Session(session)
            self._interfaces = wanted
            _TAKEN.update(wanted)
            return self._session.ports()

        return _answer(opened)

    def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method of the session. The engine's refusal is an answer as well: `{"error": ...}`."""
        return _answer(lambda: getattr(self._session, method)(*arguments))

    def look(self) -> dict[str, Any]:
        """How the trial stands, and whether it has ended."""

        def looked() -> list[Any]:
            assert self._session is not None
            return [self._session.snapshot(), self._session.wait(0.0)]

        return _answer(looked)

    async def clock_ps(self) -> int:
        """What the session's clock reads: asked in the worker's own loop, which answers soonest."""
        assert self._session is not None
        return self._session.clock_ps()

    def close(self) -> int:
        """Closes the ports; the process that had them."""
        session, self._session = self._session, None
        if session is not None:
            session.close()
        _TAKEN.difference_update(self._interfaces)
        self._interfaces = frozenset()
        return os.getpid()

    def __del__(self) -> None:
        """Who opened it is gone."""
        self.close()


def _answer(ask: Any) -> dict[str, Any]:
    try:
        return {"value": ask()}
    except (_engine.EngineError, InUseError) as refused:
        return {"error": [str(refused), refused.hint, refused.code]}
