"""The speakers of a case: started, waited for, watched, and asked to withdraw and announce."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from netdyno.devices import routes
from netdyno.devices.bgp_password import read_password
from netdyno.devices.linux import daemon, leftovers, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.bird import IS_UP, run_bird
from netdyno.devices.live import Channel, InSeries, Instrument, Live
from netdyno.devices.peering import Speaker
from netdyno.devices.reasons import RoutesAnnounced, RoutesLeftOut
from netdyno.devices.speakers import bird
from netdyno.devices.speakers.announced import SAMPLE, table_of
from netdyno.devices.speakers.port import INTERFACE, speaker_port, speaker_vlans
from netdyno.devices.speakers.table import Table
from netdyno.devices.speakers.taps import name_tap
from netdyno.devices.watches.adjacency import Adjacency, AdjacencyInstrument
from netdyno.devices.watches.bird import COMMANDS, ask_bird, command
from netdyno.devices.wiring import PEER, LabError, WiredPort, Wiring
from netdyno.values.load import Event, Trial
from netdyno.values.reason import Reason
from netdyno.values.sample import Sample
from netdyno.values.table_series import ROUTES, TABLE, name_routes

NICE = -15
READY_S = 120.0
"""A BIRD reads its whole table before it answers."""
UP_S = 60.0
"""A neighbour comes up within some hellos and retries, or not at all."""
ROUTES_PER_S = 5_000
"""A device that takes in fewer is given up, after as long again as it takes for a session to come up."""
STANDSTILL_S = 60.0
"""Nothing new came into the device's table for so long: it has what it takes."""
LATE = ("device-silent", "session-lost", "not-understood")
"""Codes of a count that may come later: a device that is busy with its table answers late, or changes the
table while it prints it."""
LOOK_S = 0.5
PERIOD_S = 1.0
DATED_PERIOD_S = 0.1
"""Time between two counts of the device's routes; in a trial with events, whose effect is dated by them."""
ANSWER_S = 5.0
END_S = 2.0
"""A BIRD that ends has closed its sessions by then: its packets take milliseconds, its table more."""


@dataclass(frozen=True)
class _One:
    """A speaker that runs. number: of its port in the lab. daemons: one for each session, one at least."""

    port: WiredPort
    number: int
    speaker: Speaker
    within: dut.Device
    daemons: tuple[daemon.Daemon, ...]
    table: Table | None

    def adjacencies(self, within_s: float) -> tuple[Adjacency, ...]:
        """Its neighbours now, of several sessions each with its number. Raises LabError."""
        found: list[Adjacency] = []
        for number, one in enumerate(self.daemons, 1):
            for neighbour in ask_bird(one.control, within_s):
                if len(self.daemons) > 1 and neighbour.protocol == "BGP":
                    neighbour = replace(neighbour, neighbour=f"{neighbour.neighbour} (session {number})")
                found.append(neighbour)
        return tuple(found)

    def ask(self, question: str) -> list[str]:
        """What each BIRD answers. Raises LabError."""
        return [command(one.control, (question,), ANSWER_S)[0] for one in self.daemons]

    def look(self) -> None:
        """Raises LabError if one has ended."""
        for one in self.daemons:
            one.look()


class RoutesInstrument(InSeries):
    """How many routes the device forwards by. has_events: of the trial that it reads in."""

    name = ROUTES

    def __init__(self, count: Callable[[], Mapping[int, int] | None]) -> None:
        self._count = count
        self._took_s = 0.0
        self.has_events = False

    @property
    def period_s(self) -> float:
        """At least so long that the device has four fifths of its time for other things."""
        return max(DATED_PERIOD_S if self.has_events else PERIOD_S, 4 * self._took_s)

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """A count of each IP version. Raises LabError."""
        asked_ns = now()
        found = self._count() or {}
        answered_ns = now()
        self._took_s = (answered_ns - asked_ns) / 1e9
        return {
            Channel(TABLE, name_routes(version), "routes"): Sample(asked_ns, answered_ns, count)
            for version, count in found.items()
        }


