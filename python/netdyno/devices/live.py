"""A device while a case runs: what can be set, asked, read and looked after. Plain values and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from netdyno.values.load import Event
from netdyno.values.unmeasured import NotAskable, NotMeasuredError

if TYPE_CHECKING:
    from netdyno.devices.wiring import LabError, Wiring


@dataclass(frozen=True)
class Channel:
    """One quantity that an instrument reads: of what, its name, its unit, and digits behind the point.

    is_counter: only grows, so that a trial in which it did not move has no series of it.
    """

    subject: str
    name: str
    unit: str
    scale: int = 0
    is_counter: bool = False


class Instrument(Protocol):
    """Reads quantities of a device while traffic runs."""

    @property
    def name(self) -> str:
        """Who reads, such as the name of a driver: the source of its series."""
        ...

    @property
    def period_s(self) -> float:
        """Time between two readings, s. It is also read just before and just after each trial."""
        ...

    def read(self) -> Mapping[Channel, int]:
        """The values now, signed. Raises LabError if there is no reading; then there is no sample."""
        ...

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        """What moved in a trial, as `Outcome.devices` has a device; None: its series say all."""
        ...


@dataclass(frozen=True)
class Applied:
    """What was configured. diff: what changed, empty if nothing did. undo: how it is taken back."""

    text: str = ""
    diff: str = ""
    undo: Callable[[], None] | None = None


class Live(Protocol):
    """A device that was built, until its case ends."""

    @property
    def wiring(self) -> Wiring:
        """The lab as built: its notes and the indexes of interfaces with it."""
        ...

    def configure(self, settings: Mapping[str, str]) -> Applied:
        """Gives the device the settings of a case. Raises LabError."""
        ...

    def ask(self, event: Event) -> None:
        """Has the device do what an event says, and returns when that is done. Raises LabError.

        Raises NotMeasuredError if nobody can ask this device.
        """
        ...

    def instruments(self) -> tuple[Instrument, ...]:
        """What can be read of it beside the traffic."""
        ...

    def check(self) -> LabError | None:
        """Why it is no more what was built, if so: a program in it has ended."""
        ...


@dataclass(frozen=True)
class Inert:
    """A device that is not asked or configured: an emulated one, whose tester does it, or somebody else's.

    read_by: what reads it, if anything does.
    """

    wiring: Wiring
    read_by: tuple[Instrument, ...] = ()

    def configure(self, settings: Mapping[str, str]) -> Applied:
        """Nothing: it is as it was wired, or as somebody left it."""
        return Applied()

    def ask(self, event: Event) -> None:
        """Raises NotMeasuredError."""
        raise NotMeasuredError(
            NotAskable((event.kind,)), "take a device that netdyno builds: an emulated one, or a Linux one"
        )

    def instruments(self) -> tuple[Instrument, ...]:
        """What reads it."""
        return self.read_by

    def check(self) -> None:
        """It always is what it was."""
