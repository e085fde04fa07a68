"""A session over several hosts, with the methods of the engine's own: JSON in, JSON out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from netdyno.errors import NetdynoError
from netdyno.hosts.clocks import Offset, find_jump_ps, measure_offset, now_ps
from netdyno.hosts.door import HostError, connect
from netdyno.hosts.merge import merge_results, merge_snapshots
from netdyno.hosts.split import HERE, find_owners, find_unsplittable, split_session, split_trial

AHEAD_PS = 2_000_000_000_000
"""The instant at which traffic begins is so far ahead at least: 0.5 s was not enough on a busy host."""
SETTLED_PS = 200_000_000_000
"""And so long after all have settled."""
LOOK_S = 0.1
GRACE_S = 60.0
"""The longest that a host may take beyond the time of its trial."""
BEFORE = ("", "resolve")


class Part(Protocol):
    """The session of one host. What is asked is answered when it is called."""

    ports: str

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]: ...

    def look(self) -> Callable[[], Any]: ...

    def offset(self) -> Offset: ...

    def close(self) -> None: ...


class LocalSession:
    """The session of the ports of this host."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.ports: str = session.ports()

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]:
        answer = getattr(self._session, method)(*arguments)
        return lambda: answer

    def look(self) -> Callable[[], Any]:
        answer = [self._session.snapshot(), self._session.wait(0.0)]
        return lambda: answer

    def offset(self) -> Offset:
        return measure_offset(self._session.clock_ps)

    def close(self) -> None:
        self._session.close()