@dataclass(frozen=True)
class Speaking:
    """Speakers of a case that are up. wiring: the lab with them: frames go to the device's MAC addresses."""

    wiring: Wiring
    running: tuple[_One, ...] = ()
    instruments: tuple[RoutesInstrument, ...] = ()
    watches: tuple[Instrument, ...] = ()
    notes: tuple[Reason, ...] = ()

    def begin(self, trial: Trial) -> None:
        """Has the device's routes counted as often as this trial needs: each count costs the device time."""
        for one in self.instruments:
            one.has_events = bool(trial.events)

    def ask(self, event: Event) -> None:
        """Has the speaker at the event's port withdraw routes, or announce them again, and with it all others
        behind which the same prefixes are: routes of the IP version of the frames. Raises LabError."""
        behind = self.wiring.routes
        prefixes = [behind[one.number] for one in self.running if event.port in (None, one.port.name)]
        asked = [one for one in self.running if one.table is not None and behind[one.number] in prefixes]
        if not asked:
            raise LabError(
                f"no speaker at `{event.port}` can `{event.kind}`",
                "give its link `routing: {bgp: {...}}`",
                code="unsupported",
            )
        _, withdrawn = bird.TABLES[routes.version(prefixes[0])]
        for one in asked:
            one.ask(f'{"disable" if event.kind == "withdraw" else "enable"} "{withdrawn}*"')

    def check(self) -> LabError | None:
        """Which speaker has ended, and how."""
        try:
            for one in self.running:
                one.look()
        except LabError as error:
            return error
        return None


@contextmanager
def speaking(live: Live, tell: Callable[[str], None]) -> Iterator[Speaking]:
    """The speakers of a lab that was built, once all sessions are up and the device has the whole table.

    tell: is given what is waited for, a clause, twice a second; what it raises ends them. Raises LabError.
    """
    wiring = live.wiring
    if not any(port.speaker for port in wiring.ports):
        yield Speaking(wiring)
        return
    if wiring.clock == "virtual":
        # Who answers as the device has neighbours and a table of its own.
        count = live.count_routes
        yield Speaking(wiring, instruments=() if count() is None else (RoutesInstrument(count),))
        return
    with ExitStack() as within:
        running = tuple(
            within.enter_context(
                _speaker(number, port, wiring.session["ports"][number]["backend"]["interface"], tell)
            )
            for number, port in enumerate(wiring.ports)
            if port.speaker is not None
        )
        within.callback(_end_sessions, running)
        # Second choices come when the device has the first ones: it would go to them meanwhile.
        backups = tuple(one for one in running if one.speaker.bgp is not None and one.speaker.bgp.is_backup)
        firsts = tuple(one for one in running if one not in backups)
        counted, notes = _bring_up(live, firsts or backups, tell)
        if firsts and backups:
            _, more = _bring_up(live, backups, tell, firsts)
            notes += more
        ports = list(wiring.ports)
        for one in running:
            ports[one.number] = _with_next_hops(one)
        wiring = replace(wiring, ports=tuple(ports))
        watches = tuple(AdjacencyInstrument(one.adjacencies, "; ".join(COMMANDS)) for one in running)
        counts = () if counted is None else (RoutesInstrument(live.count_routes),)
        yield Speaking(replace(wiring, notes=(*wiring.notes, *notes)), running, counts, watches, notes)


def _bring_up(
    live: Live, running: Sequence[_One], tell: Callable[[str], None], before: Sequence[_One] = ()
) -> tuple[Mapping[int, int] | None, tuple[Reason, ...]]:
    """Begins all sessions of some speakers, until the device has their table. What it counts then, and notes.

    before: speakers that are up already. Raises LabError.
    """
    begun = time.monotonic()
    for one in running:
        if one.speaker.bgp is not None:
            one.ask(f'enable "{bird.SESSION}*"')
    for one in running:
        _await_up(one, tell)
    counted = _await_table(live, running, before, tell)
    took_ns = round((time.monotonic() - begun) * 1e9)
    notes = tuple(
        note
        for one in running
        if one.table is not None
        for note in (_describe(live, one, counted, took_ns), *_left_out(one.port.name, one.table))
    )
    return counted, notes


