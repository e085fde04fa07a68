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
    from netdyno.devices.configure.mistakes import TemplateMistake


@dataclass(frozen=True)
class Rehearsed:
    """An emulated kind with a driver. taken: the settings that its configuration takes."""

    kind: Device
    driver: Driver
    reached: Reached
    taken: tuple[str, ...] = ()

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
        """Those of the kind, and those of its configuration alone."""
        return {**dict.fromkeys(self.taken, ()), **self.kind.settings}

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
        others = {name for name in self.taken if name not in self.kind.settings}
        wired = self.kind.wire(links, {name: one for name, one in settings.items() if name not in others})
        return replace(wired, traits=wired.traits | {Trait.IS_READ}, settings=dict(settings))

    @contextmanager
    def build(self, wiring: Wiring) -> Iterator[Live]:
        """Reaches who stands in for the device's command line. Raises LabError."""
        with self.kind.build(wiring) as built, self.driver.reach(built.wiring, self.reached) as live:
            yield live

    def look(self) -> Facts | None:
        """What it says of itself, read by its driver."""
        return None if self.driver.look is None else self.driver.look(self.reached)

    def find_mistakes(self, settings: Mapping[str, str]) -> tuple[TemplateMistake, ...]:
        """The mistakes of a case's template that show without the device."""
        return self.driver.find_mistakes(self.reached, settings)

    def read_templates(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """The templates beside the plan that a case uses: name and text. Raises LabError."""
        return self.driver.read_templates(self.reached, settings)

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter, read by its driver."""
        return self.driver.plan_case(self.reached, settings)
