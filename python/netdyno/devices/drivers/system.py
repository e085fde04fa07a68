"""A network operating system as data, and the driver that speaks to it by its command line."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Driver, Facts, Proof, Reached
from netdyno.devices.drivers.reading import Reading
from netdyno.devices.live import Instrument, Live
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import Wiring

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun
    from netdyno.devices.configure.locks import Identity


@dataclass(frozen=True)
class System:
    """version, port: the command and a pattern, whose group `n` is the version, or the state of a port.

    Names of ports are written out as the system prints them: `long_names` has what its short ones stand for.
    """

    name: str
    title: str
    proof: Proof
    shell: Shell
    version: tuple[str, str]
    port: tuple[str, str]
    readings: tuple[Reading, ...] = ()
    long_names: tuple[tuple[str, str], ...] = ()

    def long_name(self, port: str) -> str:
        """A port's name as the system prints it: `Te0/1/0/0` is `TenGigE0/1/0/0`."""
        for short, long in self.long_names:
            rest = port[len(short) :]
            if port.startswith(short) and rest[:1].strip() and not rest[:1].isalpha():
                return long + rest
        return port

    def driver(self) -> Driver:
        """The driver. What it stands on is loaded when it is used: that takes a second."""
        kinds = dict.fromkeys(reading.name for reading in self.readings)
        return Driver(
            self.name,
            self.title,
            self._instruments,
            self._live,
            self.proof,
            ", ".join(("configuration",) * (self.shell.configuring is not None) + tuple(kinds)),
            needs_host=True,
            configures=self.shell.configuring is not None,
            look=self._look,
            dry_run=self._dry_run,
            restore=self._restore,
        )

    def _instruments(self, reached: Reached) -> tuple[Instrument, ...]:
        raise NotImplementedError("read over an open session: `live`")

    def _live(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        from netdyno.devices.reach.live import reach

        return reach(self, wiring, reached)

    def _dry_run(self, reached: Reached, settings: Mapping[str, str]) -> DryRun:
        from netdyno.devices.reach.live import dry_run

        return dry_run(self, reached, settings)

    def _restore(self, of: Identity) -> bool:
        from netdyno.devices.reach.configuring import restore

        return restore(self, of)

    def _look(self, reached: Reached) -> Facts:
        from netdyno.devices.reach.live import look

        return look(self, reached)
