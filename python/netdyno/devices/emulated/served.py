"""An emulated device in real time: served by a process of its own between veth pairs, for any tester.

tester's namespace            device's namespace
  p0 (first tester port)  <veth>  d0
  p1 (second tester port) <veth>  d1      `netdyno dut serve-spec` has d0, d1, ... by packet sockets
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, replace
from threading import Lock
from typing import Any

from netdyno.devices.drivers.driver import NO_DRIVER
from netdyno.devices.kind import Kind, Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import leftovers, namespaces, programs
from netdyno.devices.linux.links import ip
from netdyno.devices.live import Channel, Live
from netdyno.devices.reasons import EmulatedDevice, LeftoversEnded, ServedDevice
from netdyno.devices.wiring import LabError, LabLink, Trait, Wiring
from netdyno.ports import ethtool
from netdyno.ports.backends import USUAL, PortBackend
from netdyno.values.sample import Sample
from netdyno.values.served import LATE, LONGEST_GAP, SOURCE

INTERFACES = tuple(f"p{port}" for port in range(dut.MOST_PORTS))
"""Of the tester's ports, of which a lab has the first ones."""
MTU = 9000
LONGEST = MTU + 14 + 4
"""The longest frame, without FCS: a header and a VLAN tag before the MTU."""
ANSWER_S = 10.0
PERIOD_S = 0.1
DEVICE, INJECTED = "dut", "injected"
"""Subjects of series beside the device's ports: the whole device, and faults that were injected."""
OF_TRAFFIC = ("rx_packets", "tx_packets")
SHOWN_NAMES = {
    **dict(zip(("rx_frames", "tx_frames"), OF_TRAFFIC, strict=True)),
    **{"policed": "policer_drops", "denied": "filter_drops", "lose": "injected_drops"},
    **{"no_route": "no_route_drops", "ttl_expired": "ttl_drops", "malformed": "malformed_drops"},
    "unknown_vlan": "vlan_drops",
}
"""Of the engine's counters: what series call them, as those of every device. Drops are called so."""
OWN_NAMES = {shown: own for own, shown in SHOWN_NAMES.items()}


@dataclass(frozen=True)
class Served(Kind):
    """A kind of emulated device in real time. model: the kind in virtual time."""

    model: Kind
    _: KW_ONLY
    emulated: bool = True

    @classmethod
    def of(cls, model: Kind) -> Served:
        """The kind in real time."""
        ports = range(model.links.start, min(model.links.stop, dut.MOST_PORTS + 1))
        return cls(
            model.name,
            model.title,
            model,
            settings=model.settings,
            links=ports,
            driver=model.driver,
            reached=model.reached,
            taken=model.taken,
        )

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """The ports of the model with an interface each."""
        self.refuse_unknown(links, settings)
        if self.driver != NO_DRIVER:
            raise ValueError("a driver reads an emulated device in virtual time: leave `driver` out")
        wired = self.model.wire(links, settings)
        if wired.incidents:
            raise ValueError("`incidents` befall a device in virtual time: leave them out")
        devices = wired.session["devices"]
        if len(devices) > 1:
            raise ValueError(f"`{self.name}` is {len(devices)} devices, and one can be served")
        ports = [
            {"name": port.name, "backend": PortBackend.of(USUAL).spec(interface)}
            for port, interface in zip(wired.ports, INTERFACES, strict=False)
        ]
        return replace(
            wired,
            clock="real",
            session={"clock": "real", "ports": ports},
            traits=wired.traits - {Trait.CAN_BE_ASKED, Trait.IS_READ},
            notes=(ServedDevice(), *(note for note in wired.notes if not isinstance(note, EmulatedDevice))),
            switched=(),
            served=devices[0],
        )

    def list_missing(self, settings: Mapping[str, str]) -> Iterable[Program]:
        return programs.list_missing((*programs.ALWAYS.values(), NSENTER))

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Live]:
        """Makes both namespaces, the cables and the process that serves the device, and ends them in reverse.

        The calling thread lives in the tester's namespace meanwhile.
        """
        assert wiring.served is not None, "a served device has its specification"
        for program in (*programs.ALWAYS.values(), NSENTER):
            dut.tool(program)
        folder = leftovers.state_folder()
        ended = leftovers.remove(folder)
        names = INTERFACES[: wiring.lab_ports]
        with (
            namespaces.tester_namespace(),
            dut.device_namespace() as device,
            leftovers.remember_process(folder, device.pid),
        ):
            try:
                _join(device, names)
                with _process(device, _serve_spec(wiring.served, len(names))) as process:
                    noted = (LeftoversEnded(len(ended)),) if ended else ()
                    built = replace(wiring, notes=(*wiring.notes, *noted))
                    yield ServedLive(built, process, read_by=(ServedCounters(process),))
            finally:
                for interface in names:
                    with suppress(LabError):
                        ip(f"link delete {interface}")


NSENTER = Program("nsenter", "util-linux", "emulated devices in real time are made with it")


def _serve_spec(device: Mapping[str, Any], ports: int) -> dict[str, Any]:
    """The ServeSpec of docs/interfaces.md."""
    on = [PortBackend.of(USUAL).spec(interface) for interface in dut.PORTS[:ports]]
    return {"device": device, "ports": on, "max_frame": LONGEST, "core": None}


