"""What the tester is calibrated for in one case: a plain value that verdicts and reports read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction


@dataclass(frozen=True)
class OwnLatency:
    """The tester's own latency at a load: the 99.9th percentile, ns."""

    fps: Fraction
    p999_ns: int


@dataclass(frozen=True)
class Proven:
    """The tester's own limits with the ports, frames and directions of one case.

    Measured with the ports looped back on each other and no device between them, with the case's own
    frames: the same sizes, flows and header stack, in the directions the case sends in. What was not
    measured is None.
    """

    id: str
    """Of the calibration it comes from."""
    made_at: datetime
    """When that was made, UTC."""
    max_fps: Fraction | None
    """The highest load at which no frame was lost, frames a second of each direction (of a mix: of
    average size). Where both directions send, both did. None: not found, or not measured."""
    line_fps: Fraction | None = None
    """What the line carries, frames a second of each direction, where hardware enforces one; else None."""
    latency_floor_ns: int | None = None
    """Median latency at a low load: what every latency contains that is not the device's."""
    latency_noise_ns: int | None = None
    """99.9th percentile of the same latencies less their median."""
    rate_error_ppm: Fraction | None = None
    """Greatest deviation of the rate sent from the rate asked for, over loads of up to 90 % of `max_fps`."""
    expired: str | None = None
    """Why it holds no longer, a clause: `the kernel is now 6.1.0, it was 5.10.0`. None: it holds."""

    is_stricter: bool = False
    """Whether more was sent in all than the case sends at that load: the tester may do more."""
    latencies: tuple[OwnLatency, ...] = ()
    """At each load at which nobody disturbed the tester, the lowest load first."""

    host: str = ""
    """The generator host that it is of; of several the weakest. Empty: this machine."""
    others: tuple[str, ...] = ()
    """The calibrations of other hosts that the case rests on too."""

    def own_ns(self, load: Fraction) -> int:
        """The longest of these up to the first load that is not below this one, ns; 0: none known."""
        longest = 0
        for one in self.latencies:
            longest = max(longest, one.p999_ns)
            if one.fps >= load:
                break
        return longest

    @property
    def holds(self) -> bool:
        """Whether a verdict may rest on it."""
        return self.expired is None and self.max_fps is not None