@contextmanager
def _speaker(number: int, port: WiredPort, interface: str, tell: Callable[[str], None]) -> Iterator[_One]:
    speaker = port.speaker
    assert speaker is not None
    sessions = speaker.sessions(number)
    password = read_password(port.name, speaker.bgp)
    loopbacks = () if port.vlans else tuple(one for one in sessions if one != speaker.address)
    ospfs = tuple(filter(None, (speaker.ospf, speaker.ospf3)))
    table = table_of(speaker)
    names = tuple(map(name_tap, port.vlans)) or (INTERFACE,)
    with ExitStack() as within:
        if port.vlans:
            made = within.enter_context(speaker_vlans(interface, port.mac, port.vlans))
        else:
            made = within.enter_context(speaker_port(interface, port.mac, speaker.networks, loopbacks))
        groups = _by_bird(port, speaker, sessions)
        parts = () if table is None else table.divide(len(sessions), SAMPLE) if port.vlans else (table,)
        suffixes = [one.suffix for one in groups[0]]
        daemons = []
        # BIRD reads the table once, before it is up: a hundred megabytes of text that need not stay.
        with leftovers.own_folder("table") as folder:
            includes = "\n".join(
                part.write_bird(folder, suffix) for part, suffix in zip(parts, suffixes, strict=False)
            )
            for place, own in enumerate(groups):
                text = bird.configure(
                    speaker,
                    own,
                    ospfs if place == 0 else (),
                    interfaces=names,
                    loopbacks=loopbacks,
                    includes=includes,
                    password=password,
                )
                started = run_bird(
                    *(made, text, IS_UP, READY_S, "the tester's"),
                    look=lambda: tell(f"the BIRD of `{port.name}` reads its table"),
                )
                daemons.append(within.enter_context(started))
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, daemons[-1].pid, NICE)
        yield _One(port, number, speaker, made, tuple(daemons), table)


def _by_bird(port: WiredPort, speaker: Speaker, own: Sequence[str]) -> list[tuple[bird.Session, ...]]:
    """The sessions of each BIRD of a speaker, from these addresses of its own. The first one has OSPF too.

    A BIRD has one session with a neighbour's address. On VLANs each session has a neighbour of its own.
    """
    bgp = speaker.bgp
    if bgp is None:
        return [()]
    if port.vlans:
        ends = enumerate(zip(own, speaker.peers, strict=True))
        return [tuple(bird.Session(ours, theirs, suffix=f"_{number}") for number, (ours, theirs) in ends)]
    peer = bgp.peer or speaker.peers[0]
    return [(bird.Session(one, peer, one == speaker.address),) for one in own]


def _end_sessions(running: Sequence[_One]) -> None:
    """Takes leave of the device, which else keeps the routes until the hold time has passed (RFC 4271 section
    6.5), and has an old session when the next case begins."""
    left = [found for one in running for found in one.daemons]
    for found in left:
        with suppress(LabError):
            command(found.control, ("down",), ANSWER_S)
    deadline = time.monotonic() + END_S
    while any(found.is_running for found in left) and time.monotonic() < deadline:
        time.sleep(0.02)


def _await_up(one: _One, tell: Callable[[str], None]) -> None:
    """Waits until every protocol of a speaker has its neighbour."""
    of_ospf = bool(one.speaker.ospf) + bool(one.speaker.ospf3)
    wanted = len(one.speaker.sessions(one.number)) + of_ospf * (len(one.port.vlans) or 1)
    deadline = time.monotonic() + UP_S
    while True:
        tell(f"`{one.port.name}` waits for its routing neighbours")
        one.look()
        up = [found for found in one.adjacencies(ANSWER_S) if found.is_up]
        if len(up) >= wanted:
            return
        if time.monotonic() > deadline:
            raise _refused(one, up)
        time.sleep(LOOK_S)


