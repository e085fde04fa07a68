"""The driver of a device: a name, a purpose, and its instruments and actions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.live import Inert, Instrument, Live

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring


@dataclass(frozen=True)
class Reached:
    """A device as a plan has it. ports: its own, by their names, in the order of the links."""

    ports: tuple[str, ...] = ()


@dataclass(frozen=True)
class Driver:
    """A way to reach a device, as data.

    instruments: what can be read of it. live: for a driver that can also configure or ask the device; None:
    it only reads.
    """

    name: str
    title: str
    instruments: Callable[[Reached], tuple[Instrument, ...]]
    live: Callable[[Wiring, Reached], AbstractContextManager[Live]] | None = None

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        """The device for one case. Raises LabError."""
        if self.live is not None:
            return self.live(wiring, reached)
        return nullcontext(Inert(wiring, self.instruments(reached)))
