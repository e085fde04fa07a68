"""A device while a case runs: configured, asked, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from netdyno.devices.wiring import LabError, Wiring
from netdyno.values.load import Event
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.sample import Sample
from netdyno.values.unmeasured import NotAskable, NotMeasuredError


@dataclass(frozen=True)
class Channel:
    """One quantity that an instrument reads: subject, name, unit, and digits after the point.

    is_counter: only grows, so that a trial in which it did not move has no series of it. counts_traffic: of a
    counter that the test's own traffic moves; if it stands still, that is a finding, and its series is kept.
    bits: the width of a counter; None: unknown.
    """

    subject: str
    name: str
    unit: str
    scale: int = 0
    is_counter: bool = False
    counts_traffic: bool = False
    bits: int | None = None


class Instrument(Protocol):
    """Reads quantities of a device while traffic runs."""

    @property
    def name(self) -> str:
        """The source of its series, such as the name of a driver."""
        ...

    @property
    def period_s(self) -> float:
        """Time between two readings, s. It is also read just before and just after each trial."""
        ...

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """A sample of each quantity, signed values of 64 bits. Raises LabError if there is no reading.

        now: the clock of `asked_ns` and `answered_ns`. A reading may take several requests.
        """
        ...

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        """The counters that moved in a trial, as in `Outcome.devices`; None: its series say all."""
        ...


class InSeries:
    """An instrument whose series say all that it reads."""

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> None:
        """None."""


@dataclass(frozen=True)
class Applied:
    """A configuration that was applied.

    text: of its template. diff: the lines that it changed. version: of the device's software. name: of its
    template. undo: restores the configuration before. notes: on how it was applied.
    """

    text: str = ""
    diff: str = ""
    undo: Callable[[], None] | None = None
    version: str = ""
    name: str = ""
    notes: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Live:
    """A device that was built, until its case ends; as it is here nothing configures or asks it.

    wiring: the lab as built: its notes and the indexes of interfaces with it. read_by: what reads it beside
    the traffic.
    """

    wiring: Wiring
    read_by: tuple[Instrument, ...] = field(default=(), kw_only=True)
    stands_apart: ClassVar[bool] = False
    """Whether it is no part of the session, so that it is switched in every session."""

    def configure(self, settings: Mapping[str, str]) -> Applied:
        """Gives the device the settings of a case, unless it was built with them. Raises LabError."""
        return Applied()

    def switch(self, settings: Mapping[str, str]) -> None:
        """Gives the device these settings beside those of the case, until the next trial. Raises LabError.

        Raises NotMeasuredError if it cannot be had otherwise than the case has it.
        """
        if settings:
            raise NotMeasuredError(NotAskable(tuple(settings)))

    def ask(self, event: Event) -> None:
        """Has the device carry out an event; returns when it is done. Raises LabError.

        Raises NotMeasuredError if nobody can ask this device.
        """
        raise NotMeasuredError(
            NotAskable((event.kind,)), "use a device that netdyno builds: `emulated/...` or `linux/...`"
        )

    def instruments(self) -> tuple[Instrument, ...]:
        """The instruments that read it beside the traffic."""
        return self.read_by

    def check(self, made: Outcome | None = None) -> LabError | None:
        """The error if it is no longer the device that was built: a program in it has ended.

        made: of the trial that just ended, in which the device is to have done what the case asks.
        """
        return None

    def stand_at(self, at_ns: int, counters: Sequence[Mapping[str, Any]], mean_bytes: float) -> bool:
        """Takes over the counters of emulated devices at a time from the begin of traffic. Raises LabError.

        mean_bytes: of the trial's frames, with FCS. False: it stands for no emulated device.
        """
        return False

    def addresses_of(self) -> Mapping[str, str]:
        """Addresses by the names of `Kind.list_watched`."""
        return {}

    def adjacencies(self) -> Instrument | None:
        """Reads the neighbours of its routing protocols; None: it has none."""
        return None

    def programs(self) -> tuple[int, ...]:
        """Processes of this machine that are the device's routing; none: it is elsewhere, or the kernel."""
        return ()

    def count_routes(self) -> Mapping[int, int] | None:
        """How many routes it forwards by, by IP version, those of its own networks included; None: nobody
        can read that of it. Raises LabError."""
        return None
