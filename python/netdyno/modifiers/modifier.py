"""What a modifier is: a condition under which a test is run again, of RFC 2544 section 11 or another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from netdyno.errors import Problem
from netdyno.values.finding import Result
from netdyno.values.outcome import Exchange, Outcome
from netdyno.values.way import Way

if TYPE_CHECKING:
    from netdyno.devices.kind import Kind
    from netdyno.devices.wiring import LabLink, Wiring


class Profile(Protocol):
    """A profile of traffic, as far as modifiers ask."""

    @property
    def stack(self) -> Sequence[Any]:
        """Its headers, outermost first."""
        ...

    @property
    def headers(self) -> Any:
        """Those that a plan writes itself; None: made of addresses."""
        ...

    @property
    def classes(self) -> Any:
        """Classes of its traffic, if it has any."""
        ...

    @property
    def parts(self) -> Sequence[Any]:
        """Profiles as each of its classes has it; without classes itself alone."""
        ...

    @property
    def pool(self) -> Any:
        """The networks its addresses are drawn from."""
        ...

    @property
    def tagged(self) -> bool:
        """Whether its frames have VLAN tags of their own."""
        ...

    @property
    def takes_tags(self) -> bool:
        """Whether its frames have the tags of each link."""
        ...

    def between(self, near: int, far: int, *, ports: int, reverse: bool) -> Sequence[Any]:
        """Its headers from one of so many ports to another."""
        ...


@dataclass(frozen=True)
class Asked:
    """A case as far as a modifier asks whether it can be. settings: the device's, in this case."""

    profile: Profile
    ways: Sequence[Way]
    kind: Kind
    links: Sequence[LabLink]
    settings: Mapping[str, str]

    @property
    def tagged(self) -> bool:
        """Whether its frames have VLAN tags, of the profile or of a link."""
        return self.profile.tagged or (self.profile.takes_tags and any(link.vlans for link in self.links))


@dataclass(frozen=True)
class Words:
    """What a port says of its own beside the streams (MessageSpec of crates/engine/src/spec.rs), the UDP
    ports it listens to meanwhile, and the networks it says are behind it."""

    messages: tuple[Mapping[str, Any], ...] = ()
    listens: tuple[int, ...] = ()
    behind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """A trial as far as its modifier has a word in it.

    speaker: the first port that sends. witness: the one its frames are to come out of. settings: the
    device's. settle_ns: from learning to traffic, and duration_ns: of traffic.
    """

    wiring: Wiring
    speaker: int
    witness: int
    settings: Mapping[str, str]
    settle_ns: int
    duration_ns: int


class Saying(Protocol):
    """What ports say in a trial. secret: with what nobody may store."""

    def __call__(self, scene: Scene, *, secret: bool) -> Mapping[int, Words]:
        """ValueError if that cannot be said."""
        ...


@dataclass(frozen=True)
class Modifier:
    """One file, and one line in `MODIFIERS`.

    section: of RFC 2544 section 11, that has it; empty: none has. share: of the frames of each stream that
    others take the place of, evenly spread; they are counted beside it, and no method sees them.
    headers: of those, by the profile and the sending port's MAC address. settings: what it sets of the
    device, for the ways of a case among so many ports. problem: why a case cannot be so. words: what ports
    say of their own; takes_bps: what is kept free for that of the line of the first port that sends, bits of
    layer 1 a second, so that it takes the place of test frames, and witness_bps of that of the port its
    frames go to; longest: bytes of the longest such frame, FCS counted. read: what came of it in a trial.
    conclude: the result, with what came of it in the trials that the result rests on.
    """

    name: str
    doc: str
    section: str = ""
    share: Fraction = Fraction(0)
    headers: Callable[[Profile, str], list[dict[str, Any]]] | None = None
    settings: Callable[[Profile, Sequence[Way], int], Mapping[str, str]] = lambda profile, ways, ports: {}
    problem: Callable[[Asked], Problem | None] = lambda asked: None
    words: Saying | None = None
    takes_bps: int = 0
    witness_bps: int = 0
    longest: int = 0
    read: Callable[[Scene, Outcome], Exchange] | None = None
    conclude: Callable[[Result, Wiring, Sequence[Outcome]], Result] = lambda result, wiring, trials: result
