"""What a backend of a port is: a name, its options in a plan, where it fits, and its spec. Data first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict

from netdyno.ports.nic import Nic
from netdyno.ports.nic.fit import Fit, Rights
from netdyno.values.reason import PortNote, Reason


class Options(BaseModel):
    """The options of a backend, as a link of a plan writes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Backend:
    """One backend: one file, and one line in `BACKENDS`.

    noun: what a port of it is called, `a memif`; whose: its options, `a memif's`. fit: whether an interface
    of the kernel takes it; None: it uses no interface, and `note` says what a port is then.
    """

    name: str
    noun: str
    whose: str
    options: type[Options] = Options
    fit: Callable[[Nic, Rights], Fit] | None = None
    usual_fps: Fraction | None = None
    """Frames a second sent and received by one core, copied, where nothing was proven: docs/labs.md. None:
    `backend: auto` never takes it."""
    longest: int | None = None
    """The longest frame it carries, bytes without FCS; None: any."""
    names_its_way: bool = False
    """Whether people want to know in which way it fits, such as `native, copy`."""
    has_queue_per_worker: bool = False
    """Whether an interface needs as many queues as there are workers."""
    restores_tags: bool = False
    """Whether VLAN tags that a card takes off reach the tester all the same."""
    keeps_peers: bool = False
    """Whether a port's peer comes once, so that its session stays open from case to case."""
    needed: tuple[str, str] | None = None
    """The option that a link must have, and how it is written."""
    identity: Callable[[Mapping[str, Any]], tuple[Any, str]] | None = None
    """What no two links may have in common, by their options as written, and its name in words."""
    absent: Callable[[Any], tuple[str, str | None] | None] | None = None
    """Who is not there that a port needs before a run, by its options, and what to do; None: all are."""
    note: Callable[[str, Mapping[str, Any]], PortNote] | None = None
    """What a reader must know of a port, by its name and its spec, where it is no interface."""
    loop: Callable[[Any, str, int], tuple[Options, Options]] | None = None
    """Options of two ports that are joined with each other, by those of one, a folder and the number of the
    pair; None: its ports cannot be joined."""
    looped: Callable[[int], Reason] | None = None
    """What joins so many pairs of its ports."""
    of_peer: frozenset[str] = frozenset()
    """Options that the other end decides: they say nothing of the port on this machine."""
    in_driver: tuple[str, str] | None = None
    """The option, and its value, with which its program is in the driver: it sees each queue of a veth then,
    and frames that tc redirects. None: it needs no such program."""
    is_held: Callable[[Nic], bool] = lambda card: False
    """Whether another program holds the interface, which one that has just ended does for a moment more."""

    @property
    def on_interface(self) -> bool:
        """Whether it works on an interface of the kernel."""
        return self.fit is not None

    def spec(self, options: Options, interface: str) -> dict[str, Any]:
        """The backend as a session has it (docs/interfaces.md)."""
        if self.on_interface:
            return {"kind": self.name, "interface": interface, **options.model_dump(exclude_defaults=True)}
        return {"kind": self.name, **options.model_dump()}
