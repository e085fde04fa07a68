"""The LAGs of a case: LACP on the interfaces of each, from before its first trial on."""

from __future__ import annotations

import fcntl
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from netdyno.devices.linux.put_back import PutBack
from netdyno.devices.live import Instrument
from netdyno.devices.reasons import LagFormed, MembersLeftOut
from netdyno.devices.speakers.lacp import NEVER, Hangs, Lacp, Member
from netdyno.devices.speakers.lacpdu import ETHERTYPE, GROUP
from netdyno.devices.watches.adjacency import Adjacency, AdjacencyInstrument
from netdyno.devices.wiring import LabError, Wiring
from netdyno.errors import counted
from netdyno.values.load import OF_LACP, OF_LINKS, Event
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason

UP_S = 30.0
"""LACP takes some seconds: three of a silent partner, two that one may wait for further members."""
FLAPS = 2
"""A member that left so often, while others were waited for, is left out though it carries frames."""
LOOK_S = 0.05
"""How often links are looked at, and whether all members carry."""

SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_MULTICAST = 263, 1, 0
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8913, 0x8914, 0x1, 0x40
MOST_BYTES = 2048
FRAME_BYTES = 128
"""A LACPDU with its FCS."""

HINTS = {
    Hangs.NO_CARRIER: "look at the cable and at the device's port",
    Hangs.SILENT: "configure LACP on the device's port; of two passive ends neither speaks: make one active",
    Hangs.LOOP: "look at the cabling: two interfaces of the LAG are joined with each other",
    Hangs.OTHER_KEY: "put the device's ports into one LAG, or look at the cabling",
    Hangs.OTHER_SYSTEM: "look at the cabling: all interfaces of a LAG go to one device",
    Hangs.NOT_IN_SYNC: "look at the device's LAG: a limit of active members, another speed or duplex",
}


@dataclass(frozen=True)
class _Port:
    """A member: the name of its tester port, its interface and its socket."""

    name: str
    interface: str
    socket: socket.socket

    @property
    def is_up(self) -> bool:
        """Whether its link is there."""
        return bool(self._flags & IFF_RUNNING)

    @property
    def _flags(self) -> int:
        asked = struct.pack("16sH14x", self.interface.encode(), 0)
        flags: int = struct.unpack_from("H", fcntl.ioctl(self.socket, SIOCGIFFLAGS, asked), 16)[0]
        return flags

    def switch(self, *, on: bool) -> None:
        """Switches its interface on or off. Raises OSError."""
        flags = self._flags | IFF_UP if on else self._flags & ~IFF_UP
        fcntl.ioctl(self.socket, SIOCSIFFLAGS, struct.pack("16sH14x", self.interface.encode(), flags))


