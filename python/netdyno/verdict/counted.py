"""Drops that the device counted itself, as proof that frames were lost in it and not by the tester.

A calibration shows that the tester loses nothing. So does a balance of a trial that closes to the frame: the
device took in all that was sent, gave out all that was received, and counted the rest as dropped. It proves
nothing of why they were dropped, so whatever excuses the device is asked before, and drops that do not depend
on the load (without a route, by an access list) are no limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from netdyno.values.number import count
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.verdict import Verdict
from netdyno.verdict.balance import Path, balance_trial
from netdyno.verdict.device_counts import ANY_CAUSE, IN_WAY, NO_ROOM, Drop, count_ports
from netdyno.verdict.device_trial import bound_lines, count_trial
from netdyno.verdict.drops_by_load import is_lost_by_load
from netdyno.verdict.evidence import Counts, Evidence
from netdyno.verdict.saying import Reached, VerdictReason, begun, lost_of

MOST_NAMED = 5
"""Counters that a reason names."""

FULL_LINE = Fraction(9_997, 10_000)
"""Of its line: a port that gave out so much may have had no room for more. The clocks of two lines may be
200 ppm apart, and the load 100 ppm short."""


class DeviceCounted(VerdictReason, code="device-counted"):
    """The device counted every missing frame as dropped, and both links lost none.

    dropped: over all streams. counters: names of those that moved. cause: what the proof stands in for.
    """

    reached: Reached | None
    lost: int
    sent: int
    dropped: int
    counters: tuple[str, ...]
    cause: Reason

    def say(self, where: str = "") -> str:
        rate = "" if self.reached is None else f"{self.reached}. "
        names = ", ".join(f"`{name}`" for name in self.counters)
        return (
            f"Device limit{where}: {rate}{begun(lost_of(self.lost, self.sent))}. The device's own counters of"
            f" drops account for all {count(self.dropped)} missing ({names}). Both links lost none"
        )


REASONS: Codes = declared(globals())


def prove_by_drops(
    doubtful: Verdict | None, counts: Counts, evidence: Evidence, reached: Reached | None = None
) -> Verdict | None:
    """`device` in place of an inconclusive verdict for want of a calibration, where the device's own counters
    explain every missing frame; else the verdict itself."""
    if doubtful is None or doubtful.limit != "inconclusive" or not counts.lost or counts.corrupted:
        return doubtful
    drops = evidence.once(find_drops)
    if not drops:
        return doubtful
    dropped = sum(drop.frames for drop in drops if isinstance(drop.frames, int))
    names = tuple(dict.fromkeys(drop.name for drop in drops))[:MOST_NAMED]
    cause = doubtful.reason
    reason = DeviceCounted(reached, counts.lost, counts.sent, dropped, names, cause)
    return Verdict("device", reason)


def find_drops(evidence: Evidence) -> tuple[Drop, ...]:
    """The device's counters of drops that account for all frames missing in the trials; empty: they do not.

    Each trial has to balance to the frame. A device that counted drops where none were missing, or fewer or
    more than were, is not believed in any of them. Where less load lost as large a share, or a stream or flow
    every frame, the load is not why. Where a port gave out all that its line carries, the line may be.
    """
    situation = evidence.situation
    if evidence.linked is not None or not situation.places or not situation.device_ports:
        return ()
    found: list[Drop] = []
    for trial, planned_ns in evidence.timed_trials:
        paths = () if planned_ns is None else _balance(trial, planned_ns, evidence)
        if not paths or not all(path.is_whole for path in paths):
            return ()
        drops = list(_drops(paths))
        lost = sum(stream.lost for stream in trial.streams)
        dropped = sum(drop.frames for drop in drops if isinstance(drop.frames, int))
        if dropped != lost or not all(_is_own(drop, evidence) for drop in drops):
            return ()
        found += drops
    if evidence.everything.dead or any(_is_lost_whole(trial) for trial in evidence.trials):
        return ()
    if evidence.enforced_rate and any(_is_line_full(*one, evidence) for one in evidence.timed_trials):
        return ()
    by_load = is_lost_by_load(evidence)
    if by_load is False or (by_load is None and any(drop.name not in NO_ROOM for drop in found)):
        return ()
    return tuple(found)


def _is_lost_whole(trial: Outcome) -> bool:
    return any(stream.lost > 0 and stream.lost >= stream.offered for stream in trial.streams)


def _is_line_full(trial: Outcome, planned_ns: int | None, evidence: Evidence) -> bool:
    """Whether frames were lost of those to a port that gave out all that its line may carry."""
    situation = evidence.situation
    for stream in (one for one in trial.streams if one.lost > 0 and one.name in situation.streams):
        arrival = evidence.fullest_arrival(trial, planned_ns, stream.name)
        if arrival is not None and arrival.part >= FULL_LINE:
            return True
    ports = dict(zip(situation.streams, (place.rx for place in situation.places), strict=True))
    lost, got, lines = Counter[int](), Counter[int](), dict[int, Fraction]()
    for stream in (one for one in trial.streams if one.name in ports):
        port = ports[stream.name]
        lost[port] += stream.lost
        got[port] += stream.offered - stream.lost
        lines[port] = min(lines.get(port, situation.out_fps(stream.name)), situation.out_fps(stream.name))
    return any(
        lost[port] > 0 and got[port] * 10**9 >= FULL_LINE * line * (planned_ns or 0)
        for port, line in lines.items()
    )


def _balance(trial: Outcome, planned_ns: int, evidence: Evidence) -> tuple[Path, ...]:
    if not trial.series:
        return ()
    situation = evidence.situation
    places = dict(zip(situation.streams, situation.places, strict=True))
    counters = count_trial(trial, planned_ns, places, situation.device_ports)
    if not counters.has_frames:
        return ()
    lines = bound_lines(situation.lines, situation.mean_size, is_enforced=evidence.enforced_rate)
    ports = count_ports(trial, situation.device_ports, counters, lines)
    shared = tuple(counters.shared(situation.device_ports))
    return balance_trial(trial, places, ports, shared)


def _drops(paths: tuple[Path, ...]) -> Iterator[Drop]:
    return (drop for path in paths for drop in path.drops if drop.frames)


def _is_own(drop: Drop, evidence: Evidence) -> bool:
    """Whether a counter may be of frames that the device itself had no room for.

    Errors are frames that a cable damaged; other names are reasons that the load need not change. What finds
    no room on the way out of a port that nothing holds to a rate (veth, memif) may be a ring that the tester
    did not empty.
    """
    if drop.name not in (*NO_ROOM, *ANY_CAUSE):
        return False
    return evidence.enforced_rate or drop.name.startswith(IN_WAY)
