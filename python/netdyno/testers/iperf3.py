"""iperf3 as a tester: TCP connections between the tester's ports as hosts, through the device.

Of the path (`methods/parts/path.py`) netdyno's own frames tell, by the same ports.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netdyno.devices.linux.hosts import (
    address_of,
    find_version,
    list_host_ports,
    read_congestion_controls,
)
from netdyno.errors import names
from netdyno.hosts.door import connect
from netdyno.hosts.split import HERE, find_owners
from netdyno.plan.matrix import list_servers, streams
from netdyno.testers.by_hosts import Answer, Machines, exchange, open_machines
from netdyno.testers.iperf3_report import read_report
from netdyno.testers.netdyno import TESTER as ENGINE
from netdyno.testers.programs import Pair
from netdyno.testers.tester import OneLab, PortInfo, Stop, TesterMissingError, Watcher
from netdyno.values.health import Health
from netdyno.values.load import FRAMES, Connections, Trial
from netdyno.values.offer import Offer
from netdyno.values.outcome import Carried, ConnectionCounts, Outcome, Phase, ProgramTime
from netdyno.values.rates import ip_length
from netdyno.values.reason import Reason
from netdyno.values.units import L1Rate
from netdyno.values.unmeasured import (
    CongestionRefused,
    FarServer,
    HostLate,
    NotConnected,
    NotMeasuredError,
    ProgramFailed,
    ProgramHung,
    ServerBusy,
    WindowNotHeld,
)

if TYPE_CHECKING:
    from netdyno.devices import WiredPort, Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case, Stream
    from netdyno.testers.tester import Session

FIRST_PORT = 5201
"""Of TCP: each program has its own, from here on."""
PATIENCE_S = 10
"""A connection has so long to open, and a client to end after its time."""
SAMPLE_NS = 10**9
"""Of a client's report."""
ONE_PROCESS = 10**9
"""Bits a second of a line that a process fills by itself."""
PRIMED = 5
"""First connections that are tried."""
LATE = 10
"""A host that begins later than one part in so many of a trial sends in another trial than the others."""
VERSION = re.compile(r"iperf (3\.[0-9]+\S*)")
"""Begins what it prints of it."""
OLDEST = (3, 2)
"""The first with `--connect-timeout`; 3.1.7 has all else that is read of its JSON."""
THREADS_SINCE = (3, 16)
"""Older versions have one thread for all connections: they get a process for each core."""