def _join(device: dut.Device, names: tuple[str, ...]) -> None:
    """A cable for each port, on which each frame is a segment with a whole checksum: the device copies frames
    from one cable to the next, and offloads are promises to a card that there is not."""
    device.do(
        "for s in all default; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done 2>/dev/null; true"
    )
    for ours, theirs in zip(names, dut.PORTS, strict=False):
        # Made here for their offloads to be set, then moved.
        ip(f"link add {ours} mtu {MTU} type veth peer name {theirs} mtu {MTU}")
        for interface in (ours, theirs):
            if not ethtool.switch_offloads_off(interface):
                raise LabError(
                    f"`{interface}`: the kernel does not switch its checksum offload off",
                    code="interface-unfit",
                )
        ip(f"link set {theirs} netns {device.pid}")
        device.do(f"ip link set {theirs} arp off up")
        ip(f"link set {ours} arp off up gso_max_segs 1")


class ServedProcess:
    """The process that serves a device: asked by a line, answers by one. May be used by several threads."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lock = Lock()

    def ask(self, line: bytes = b"") -> dict[str, Any]:
        """How the device fares, as counted after the question. Raises LabError."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            try:
                process.stdin.write(line + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                raise self._gone() from None
            ready, _, _ = select.select([process.stdout], [], [], ANSWER_S)
            if not ready:
                raise LabError(
                    f"the served device does not answer within {ANSWER_S:g} s", code="device-silent"
                )
            answer = process.stdout.readline()
        if not answer:
            raise self._gone()
        found: dict[str, Any] = json.loads(answer)
        if "error" in found:
            message, hint, code = found["error"], found["hint"], found["code"]
            raise LabError(message, hint, code=code)
        if found["failures"]:
            raise LabError(f"the served device: {found['failures'][0]}", code="device-silent")
        return found

    @property
    def has_ended(self) -> bool:
        """Whether the process is no longer there."""
        return self._process.poll() is not None

    def _gone(self) -> LabError:
        return LabError(f"the served device has ended ({self._process.wait()})", code="device-silent")


@contextmanager
def _process(device: dut.Device, spec: Mapping[str, Any]) -> Iterator[ServedProcess]:
    """Serves the device in its namespace; ends with this block, and with this process."""
    process = subprocess.Popen(
        [
            *(dut.tool("setpriv"), "--pdeathsig", "KILL"),
            *(dut.tool(NSENTER), f"--net=/proc/{device.pid}/ns/net"),
            *(sys.executable, "-m", "netdyno", "dut", "serve-spec"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A Ctrl-C in the terminal is for the run to take.
        start_new_session=True,
    )
    try:
        served = ServedProcess(process)
        served.ask(json.dumps(spec).encode())
        yield served
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class ServedLive(Live):
    """A device that is served."""

    process: ServedProcess

    def check(self, made: object = None) -> LabError | None:
        """That its process has ended."""
        return self.process._gone() if self.process.has_ended else None


@dataclass(frozen=True)
class ServedCounters:
    """What a served device counted, and whether it had its core."""

    process: ServedProcess
    name: str = SOURCE
    period_s: float = PERIOD_S

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """Counters of the device and its ports, and the longest time without its core since the last reading.

        Raises LabError.
        """
        asked_ns = now()
        found = self.process.ask()
        answered_ns = now()
        device = found["device"]
        values = dict(_counters(device))
        for name in ("spilled", "unheard"):
            for port, count in zip(device["ports"], found[name], strict=True):
                values[_counter(port["name"], name)] = count
        values |= {
            Channel(SOURCE, LONGEST_GAP, "ns"): found["gap_ns"],
            Channel(SOURCE, LATE, "ns", is_counter=True): found["late_ns"],
            Channel(SOURCE, "core_share", "ppm"): found["core_share_ppm"],
        }
        return {channel: Sample(asked_ns, answered_ns, value) for channel, value in values.items()}

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any]:
        """The counts of a trial, as `Outcome.devices` has those of a device in virtual time."""
        device: dict[str, Any] = {"name": DEVICE}
        parts: dict[str, dict[str, Any]] = {DEVICE: device, SOURCE: device, INJECTED: {}}
        for channel, count in last.items():
            if channel.is_counter:
                part = parts.setdefault(channel.subject, {"name": channel.subject})
                part[OWN_NAMES.get(channel.name, channel.name)] = count - first.get(channel, 0)
        ports = [part for subject, part in parts.items() if subject not in (DEVICE, SOURCE, INJECTED)]
        return {**device, INJECTED: parts[INJECTED], "ports": ports}


def _counter(subject: str, name: str) -> Channel:
    return Channel(subject, name, "packets", is_counter=True, counts_traffic=name in OF_TRAFFIC)


def _counters(device: Mapping[str, Any]) -> Iterator[tuple[Channel, int]]:
    """The counters of DeviceCounters (crates/dut/src/spec.rs) that are whole numbers."""
    of_device = {name: count for name, count in device.items() if name != "held"}
    parts = [(DEVICE, of_device), (INJECTED, device[INJECTED])]
    parts += [(port["name"], port) for port in device["ports"]]
    for subject, counts in parts:
        for name, count in counts.items():
            if isinstance(count, int):
                yield _counter(subject, SHOWN_NAMES.get(name, name)), count