class SpreadSession:
    """A session over hosts. One thread asks all of them while a trial runs."""

    def __init__(self, session: str, open_here: Callable[[str], Any]) -> None:
        """Opens the ports of a SessionSpec on their hosts. open_here: opens a session of this one.

        Raises HostError, or what opening a session here raises.
        """
        spec = json.loads(session)
        self._owners = find_owners(spec)
        self._parts: dict[str, Part] = {}
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._cancelled = threading.Event()
        self._snapshot: dict[str, Any] = {}
        self._looked_ns = 0
        self._answer: dict[str, Any] | None = None
        self._failed: Exception | None = None
        try:
            for host, own in split_session(spec).items():
                text = json.dumps(own, sort_keys=True)
                self._parts[host] = (
                    LocalSession(open_here(text))
                    if host == HERE
                    else connect(spec["hosts"]["scheduler"]).open(host, text)
                )
        except BaseException:
            self.close()
            raise

    def ports(self) -> str:
        """What each port turned out to be, in order: PortInfo."""
        found = {host: json.loads(part.ports) for host, part in self._parts.items()}
        return json.dumps([found[owner][number] for number, owner in enumerate(self._owners)])

    def start(self, trial: str, events: str | None = None) -> None:
        """Begins a TrialSpec on all hosts, and returns at once."""
        spec = json.loads(trial)
        wrong = find_unsplittable(spec, self._owners)
        if wrong is not None:
            raise HostError(
                f"{wrong} cannot be measured between ports of several hosts",
                "put the ports of a pair on one host, or take another method",
                code="unsupported",
            )
        self._join()
        self._done.clear()
        self._cancelled.clear()
        self._answer, self._failed = None, None
        names = [port["name"] for port in json.loads(self.ports())]
        silent = {"tx_frames": 0, "tx_bytes": 0, "rx_frames": 0, "rx_bytes": 0}
        self._snapshot = {
            "phase": "resolve",
            "elapsed_ns": 0,
            "total_ns": 0,
            "ports": [{"name": name, **silent} for name in names],
        }
        self._looked_ns = time.monotonic_ns()
        self._thread = threading.Thread(target=self._run, args=(spec,), name="netdyno-hosts", daemon=True)
        self._thread.start()

    def snapshot(self) -> str:
        """How the trial stands: as it was looked at last, a tenth of a second ago, and the time since."""
        since_ns = 0 if self._done.is_set() else time.monotonic_ns() - self._looked_ns
        return json.dumps({**self._snapshot, "elapsed_ns": self._snapshot["elapsed_ns"] + since_ns})

    def wait(self, timeout_s: float) -> bool:
        """Waits for the end of the trial; whether it has ended."""
        return self._done.wait(timeout_s)

    def cancel(self) -> None:
        """Ends the trial in order on all hosts."""
        self._cancelled.set()

    def result(self) -> str:
        """What the trial found on all hosts together. Raises HostError if one was lost."""
        self._join()
        if self._failed is not None:
            raise self._failed
        return json.dumps(self._answer)

    def close(self) -> None:
        """Ends what runs, and closes the ports on all hosts that are there."""
        self._cancelled.set()
        self._join()
        for part in self._parts.values():
            with suppress(NetdynoError):
                part.close()

    def _join(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self, spec: Mapping[str, Any]) -> None:
        try:
            self._answer = self._measure(spec)
        except Exception as error:
            self._failed = error
            for part in self._parts.values():
                # Those that are there are not left sending.
                with suppress(Exception):
                    part.ask("cancel")()
        finally:
            self._done.set()

    def _measure(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        own = split_trial(spec, self._owners)
        self._ask_all("start", {host: (json.dumps(one),) for host, one in own.items()})
        clocks: dict[str, Offset] = {}
        measured_ps = now_ps()
        deadline = time.monotonic() + spec["resolve_ns"] / 1e9 + GRACE_S
        if self._await_settled(spec, deadline):
            clocks, measured_ps = self._offsets(), now_ps()
            at_ps = measured_ps + max(AHEAD_PS, spec["settle_ns"] * 1000 + SETTLED_PS)
            self._ask_all("begin", {host: (self._begin(host, at_ps, clocks, spec),) for host in self._parts})
            deadline += max(AHEAD_PS / 1e12, spec["settle_ns"] / 1e9) + _longest_s(spec)
        else:
            self._cancelled.set()
        is_cancelled = False
        while not self._look(spec):
            if self._cancelled.is_set() and not is_cancelled:
                self._ask_all("cancel")
                is_cancelled = True
                deadline = min(deadline, time.monotonic() + spec["drain_ns"] / 1e9 + GRACE_S)
            if time.monotonic() > deadline:
                raise HostError("a host did not end its trial in time", code="host-lost")
            self._cancelled.wait(LOOK_S) if not is_cancelled else time.sleep(LOOK_S)
        found = {host: json.loads(answer) for host, answer in self._ask_all("result").items()}
        after = self._offsets() if clocks else {}
        elapsed_ps = now_ps() - measured_ps
        jumps_ps = {host: find_jump_ps(one, after[host], elapsed_ps) for host, one in clocks.items()}
        return merge_results(found, self._owners, spec, _bounds(clocks, after), jumps_ps)

    def _await_settled(self, spec: Mapping[str, Any], deadline: float) -> bool:
        """Waits until all hosts have resolved their next hops; False if one cannot, or all is cancelled."""
        while True:
            found = {host: part.look() for host, part in self._parts.items()}
            stands = [look() for look in found.values()]
            if self._cancelled.is_set() or any(is_done for _, is_done in stands):
                return False
            if all(json.loads(snapshot)["phase"] not in BEFORE for snapshot, _ in stands):
                return True
            if time.monotonic() > deadline:
                raise HostError("a host did not resolve its next hops in time", code="host-lost")
            time.sleep(LOOK_S / 5)

    def _begin(self, host: str, at_ps: int, clocks: Mapping[str, Offset], spec: Mapping[str, Any]) -> str:
        """The instant in a host's own clock; what it adds to departures makes them the receiving host's."""
        own = clocks[host].ps
        shifts = [clocks[self._owners[one["rx_port"]]].ps - own for one in spec["streams"]]
        return json.dumps({"at_ps": at_ps + own, "shifts_ps": shifts})

    def _offsets(self) -> dict[str, Offset]:
        return {host: part.offset() for host, part in self._parts.items()}

    def _look(self, spec: Mapping[str, Any]) -> bool:
        """Notes how the trial stands; whether it has ended on all hosts."""
        looked_ns = time.monotonic_ns()
        asked = {host: part.look() for host, part in self._parts.items()}
        found = {host: look() for host, look in asked.items()}
        snapshots = {host: json.loads(snapshot) for host, (snapshot, _) in found.items()}
        merged = merge_snapshots(snapshots, self._owners, spec["streams"])
        self._snapshot, self._looked_ns = merged, looked_ns
        return all(is_done for _, is_done in found.values())

    def _ask_all(self, method: str, arguments: Mapping[str, tuple[Any, ...]] | None = None) -> dict[str, Any]:
        """The answer of each host to one question, asked of all at once."""
        given = arguments or {}
        asked = {host: part.ask(method, *given.get(host, ())) for host, part in self._parts.items()}
        return {host: answer() for host, answer in asked.items()}


def _longest_s(spec: Mapping[str, Any]) -> float:
    """How long traffic and what is behind it take, s."""
    lengths = [sum(one["duration_ns"] for one in stream["schedule"]) for stream in spec["streams"]]
    return float(max(lengths, default=0) + spec.get("overtime_ns", 0) + spec["drain_ns"]) / 1e9


def _bounds(before: Mapping[str, Offset], after: Mapping[str, Offset]) -> dict[str, Offset]:
    """How well each clock was known throughout the trial: it went away from ours meanwhile."""
    return {
        host: Offset(one.ps, max(one.bound_ps, after[host].bound_ps) + abs(after[host].ps - one.ps))
        for host, one in before.items()
    }
