"""The driver of a system that is reached by its command line: what `System` says of it, carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Facts, Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Live
from netdyno.devices.wiring import Wiring
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.apply import DryRun
    from netdyno.devices.configure.locks import Identity
    from netdyno.devices.configure.mistakes import TemplateMistake


class CliDriver(System):
    """The libraries of what it does are loaded when it does it: that takes a second."""

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

    def take_turn(
        self, reached: Reached, say: Callable[[Reason], None]
    ) -> AbstractContextManager[tuple[int, ...]]:
        from netdyno.devices.reach.configuring import take_device

        assert reached.access is not None, "a checked plan has the host"
        return take_device(self, reached.access, say)

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        from netdyno.devices.reach.live import reach

        return reach(self, wiring, reached)

    def restore(self, of: Identity) -> bool:
        from netdyno.devices.reach.configuring import restore

        return restore(self, of)
