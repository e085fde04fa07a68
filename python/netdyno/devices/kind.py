"""The base of every kind of device, with defaults for what only some of them can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Self

from netdyno.devices.drivers.driver import NO_DRIVER, Driver, Reached
from netdyno.devices.live import Live
from netdyno.devices.wiring import TWO_LINKS, LabError, LabLink, Wiring, in_words
from netdyno.ports.threads import Threads
from netdyno.values.reason import Reason


@dataclass(frozen=True)
class Program:
    """A program of this machine that a lab is made with. what_for: `Linux labs are made with it`."""

    name: str
    package: str
    what_for: str


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of device: `emulated/asr9006`, `linux/router`.

    name: as a plan writes it. title: for report titles, `emulated Cisco ASR9006`. settings: per-case settings
    with their values, the default first; none: any text. emulated: a report must say that no real device was
    measured. configured: netdyno configures the device for each case; else it stays as it was left.
    backends: values of a link's `backend`; none where no frame leaves this process. links: how many to the
    tester it can have. takes_driver: a driver can reach it.
    """

    name: str
    title: str
    _: KW_ONLY
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    emulated: bool = False
    configured: bool = True
    backends: tuple[str, ...] = ()
    links: range = TWO_LINKS
    takes_driver: bool = False
    has_speakers: bool = False
    """Whether the tester can be its routing neighbour."""
    driver: Driver = NO_DRIVER
    """How the device is reached beside the traffic."""
    reached: Reached = field(default_factory=Reached)
    taken: tuple[str, ...] = ()
    """Settings that the template of its configuration takes alone."""

    @abstractmethod
    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """The wiring of one case. Raises ValueError with a sentence if the lab cannot be so."""

    @abstractmethod
    def build(self, wiring: Wiring) -> AbstractContextManager[Live]:
        """Builds the lab for one case and takes it down again, whatever happens.

        The wiring of what it yields is the one to open the session with, whose notes also say what could
        not be had on this machine. Raises `LabError`.
        """

    def refuse_unknown(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> None:
        """Raises ValueError for a setting, a value or a number of links that the kind does not have."""
        for setting, value in settings.items():
            if setting not in self.settings:
                known = ", ".join(f"`{name}`" for name in self.settings) or "none"
                raise ValueError(f"`{setting}` is not a setting of `{self.name}`; it has {known}")
            values = self.settings[setting]
            if values and value not in values:
                allowed = ", ".join(f"`{one}`" for one in values)
                raise ValueError(f"`{setting}` cannot be `{value}`; it is one of {allowed}")
        if len(links) not in self.links:
            raise ValueError(f"`{self.name}` takes {in_words(self.links)} links, not {len(links)}")

    def preflight(self, links: tuple[LabLink, ...]) -> tuple[Reason, ...]:
        """Warnings about this machine, read once a run; changes nothing. Raises `LabError`."""
        return ()

    def list_missing(self, settings: Mapping[str, str]) -> Iterable[Program]:
        """The programs that a case of these settings needs and this machine has not."""
        return ()

    def joins_itself(self, links: tuple[LabLink, ...]) -> bool:
        """Whether `loopback` needs no cable of the user's, so that nobody need be asked."""
        return False

    def loopback(
        self, links: tuple[LabLink, ...], threads: Threads, names: Collection[str] | None = None
    ) -> AbstractContextManager[Wiring]:
        """The ports as in the lab, for the same threads, joined in pairs with no device; taken down again.

        So the tester is measured by itself. names: of the ports to open; None: all of them. The wiring's
        first note says what joins them. Raises `LabError`.
        """
        raise LabError(
            f"the ports of `{self.name}` cannot be joined with each other", code="ports-not-joinable"
        )

    def in_real_time(self) -> Kind:
        """The kind as a tester without virtual time needs it: itself, unless it is in virtual time."""
        return self

    def reached_by(self, driver: Driver, reached: Reached) -> Self:
        """The same kind, with this driver; the settings of its configuration are the device's."""
        taken = tuple(name for name in driver.list_settings(reached) if name not in self.settings)
        settings = {**self.settings, **dict.fromkeys(taken, ())}
        speak = self.has_speakers or self.emulated
        return replace(
            self, driver=driver, reached=reached, taken=taken, settings=settings, has_speakers=speak
        )

    def list_watched(self, settings: Mapping[str, str]) -> tuple[str, ...]:
        """Names that pings can have in place of addresses, of a device of these settings."""
        return ()

    def has_adjacencies(self, settings: Mapping[str, str]) -> bool:
        """Whether a routing protocol of a device of these settings has neighbours."""
        return False
