"""What came of one load between two ports, also of one that was cut short: `netdyno send` says it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model import headline
from netdyno.reports.model.view import ALL, CaseView, RunView, TrialView
from netdyno.stats.histogram import Histogram, decode, merge
from netdyno.values.load import STEADY
from netdyno.values.outcome import Outcome
from netdyno.values.rates import WIRE_OVERHEAD
from netdyno.verdict.proof_reasons import ByDirection
from netdyno.verdict.uneven import SentUnevenly

NOT_JUDGED = "not judged"
UNPROVEN = {
    headline.UNCALIBRATED: "these ports are not calibrated",
    headline.EXPIRED: "the calibration of these ports holds no longer",
}
"""Why, by the code of the note that says it."""


@dataclass(frozen=True)
class Sent:
    """All streams together. duration_ns: of the traffic. share: of the line; None where nothing enforces one.

    latest_ns: by how much the latest frame was sent late.
    """

    outcome: Outcome
    duration_ns: int
    sent: int
    received: int
    lost: int
    l1_bps: Fraction
    share: Fraction | None
    latency: Histogram
    longest_ns: int | None
    latest_ns: int

    @property
    def streams(self) -> list[str]:
        """Their names."""
        return [one.name for one in self.outcome.streams]

    @property
    def fps(self) -> Fraction:
        """Frames received a second."""
        return Fraction(self.received * 10**9, self.duration_ns)

    def percentile_ns(self, share: Fraction) -> int | None:
        """Of the latency. A bucket stands for its upper end, which may lie above the greatest value."""
        found = self.latency.percentile(share)
        return found if found is None or self.longest_ns is None else min(found, self.longest_ns)

    @property
    def loss(self) -> Fraction | None:
        """None if nothing was sent."""
        return Fraction(self.lost, self.sent) if self.sent else None


def find_sent(run: RunView) -> Sent | None:
    """What the only load of a run came to; None if no traffic began."""
    for case in run.cases:
        for trial in reversed(case.trials):
            found = _of_trial(case, trial)
            if found is not None:
                return found
    return None


def _of_trial(case: CaseView, trial: TrialView) -> Sent | None:
    streams, result = trial.result.streams, trial.result
    duration_ns = sum(phase.duration_ns for phase in result.phases if phase.name == STEADY)
    if not duration_ns:
        return None
    received = sum(one.received for one in streams)
    octets = sum(one.received_bytes for one in streams) + WIRE_OVERHEAD * received
    line = case.line(ALL if len(streams) > 1 else streams[0].name) if case.line_enforced else None
    timed = [one.latency for one in streams if one.latency is not None and one.latency.count]
    return Sent(
        result,
        duration_ns,
        sum(one.offered for one in streams),
        received,
        sum(max(one.missing, 0) for one in streams),
        Fraction(octets * 8 * 10**9, duration_ns),
        Fraction(received * 10**9, duration_ns) / line if line else None,
        merge(decode(one.histogram) for one in timed),
        max((one.max_ns for one in timed), default=None),
        result.health.latest_departure_ns,
    )


def find_uneven(run: RunView) -> list[SentUnevenly]:
    """That its only case sent the load unevenly, if it did."""
    (case,) = run.cases
    return [one for one in (case.result.notes if case.result else ()) if isinstance(one, SentUnevenly)]


def find_limit(run: RunView) -> tuple[str, str]:
    """The limit of the only case of a run, and the reason, a sentence; `NOT_JUDGED` where the tester was not
    calibrated, and without a reason where there is no result."""
    (case,) = run.cases
    verdict = case.verdict()
    if verdict is None:
        return NOT_JUDGED, ""
    why = next((UNPROVEN[one.code] for one in run.notes if one.code in UNPROVEN), None)
    if verdict.limit == "inconclusive" and why is not None:
        return NOT_JUDGED, why
    reason = verdict.reason
    # One reason is enough here; the report has that of each direction.
    first = "{}: {}".format(*reason.reasons[0]) if isinstance(reason, ByDirection) else str(reason)
    return verdict.limit, first
