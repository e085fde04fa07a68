"""The engine behind one door: every session, trial and measurement of this machine goes through here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from netdyno.hosts.spread import SpreadSession
from netdyno.ports.threads import kept_to, spare_cores
from netdyno.testers.tester import PortInfo, TesterError, TesterMissingError

ENGINE = "netdyno._engine"

LOOK_S = 0.2
"""How often it is looked whether to stop, where nobody watches."""

GRACE_S = 60.0
"""How long a cancelled trial may take to stop, drain and be read."""


def module(name: str = ENGINE) -> Any:
    """The engine's module. Raises TesterMissingError."""
    try:
        return import_module(name)
    except ImportError as error:
        build = "build it from the sources on this machine: `make demo` does"
        # Where the user asked for a level, the message says which there are.
        hint = None if os.environ.get("NETDYNO_LEVEL") else build
        message = f"the engine cannot be loaded: {error}"
        raise TesterMissingError(message, hint, code="tester-missing") from error


def versions(name: str = ENGINE) -> dict[str, str]:
    """The engine's version, the level of processors that it was built for, and by whom.

    Raises TesterMissingError.
    """
    engine = module(name)
    of_wheel = "levels" in Path(engine.__file__).parts
    return {
        "engine": str(engine.version()),
        "level": str(engine.level()),
        "build": "wheel" if of_wheel else "sources",
    }


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Raises what the engine refuses as TesterError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, getattr(module(name), "EngineError", ())):
            refusal: Any = error
            raise TesterError(str(error), refusal.hint, code=refusal.code) from error
        raise


def frames(trial: str, stream: int, first: int, count: int) -> list[dict[str, Any]]:
    """Frames of a stream of a TrialSpec, unsent: `{"at_ps", "frame": hex}`. Raises TesterError."""
    with _refusals(ENGINE):
        found: list[dict[str, Any]] = json.loads(module().frames(trial, stream, first, count))
        return found


class Opened:
    """An open session of the engine: JSON in, JSON out, as docs/interfaces.md has it."""

    def __init__(self, spec: Mapping[str, Any], engine: str = ENGINE) -> None:
        """Opens the ports of a SessionSpec. Raises TesterError, TesterMissingError."""
        self._engine = engine
        if spec.get("clock") == "real":
            sys.audit("netdyno.real_time")
        self._spare = spare_cores(spec)
        opener = module(engine).Session
        text = json.dumps(spec, sort_keys=True)
        with _refusals(engine):
            self._session: Any = SpreadSession(text, opener) if "hosts" in spec else opener(text)
            self.ports = tuple(map(_port, json.loads(self._session.ports())))

    def close(self) -> None:
        """Closes the ports, after the trial that may be under way."""
        self._session.close()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, spec: Mapping[str, Any] | str, events: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begins a TrialSpec and returns at once. events: what emulated devices do meanwhile."""
        text = spec if isinstance(spec, str) else json.dumps(spec)
        with _refusals(self._engine):
            if events:
                self._session.start(text, json.dumps(list(events)))
            else:
                self._session.start(text)

    def snapshot(self) -> dict[str, Any]:
        """How the trial stands."""
        found: dict[str, Any] = json.loads(self._session.snapshot())
        return found

    def wait(
        self, look: Callable[[], float] = lambda: LOOK_S, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Waits for the end of the trial; False if `stop` cut it short, in order.

        look: called again and again; seconds until its next call.
        """
        ended = False
        try:
            while not self._session.wait(look()):
                if stop():
                    return False
            ended = True
            return True
        finally:
            if not ended:
                # Ended in order, so that the next trial, or the lab, finds the ports at rest.
                self._session.cancel()
                self._session.wait(GRACE_S)

    def result(self) -> str:
        """The engine's answer to the last trial, which has ended."""
        with _refusals(self._engine):
            return str(self._session.result())

    def trial(self, spec: Mapping[str, Any] | str, events: Sequence[Mapping[str, Any]] = ()) -> str:
        """Makes a whole trial of a TrialSpec; the engine's answer."""
        with kept_to(self._spare):
            self.start(spec, events)
            self.wait()
        return self.result()


def _port(info: Mapping[str, Any]) -> PortInfo:
    return PortInfo(info["name"], info.get("backend", ""), info["detail"], info)


class Server:
    """An emulated device in real time on ports that lead out of this process, until it is stopped."""

    def __init__(self, spec: Mapping[str, Any], engine: str = ENGINE) -> None:
        """Opens the ports of a ServeSpec and begins. Raises TesterError, TesterMissingError."""
        sys.audit("netdyno.real_time")
        opener = module(engine).Server
        with _refusals(engine):
            self._server: Any = opener(json.dumps(spec))

    def look(self) -> dict[str, Any]:
        """How the device fares now."""
        found: dict[str, Any] = json.loads(self._server.served())
        return found

    def stop(self) -> dict[str, Any]:
        """Ends it in order; how it fared. Safe to call twice."""
        found: dict[str, Any] = json.loads(self._server.stop())
        return found


def watch_core(core: int, seconds: float) -> dict[str, Any]:
    """What a core is like to a loop that only reads the clock (machine::Watch)."""
    with _refusals(ENGINE):
        found: dict[str, Any] = json.loads(module().watch(core, seconds))
        return found


def bounce(first: int, second: int, rounds: int) -> dict[str, Any]:
    """What lies between two cores, by a cache line that goes to and fro (machine::Bounce)."""
    with _refusals(ENGINE):
        found: dict[str, Any] = json.loads(module().bounce(first, second, rounds))
        return found
