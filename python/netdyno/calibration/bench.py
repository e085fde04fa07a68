"""The tester on its own loopback, one trial at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno.calibration.document import CalibrationError
from netdyno.calibration.looping import lead_back, received_bps, sum_at_ports, sum_bps
from netdyno.methods import find_shortfall, sending_ns
from netdyno.plan.matrix import cases
from netdyno.testers import TesterEntry
from netdyno.testers.tester import Calibratable
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.rates import wire_bits
from netdyno.values.units import Duration, FrameRate, PositiveDuration

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

UNDISTURBED_PPM = 970_000
"""A thread that had less of its core was disturbed: what it could not do says little of what it can. Stricter
than what a verdict asks of a tester (`OWN_CORE_PPM`): a proof is kept, and other results rest on it."""
SHORT_PAUSE_NS = 1_000_000
"""So was one that was away for longer than this at a stretch."""

ATTEMPTS = 3
"""How often a load is tried whose trials are disturbed."""


@dataclass(frozen=True)
class Shot:
    """One trial at one load."""

    fps: Fraction
    duration_ns: int
    result: Outcome
    spacing: tuple[tuple[dict[str, Any], ...], ...]
    """For each port and each of its queues, how the test frames that came in were spaced
    (crates/session/src/spacing.rs)."""
    loads: tuple[Fraction, ...] = ()
    """Frames a second that each port is to receive; empty: `fps`."""

    @property
    def lost(self) -> int:
        """Frames that did not come back intact."""
        return sum(abs(stream.missing) for stream in self.result.streams)

    @property
    def passed(self) -> bool:
        """Whether every frame asked for was sent and came back once and intact."""
        return find_shortfall(self.result, self.duration_ns) is None and all(
            stream.offered > 0 and stream.missing == 0 and stream.duplicates == 0
            for stream in self.result.streams
        )

    @property
    def sent_fps(self) -> Fraction:
        """The load that was sent, frames a second, by the stream that was sent the least part of its own.

        Late frames and their time count.
        """
        took = Fraction(self.duration_ns, max(sending_ns(self.result), self.duration_ns))
        part = min(Fraction(stream.offered, max(stream.intended, 1)) for stream in self.result.streams)
        return self.fps * part * took

    @property
    def disturbed(self) -> bool:
        """Whether the tester was preempted."""
        health = self.result.health
        share = health.core_share_ppm
        return (share is not None and share < UNDISTURBED_PPM) or health.longest_gap_ns > SHORT_PAUSE_NS

    @property
    def shortfall(self) -> str:
        """A clause on why the load did not pass."""
        why = find_shortfall(self.result, self.duration_ns)
        if why is not None:
            return str(why)
        return f"{self.lost} of {sum(stream.offered for stream in self.result.streams)} frames were lost"


def load_tester(entry: TesterEntry) -> Calibratable:
    """The tester of an entry. Raises TesterMissingError, CalibrationError."""
    tester = entry.load()
    if not isinstance(tester, Calibratable):
        raise CalibrationError(f"the tester `{entry.name}` cannot be calibrated", code="unsupported")
    return tester


class Bench:
    """An open session on looped ports."""

    def __init__(self, tester: Calibratable, plan: Plan, wiring: Wiring, drain_ns: int) -> None:
        trial = plan.trial.model_copy(
            update={
                "settle": Duration.of_ns(0),
                "drain": Duration.of_ns(drain_ns),
                "sample": PositiveDuration.of_ns(10_000_000),
            }
        )
        self.tester = tester
        self.plan = replace(plan, trial=trial)
        self.wiring = wiring
        self.spare = 0
        """How many trials may still be retried because the tester was preempted."""
        session = tester.session_spec(wiring, *cases(plan))
        session["ports"] = [{**port, "spacing": True} for port in session["ports"]]
        self._opening = tester.raw(session)

    def __enter__(self) -> Bench:
        """Opens the ports. Raises TesterError, TesterMissingError."""
        self._session = self._opening.__enter__()
        self.opened = self._session.ports
        """What each port turned out to be."""
        return self

    def __exit__(self, *ended: Any) -> None:
        """Closes the ports, after the trial that may be under way."""
        self._opening.__exit__(*ended)

    def shoot(
        self,
        case: Case,
        fps: Fraction,
        duration_ns: int,
        change: Callable[[dict[str, Any]], None] | None = None,
    ) -> Shot:
        """A constant load with the frames of `case`. change: of the trial's spec, before it runs."""
        asked = Trial("loopback", Frames.steady(FrameRate(fps), duration_ns))
        spec = lead_back(self.tester.trial_spec(self.plan, case, self.wiring.lab, asked), self.wiring)
        if case.profile.burst == 1:
            # What nothing enforces bounds nobody here: it is found how much more passes.
            for port, wired in zip(spec["ports"], self.wiring.ports, strict=True):
                port["line_bps"] = wired.rate_bps if wired.enforced_rate else 0
        if change is not None:
            change(spec)
        text = self._session.trial(spec)
        result = self.tester.read_result(text)
        if result.invalid:
            raise CalibrationError(
                f"a trial on the loopback is invalid: {'; '.join(map(str, result.invalid))}",
                code="trial-invalid",
            )
        spacing = tuple(tuple(queues) for queues in json.loads(text).get("spacing", ()))
        bits = wire_bits(case.profile.mean)
        loads = tuple(Fraction(bps) / bits for bps in received_bps(spec))
        return Shot(fps, duration_ns, result, spacing, loads)

    def is_stricter(self, case: Case) -> bool:
        """Whether the joined ports send more in all than the lab's, at the same load."""
        load = Trial("loopback", Frames.steady(FrameRate(Fraction(1000)), 10**9))
        spec = self.tester.trial_spec(self.plan, case, self.wiring.lab, load)
        # Each frame on joined ports is sent and received there.
        return 2 * sum_bps(lead_back(spec, self.wiring)["streams"]) > sum_at_ports(
            spec["streams"], self.wiring
        )

    def steadiest(self, case: Case, fps: Fraction, duration_ns: int) -> Shot:
        """As `shoot`, retried while it was disturbed; of several the one with most of its core.

        Whether it passed or not, and chosen by the core alone: else the result would be chosen. As long as
        there are `spare` trials: on a machine that is busy all the time it would not end.
        """
        made = [self.shoot(case, fps, duration_ns)]
        while made[-1].disturbed and len(made) < ATTEMPTS and self.spare > 0:
            self.spare -= 1
            made.append(self.shoot(case, fps, duration_ns))
        if not made[-1].disturbed:
            return made[-1]
        return max(made, key=lambda shot: shot.result.health.core_share_ppm or 0)
