"""The driver of a device: what it is called, what it can do, and how it reaches the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from netdyno.devices.access import Access
from netdyno.devices.live import Live
from netdyno.devices.reasons import DeviceInUse, UndoPending, UndoUnknown
from netdyno.devices.wiring import LabError, LabLink, Wiring
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.apply import DryRun
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


NO_VERSION = "not found"
"""Stands for a version in `Facts` that is not understood."""
NO_SUCH_PORT = "the device has no such port"
"""Stands for the state of a port in `Facts`."""


def missing_ports(states: Mapping[str, str]) -> LabError | None:
    """The error of a device that lacks ports of the lab, by their states; None: it has all."""
    missing = [port for port, state in states.items() if state == NO_SUCH_PORT]
    if not missing:
        return None
    return LabError(
        f"the device has no port `{'`, `'.join(missing)}`",
        "check the `endpoints` of the links, and `driver`: another system may answer",
        code="no-such-interface",
    )


@dataclass(frozen=True)
class Facts:
    """What a device says of itself: its version, and the state of each port of the lab by its name.

    pending: the configuration of another run that is there, or may be; None: there is none.
    """

    version: str
    ports: Mapping[str, str]
    pending: UndoPending | UndoUnknown | DeviceInUse | None = None


class Driver:
    """A way to reach a device; as it is here it reaches none, and each driver says what it does beyond that.

    version: the command and the pattern of its software's version, as a system has them. mark: a pattern
    that what this command prints has on each version of this system, and on no other; empty: that of the
    version. needs_host: it
    speaks to the device over a network. api: the device's own API, a key of `telemetry.api.MODULES`; empty:
    it has none. static_routes: its command for one of IPv4 and one of IPv6 (`format_route`). What a
    driver does follows from its name: two of one name are equal.
    """

    name: str = ""
    title: str = ""
    proof: Proof = "real"
    version: tuple[str, str] = ("", "")
    mark: str = ""
    needs_host: bool = False
    api: str = ""
    static_routes: tuple[str, str] = ("", "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Driver) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def does(self) -> str:
        """What `netdyno drivers` says that it can do."""
        return "counters"

    @property
    def configures(self) -> bool:
        """Whether it can configure the device."""
        return False

    @property
    def has_adjacencies(self) -> bool:
        """Whether it can ask for the neighbours of the device's routing protocols."""
        return False

    def format_route(self, network: str, via: str, port: str) -> str:
        """A static route to a network behind one of its ports, in its own words if it has any."""
        net = ip_network(network)
        words = {"network": network, "address": net.network_address, "mask": net.netmask}
        text = self.static_routes[net.version == 6] or "{network} via {via}"
        return text.format(**words, via=via, port=port)

    def list_settings(self, reached: Reached) -> tuple[str, ...]:
        """The settings that the configuration of a plan takes."""
        return ()

    def find_mistakes(
        self, reached: Reached, cases: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[TemplateMistake, ...]]:
        """The mistakes of each case's template that show without the device; cases: their settings."""
        return iter(())

    def read_templates(self, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
        """The templates beside the plan that a case uses: name and text. Raises LabError."""
        return {}

    def dry_run(self, reached: Reached, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter, and what would undo it; changes nothing. Raises LabError."""
        raise NotImplementedError("a checked plan names a driver that configures")

    def look(self, reached: Reached) -> Facts | None:
        """What the device says of itself; changes nothing. Raises LabError. None: nothing reads it."""
        return None

    def take_turn(
        self, reached: Reached, say: Callable[[Reason], None]
    ) -> AbstractContextManager[tuple[int, ...]]:
        """Entered once no other netdyno configures the device, which is the run's until the block ends.

        What is waited for is said. Yields the files that a forked process keeps open to hold it, too. Raises
        LabError.
        """
        return nullcontext(())

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        """The device for one case. Raises LabError."""
        return nullcontext(Live(wiring))

    def restore(self, of: Identity) -> bool:
        """Undoes what a killed run left on a device; False: nothing was left. Raises LabError."""
        return False


NO_DRIVER = Driver()
"""Of a device that nothing reaches beside the traffic."""
