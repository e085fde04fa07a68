"""Programs through the device on hosts of one machine or of several: all at once.

Each machine has the ends that are on its own ports (`programs`): asked here, or in an actor of Dask there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from netdyno.devices.linux.hosts import list_host_ports
from netdyno.errors import NetdynoError
from netdyno.hosts.clocks import Offset, now_ps
from netdyno.hosts.door import Door, HostError, Remote, connect
from netdyno.hosts.split import HERE, find_owners
from netdyno.testers.programs import Ended, Pair, ProgramEnd, Programs, ResidentPrograms
from netdyno.testers.tester import Progress, Stop, Watcher
from netdyno.values.health import HostHealth

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.devices.linux.hosts import HostPort
    from netdyno.values.outcome import Connection, ProgramTime
    from netdyno.values.series import Series

LOOK_S = 0.05
"""The ends of clients are known so well."""
REMOTE_LOOK_S = 0.1
"""And of several machines: each look takes a few milliseconds of all of them."""
AHEAD_PS = 10**12
"""The instant at which the clients of several machines are started is so far ahead."""


class Part(Protocol):
    """The programs of one machine. What is asked is answered when it is called."""

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]: ...

    def offset(self) -> Offset: ...

    def close(self, *error: Any) -> None:
        """error: why, as `__exit__` has it."""


class LocalPrograms:
    """The programs of this machine."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]:
        answer = getattr(self._programs, method)(*arguments)
        return lambda: answer

    def offset(self) -> Offset:
        return Offset(0, 0)

    def close(self, *error: Any) -> None:
        self._programs.close(*error)


class RemotePrograms:
    """The programs of another machine."""

    def __init__(self, host: str, door: Door) -> None:
        """Raises HostError."""
        self._remote: Remote = door.create(host, ResidentPrograms)

    def ask(self, method: str, *arguments: Any) -> Callable[[], Any]:
        return self._remote.call("ask", method, *arguments)

    def offset(self) -> Offset:
        return self._remote.offset()

    def close(self, kind: type[BaseException] | None, *_: Any) -> None:
        try:
            self.ask("close")()
        except HostError as error:
            # What its worker had has ended with it. The first error is the one to report.
            if kind is None and error.code != "host-lost":
                raise


class Machines:
    """The machines that have the tester's ports. owners: the name of that of each port."""

    def __init__(self, parts: Mapping[str, Part], owners: Sequence[str]) -> None:
        # What is asked of this machine is done at once: of others it is asked before.
        self.parts = dict(sorted(parts.items(), key=lambda of: of[0] == HERE))
        self.owners = owners

    @property
    def is_spread(self) -> bool:
        """Whether a port is another machine's."""
        return any(host != HERE for host in self.parts)

    def ask(self, port: int, method: str, *arguments: Any) -> Any:
        """What the machine of a port answers. Raises NetdynoError."""
        return self.parts[self.owners[port]].ask(method, *arguments)()

    def ask_all(self, method: str, *arguments: Any) -> dict[str, Any]:
        """The answer of each machine to one question, asked of all at once. Raises NetdynoError."""
        asked = {host: part.ask(method, *arguments) for host, part in self.parts.items()}
        return {host: answer() for host, answer in asked.items()}

    @contextmanager
    def serving(self, pairs: Sequence[Pair]) -> Iterator[None]:
        """The servers of pairs. At the end of the block all that runs on machines that are there is ended."""
        try:
            self.ask_all("serve", pairs)
            yield
        finally:
            for part in self.parts.values():
                with suppress(NetdynoError):
                    part.ask("end")()


@contextmanager
def open_machines(wiring: Wiring, mtu: int) -> Iterator[Machines]:
    """The tester ports of a lab as hosts, each on the machine that has it. Raises LabError, HostError."""
    owners = find_owners(wiring.session)
    by_host: dict[str, dict[int, HostPort]] = {}
    for number, port in list_host_ports(wiring).items():
        by_host.setdefault(owners[number], {})[number] = port
    with ExitStack() as opened:
        parts: dict[str, Part] = {}
        for host, ports in by_host.items():
            part: Part = (
                LocalPrograms(Programs())
                if host == HERE
                else RemotePrograms(host, connect(wiring.session["hosts"]["scheduler"]))
            )
            parts[host] = part
            opened.push(part.close)
            part.ask("open", ports, mtu)()
        yield Machines(parts, owners)


@dataclass(frozen=True)
class Answer:
    """What a client printed, None if it had not ended; what the kernel says of both, and between.

    ended_ns: when it had ended, since the clients were started. complained: the last line on its standard
    error. killed: `client was killed by SIGKILL`, or its server; empty: none was.
    """

    printed: str | None
    ended_ns: int
    complained: str
    killed: str
    sender: ProgramTime | None
    receiver: ProgramTime | None
    connections: tuple[Connection, ...]