def _refused(one: _One, up: Sequence[Adjacency]) -> LabError:
    """Why a neighbour did not come up, in BIRD's words."""
    errors = [words for each in one.daemons for words in _said_by_neighbour(each)]
    protocols = sorted({one.protocol for one in up})
    there = f", while {' and '.join(protocols)} is up" if protocols else ""
    why = f": {errors[-1]}" if errors else ""
    return LabError(
        f"the device is no routing neighbour of `{one.port.name}` after {UP_S:.0f} s{there}{why}",
        (
            "the device's side of the session differs from `routing` of the link"
            if why
            else "look at the device's side: address, AS number, password, area, hello and dead interval"
        )
        + "; after a refusal a device may wait two minutes before it tries again",
        one.number,
        code="session-refused",
    )


def _said_by_neighbour(bird: daemon.Daemon) -> Iterator[str]:
    """What a neighbour refused in words of its protocol: `bgp1: Received: Bad peer AS` of BIRD's log."""
    for line in bird.log.read_text(errors="replace").splitlines():
        _, found, words = line.partition("<RMT> ")
        if found:
            yield words.partition(": ")[2] or words


def _await_table(
    live: Live, running: Sequence[_One], before: Sequence[_One], tell: Callable[[str], None]
) -> Mapping[int, int] | None:
    """Waits until the device forwards by all routes that are announced. What it counts; None: nobody can.

    before: speakers whose table it has already.
    """
    tables = [one.table for one in (*before, *running) if one.table is not None]
    wanted = {version: _count_prefixes(tables, version) for version in (4, 6)}
    sent = sum(
        one.table.count(version) * (1 if one.port.vlans else len(one.speaker.sessions(one.number)))
        for one in running
        if one.table is not None
        for version in wanted
    )
    deadline = time.monotonic() + UP_S + sent / ROUTES_PER_S
    seen: Mapping[int, int] = {}
    moved = time.monotonic()
    while True:
        for one in running:
            one.look()
        failed = None
        try:
            counted = live.count_routes()
        except LabError as error:
            if error.code not in LATE:
                raise
            failed, counted = error, seen
        # What is counted of one version alone says nothing of the other one.
        if failed is None and all(count >= wanted[version] for version, count in (counted or {}).items()):
            # Further sessions may still bring better ways to the same prefixes, or as good ones.
            _await_sent(running, deadline, tell)
            return counted
        if counted is not None and counted != seen:
            moved, seen = time.monotonic(), counted
        tell(f"the device has {sum(seen.values()):,} of {sum(wanted.values()):,} routes")
        if time.monotonic() > min(deadline, moved + STANDSTILL_S):
            raise failed or _incomplete(running, seen, wanted)
        time.sleep(LOOK_S)


def _count_prefixes(tables: Sequence[Table], version: int) -> int:
    """The prefixes of an IP version that some tables have together: two of one table are two ways to them."""
    found: list[tuple[Sequence[int], ...]] = []
    for one in tables:
        of_version = (one.ipv4, one.withdrawn) if version == 4 else (one.ipv6, one.withdrawn_ipv6)
        parts = tuple(part.prefixes for part in of_version)
        if parts not in found:
            found.append(parts)
    whole = [part for parts in found for part in parts]
    return len(set().union(*whole)) if len(found) > 1 else sum(map(len, whole))


def _incomplete(running: Sequence[_One], seen: Mapping[int, int], wanted: Mapping[int, int]) -> LabError:
    lost = _find_lost(running)
    if lost is not None:
        return lost
    counts = " and ".join(
        f"{count:,} of {wanted[version]:,} IPv{version} routes"
        for version, count in seen.items()
        if wanted[version]
    )
    return LabError(
        f"the device took in {counts}, and no more",
        "look at its memory, its limit of prefixes and what it filters; or announce fewer: `routes`",
        code="table-incomplete",
    )


