"""What this machine's kernel says of a trial's programs and connections, looked at some times a second."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from netdyno.devices.linux.tcp_sockets import Sockets
from netdyno.values.outcome import SENDERS_KERNEL, Connection, ProgramTime
from netdyno.values.series import Series

EVERY_S = 0.25
REST = 20
"""A look rests so many times as long as it worked: looking at a hundred connections takes a while."""
CONTROL_SEGMENTS = 20
_SUMS: Mapping[str, tuple[str, int, Callable[[Connection], int]]] = {
    "congestion window": ("segments", 0, lambda one: one.cwnd_segments),
    "delivery rate": ("bit/s", 0, lambda one: one.delivery_bps),
    "retransmitted": ("segments", 0, lambda one: one.retransmitted_segments),
    "sending": ("s", 3, lambda one: one.busy_ns // 10**6),
    "limited by the receive window": ("s", 3, lambda one: one.window_ns // 10**6),
    "limited by the send buffer": ("s", 3, lambda one: one.buffer_ns // 10**6),
}
"""Series of a stream: unit, digits, and what is added over its connections."""
_PRESSURE = re.compile(r"^some .*total=(\d+)", re.MULTILINE)
_COUNTERS = ("retransmitted", "sending", "limited by the receive window", "limited by the send buffer")


def read_pressure_ns() -> int | None:
    """How long some process of this machine has waited for a core (PSI); None: its kernel does not count."""
    try:
        found = _PRESSURE.search(Path("/proc/pressure/cpu").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1]) * 1000


@dataclass
class ProgramLooks:
    """What each thread of a program had of the processors since it started, ns.

    before: at the first look. first_ns, last_ns: when it was looked at, monotonic clock.
    """

    pid: int
    threads: dict[str, tuple[int, int]] = field(default_factory=dict)
    before: dict[str, tuple[int, int]] = field(default_factory=dict)
    first_ns: int = 0
    last_ns: int = 0

    def look(self, at_ns: int) -> None:
        """Reads how long its threads ran, and how long they were ready and waited."""
        try:
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                ran, waited, _ = (task / "schedstat").read_text().split()
                self.threads[task.name] = int(ran), int(waited)
        except (OSError, ValueError):
            # It has ended, or this kernel does not count.
            return
        if not self.before:
            self.before, self.first_ns = dict(self.threads), at_ns
        self.last_ns = at_ns

    def had(self) -> ProgramTime | None:
        """Since the first look, of the thread that wanted most of a core; None: it was not seen twice."""
        if self.last_ns == self.first_ns:
            return None
        times = (
            (ran - before[0], waited - before[1])
            for name, (ran, waited) in self.threads.items()
            for before in (self.before.get(name, (0, 0)),)
        )
        return ProgramTime(self.last_ns - self.first_ns, *max(times, key=sum))


@dataclass
class StreamLooks:
    """The connections of one stream: which ports of the other end are theirs."""

    name: str
    ports: set[int] = field(default_factory=set)
    last: dict[tuple[int, int], Connection] = field(default_factory=dict)
    """By both its ports: the kernel gives its own one to connections to several."""
    rows: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in (*_SUMS, "RTT")})
    at_ns: list[int] = field(default_factory=list)

    def add(self, at_ns: int, found: Iterable[Connection]) -> None:
        """Takes over what was seen at a time, monotonic clock."""
        # The connection by which iperf3 controls its server sends a dozen segments.
        here = [one for one in found if one.to in self.ports and one.sent_segments > CONTROL_SEGMENTS]
        if not here:
            return
        self.last |= {(one.port, one.to): one for one in here}
        self.at_ns.append(at_ns)
        for name, (_, _, read) in _SUMS.items():
            # What has been counted stays so when a connection ends before the others.
            of = self.last.values() if name in _COUNTERS else here
            self.rows[name].append(sum(map(read, of)))
        self.rows["RTT"].append(sum(one.rtt_ns for one in here) // len(here) // 1000)

    def series(self, began_ns: int) -> tuple[Series, ...]:
        """What was seen, dated from the begin of traffic."""
        if not self.at_ns:
            return ()
        times = tuple(at_ns - began_ns for at_ns in self.at_ns)
        found = [("RTT", "ms", 3), *((name, unit, scale) for name, (unit, scale, _) in _SUMS.items())]
        return tuple(
            Series(
                SENDERS_KERNEL,
                self.name,
                name,
                unit,
                times,
                tuple(self.rows[name]),
                scale,
                is_counter=name in _COUNTERS,
            )
            for name, unit, scale in found
        )


class Looks:
    """Looks at programs and connections in a thread of its own, from the begin of the block to its end.

    Programs are looked at by who enters and leaves as well: the thread may have no core for all that time.
    """

    def __init__(self, programs: Iterable[ProgramLooks], streams: Mapping[int, list[StreamLooks]]) -> None:
        """streams: of each host that sends, by the process that holds its namespace."""
        self._programs = tuple(programs)
        self._hosts = streams
        self._streams: list[tuple[Sockets, list[StreamLooks]]] = []
        self._over = Event()
        self._thread = Thread(target=self._look_on, name="looks", daemon=True)

    def __enter__(self) -> Looks:
        self._look_at_programs()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look_at_programs()

    def _look_at_programs(self) -> None:
        for program in self._programs:
            program.look(time.monotonic_ns())

    def _look_on(self) -> None:
        # A socket of pyroute2 is of the thread that opens it.
        with suppress(OSError):
            self._streams = [(Sockets(pid), of_host) for pid, of_host in self._hosts.items()]
        pause_s = 0.0
        while not self._over.wait(pause_s):
            # Where this thread waits for a core, programs do: that is no time to rest.
            had_ns = time.thread_time_ns()
            self._look_at_programs()
            self._look_at_connections(time.monotonic_ns())
            pause_s = max(EVERY_S, REST * (time.thread_time_ns() - had_ns) / 1e9)
        for sockets, _ in self._streams:
            sockets.close()

    def _look_at_connections(self, at_ns: int) -> None:
        for sockets, of_host in self._streams:
            try:
                found = sockets.list_senders()
            except OSError:
                continue
            for one in of_host:
                one.add(at_ns, found)
