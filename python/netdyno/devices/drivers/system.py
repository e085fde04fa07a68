"""A network operating system that is reached by its command line, as data."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.drivers.driver import Driver, Proof
from netdyno.devices.drivers.reading import Reading
from netdyno.devices.shell import Shell
from netdyno.devices.watches.by_cli import RoutingDaemon


@dataclass(frozen=True, eq=False, kw_only=True)
class System(Driver):
    """version, port: the command and a pattern, whose group `n` is the version, or the state of a port.

    daemons: routing daemons that may run on it, whose adjacencies can be watched.
    Names of ports are written out as the system prints them: `long_names` has what its short ones stand for.
    """

    name: str
    title: str
    proof: Proof
    shell: Shell
    version: tuple[str, str]
    mark: str = ""
    port: tuple[str, str]
    readings: tuple[Reading, ...] = ()
    long_names: tuple[tuple[str, str], ...] = ()
    api: str = ""
    daemons: tuple[RoutingDaemon, ...] = ()
    needs_host: bool = True
    static_routes: tuple[str, str] = ("", "")

    @property
    def does(self) -> str:
        return ", ".join(
            (
                *(("configuration",) if self.configures else ()),
                *dict.fromkeys(reading.name for reading in self.readings),
                *(("adjacencies",) if self.daemons else ()),
                *(("API",) if self.api else ()),
            )
        )

    @property
    def configures(self) -> bool:
        return self.shell.configuring is not None

    @property
    def has_adjacencies(self) -> bool:
        return bool(self.daemons)

    def long_name(self, port: str) -> str:
        """A port's name as the system prints it: `Te0/1/0/0` is `TenGigE0/1/0/0`."""
        for short, long in self.long_names:
            rest = port[len(short) :]
            if port.startswith(short) and rest[:1].strip() and not rest[:1].isalpha():
                return long + rest
        return port
