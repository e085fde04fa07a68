"""The driver of a network operating system that is reached by its command line: the system as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Driver, Facts, Proof, Reached
from netdyno.devices.drivers.reading import Reading
from netdyno.devices.live import Live
from netdyno.devices.shell import Shell
from netdyno.devices.watches.by_cli import RoutingDaemon
from netdyno.devices.wiring import Wiring
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.apply import DryRun
    from netdyno.devices.configure.locks import Identity
    from netdyno.devices.configure.mistakes import TemplateMistake


@dataclass(frozen=True, eq=False, kw_only=True)
class System(Driver):
    """version, port: the command and a pattern, whose group `n` is the version, or the state of a port.

    daemons: routing daemons that may run on it, whose adjacencies can be watched.
    Names of ports are written out as the system prints them: `long_names` has what its short ones stand for.
    The libraries of what it does are loaded when it does it: that takes a second.
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
    daemons: tuple[RoutingDaemon, ...] = ()
    needs_host: bool = True

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

    def list_settings(self, reached: Reached) -> tuple[str, ...]:
        if not reached.configuration or not self.configures:
            return ()
        from netdyno.devices.configure.render import list_settings

        return tuple(sorted(list_settings(reached.configuration, self.name, reached.folder)))

    def find_mistakes(
        self, reached: Reached, cases: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[TemplateMistake, ...]]:
        if not self.configures:
            return iter(())
        from netdyno.devices.reach.template import find_case_mistakes

        return find_case_mistakes(self, reached, cases)

    def read_templates(self, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
        if not self.configures:
            return {}
        from netdyno.devices.reach.template import read_case_templates

        return read_case_templates(self, reached, settings)

    def dry_run(self, reached: Reached, settings: Mapping[str, str]) -> DryRun:
        from netdyno.devices.reach.live import dry_run

        return dry_run(self, reached, settings)

    def look(self, reached: Reached) -> Facts:
        from netdyno.devices.reach.live import look

        return look(self, reached)

    def await_turn(self, reached: Reached, say: Callable[[Reason], None]) -> None:
        from netdyno.devices.reach.configuring import await_device

        assert reached.access is not None, "a checked plan has the host"
        await_device(self, reached.access, say)

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        from netdyno.devices.reach.live import reach

        return reach(self, wiring, reached)

    def restore(self, of: Identity) -> bool:
        from netdyno.devices.reach.configuring import restore

        return restore(self, of)
