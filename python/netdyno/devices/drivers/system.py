"""A network operating system as data."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.devices.drivers.driver import Proof
from netdyno.devices.drivers.reading import Reading
from netdyno.devices.shell import Shell


@dataclass(frozen=True)
class System:
    """version, port: the command and a pattern, whose group `n` is the version, or the state of a port.

    api: its own API, a key of `telemetry.api.APIS`; empty: it has none.
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
    api: str = ""

    def long_name(self, port: str) -> str:
        """A port's name as the system prints it: `Te0/1/0/0` is `TenGigE0/1/0/0`."""
        for short, long in self.long_names:
            rest = port[len(short) :]
            if port.startswith(short) and rest[:1].strip() and not rest[:1].isalpha():
                return long + rest
        return port