class _Runner:
    """A thread that speaks LACP on the members of one LAG."""

    def __init__(self, lacp: Lacp, ports: Sequence[_Port]) -> None:
        self.lacp = lacp
        self.ports = tuple(ports)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="lacp", daemon=True)
        self._guards: dict[int, PutBack] = {}
        self._begun_ns = time.monotonic_ns()
        self._carrying = 0
        self.formed_ns = 0
        """How long it took until as many members carried frames as ever did."""

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Takes leave of the partner. Interfaces that were switched off are on again. Raises LabError."""
        self._is_over.set()
        self._thread.join()
        self._send(self.lacp.leave(time.monotonic_ns()))
        off = [self.ports[number].interface for number, one in self._guards.items() if not one.run()]
        if off:
            raise LabError(
                f"interface `{off[0]}` could not be switched on again",
                f"ip link set {off[0]} up",
                code="command-failed",
            )

    def count_sent(self) -> dict[str, int]:
        """LACPDUs of each member so far, by the name of its port."""
        with self._lock:
            return {one.name: member.sent for one, member in zip(self.ports, self.lacp.members, strict=True)}

    def set_silent(self, number: int, is_silent: bool) -> None:
        """Has a member say a last LACPDU and then nothing more, or speak again."""
        with self._lock:
            now, member = time.monotonic_ns(), self.lacp.members[number]
            member.is_silent = False
            self._send([(number, frame) for frame in member.speak_now(now)])
            member.is_silent = is_silent

    def guard(self, number: int) -> None:
        """Sees to it that a member's interface is on again at the end, also if this process is killed."""
        if number not in self._guards:
            self._guards[number] = PutBack("link", "set", "dev", self.ports[number].interface, "up")

    def cut(self, number: int, *, is_cut: bool) -> None:
        """Takes a member's carrier away, or gives it back. Raises OSError."""
        self.ports[number].switch(on=not is_cut)

    def find_hangs(self) -> tuple[Hangs | None, ...]:
        """Of each member why it carries no frames. Raises what ended the thread, if anything did."""
        if self._failed is not None:
            raise self._failed
        with self._lock:
            return self.lacp.find_hangs()

    def leave_out(self) -> tuple[tuple[_Port, Member, Hangs | None], ...]:
        """Goes on without the members that carry no frames, or that left again and again; what they hang in.
        Leaves out none if all do."""
        with self._lock:
            each = tuple(zip(self.ports, self.lacp.members, self.lacp.find_hangs(), strict=True))
            found = tuple(one for one in each if one[2] or one[1].left >= FLAPS)
            if len(found) == len(each):
                # Of members that come and go those that carry now are better than none.
                found = tuple(one for one in each if one[2])
            if len(found) == len(each):
                return found
            for _, member, _ in found:
                member.is_left_out = True
            self._send(self.lacp.tick(time.monotonic_ns()))
        return found

    @property
    def left_out(self) -> frozenset[str]:
        """The members that it goes on without."""
        each = zip(self.ports, self.lacp.members, strict=True)
        return frozenset(port.name for port, member in each if member.is_left_out)

    def find_waiting(self) -> str:
        """The members that carry no frames, `east.eth2`, `east.eth3`; empty: all do that are not left out."""
        each = zip(self.ports, self.find_hangs(), strict=True)
        return ", ".join(f"`{port.name}`" for port, hang in each if hang and port.name not in self.left_out)

    def adjacencies(self, _within_s: float) -> tuple[Adjacency, ...]:
        """Its members as neighbours of the device."""
        return tuple(
            Adjacency("LACP", port.name, hang or "collecting and distributing", hang is None)
            for port, hang in zip(self.ports, self.find_hangs(), strict=True)
        )

    def _run(self) -> None:
        try:
            self._speak()
        except Exception as error:
            self._failed = error

    def _speak(self) -> None:
        with selectors.DefaultSelector() as selector:
            for number, port in enumerate(self.ports):
                selector.register(port.socket, selectors.EVENT_READ, number)
            with self._lock:
                self.lacp.begin(time.monotonic_ns())
            looked_s = 0.0
            while not self._is_over.is_set():
                with self._lock:
                    if time.monotonic() >= looked_s + LOOK_S:
                        looked_s = time.monotonic()
                        self._look()
                    now = time.monotonic_ns()
                    self._send(self.lacp.tick(now))
                    if (carrying := sum(one.carries for one in self.lacp.members)) > self._carrying:
                        self._carrying, self.formed_ns = carrying, now - self._begun_ns
                    next_ns = self.lacp.next_ns
                wait_s = LOOK_S if next_ns == NEVER else (next_ns - now) / 1e9
                for key, _ in selector.select(min(max(wait_s, 0.001), LOOK_S)):
                    self._hear(key.data)

    def _look(self) -> None:
        """Notices links that came up or went down."""
        for member, port in zip(self.lacp.members, self.ports, strict=True):
            is_up = port.is_up
            if is_up and not member.is_up:
                member.begin(time.monotonic_ns())
            elif member.is_up and not is_up:
                member.end()

    def _hear(self, number: int) -> None:
        # No frame, or a link that is just going down: it is looked at soon.
        with suppress(OSError):
            frame = self.ports[number].socket.recv(MOST_BYTES)
            with self._lock:
                self._send(self.lacp.hear(number, frame, time.monotonic_ns()))

    def _send(self, frames: Sequence[tuple[int, bytes]]) -> None:
        for number, frame in frames:
            # A link that is just going down takes nothing: it is looked at soon.
            with suppress(OSError):
                self.ports[number].socket.send(frame)


@dataclass(frozen=True)
class Lags:
    """The LAGs of a case. left_out: names of members that did not join, which carry no frames."""

    runners: tuple[_Runner, ...] = ()
    watches: tuple[Instrument, ...] = ()
    notes: tuple[Reason, ...] = ()
    left_out: frozenset[str] = frozenset()

    def count_sent(self) -> Mapping[str, int]:
        """LACPDUs that the tester has sent so far, by port."""
        return {name: count for one in self.runners for name, count in one.count_sent().items()}

    def wait(self, tell: Callable[[str], None]) -> None:
        """Waits until all members carry again, or as long as LACP may take: a trial shows which do not.

        tell: is given what is waited for, a clause; what it raises ends the wait.
        """
        deadline = time.monotonic() + UP_S
        for one in self.runners:
            while (names := one.find_waiting()) and time.monotonic() < deadline:
                tell(f"LACP of {names}")
                time.sleep(LOOK_S)

    @property
    def _members(self) -> Mapping[str | None, tuple[_Runner, int]]:
        return {port.name: (one, number) for one in self.runners for number, port in enumerate(one.ports)}

    def does(self, event: Event) -> bool:
        """Whether an event is one of its members': that LACP falls silent there, or the carrier goes."""
        return event.kind in (*OF_LACP, *OF_LINKS) and event.port in self._members

    def prepare(self, events: Iterable[Event]) -> None:
        """Sees to it, before a trial, that interfaces that its events switch off are switched on again."""
        for event in events:
            if event.kind == "link-down" and self.does(event):
                runner, number = self._members[event.port]
                runner.guard(number)

    def ask(self, event: Event) -> None:
        """Has a member die, or come back. Raises OSError."""
        runner, number = self._members[event.port]
        if event.kind in OF_LINKS:
            runner.cut(number, is_cut=event.kind == "link-down")
        else:
            runner.set_silent(number, event.kind == "lacp-silent")

    def with_own_frames(self, outcome: Outcome, before: Mapping[str, int]) -> Outcome:
        """The outcome with the LACPDUs of its trial among the tester's own frames. before: sent before it."""
        if not self.runners:
            return outcome
        after, ports = self.count_sent(), []
        for port in outcome.ports:
            sent = after.get(port.name, 0) - before.get(port.name, 0)
            frames, size = port.tx_frames + sent, port.tx_bytes + sent * FRAME_BYTES
            own = port.own_frames + sent
            ports.append(replace(port, tx_frames=frames, tx_bytes=size, own_frames=own))
        return outcome.with_counts(ports=tuple(ports))


