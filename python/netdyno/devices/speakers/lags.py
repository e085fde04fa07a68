"""The LAGs of a case: LACP on the interfaces of each, from before its first trial on."""

from __future__ import annotations

import fcntl
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from netdyno.devices.live import Instrument
from netdyno.devices.reasons import LagFormed
from netdyno.devices.speakers.lacp import NEVER, Hangs, Lacp, Member
from netdyno.devices.speakers.lacpdu import ETHERTYPE, GROUP
from netdyno.devices.watches.adjacency import Adjacency, AdjacencyInstrument
from netdyno.devices.wiring import LabError, Wiring
from netdyno.values.load import Event
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason

UP_S = 30.0
"""LACP takes some seconds: three of a silent partner, two that one may wait for further members."""
LOOK_S = 0.05
"""How often links are looked at, and whether all members carry."""

SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_MULTICAST = 263, 1, 0
SIOCGIFFLAGS, IFF_RUNNING = 0x8913, 0x40
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
        asked = struct.pack("16sH14x", self.interface.encode(), 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(self.socket, SIOCGIFFLAGS, asked), 16)
        return bool(flags & IFF_RUNNING)


class _Runner:
    """A thread that speaks LACP on the members of one LAG."""

    def __init__(self, lacp: Lacp, ports: Sequence[_Port]) -> None:
        self.lacp = lacp
        self.ports = tuple(ports)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="lacp", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Takes leave of the partner."""
        self._is_over.set()
        self._thread.join()
        self._send(self.lacp.leave(time.monotonic_ns()))

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

    def find_hangs(self) -> tuple[Hangs | None, ...]:
        """Of each member why it carries no frames. Raises what ended the thread, if anything did."""
        if self._failed is not None:
            raise self._failed
        with self._lock:
            return self.lacp.find_hangs()

    def find_waiting(self) -> str:
        """The members that carry no frames, `east.eth2`, `east.eth3`; empty: all do."""
        each = zip(self.ports, self.find_hangs(), strict=True)
        return ", ".join(f"`{port.name}`" for port, hang in each if hang)

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
    """The LAGs of a case, all members of which carry frames."""

    runners: tuple[_Runner, ...] = ()
    watches: tuple[Instrument, ...] = ()
    notes: tuple[Reason, ...] = ()

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

    def ask(self, event: Event) -> None:
        """Has LACP fall silent on a member, or speak again. Raises LabError."""
        places = {port.name: (one, number) for one in self.runners for number, port in enumerate(one.ports)}
        if event.port not in places:
            raise LabError(
                f"`{event.port}` is no member of a LAG of the tester",
                f"one of {', '.join(f'`{name}`' for name in places)}",
                code="unsupported",
            )
        runner, number = places[event.port]
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
    """The LAGs of a lab that was built, once all their members collect and distribute.

    tell: is given what is waited for, a clause; what it raises ends them. Raises LabError, code
    `lag-not-formed`: with what each member hangs in.
    """
    with ExitStack() as within:
        runners = [within.enter_context(_runner(wiring, numbers)) for numbers in wiring.lags]
        begun = time.monotonic()
        notes = tuple(_await_formed(one, begun, tell) for one in runners)
        watches = tuple(AdjacencyInstrument(one.adjacencies, "LACP of the tester") for one in runners)
        yield Lags(tuple(runners), watches, notes)


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


def _await_formed(runner: _Runner, begun: float, tell: Callable[[str], None]) -> LagFormed:
    """Waits until all members carry. Raises LabError."""
    while True:
        hangs = runner.find_hangs()
        if not any(hangs):
            break
        tell(f"LACP of {runner.find_waiting()}")
        if time.monotonic() > begun + UP_S:
            raise _not_formed(runner, hangs)
        time.sleep(LOOK_S)
    partner = runner.lacp.partner
    assert partner is not None, "a LAG that carries frames has a partner"
    system, key = partner
    took_ns = round((time.monotonic() - begun) * 1e9)
    return LagFormed(runner.ports[0].name.rpartition(".")[0], len(runner.ports), system, key, took_ns)


def _not_formed(runner: _Runner, hangs: Sequence[Hangs | None]) -> LabError:
    each = zip(runner.ports, runner.lacp.members, hangs, strict=True)
    states = [f"`{port.name}`: {_describe(member, hang)}" for port, member, hang in each]
    hint = next((HINTS[hang] for hang in hangs if hang in HINTS), "look at the device's side of the LAG")
    return LabError(
        f"LACP did not bring up all members after {UP_S:.0f} s: {'; '.join(states)}",
        hint,
        code="lag-not-formed",
    )


def _describe(member: Member, hang: Hangs | None) -> str:
    """What a member hangs in, and what its partner said last."""
    partner = member.partner
    said = f" (partner {partner.system}, key {partner.key}, state 0x{partner.state:02x})"
    return f"{hang or 'collecting and distributing'}{said if member.has_partner else ''}"
