"""An emulated device that is reached by a driver, as the real one would be: a plan is rehearsed with it.

What answers the driver stands in for the device's command line. A comment has what the emulated device has
counted at that moment: a real device takes no notice of a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Driver, Facts, Reached
from netdyno.devices.kind import Device
from netdyno.devices.live import Live
from netdyno.devices.wiring import LabLink, Trait, Wiring

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun


@dataclass(frozen=True)
class Rehearsed:
    """An emulated kind with a driver."""

    kind: Device
    driver: Driver
    reached: Reached

    @property
    def name(self) -> str:
        """That of the kind."""
        return self.kind.name

    @property
    def title(self) -> str:
        """That of the kind."""
        return self.kind.title

    @property
    def emulated(self) -> bool:
        """Whether no real device is measured: so."""
        return self.kind.emulated

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """Those of the kind."""
        return self.kind.settings

    @property
    def links(self) -> range:
        """Those of the kind."""
        return self.kind.links

    @property
    def configured(self) -> bool:
        """Whether it is configured for each case: so."""
        return self.kind.configured

    @property
    def backends(self) -> tuple[str, ...]:
        """None: no frame leaves this process."""
        return self.kind.backends

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """As the kind does; its counters are read."""
        wired = self.kind.wire(links, settings)
        return replace(wired, traits=wired.traits | {Trait.IS_READ})

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Live]:
        """Reaches who stands in for the device's command line. Raises LabError."""
        with self.kind.build(wiring) as built, self.driver.reach(built.wiring, self.reached) as live:
            yield live

    def look(self) -> Facts | None:
        """What it says of itself, read by its driver."""
        return None if self.driver.look is None else self.driver.look(self.reached)

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter, read by its driver."""
        return self.driver.plan_case(self.reached, settings)
