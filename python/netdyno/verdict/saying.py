"""How verdicts speak: the base of their reasons, and rates, shares and losses in their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.number import count, part, percent, searched
from netdyno.values.number import rate as printed
from netdyno.values.reason import Codes, Reason, declared

MOST_PORTS = 3
"""Ports that a sentence names."""


def pps(rate: Fraction) -> str:
    """A rate that was passed, cut: `14.66 Mpps`."""
    return printed(rate, "pps", "at least")


def below(rate: Fraction) -> str:
    """A rate that was not passed, rounded up."""
    return printed(rate, "pps", "at most")


def as_found(rate: Fraction, *, is_searched: bool) -> str:
    """A rate as tables have it: of a search cut, with a fourth digit; what was measured rounded."""
    return searched(rate) if is_searched else printed(rate, "pps")


def name_ports(ports: Sequence[str]) -> str:
    """The names of the first ports, and how many more there are."""
    named = " and ".join(f"`{port}`" for port in ports[:MOST_PORTS])
    more = len(ports) - MOST_PORTS
    return f"{named} and {count(more)} more" if more > 0 else named


class DeadFlows(Reason, code="dead-flows"):
    """Flows that lost every frame. is_all_of_loss: no other flow lost any."""

    dead: int
    flows: int
    is_all_of_loss: bool
    says = "{dead} of {flows:flow} lost every frame"


def lost_of(lost: int, sent: int, corrupted: int = 0, dead: DeadFlows | None = None) -> str:
    """`16,040 of 3,348,290 frames lost (0.479 %)`; `1 of 4 flows lost every frame (25 of 100 frames)`."""
    if lost and lost == sent:
        return f"none of {counted(sent, 'frame')} came back"
    if dead is not None and dead.is_all_of_loss and not corrupted:
        return f"{dead} ({count(lost)} of {counted(sent, 'frame')})"
    if dead is not None:
        return f"{lost_of(lost, sent, corrupted)}; {dead}"
    gone = lost + corrupted
    share = f" ({part(Fraction(gone, sent))})" if sent and gone else ""
    if not corrupted:
        return f"{count(lost)} of {counted(sent, 'frame')} lost{share}"
    if not lost:
        return f"{count(corrupted)} of {counted(sent, 'frame')} corrupted{share}"
    return f"{count(lost)} of {counted(sent, 'frame')} lost and {count(corrupted)} corrupted{share}"


def explained(frames: int) -> str:
    """How many of the frames just named may be the tester's: `The tester's pauses explain none of them`."""
    return f"The tester's pauses explain {f'at most {count(frames)}' if frames else 'none'} of them"


def below_load(short: Reason) -> str:
    """That the load was a little less than asked for, and why."""
    return f"The load was a little lower than asked for, as {short}"


def carrier_losses(times: int) -> str:
    """`1 carrier loss`, `3 carrier losses`."""
    return f"{count(times)} carrier loss{'' if times == 1 else 'es'}"


class VerdictReason(Reason):
    """Why a limit was named. A sentence without its full stop, for one scope or for several alike: its
    template names `{where}`."""

    def say(self, where: str = "") -> str:
        """where: of which scopes it is said, `, each direction`; empty: the one beside it."""
        return self.render(where=where)

    def __str__(self) -> str:
        return self.say()


class LossReason(VerdictReason):
    """A verdict on frames that were lost."""

    lost: int
    sent: int

    @property
    def loss(self) -> str:
        """`16,040 of 3,348,290 frames lost (0.479 %)`."""
        return lost_of(self.lost, self.sent)


class Reached(Reason, code="reached"):
    """How far a value went. share: of the line, None where nothing enforces it; failed_share: the lowest
    load of a search that did not pass; filled: how full a mix made the line at most."""

    rate_pps: Fraction | None
    is_below: bool = False
    """Whether no load passed: the rate is the lowest that was tried, or lost frames later."""
    share: Fraction | None = None
    is_of_mix: bool = False
    failed_share: Fraction | None = None
    filled: Fraction | None = None
    lasting_pps: Fraction | None = None
    """The rate without frames still queued when sending ended, of which a lower bound is said; None:
    none were."""
    most_pps: Fraction | None = None
    """The lowest load that the device is known not to pass, where that is far above the rate."""
    is_refuted: bool = False
    """Whether later trials lost frames at the rate, which had passed."""
    is_searched: bool = False
    """Whether a search found the rate: it has a fourth digit, as in tables, and is cut. What was measured is
    rounded, as in tables."""

    def __str__(self) -> str:
        if self.rate_pps is None:
            return "rate unknown"
        whole = "of the frames of this mix on a full line" if self.is_of_mix else "of line rate"
        at = printed(self.rate_pps, "pps", "at least" if self.is_searched else "about", self._more)
        text = f"below {below(self.rate_pps)}" if self.is_below else at
        if self.most_pps is not None:
            text = f"between {text} and {searched(self.most_pps, 'at most')}"
        if self.share is not None:
            text += f", {part(self.share)} {whole}"
        if self.failed_share is not None:
            text += f" ({part(self.failed_share)} did not pass)"
        if self.filled is not None:
            text += f", line {percent(self.filled, 1, 'at most', trim=True)} full at most"
        if self.is_refuted:
            return f"{text}, where later trials lost frames"
        return f"{text}, no load passed" if self.is_below else text

    @property
    def _more(self) -> int:
        """A search tells loads apart that differ in the fourth digit, and tables print that."""
        return int(self.is_searched or self.failed_share is not None)

    @property
    def bound(self) -> str:
        """As a lower bound: `at least 582 kpps`."""
        if self.rate_pps is None or self.is_below:
            return str(self)
        lasting_pps = self.rate_pps if self.lasting_pps is None else self.lasting_pps
        return f"at least {printed(lasting_pps, 'pps', 'at least', self._more)}"

    @property
    def bound_of_device(self) -> str:
        """As a lower bound, a sentence: `The device does at least 582 kpps`."""
        if self.rate_pps is None:
            return "What the device can do is unknown"
        if self.is_refuted:
            return f"The device does less than {below(self.rate_pps)}"
        if self.is_below:
            return f"No load passed, down to {pps(self.rate_pps)}"
        return f"The device does {self.bound}"


class RoundFigure(Reason, code="round-figure"):
    """A rate that is a round number of bits a second, as the layer counts them."""

    bps: Fraction
    layer: str
    says = "{bps} {layer} is a round number: rerun with another frame size to rule out a licence or policer"


def first_ones(pairs: Iterable[tuple[str, object]], further: int) -> str:
    """`west-east: clean; and 3 more`: names and what is said of each, the first ones of several."""
    said = [f"{name}: {text}" for name, text in pairs]
    return "; ".join([*said, *([f"and {count(further)} more"] if further else [])])


def printed_size(size: Fraction) -> str:
    """A frame size, `64` or `362.5`."""
    return str(int(size)) if size.denominator == 1 else f"{float(size):.1f}"


def begun(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


REASONS: Codes = declared(globals())