@dataclass(frozen=True)
class Exchanged:
    """What came of all pairs, in their order. is_late: a client had not ended when its time was over.

    hosts: each machine, where there are several.
    """

    took_ns: int
    is_late: bool
    answers: tuple[Answer, ...]
    series: tuple[Series, ...]
    hosts: tuple[HostHealth, ...] = ()


def exchange(
    machines: Machines, pairs: Sequence[Pair], duration_ns: int, within_ns: int, watch: Watcher, stop: Stop
) -> Exchanged:
    """Starts all servers, then all clients, and waits for these: `within_ns` at most.

    A client that ends before `duration_ns` has failed, and no other one is waited for. Raises HostError: a
    machine is lost; the programs of the others are ended.
    """
    with machines.serving(pairs):
        clocks = {host: part.offset() for host, part in machines.parts.items()}
        watch.begin()
        at_ps = now_ps() + (AHEAD_PS if machines.is_spread else 0)
        asked = {host: part.ask("begin", at_ps + clocks[host].ps) for host, part in machines.parts.items()}
        late_ns = {host: answer() for host, answer in asked.items()}
        began_ns = time.monotonic_ns()

        def progress() -> Progress:
            took_ns = time.monotonic_ns() - began_ns
            return Progress("traffic", took_ns, duration_ns, traffic_ns=took_ns)

        is_late = False
        every_s = REMOTE_LOOK_S if machines.is_spread else LOOK_S
        while not stop():
            ended = [at_ns for each in machines.ask_all("look").values() for at_ns in each.values()]
            has_failed = any(at_ns is not None and at_ns < duration_ns for at_ns in ended)
            if has_failed or None not in ended:
                break
            is_late = progress().elapsed_ns >= within_ns
            if is_late:
                break
            time.sleep(min(watch.look(progress), every_s))
        watch.end(progress)
        took_ns = progress().elapsed_ns
        found: dict[str, Ended] = machines.ask_all("end")
    answers = tuple(_answer(machines, found, number, pair, took_ns) for number, pair in enumerate(pairs))
    series = tuple(one for each in found.values() for one in each.series)
    hosts = [
        _host(host, found[host], late_ns[host], clocks[host], took_ns, machines, pairs)
        for host in (machines.parts if machines.is_spread else ())
    ]
    return Exchanged(took_ns, is_late, answers, series, tuple(hosts))


def _answer(machines: Machines, found: Mapping[str, Ended], number: int, pair: Pair, took_ns: int) -> Answer:
    """What became of a pair, of the machines of both its ends."""
    near = machines.owners[pair.tx]
    client = found[near].clients[number]
    far = None if pair.rx is None else machines.owners[pair.rx]
    server = None if far is None else found[far].servers[number]
    times = [_on(near, client), None if far is None or server is None else _on(far, server)]
    sender, receiver = reversed(times) if pair.is_reverse else times
    ends = (("client", client), ("server", server))
    return Answer(
        client.printed,
        found[near].ended_ns.get(number, took_ns),
        client.complained,
        next((f"{end} was killed by {one.killed_by}" for end, one in ends if one and one.killed_by), ""),
        sender,
        receiver,
        found[near].connections.get(number, ()),
    )


def _on(host: str, program: ProgramEnd) -> ProgramTime | None:
    return None if program.time is None else replace(program.time, host=host)


def find_core_share_ppm(programs: Sequence[ProgramTime]) -> int | None:
    """The share that programs of a machine had of the time they wanted a core, ppm; None: they wanted none.

    Of all together: one that wants a core for a moment may wait for as long and lose nothing.
    """
    ran_ns = sum(one.ran_ns for one in programs)
    wanted_ns = ran_ns + sum(one.waited_ns for one in programs)
    return ran_ns * 10**6 // wanted_ns if wanted_ns else None


def _host(
    host: str,
    ended: Ended,
    late_ns: int,
    clock: Offset,
    took_ns: int,
    machines: Machines,
    pairs: Sequence[Pair],
) -> HostHealth:
    """How one machine did."""
    programs = (*ended.clients.values(), *ended.servers.values())
    return HostHealth(
        name=host,
        began_late_ns=late_ns if ended.clients else None,
        clock_bound_ns=clock.bound_ps // 1000,
        core_share_ppm=find_core_share_ppm([one.time for one in programs if one.time is not None]),
        longest_gap_ns=None,
        unsent=None,
        rx_dropped=None,
        tx_dropped=None,
        sent_ns=took_ns,
        streams=tuple(
            dict.fromkeys(
                one.stream for one in pairs if machines.owners[one.tx] == host and not one.is_reverse
            )
        ),
        pressure_ns=ended.pressure_ns,
    )
