"""A built Linux device: events it carries out during traffic, and the counters of its kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.devices import addresses, watches
from netdyno.devices.drivers.kernel import KernelCounters, count_ipv4_routes, count_ipv6_routes
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.daemon import Daemon
from netdyno.devices.linux.forwarding import Forwarding
from netdyno.devices.linux.services.service import Installed
from netdyno.devices.live import Instrument, Live
from netdyno.devices.reasons import DeviceOnOwnCore
from netdyno.devices.telemetry.linux_cpu import MachineCores
from netdyno.devices.wiring import LabError
from netdyno.values.load import CORE_SETTING, TESTERS_CORE, Event
from netdyno.values.outcome import Outcome


@dataclass(frozen=True)
class LinuxLive(Live):
    """A device namespace and the services in it. behind: addresses behind it, by their names for pings."""

    device: dut.Device
    forwarding: Forwarding
    services: tuple[Installed, ...] = ()
    behind: Mapping[str, str] = field(default_factory=dict)

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """The programs that run in it."""
        return tuple(daemon for service in self.services for daemon in service.daemons)

    @property
    def _every(self) -> tuple[str, ...]:
        return dut.PORTS[: len(self.wiring.ports)]

    def switch(self, settings: Mapping[str, str]) -> None:
        """Takes its feature away or puts it back, and has the core that sends do its work, or its own."""
        for one in self.services:
            if one.switch is not None:
                one.switch(settings)
        if CORE_SETTING in self.wiring.switched:
            own = next(note for note in self.wiring.notes if isinstance(note, DeviceOnOwnCore))
            core = None if settings.get(CORE_SETTING) == TESTERS_CORE else own.device_core
            failure = dut.isolate(self.device, core, len(self._every), len(own.tester_cores))
            if failure is not None:
                raise LabError(str(failure), code="command-failed")

    def ask(self, event: Event) -> None:
        """A few commands in its namespace."""
        every, names = self._every, self._every
        if event.port is not None:
            names = (every[[port.name for port in self.wiring.ports].index(event.port)],)
        status, said = self.device.ask(" && ".join(["true", *self._commands(event, names)]))
        if status != 0:
            raise LabError(
                f"the device could not do `{event.kind}`: {said.strip() or status}",
                dut.refusal_hint(said),
                code="command-failed",
            )

    def _commands(self, event: Event, names: Sequence[str]) -> list[str]:
        """The commands of an event at these ports."""
        match event.kind:
            case "reset":
                return self.forwarding.reset(self._every)
            case "forget":
                return self.forwarding.forget(names)
            case "link-down":
                return [f"ip link set {name} down" for name in names]
            case "link-up":
                ports = [self._every.index(name) for name in names]
                return [
                    *(f"ip link set {name} up" for name in names),
                    *(line for port in ports for line in self.forwarding.restore(port)),
                    *(line for one in self.services for port in ports for line in one.restore(port)),
                ]
        raise ValueError(f"`{event.kind}` is an event of emulated devices")

    def instruments(self) -> tuple[Instrument, ...]:
        """The counters of its kernel, and the cores of this machine, which it shares with the tester."""
        apart = any(isinstance(note, DeviceOnOwnCore) for note in self.wiring.notes)
        process = str(self.device.pid)
        own = KernelCounters(
            "the device's kernel",
            process,
            self._every,
            ours=True,
            has_own_core=apart,
            queue_drops=self._read_queue_drops,
        )
        return own, MachineCores(), *(one for service in self.services for one in service.instruments)

    def _read_queue_drops(self) -> Mapping[str, int]:
        return {port: count for one in self.services for port, count in one.queue_drops().items()}

    def addresses_of(self) -> Mapping[str, str]:
        return {watches.DEVICE: addresses.MANAGEMENT[0], **self.behind}

    def adjacencies(self) -> Instrument | None:
        return next((one.adjacencies for one in self.services if one.adjacencies is not None), None)

    def count_routes(self) -> Mapping[int, int] | None:
        """By the kernel's own statistics of its tables.

        With 900,000 routes those of IPv4 keep every program from a core for 0.13 s (`PREEMPT_NONE`), the
        tester as well: it is done on the device's own core, if there is one, whose softirqs still run.
        """
        net = Path(f"/proc/{self.device.pid}/net")
        own = next((note for note in self.wiring.notes if isinstance(note, DeviceOnOwnCore)), None)
        with nullcontext() if own is None else _on_core(own.device_core):
            ipv4, ipv6 = (net / "fib_triestat").read_text(), (net / "rt6_stats").read_text()
        return {4: count_ipv4_routes(ipv4), 6: count_ipv6_routes(ipv6)}

    def programs(self) -> tuple[int, ...]:
        return tuple(daemon.pid for daemon in self.daemons)

    def check(self, made: Outcome | None = None) -> LabError | None:
        """Which program in it has ended, and how; which service did not do its work in a trial."""
        try:
            for daemon in self.daemons:
                daemon.look()
            for out in () if made is None else made.ports[1:2]:
                for one in self.services:
                    if one.look is not None:
                        one.look(out.rx_frames - out.foreign - out.stale)
        except LabError as error:
            return error
        return None


@contextmanager
def _on_core(core: int) -> Iterator[None]:
    """This thread on one core of the machine, if it may be there."""
    before = os.sched_getaffinity(0)
    with suppress(OSError):
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