@contextmanager
def lags_formed(wiring: Wiring, tell: Callable[[str], None]) -> Iterator[Lags]:
    """The LAGs of a lab that was built, once all their members collect and distribute, or those that do after
    `UP_S`.

    tell: is given what is waited for, a clause; what it raises ends them. Raises LabError, code
    `lag-not-formed`: where no member does, with what each hangs in.
    """
    with ExitStack() as within:
        runners = [within.enter_context(_runner(wiring, numbers)) for numbers in wiring.lags]
        begun = time.monotonic()
        notes = tuple(note for one in runners for note in _await_formed(one, begun, tell))
        watches = tuple(AdjacencyInstrument(one.adjacencies, "LACP of the tester") for one in runners)
        left_out = frozenset[str]().union(*(one.left_out for one in runners))
        yield Lags(tuple(runners), watches, notes, left_out)


@contextmanager
def _runner(wiring: Wiring, numbers: Sequence[int]) -> Iterator[_Runner]:
    with ExitStack() as within:
        ports = []
        for number in numbers:
            interface = wiring.session["ports"][number]["backend"]["interface"]
            opened = within.enter_context(_open(interface))
            ports.append(_Port(wiring.ports[number].name, interface, opened))
        first = wiring.ports[numbers[0]]
        assert first.lag is not None, "a member of a LAG"
        macs = [one.socket.getsockname()[4].hex(":") for one in ports]
        lacp = Lacp(
            first.mac, macs, wiring.in_lab(numbers[0]) + 1,
            is_active=first.lag.is_active, is_fast=first.lag.is_fast,
        )  # fmt: skip
        runner = _Runner(lacp, ports)
        runner.begin()
        within.callback(runner.end)
        yield runner


def _open(interface: str) -> socket.socket:
    """A socket for LACPDUs. Raises OSError."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    made.bind((interface, ETHERTYPE))
    made.setblocking(False)
    group = bytes.fromhex(GROUP.replace(":", ""))
    wanted = struct.pack("iHH8s", socket.if_nametoindex(interface), PACKET_MR_MULTICAST, 6, group)
    made.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, wanted)
    return made


def _await_formed(runner: _Runner, begun: float, tell: Callable[[str], None]) -> Iterator[Reason]:
    """Waits until all members carry, or as long as LACP may take; what a reader must know.

    Raises LabError if no member does.
    """
    name, count = runner.ports[0].name.rpartition(".")[0], len(runner.ports)
    while any(runner.find_hangs()) and time.monotonic() <= begun + UP_S:
        tell(f"LACP of {runner.find_waiting()}")
        time.sleep(LOOK_S)
    left_out = runner.leave_out() if any(runner.find_hangs()) else ()
    states = tuple(f"`{port.name}`: {_describe(member, hang)}" for port, member, hang in left_out)
    if len(left_out) == count:
        known = (HINTS[hang] for _, _, hang in left_out if hang in HINTS)
        raise LabError(
            f"LACP did not bring up any member of `{name}` after {UP_S:.0f} s: {'; '.join(states)}",
            next(known, "look at the device's side of the LAG"),
            code="lag-not-formed",
        )
    partner = runner.lacp.partner
    assert partner is not None, "a LAG that carries frames has a partner"
    yield LagFormed(name, count - len(left_out), *partner, runner.formed_ns)
    if left_out:
        yield MembersLeftOut(name, count - len(left_out), count, states)


def _describe(member: Member, hang: Hangs | None) -> str:
    """What a member hangs in, how often it had joined, and what its partner said last."""
    partner = member.partner
    said = f" (partner {partner.system}, key {partner.key}, state 0x{partner.state:02x})"
    left = f", having joined and left {counted(member.left, 'time')}" if member.left else ""
    return f"{hang or 'it carries frames'}{left}{said if member.has_partner else ''}"
