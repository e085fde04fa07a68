"""What a feature of a Linux router is: one file, and one line in `MODULES`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from netdyno.devices import addresses
from netdyno.devices.kind import Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.programs import ALWAYS
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.live import Instrument
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason

NFT = Program("nft", "nftables", "a Linux router filters and translates packets with it")
CONNTRACK = Program("conntrack", "conntrack", "a Linux router forgets connections by it")
TC = ALWAYS["tc"]

INSIDE, OUTSIDE = dut.PORTS[0], dut.PORTS[1]
"""The router's ports: networks behind the first are filtered and translated on their way to the second."""

HOST, FAR = "16.0.0.1", "48.0.0.1"
"""A host behind either port, of which a lab has routes (`addresses.BEHIND`)."""
STRANGER = "203.0.113.1"
"""A host that is nowhere: of RFC 5737's networks for documentation."""


@dataclass(frozen=True)
class Packet:
    """A UDP packet of a proof. port: of the tester, that it is sent from or came to, by its number. tos: the
    second byte of its IPv4 header, as it is sent."""

    port: int = 0
    source: str = HOST
    destination: str = FAR
    sport: int = 1025
    dport: int = 12
    tos: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.sport} > {self.destination}:{self.dport}"


@dataclass(frozen=True)
class Step:
    """A packet that shows whether a feature is at work, and what is to come of it.

    comes: whether it reaches the other port. is_right: whether what came is as the feature makes it; None:
    as it was sent. what: what is wrong where it is not so, a clause. counted: a counter of the device that it
    moves; None: none of its own.
    """

    packet: Packet
    what: str
    comes: bool = True
    is_right: Callable[[Sequence[Packet]], bool] | None = None
    """Of all that came so far, this one last."""
    counted: Callable[[], int] | None = None


@dataclass(frozen=True)
class Feature(ABC):
    """Something that a router does to each packet. name: as a plan writes it. doc: a clause.

    programs: of this machine, that it is made with. keeps_state: it has an entry for each flow, so that what
    comes the other way must answer to one.
    """

    counts_frames = False
    """Whether `count` grows by every frame that it lets out of the second port."""
    translates = False
    """Whether each flow needs an address and port of its own outside."""
    works_apart = False
    """Whether a program of its own does a part of it."""

    name: str
    doc: str
    programs: tuple[Program, ...] = (NFT,)
    keeps_state: bool = field(default=False, kw_only=True)

    @abstractmethod
    def install(self, lab: Lab) -> None:
        """Puts it in place. Raises LabError."""

    @abstractmethod
    def remove(self, lab: Lab) -> None:
        """Takes it away again. Raises LabError."""

    def forget(self, lab: Lab) -> None:
        """Forgets the flows that it has entries for. Raises LabError."""
        if self.keeps_state:
            do(lab, "conntrack -F", self.name)

    @abstractmethod
    def proof(self, lab: Lab) -> Sequence[Step]:
        """Packets that show that it is at work, in order."""

    def restore(self, lab: Lab) -> str:
        """The command that puts right what a first port that was down took from it, if it is in place."""
        return "true"

    def notes(self) -> tuple[Reason, ...]:
        """What a reader of its cost must know."""
        return ()

    def instruments(self, lab: Lab) -> tuple[Instrument, ...]:
        """What reads it beside the traffic while it is in place."""
        return ()

    def count(self, lab: Lab) -> int | None:
        """Packets that it has handled, by the device's own counter; None: it counts none of those it lets
        pass. Raises LabError."""
        return None

    def queue_drops(self, lab: Lab) -> Mapping[str, int]:
        """Frames that its queues have dropped, by the device's port. Raises LabError."""
        return {}


TABLE = "netdyno_feature"
COUNTER = "handled"
"""Of the rule that every test packet comes to."""


@dataclass(frozen=True)
class NftFeature(Feature):
    """A feature made of nftables: a table of its own, with a counter of the packets that it is to handle."""

    def rules(self, lab: Lab) -> Sequence[str]:
        """The chains of its table, line by line."""
        raise NotImplementedError

    def install(self, lab: Lab) -> None:
        lines = (f"table ip {TABLE} {{", f"counter {COUNTER} {{", "}", *self.rules(lab), "}")
        file = lab.folder / "feature.nft"
        file.write_text("\n".join(lines) + "\n")
        do(lab, f"nft -f {file}", self.name)

    def remove(self, lab: Lab) -> None:
        do(lab, f"nft delete table ip {TABLE}", self.name)
        # Entries outlive the rules: a flow that has one would not come to them again.
        self.forget(lab)

    def count(self, lab: Lab) -> int | None:
        said = do(lab, f"nft -j list counter ip {TABLE} {COUNTER}", self.name)
        counters = [one["counter"] for one in json.loads(said)["nftables"] if "counter" in one]
        return int(counters[0]["packets"])


@dataclass(frozen=True)
class TcFeature(Feature):
    """A feature made of queueing disciplines on the way out of the second port."""

    counts_frames = True
    programs: tuple[Program, ...] = (TC,)
    commands: tuple[str, ...] = ()
    """Those of `tc` behind its name, in order; the first one is undone."""
    queues: tuple[tuple[Packet, str], ...] = ()
    """Packets, and the handle of the queue below that each is for."""

    def install(self, lab: Lab) -> None:
        for command in self.commands:
            do(lab, f"tc {command}", self.name)

    def remove(self, lab: Lab) -> None:
        do(lab, f"tc qdisc del dev {OUTSIDE} root", self.name)

    def proof(self, lab: Lab) -> Sequence[Step]:
        return (
            Step(Packet(), "it lets no packet pass"),
            *(
                Step(
                    packet,
                    f"it does not go through the queue `{handle}`",
                    counted=partial(self._count, lab, "handle", handle),
                )
                for packet, handle in self.queues
            ),
        )

    def count(self, lab: Lab) -> int | None:
        return self._count(lab, "root", True)

    def queue_drops(self, lab: Lab) -> Mapping[str, int]:
        return {OUTSIDE: self._count(lab, "root", True, "drops")}

    def _count(self, lab: Lab, key: str, value: object, what: str = "packets") -> int:
        """Packets of the queueing disciplines of which this holds; what: or those dropped."""
        found = json.loads(do(lab, f"tc -s -j qdisc show dev {OUTSIDE}", self.name))
        return sum(int(one[what]) for one in found if one.get(key) == value)


def do(lab: Lab, command: str, name: str) -> str:
    """Runs a command of a feature in the device; what it said. Raises LabError."""
    status, said = lab.device.ask(command)
    if status == 0:
        return said
    raise LabError(
        f"the service `{name}` could not be set up: `{command}` said: {said.strip() or status}",
        _hint(said),
        code="service-unavailable",
    )


def _hint(said: str) -> str:
    lacks = ("unknown", "not supported", "no such file", "not found", "could not process rule")
    if any(word in said.lower() for word in lacks):
        return "this kernel lacks it: take another service, or a kernel that has it (`sudo modprobe` may do)"
    return dut.refusal_hint(said) or "leave this service out, or look at what it said"


def networks_inside(lab: Lab) -> Mapping[str, str]:
    """The networks behind the first port, and those that their hosts appear as outside."""
    inside = addresses.networks_behind(0, len(lab.ports))
    return dict(zip(inside, ("10.0.0.0/8", "100.66.0.0/16"), strict=True))
