"""Programs on the tester ports of one machine as hosts: ends of pairs of a server and a client, looked at.

The other end of a pair may be on another machine (`by_hosts`). What comes and goes is plain values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netdyno.devices.linux.hosts import as_hosts
from netdyno.hosts.clocks import now_ps
from netdyno.testers.looks import Looks, ProgramLooks, StreamLooks, read_pressure_ns

if TYPE_CHECKING:
    from netdyno.devices.linux.hosts import Host, HostPort, Running
    from netdyno.values.outcome import Connection, ProgramTime
    from netdyno.values.series import Series


@dataclass(frozen=True)
class Pair:
    """A client, and the server that it finds at a TCP port. stream: of the case that they are of.

    tx: the tester port that has the client. rx: that of the server; None: it is not ours. is_reverse: the
    server sends.
    """

    stream: str
    tx: int
    rx: int | None
    port: int
    server: str
    client: str
    to: str = ""
    """The server, `ADDRESS:PORT`."""
    is_reverse: bool = False


@dataclass(frozen=True)
class ProgramEnd:
    """What became of a program. printed: None if it had not ended. complained: the last line on its standard
    error. killed_by: the signal that ended it; empty: none."""

    printed: str | None
    complained: str
    killed_by: str
    time: ProgramTime | None


@dataclass(frozen=True)
class Ended:
    """What became of the programs of a machine, by number of their pair; what its kernel says of connections.

    ended_ns: when clients were seen to have ended, since all here had been started. pressure_ns: how long
    some process waited for a core meanwhile; None: its kernel does not count that.
    """

    clients: Mapping[int, ProgramEnd]
    servers: Mapping[int, ProgramEnd]
    ended_ns: Mapping[int, int]
    connections: Mapping[int, tuple[Connection, ...]]
    series: tuple[Series, ...]
    pressure_ns: int | None


class Programs:
    """The tester ports of this machine as hosts, by their numbers, and the programs on them."""

    def __init__(self, hosts: Mapping[int, Host] | None = None) -> None:
        self._hosts: Mapping[int, Host] = hosts or {}
        self._made, self._running, self._looking = ExitStack(), ExitStack(), ExitStack()
        self._run = _Run()

    def open(self, ports: Mapping[int, HostPort], mtu: int) -> None:
        """Makes hosts of ports of this machine. Raises LabError."""
        self._hosts = self._made.enter_context(as_hosts(ports, mtu))

    def close(self, *error: Any) -> None:
        """Ends what runs; the interfaces come back as they were. error: why, as `__exit__` has it."""
        self.end()
        self._hosts = {}
        self._made.__exit__(*(error or (None, None, None)))

    def limit(
        self, segments: int | None = None, receive_bytes: int | None = None, send_bytes: int | None = None
    ) -> None:
        """As `Host.limit`, of each of them."""
        for host in self._hosts.values():
            host.limit(segments, receive_bytes, send_bytes)

    def serve(self, pairs: Sequence[Pair]) -> None:
        """Starts the servers that are here, and waits until they listen. Raises LabError."""
        self._run = _Run(pairs)
        for number, pair in enumerate(pairs):
            if pair.rx is not None and pair.rx in self._hosts:
                host = self._hosts[pair.rx]
                self._run.servers[number] = self._running.enter_context(host.run(pair.server))
                host.await_listener(pair.port)

    def connect_once(self, pair: Pair, command: str, within_s: float) -> None:
        """Runs a client of a pair, so long at most."""
        with self._hosts[pair.tx].run(command) as first:
            first.wait(within_s)

    def has_metrics(self, pair: Pair) -> bool:
        """Whether the kernel of a client has metrics of its server. Raises LabError."""
        return pair.to.partition(":")[0] in self._hosts[pair.tx].ip("tcp_metrics show").split()

    def begin(self, at_ps: int) -> int:
        """Starts the clients that are here at an instant of this machine's clock; how late it began, ns."""
        run = self._run
        time.sleep(max(at_ps - now_ps(), 0) / 10**12)
        # Starting them takes time on every host: that is no lateness.
        late_ns = (now_ps() - at_ps) // 1000
        for number, pair in enumerate(run.pairs):
            if pair.tx in self._hosts:
                started = self._hosts[pair.tx].run(pair.client)
                run.clients[number] = self._running.enter_context(started)
        run.began_ns = time.monotonic_ns()
        run.pressure_ns = read_pressure_ns()
        run.sending, run.receiving = (
            {number: ProgramLooks(one.pid) for number, one in each.items()}
            for each in (run.clients, run.servers)
        )
        by_host: dict[int, list[StreamLooks]] = {}
        for number in run.clients:
            pair = run.pairs[number]
            if pair.is_reverse:
                continue
            if pair.stream not in run.streams:
                looks = run.streams[pair.stream] = StreamLooks(pair.stream)
                by_host.setdefault(self._hosts[pair.tx].pid, []).append(looks)
            run.streams[pair.stream].ports.add(pair.port)
        every = [*run.sending.values(), *run.receiving.values()]
        self._looking.enter_context(Looks(every, by_host))
        return late_ns

    def look(self) -> dict[int, int | None]:
        """When each client that is here was seen to have ended, ns; None: it runs."""
        run = self._run
        for number, one in run.clients.items():
            if number not in run.ended_ns and not one.is_running:
                run.ended_ns[number] = time.monotonic_ns() - run.began_ns
        return {number: run.ended_ns.get(number) for number in run.clients}

    def end(self) -> Ended:
        """Ends all that runs; what became of it."""
        self._looking.close()
        self.look()
        ended = self._run.read_end()
        self._running.close()
        self._run = _Run()
        return ended