class Iperf3:
    """The tester `iperf3`: for each stream clients and their servers, all at once."""

    offers = frozenset((Offer.CONNECTIONS, Offer.SERVERS))

    def versions(self) -> dict[str, str]:
        """The version of the program. Raises TesterMissingError: there is none, or it is too old."""
        return {"iperf3": _find_version(), **ENGINE.versions()}

    @contextmanager
    def open(self, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> Iterator[Iperf3Session]:
        """The ports are hosts for trials of connections, and the engine's for those of frames."""
        owners = find_owners(wiring.session)
        processes = {
            host: _count_processes(wiring.slowest)
            if host == HERE
            else connect(wiring.session["hosts"]["scheduler"]).call(host, _count_processes, wiring.slowest)
            for host in {owners[number] for number in list_host_ports(wiring)}
        }
        with ExitStack() as opened:
            yield Iperf3Session(plan, wiring, cases[0], opened, processes)


def _find_version() -> str:
    printed = find_version("iperf3")
    if printed is None:
        raise TesterMissingError(
            "the program `iperf3` is not installed", "sudo apt-get install iperf3", code="tester-missing"
        )
    oldest = ".".join(map(str, OLDEST))
    found = VERSION.match(printed)
    if found is None:
        said = printed.strip().partition("\n")[0][:80]
        raise TesterMissingError(
            f"`iperf3 --version` has no version of iperf3: `{said}`",
            f"install iperf3 {oldest} or newer, first in the PATH",
            code="tester-unfit",
        )
    if _number(found[1]) < OLDEST:
        raise TesterMissingError(
            f"iperf3 {found[1]} is too old: it has no `--connect-timeout`",
            f"install iperf3 {oldest} or newer, first in the PATH",
            code="tester-unfit",
        )
    return found[1]


def _number(version: str) -> tuple[int, int]:
    """The first two numbers of a version that `VERSION` takes."""
    first, second = re.findall("[0-9]+", version)[:2]
    return int(first), int(second)


def _count_processes(line: L1Rate) -> int:
    """As `_processes`, of this machine. Raises TesterMissingError."""
    return _processes(_find_version(), line)


def _processes(version: str, line: L1Rate) -> int:
    """How many processes share the connections of a stream, at most."""
    # Those that share begin and end a little apart, so one is better where one is enough.
    is_enough = _number(version) >= THREADS_SINCE or line.amount <= ONE_PROCESS
    return 1 if is_enough else len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class _Client:
    """A client of a stream and its server's place. options: what others of its trial have, too."""

    stream: Stream
    address: str
    port: int
    connections: int
    options: str

    @property
    def command(self) -> str:
        """Its command."""
        return f"iperf3 -J -4 -c {self.address} -p {self.port} -P {self.connections} {self.options}"

    def pair(self, ports: Sequence[WiredPort]) -> Pair:
        """Itself and its server on the hosts of the ports, one of which may be a server of somebody else."""
        tx, rx = self.stream.place.tx, self.stream.place.rx
        is_reverse = bool(ports[tx].server)
        near, far = (rx, None) if is_reverse else (tx, None if ports[rx].server else rx)
        server, to = f"iperf3 -s -4 -1 -p {self.port}", f"{self.address}:{self.port}"
        return Pair(self.stream.name, near, far, self.port, server, self.command, to, is_reverse=is_reverse)


class Iperf3Session(OneLab):
    """Ports that are hosts or the engine's, as the last trial wanted them."""

    def __init__(
        self, plan: Plan, wiring: Wiring, case: Case, opened: ExitStack, processes: Mapping[str, int]
    ) -> None:
        """processes: how many share the connections of a stream on each machine that has ports, at most."""
        self.ports = tuple(PortInfo(port.name) for port in wiring.ports)
        self._plan = plan
        # Own frames go where connections do: a router may have no other routes, a firewall no other rules.
        hosts = tuple(address_of(wiring, number) for number in range(len(wiring.ports)))
        self._wiring = replace(wiring, hosts=hosts)
        self._case = case
        self._opened = opened
        self._processes = processes
        self._machines: Machines | None = None
        self._servers = tuple(port.server for port in wiring.ports if port.server)
        self._engine: Session | None = None

    def asked(self, case: Case, trial: Trial) -> str:
        """Of frames the TrialSpec; else each stream with the commands of its clients."""
        if trial.load.load_class is FRAMES:
            return json.dumps(ENGINE.trial_spec(self._plan, case, self._wiring, trial))
        load = trial.connections
        sizes = [{"size": size, "weight": 1} for size, _ in case.profile.mix.weights]
        flows = load.streams or case.profile.flows
        found = [
            {"name": name, "sizes": sizes, "flows": flows, "clients": [one.command for one in clients]}
            for name, clients in self._clients(case, load).items()
        ]
        limits = (load.segments_under_way, load.receive_bytes, load.send_bytes)
        return json.dumps(
            {"streams": found, "limits": limits, "omit_ns": _whole_seconds(load.omit_ns) * 10**9}
        )

    def _clients(self, case: Case, load: Connections) -> dict[str, list[_Client]]:
        """Those of each stream."""
        seconds, omitted = map(_whole_seconds, (load.counted_ns, load.omit_ns))
        options = [f"-t {seconds}", f"-C {load.congestion}", f"--connect-timeout {PATIENCE_S}000"]
        options += [f"-O {omitted}"] if omitted else []
        options += [f"-w {load.window_bytes}"] if load.window_bytes else []
        options += [f"-M {load.mss_bytes}"] if load.mss_bytes else []
        flows = load.streams or case.profile.flows
        owners = find_owners(self._wiring.session)
        far = list_servers(case, self._wiring)
        found = {}
        free = FIRST_PORT
        for one in streams(case, self._wiring):
            tx, rx = one.place.tx, one.place.rx
            if one.name in far:
                # A process more would need a server more.
                address, _, port = far[one.name].partition(":")
                first, shares = int(port), [flows]
                own = [*options, "-R"] if self._wiring.ports[tx].server else options
            else:
                # As many at both ends: of the machine whose version or cores want more.
                shares = _shared(flows, max(self._processes[owners[end]] for end in (tx, rx)))
                address, first, own = address_of(self._wiring, rx), free, options
                free += len(shares)
            found[one.name] = [
                _Client(one, address, first + part, share, " ".join(own)) for part, share in enumerate(shares)
            ]
        return found

    def measure(self, case: Case, trial: Trial, watch: Watcher, stop: Stop) -> Outcome:
        """What the engine counted, or what clients reported: invalid if one of them failed.

        Raises NotMeasuredError for frames, where a server on another host is in place of a port.
        """
        if trial.load.load_class is FRAMES:
            if self._servers:
                raise NotMeasuredError(FarServer(self._servers))
            return self._as_engine().measure(case, trial, watch, stop)
        machines, load = self._as_hosts(), trial.connections
        clients = [one for each in self._clients(case, load).values() for one in each]
        pairs = [one.pair(self._wiring.ports) for one in clients]
        machines.ask_all("limit", load.segments_under_way, load.receive_bytes, load.send_bytes)
        if load.segments_under_way is not None:
            _prime(machines, pairs)
        within_ns = trial.duration_ns + PATIENCE_S * 10**9
        came = exchange(machines, pairs, trial.duration_ns, within_ns, watch, stop)
        found: dict[str, list[tuple[Carried, int]]] = {}
        failed: dict[Reason, None] = {}
        stopped: dict[Reason, None] = {}
        for client, pair, answer in zip(clients, pairs, came.answers, strict=True):
            if answer.printed is None and not came.is_late:
                stopped[ProgramFailed("iperf3", pair.stream, "it was stopped")] = None
                continue
            if answer.printed is None:
                failed[ProgramHung("iperf3", pair.stream, within_ns)] = None
                continue
            read = _read(pair, client.connections, answer, load.congestion)
            seen = max((one.cwnd_segments for one in answer.connections), default=0)
            if isinstance(read, Reason):
                failed[read] = None
            elif load.segments_under_way is not None and seen > load.segments_under_way:
                failed[WindowNotHeld(pair.stream, load.segments_under_way, seen)] = None
            else:
                found.setdefault(pair.stream, []).append((read, answer.ended_ns))
        for host in came.hosts:
            if (host.began_late_ns or 0) > trial.duration_ns // LATE:
                failed[HostLate(host.name, host.began_late_ns or 0)] = None
        # What was stopped because another one had failed is no failure itself.
        failed = failed or stopped
        carried = () if failed else tuple(map(_joined, found.values()))
        counts = ConnectionCounts(carried, SAMPLE_NS)
        phases = (Phase("traffic", 0, came.took_ns),)
        health = Health(0, 0, 0, 0, 0, None)
        invalid = tuple(failed)
        return Outcome(counts, health, phases, invalid=invalid, series=came.series, hosts=came.hosts)

    def advice(self, reasons: Sequence[Reason]) -> str | None:
        """What to do about a congestion control that is not there, and about a server on another host that
        did not take a test."""
        for reason in reasons:
            if isinstance(reason, CongestionRefused):
                host, known = self._read_congestion_controls(reason.stream)
                whose = f"the kernel of host `{host}`" if host else "this kernel"
                return f"{whose} has {names(known)}: take one, or load the module of `{reason.congestion}`"
            if isinstance(reason, ServerBusy):
                return "wait until its test has ended, then `netdyno run --resume`"
            if isinstance(reason, NotConnected) and self._servers:
                address, _, port = reason.to.partition(":")
                return f"run `iperf3 -s -p {port}` on {address}, and let TCP to it through"
        return None

    def _read_congestion_controls(self, stream: str) -> tuple[str, list[str]]:
        """The generator host that sends a stream, and the names that its kernel has."""
        session = self._wiring.session
        (place,) = (one.place for one in streams(self._case, self._wiring) if one.name == stream)
        host = find_owners(session)[place.tx]
        if host == HERE:
            return host, read_congestion_controls()
        return host, connect(session["hosts"]["scheduler"]).call(host, read_congestion_controls)

    def _as_hosts(self) -> Machines:
        """The ports as hosts. The packet in the profile's longest frame is their MTU."""
        if self._machines is None:
            self._opened.close()
            self._engine = None
            longest = max(size for size, _ in self._case.profile.mix.weights)
            opened = open_machines(self._wiring, int(ip_length(longest)))
            self._machines = self._opened.enter_context(opened)
        return self._machines

    def _as_engine(self) -> Session:
        """The ports as the engine's."""
        if self._engine is None:
            self._opened.close()
            self._machines = None
            self._engine = self._opened.enter_context(ENGINE.open(self._plan, self._wiring, (self._case,)))
        return self._engine


def _prime(machines: Machines, pairs: Sequence[Pair]) -> None:
    """Makes a first connection of each pair: a kernel takes the limit of a route once it has metrics of the
    destination, which a connection leaves that ends in order."""
    for pair in pairs:
        command = f"iperf3 -4 -c {pair.to.partition(':')[0]} -p {pair.port} -n 64K"
        for _ in range(PRIMED):
            with machines.serving([pair]):
                machines.ask(pair.tx, "connect_once", pair, command, PATIENCE_S)
            if machines.ask(pair.tx, "has_metrics", pair):
                break


def _whole_seconds(time_ns: int) -> int:
    """The seconds that iperf3 is asked for: it takes whole ones, so a part of one counts as one."""
    return -(-time_ns // 10**9)


def _shared(connections: int, processes: int) -> list[int]:
    """How many connections each process has."""
    count = min(connections, processes)
    return [connections // count + (number < connections % count) for number in range(count)]


def _read(pair: Pair, connections: int, answer: Answer, congestion: str) -> Carried | Reason:
    """What a client that has ended reported, with what the kernel says of it."""
    if answer.killed:
        return ProgramFailed("iperf3", pair.stream, f"its {answer.killed}")
    printed = answer.printed or ""
    found = read_report(pair.stream, connections, printed, pair.to, answer.complained, congestion)
    if isinstance(found, Reason):
        return found
    # The report has that of the connection that controls the test, and none where `-M` is asked for.
    mss = max((one.mss_bytes for one in answer.connections), default=found.mss_bytes)
    each = answer.connections
    return replace(found, mss_bytes=mss, each=each, sender=answer.sender, receiver=answer.receiver)


def _joined(ended: Sequence[tuple[Carried, int]]) -> Carried:
    """What several processes carried of one stream, as one. ended: each with when it had ended, ns.

    All send for as long: one that ended later began later, and what all carried took so much longer.
    """
    parts = [one for one, _ in ended]
    first = parts[0]
    if len(parts) == 1:
        return first
    apart_ns = max(at_ns for _, at_ns in ended) - min(at_ns for _, at_ns in ended)
    again = [one.retransmitted_segments for one in parts]
    rtts = [(one.mean_rtt_ns, one.connections) for one in parts if one.mean_rtt_ns is not None]
    samples = zip(*(one.samples for one in parts), strict=False)
    return replace(
        first,
        connections=sum(one.connections for one in parts),
        sent_bytes=sum(one.sent_bytes for one in parts),
        sent_ns=max(one.sent_ns for one in parts) + apart_ns,
        received_bytes=sum(one.received_bytes for one in parts),
        received_ns=max(one.received_ns for one in parts) + apart_ns,
        retransmitted_segments=None if None in again else sum(filter(None, again)),
        mean_rtt_ns=sum(rtt * count for rtt, count in rtts) // sum(count for _, count in rtts)
        if rtts
        else None,
        samples=tuple((sum(sent for sent, _ in row), max(took for _, took in row)) for row in samples),
        each=tuple(one for part in parts for one in part.each),
        sender=_busiest([one.sender for one in parts]),
        receiver=_busiest([one.receiver for one in parts]),
    )


def _busiest(programs: Sequence[ProgramTime | None]) -> ProgramTime | None:
    """The one that wanted most of a core."""
    return max(filter(None, programs), key=lambda one: one.wanted, default=None)


TESTER = Iperf3()
