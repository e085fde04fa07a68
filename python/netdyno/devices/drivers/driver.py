"""The driver of a device: what it is called, what it can do, and how it reaches the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from netdyno.devices.access import Access
from netdyno.devices.live import Inert, Instrument, Live
from netdyno.devices.reasons import UndoPending
from netdyno.devices.wiring import LabLink, Wiring
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun
    from netdyno.devices.configure.locks import Identity
    from netdyno.devices.configure.mistakes import TemplateMistake


Proof: TypeAlias = Literal["real", "transcript", "written"]
"""What shows that a driver works: it was run on the device; on texts that somebody published; on neither."""


@dataclass(frozen=True)
class Reached:
    """A device as a plan has it.

    ports: its own, by their names, in the order of the links. configuration: the name of a template; empty:
    the device stays as it is. folder: where a template beside the plan is found.
    """

    ports: tuple[str, ...] = ()
    links: tuple[LabLink, ...] = ()
    access: Access | None = None
    configuration: str = ""
    folder: Path | None = field(default=None, compare=False)


NO_SUCH_PORT = "the device has no such port"
"""Stands for the state of a port in `Facts`."""


@dataclass(frozen=True)
class Facts:
    """What a device says of itself: its version, and the state of each port of the lab by its name.

    pending: the configuration of an earlier run that is still there; None: there is none.
    """

    version: str
    ports: Mapping[str, str]
    pending: UndoPending | None = None


@dataclass(frozen=True)
class Driver:
    """A way to reach a device, as data.

    does: what `netdyno drivers` says that it can do. instruments: what can be read of it. live: for a driver
    that can also configure or ask the device; None: it only reads. look: reads what the device is, and
    changes nothing; None: there is nothing to read. needs_host: it speaks to the device over a network.
    version: the command and the pattern of its software's version, as a system has them.
    mistakes, templates: of each case's template, without the device; the texts of those beside the plan.
    dry_run: what a case would enter. await_turn: returns once no other netdyno configures the device.
    restore: undoes what a killed run left; False: nothing was left. api: the device's own API, a key of
    `telemetry.api.APIS`; empty: it has none.
    """

    # What a driver does follows from its name; methods are equal to those of the same object alone.
    name: str
    title: str
    instruments: Callable[[Reached], tuple[Instrument, ...]] = field(compare=False)
    live: Callable[[Wiring, Reached], AbstractContextManager[Live]] | None = field(
        default=None, compare=False
    )
    proof: Proof = "real"
    does: str = "counters"
    needs_host: bool = False
    configures: bool = False
    has_adjacencies: bool = False
    """Whether it can ask for the neighbours of the device's routing protocols."""
    version: tuple[str, str] = ("", "")
    look: Callable[[Reached], Facts] | None = field(default=None, compare=False)
    mistakes: (
        Callable[[Reached, Sequence[Mapping[str, str]]], Iterator[tuple[TemplateMistake, ...]]] | None
    ) = field(default=None, compare=False)
    templates: Callable[[Reached, Mapping[str, str]], Mapping[str, str]] | None = field(
        default=None, compare=False
    )
    dry_run: Callable[[Reached, Mapping[str, str]], DryRun] | None = field(default=None, compare=False)
    await_turn: Callable[[Reached, Callable[[Reason], None]], None] | None = field(
        default=None, compare=False
    )
    restore: Callable[[Identity], bool] | None = field(default=None, compare=False)
    api: str = ""

    def list_settings(self, reached: Reached) -> tuple[str, ...]:
        """The settings that the configuration of a plan takes."""
        if not reached.configuration or not self.configures:
            return ()
        from netdyno.devices.configure.render import list_settings

        return tuple(sorted(list_settings(reached.configuration, self.name, reached.folder)))

    def find_mistakes(
        self, reached: Reached, cases: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[TemplateMistake, ...]]:
        """The mistakes of each case's template that show without the device; cases: their settings."""
        return iter(()) if self.mistakes is None or not self.configures else self.mistakes(reached, cases)

    def read_templates(self, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
        """The templates beside the plan that a case uses: name and text."""
        return {} if self.templates is None or not self.configures else self.templates(reached, settings)

    def plan_case(self, reached: Reached, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter. Raises LabError."""
        assert self.dry_run is not None, "a checked plan names a driver that configures"
        return self.dry_run(reached, settings)

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        """The device for one case. Raises LabError."""
        if self.live is not None:
            return self.live(wiring, reached)
        return nullcontext(Inert(wiring, self.instruments(reached)))