@dataclass
class _Run:
    """What runs of pairs on this machine, by their number. clients, sending: of those that were started."""

    pairs: Sequence[Pair] = ()
    servers: dict[int, Running] = field(default_factory=dict)
    clients: dict[int, Running] = field(default_factory=dict)
    began_ns: int = 0
    ended_ns: dict[int, int] = field(default_factory=dict)
    sending: Mapping[int, ProgramLooks] = field(default_factory=dict)
    receiving: Mapping[int, ProgramLooks] = field(default_factory=dict)
    streams: dict[str, StreamLooks] = field(default_factory=dict)
    pressure_ns: int | None = None

    def read_end(self) -> Ended:
        """What became of it, before it is ended."""

        def of(programs: Mapping[int, Running], looks: Mapping[int, ProgramLooks]) -> dict[int, ProgramEnd]:
            return {
                number: ProgramEnd(
                    None if one.is_running else one.printed,
                    one.complained,
                    one.killed_by,
                    looks[number].had() if number in looks else None,
                )
                for number, one in programs.items()
            }

        connections = {
            number: tuple(one for one in self.streams[pair.stream].last.values() if one.to == pair.port)
            for number, pair in enumerate(self.pairs)
            if pair.stream in self.streams
        }
        series = tuple(one for stream in self.streams.values() for one in stream.series(self.began_ns))
        now_ns, before_ns = read_pressure_ns(), self.pressure_ns
        pressure_ns = None if now_ns is None or before_ns is None else now_ns - before_ns
        clients, servers = of(self.clients, self.sending), of(self.servers, self.receiving)
        return Ended(clients, servers, self.ended_ns, connections, series, pressure_ns)


class ResidentPrograms(Programs):
    """Those of a generator host, in an actor of Dask. Ended when they are no longer referred to."""

    def open(self, ports: Mapping[int, HostPort], mtu: int) -> None:
        """As `Programs.open`, of interfaces that no other load test has. Raises LabError, InUseError."""
        from netdyno.hosts.resident import hold_interfaces

        named = [port.interface for port in ports.values() if port.interface is not None]
        self._made.enter_context(hold_interfaces(named))
        super().open(ports, mtu)

    def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method. A refusal is an answer as well: `{"error": ...}`."""
        from netdyno.hosts.resident import answer

        return answer(getattr(self, method), *arguments)

    async def clock_ps(self) -> int:
        """What this machine's clock reads: asked in the worker's own loop, though its thread is busy."""
        return now_ps()

    def __del__(self) -> None:
        """Who opened them is gone."""
        self.close()
