"""What a service of a Linux device is: one file, and one line in `SERVICES`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.kind import Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.daemon import Daemon
from netdyno.devices.live import Instrument
from netdyno.devices.wiring import Wiring
from netdyno.values.reason import Reason


@dataclass(frozen=True)
class Lab:
    """A lab that was built, as far as a service knows it. wiring: with the settings of the case."""

    device: dut.Device
    wiring: Wiring
    interfaces: tuple[str, ...] = ()
    """The tester's ports, opposite those of the device."""
    folder: Path = Path()
    """For files of a service."""
    core: int = 0
    """The one that the device is to work on."""

    @property
    def ports(self) -> tuple[str, ...]:
        """The device's ports, in the order of the lab."""
        return dut.PORTS[: len(self.wiring.ports)]


@dataclass(frozen=True)
class Installed:
    """What an installed service gives while a case runs.

    switch: gives the device other settings between two trials than the case has; none: the case's.
    look: after a trial in which so many test frames came out of the second port; raises LabError where they
    came past it. notes: on it, for a reader of the report.
    daemons: programs without which the device is not as the plan asks. instruments: what reads it beside the
    traffic. adjacencies: what reads the neighbours of its routing protocols. of_links: for each port the
    command that gives it again what goes with its link. if_indexes: of each port, for SNMP. queue_drops:
    frames that its queues dropped, by port; raises LabError.
    """

    daemons: tuple[Daemon, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    adjacencies: Instrument | None = None
    of_links: tuple[str, ...] = ()
    if_indexes: tuple[int, ...] = ()
    switch: Callable[[Mapping[str, str]], None] | None = None
    look: Callable[[int], None] | None = None
    notes: tuple[Reason, ...] = ()
    queue_drops: Callable[[], Mapping[str, int]] = dict

    def restore(self, port: int) -> tuple[str, ...]:
        """The commands that give a port again what goes with its link."""
        return self.of_links[port : port + 1]


@dataclass(frozen=True)
class Service(ABC):
    """Something that a device does beside forwarding, by one of its settings.

    setting: its name in a plan. values: the first is the default, without the service; none: any text.
    programs: of this machine, that it is made with.
    """

    setting: str
    values: tuple[str, ...] = ()
    programs: tuple[Program, ...] = ()

    def is_on(self, settings: Mapping[str, str]) -> bool:
        """Whether a device of these settings has it: its own is given, and is not the default."""
        value = settings.get(self.setting)
        return value is not None and value not in self.values[:1]

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        """The wiring with what a value of the setting adds. Pure. Raises ValueError with a sentence."""
        return wiring

    def list_programs(self, settings: Mapping[str, str]) -> tuple[Program, ...]:
        """The programs that a device of these settings has it by."""
        return self.programs

    @abstractmethod
    def install(self, lab: Lab) -> AbstractContextManager[Installed]:
        """Installs it in the device's namespace, and removes what would outlive that. Raises LabError."""

    def addresses_of(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """Addresses behind the device that pings can have by these names."""
        return {}

    def has_adjacencies(self, settings: Mapping[str, str]) -> bool:
        """Whether its routing protocols have neighbours."""
        return False
