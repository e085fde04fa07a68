"""An emulated device that is reached by a driver, as the real one would be: a plan is rehearsed with it.

What answers the driver stands in for the device's command line. A comment has what the emulated device has
counted at that moment: a real device takes no notice of a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from netdyno.devices.driven import Driven
from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.devices.kind import Device
from netdyno.devices.live import Live
from netdyno.devices.wiring import LabLink, Trait, Wiring


@dataclass(frozen=True)
class Rehearsed(Driven):
    """An emulated kind with a driver. taken: the settings that its configuration takes."""

    kind: Device
    driver: Driver | None
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
        assert self.driver is not None, "it has one"
        with self.kind.build(wiring) as built, self.driver.reach(built.wiring, self.reached) as live:
            yield live