def _find_lost(running: Sequence[_One]) -> LabError | None:
    """Why a neighbour is there no more; None: all are."""
    for one in running:
        if any(not found.is_up for found in one.adjacencies(ANSWER_S)):
            return _refused(one, [])
    return None


def _await_sent(running: Sequence[_One], deadline: float, tell: Callable[[str], None]) -> None:
    """Waits until every session has sent the whole table, as far as the tester's kernel knows."""
    # Between two batches nothing may be on its way for a moment.
    looks = 0
    while looks < 2:
        tell("the device takes in the tables of all sessions")
        time.sleep(LOOK_S)
        for one in running:
            one.look()
        unsent = [one.port.name for one in running if _has_unsent(one)]
        lost = _find_lost(running)
        looks = 0 if unsent or lost else looks + 1
        if looks == 0 and time.monotonic() > deadline:
            raise lost or LabError(
                f"the device has not taken in all that `{unsent[0]}` announced, in the time for"
                f" {ROUTES_PER_S:,} routes/s",
                "look at its processor and at its log; or fewer `sessions` or `routes`",
                code="table-incomplete",
            )


def _has_unsent(one: _One) -> bool:
    """Whether a connection of BGP still has bytes to send."""
    with namespaces.within(one.within.pid):
        lines = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
    return any(int(line.split()[4].partition(":")[0], 16) > 0 for line in lines)


def _describe(live: Live, one: _One, counted: Mapping[int, int] | None, took_ns: int) -> Reason:
    assert one.table is not None
    ours = [_usage(each.pid) for each in one.daemons]
    of_device = [_usage(pid) for pid in live.programs()]
    return RoutesAnnounced(
        port=one.port.name,
        routes=one.table.count(4),
        routes_ipv6=one.table.count(6),
        sessions=len(one.speaker.sessions(one.number)),
        took_ns=took_ns,
        held=None if counted is None else sum(counted.values()),
        speaker_cpu_ns=sum(cpu for cpu, _ in ours),
        speaker_mib=sum(size for _, size in ours),
        device_cpu_ns=sum(cpu for cpu, _ in of_device) if of_device else None,
        device_mib=sum(size for _, size in of_device) if of_device else None,
    )


def _left_out(port: str, table: Table) -> Iterator[Reason]:
    for why, count in table.left_out.items():
        yield RoutesLeftOut(port, count, why)


def _usage(pid: int) -> tuple[int, int]:
    """Processor time, ns, and resident memory, MiB, of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks * 10**9 // os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE") // 2**20


def _with_next_hops(one: _One) -> WiredPort:
    """The port with MAC addresses as next hops: its kernel answers for it, and the engine asks nobody."""
    if not one.port.vlans:
        mac = _resolve(one, one.speaker.peers[0], INTERFACE)
        return replace(one.port, ipv4=None, ipv6=None, destination=mac, destination_ipv6=None)
    vlans = tuple(
        replace(vlan, address=None, gateway=None, mac=_resolve(one, vlan.gateway or "", name_tap(vlan)))
        for vlan in one.port.vlans
    )
    return replace(one.port, vlans=vlans, destination=vlans[0].mac or PEER)


def _resolve(one: _One, gateway: str, interface: str) -> str:
    """The MAC address of the device on the link, or on a VLAN of it. Raises LabError."""
    deadline = time.monotonic() + ANSWER_S
    while time.monotonic() < deadline:
        said = one.within.do(f"ip neighbour show {gateway} dev {interface}").split()
        if "lladdr" in said:
            return said[said.index("lladdr") + 1]
        _have_asked(one.within, gateway)
        time.sleep(0.1)
    raise LabError(
        f"{gateway} does not answer at `{one.port.name}`",
        "look at the link and the device's address",
        one.number,
        code="device-silent",
    )


def _have_asked(within: dut.Device, address: str) -> None:
    """Has the kernel of a namespace ask for the MAC address of a host: whatever is sent makes it ask."""
    with namespaces.within(within.pid):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with made, suppress(OSError):
        made.sendto(b"", (address, 9))
