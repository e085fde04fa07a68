"""Kinds of devices, and what some of them can do besides: protocols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from netdyno.devices.drivers.driver import Driver, Facts, Reached
from netdyno.devices.live import Live
from netdyno.devices.wiring import LabLink, Wiring
from netdyno.ports.threads import Threads
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun
    from netdyno.devices.configure.mistakes import TemplateMistake


@runtime_checkable
class Device(Protocol):
    """A kind of device: `emulated/asr9006`, `linux/router`."""

    @property
    def name(self) -> str:
        """As a plan writes it, `linux/router`."""
        ...

    @property
    def title(self) -> str:
        """For report titles, `emulated Cisco ASR9006`."""
        ...

    @property
    def emulated(self) -> bool:
        """Whether a report must say that no real device was measured."""
        ...

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """Per-case device settings it knows, with their values, the default first."""
        ...

    @property
    def links(self) -> range:
        """The numbers of links to the tester it can have: `range(2, 3)` is two only."""
        ...

    @property
    def configured(self) -> bool:
        """Whether netdyno configures the device for each case; else it stays as it was left."""
        ...

    @property
    def backends(self) -> tuple[str, ...]:
        """The values of a link's `backend`; none where no frame leaves this process."""
        ...

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """The wiring of one case. Raises ValueError with a sentence if the lab cannot be so."""
        ...

    def build(self, wiring: Wiring) -> AbstractContextManager[Live]:
        """Builds the lab for one case and takes it down again, whatever happens.

        The wiring of what it yields is the one to open the session with, whose notes also say what could
        not be had on this machine. Raises `LabError`.
        """
        ...


@runtime_checkable
class Preflight(Protocol):
    """A kind that can tell before a run begins that this machine cannot do it."""

    def preflight(self, links: tuple[LabLink, ...]) -> tuple[Reason, ...]:
        """Warnings about this machine, read once a run; changes nothing. Raises `LabError`."""
        ...


@dataclass(frozen=True)
class Program:
    """A program of this machine that a lab is made with. what_for: `Linux labs are made with it`."""

    name: str
    package: str
    what_for: str


@runtime_checkable
class MadeWithPrograms(Protocol):
    """A kind that is made with programs of this machine."""

    def list_missing(self, settings: Mapping[str, str]) -> Iterator[Program]:
        """The programs that a case of these settings needs and this machine has not."""
        ...


@runtime_checkable
class Loopback(Protocol):
    """A kind whose tester ports can be joined with each other: the tester is then measured by itself."""

    def loopback(
        self, links: tuple[LabLink, ...], threads: Threads, names: Collection[str] | None = None
    ) -> AbstractContextManager[Wiring]:
        """The ports as in the lab, for the same threads, joined in pairs with no device; taken down again.

        names: of the ports to open; None: all of them. The wiring's first note says what joins them. Raises
        `LabError`.
        """
        ...

    def joins_itself(self, links: tuple[LabLink, ...]) -> bool:
        """Whether it can join them without a cable of the user's, so that nobody need be asked."""
        ...


@runtime_checkable
class Reachable(Protocol):
    """A kind that a driver can reach."""

    def reached_by(self, driver: Driver, reached: Reached) -> Device:
        """The same kind, with this driver."""
        ...


@runtime_checkable
class Configures(Protocol):
    """A kind whose device is configured over the network."""

    def find_mistakes(self, cases: Sequence[Mapping[str, str]]) -> Iterator[tuple[TemplateMistake, ...]]:
        """The mistakes of each case's template that show without the device; cases: their settings."""
        ...

    def read_templates(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """The templates beside the plan that a case uses: name and text. Raises LabError."""
        ...

    def await_turn(self, say: Callable[[Reason], None]) -> None:
        """Returns once no other netdyno configures the device; said if it is not at once. Raises LabError."""
        ...

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter, and what would undo it; changes nothing. Raises LabError."""
        ...


@runtime_checkable
class Looked(Protocol):
    """A kind whose device can be looked at before a run."""

    def look(self) -> Facts | None:
        """What the device says of itself, read by its driver. Raises LabError. None: nothing reads it."""
        ...


@runtime_checkable
class Watchable(Protocol):
    """A kind with something to watch that a plan need not know the addresses of."""

    def list_watched(self, settings: Mapping[str, str]) -> tuple[str, ...]:
        """Names that pings can have in place of addresses, of a device of these settings."""
        ...

    def has_adjacencies(self, settings: Mapping[str, str]) -> bool:
        """Whether a routing protocol of a device of these settings has neighbours."""
        ...
