"""The driver of a system that is reached by its command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Driver, Facts, Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Instrument, Live
from netdyno.devices.wiring import Wiring
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun
    from netdyno.devices.configure.locks import Identity
    from netdyno.devices.configure.mistakes import TemplateMistake


@dataclass(frozen=True)
class _ByCli:
    """What the driver does. Its libraries are loaded when it does it: that takes a second."""

    system: System

    def instruments(self, reached: Reached) -> tuple[Instrument, ...]:
        """None without a session: the live device has them."""
        return ()

    def live(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        from netdyno.devices.reach.live import reach

        return reach(self.system, wiring, reached)

    def look(self, reached: Reached) -> Facts:
        from netdyno.devices.reach.live import look

        return look(self.system, reached)

    def dry_run(self, reached: Reached, settings: Mapping[str, str]) -> DryRun:
        from netdyno.devices.reach.live import dry_run

        return dry_run(self.system, reached, settings)

    def mistakes(
        self, reached: Reached, cases: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[TemplateMistake, ...]]:
        from netdyno.devices.reach.template import find_case_mistakes

        return find_case_mistakes(self.system, reached, cases)

    def templates(self, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
        from netdyno.devices.reach.template import read_case_templates

        return read_case_templates(self.system, reached, settings)

    def await_turn(self, reached: Reached, say: Callable[[Reason], None]) -> None:
        from netdyno.devices.reach.turn import await_device

        assert reached.access is not None, "a checked plan has the host"
        await_device(self.system, reached.access, say)

    def restore(self, of: Identity) -> bool:
        from netdyno.devices.reach.configuring import restore

        return restore(self.system, of)


def cli_driver(system: System) -> Driver:
    """The driver of a system."""
    configures = system.shell.configuring is not None
    kinds = dict.fromkeys(reading.name for reading in system.readings)
    by = _ByCli(system)
    return Driver(
        system.name,
        system.title,
        by.instruments,
        by.live,
        system.proof,
        ", ".join(
            (
                *(("configuration",) if configures else ()),
                *kinds,
                *(("adjacencies",) if system.daemons else ()),
                *(("API",) if system.api else ()),
            )
        ),
        needs_host=True,
        configures=configures,
        has_adjacencies=bool(system.daemons),
        version=system.version,
        look=by.look,
        mistakes=by.mistakes,
        templates=by.templates,
        dry_run=by.dry_run,
        await_turn=by.await_turn,
        restore=by.restore,
        api=system.api,
    )
