"""Who was the limit on a result, and whether the plan's goals were met. Pure: counts in, sentences out.

The order of the questions matters. What filled the line is limited by the line, whatever else
happened. After that the tester doubts itself, its receiver and its fixture before it names the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from netdyno.methods import frames_per_second, milliseconds, rounded, starved
from netdyno.store.records import StoredGoal
from netdyno.trial import HEADLINES, Limit, Result, Situation, StreamResult, TrialResult, Value, Verdict
from netdyno.units import Percent, decimal

if TYPE_CHECKING:
    from netdyno.plan import Goal

LINE_SHARE = Fraction(99, 100)
"""From this share of the line on, the line is the limit."""

LATE_NS = 1_000_000
"""A frame that left this much after its time means a burst behind it, which a device may well lose."""

LATE_SLACK = Fraction(1, 100)
"""Added to what pauses can explain."""

KNEE_MARGIN = Fraction(11, 10)
"""A knee is the device's if the tester kept its schedule this many times further."""

OWN_CORE_PPM = 900_000
"""A tester that had less of its core than this was not the one that decided when it sent."""

OWN_DROPS = ("box_drops", "in_drops", "both_drops", "out_drops")
"""Counters of an emulated device (crates/dut/src/spec.rs) for what its own capacities dropped."""

OWN_SHARE = Fraction(1, 100)
"""Whoever dropped less than this share of what is missing was not the limit: the device, or the tester."""

NARROWER = {"throughput": "a narrower `width`", "knee": "a longer `ramp`"}
"""Values that are known between bounds only, with what brings the bounds closer."""

_SEVERITY: tuple[Limit, ...] = (
    "invalid",
    "inconclusive",
    "tester",
    "receiver",
    "fixture",
    "licence",
    "device",
    "line",
)


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: the case's situation, clock and trials."""

    situation: Situation
    clock: Literal["virtual", "real"]
    enforced_rate: bool
    trials: tuple[TrialResult, ...]


def judge(result: Result, evidence: Evidence) -> dict[str, Verdict]:
    """A verdict for each scope of the headline value: every stream, and their sum."""
    headlines = {value.scope: value for value in result.values if value.name in HEADLINES}
    verdicts = {
        scope: _judge_stream(value, result, evidence)
        for scope, value in headlines.items()
        if scope in evidence.situation.streams
    }
    if "sum" in headlines:
        verdicts["sum"] = _judge_sum(verdicts)
    return verdicts


def judge_goals(
    goals: Sequence[Goal], result: Result, verdicts: Mapping[str, Verdict], evidence: Evidence
) -> list[StoredGoal]:
    """Each goal of the plan against each direction: met only if every direction meets it.

    A number that fell short because of the tester is a lower bound: it can show that a goal was met,
    never that it was missed.
    """
    return [_judge_goal(goal, result, verdicts, evidence) for goal in goals]


def _judge_goal(
    goal: Goal, result: Result, verdicts: Mapping[str, Verdict], evidence: Evidence
) -> StoredGoal:
    situation = evidence.situation
    share = goal.value == "loss"
    assert not share or isinstance(goal.bound.amount, Percent)
    bound = goal.bound.amount.amount if share else frames_per_second(goal.bound, situation)
    missed: list[str] = []
    unknown: list[str] = []
    met: list[str] = []
    for stream in situation.streams:
        found = _found(goal, stream, result, evidence)
        limit = verdicts[stream].limit if stream in verdicts else "invalid"
        text = f"{stream}: {found.text}"
        # Short of the device's own limit a rate is a lower bound, and a loss may be the tester's own.
        theirs = limit in ("tester", "receiver", "inconclusive")
        if theirs and not share:
            found = replace(found, exact=False, below=None)
        holds = None if limit == "invalid" else found.holds(goal, bound)
        if theirs and share and not holds:
            holds = None
        if holds is not None:
            (met if holds else missed).append(text)
        elif found.low is None or limit == "invalid":
            unknown.append(text)
        elif found.below is not None and found.narrower:
            span = f"it is from {rounded(found.low)} to below {rounded(found.below)} fps"
            unknown.append(f"{text}; {span}, {found.narrower} would tell")
        else:
            nobody = limit == "inconclusive"
            unknown.append(
                f"{text}; nobody can say who was the limit" if nobody else f"{text}, limited by: {limit}"
            )
    if missed:
        return StoredGoal(str(goal), False, "; ".join(missed))
    if unknown or not met:
        return StoredGoal(str(goal), None, "; ".join(unknown) or "nothing was measured")
    return StoredGoal(str(goal), True, "; ".join(met))


@dataclass(frozen=True)
class _Found:
    """What is known of the number a goal is about: it is `low` if `exact`, else at least that.

    below: the number is less than this; None: that is not known. narrower: what would bring the two closer.
    """

    low: Fraction | None
    text: str
    exact: bool = False
    below: Fraction | None = None
    narrower: str = ""

    def holds(self, goal: Goal, bound: Fraction) -> bool | None:
        """Whether every number it can be is as the goal wants it, or none is; None: some are."""
        if self.low is None:
            return None
        at_low = goal.holds(self.low, bound)
        if self.exact:
            return at_low
        upwards = goal.operator in (">=", ">")
        if at_low is upwards:
            return upwards
        # All of it lies below the bound, and so on the other side, whether the bound itself counts or not.
        return not upwards if self.below is not None and self.below <= bound else None


def _found(goal: Goal, stream: str, result: Result, evidence: Evidence) -> _Found:
    """The number a goal is about, with its bounds, and the number in words."""
    name = goal.value
    wanted = "loss at the end" if name == "loss" else name
    value = next((value for value in result.values if (value.name, value.scope) == (wanted, stream)), None)
    if value is None and name == "loss":
        # A search: what was lost in the trial that its result rests on, the first it names.
        counts = [found for trial in evidence.trials[:1] for found in trial.streams if found.name == stream]
        if not counts or not counts[0].offered:
            return _Found(None, "no trial")
        (one,) = counts
        return _Found(Fraction(one.missing, one.offered), _missing(counts), exact=True)
    if value is None:
        return _Found(None, f"the method `{result.method}` gives no {name}")
    if value.number is None:
        return _Found(value.low, value.note or "not found")
    if name == "loss":
        text = f"{decimal(value.number * 100, 4)} % were lost ({value.note})"
        return _Found(value.number, text, exact=True)
    text = f"{rounded(value.number)} fps, {_of_line(value.number, evidence.situation)}"
    if name in NARROWER and value.high is not None:
        return _Found(value.number, text, below=value.high, narrower=NARROWER[name])
    if name == "ramp max Rx" and not evidence.situation.mixed_receivers:
        return _Found(_in_favour(goal, value, evidence.situation), text, exact=True)
    return _Found(value.number, text, exact=True)


def _in_favour(goal: Goal, value: Value, situation: Situation) -> Fraction:
    """A rate that was counted is known to the frame: what a goal asks within that is met.

    Its bounds are one frame of a window away, and no rate is above its line. Not of a mix, whose bounds
    say how far the order of sizes shifts a count.
    """
    assert value.number is not None
    if goal.operator in (">=", ">"):
        most = value.number if value.high is None else min(value.high, situation.line_fps)
        return max(value.number, most)
    return value.number if value.low is None else min(value.number, value.low)


def _judge_stream(value: Value, result: Result, evidence: Evidence) -> Verdict:
    """The verdict on one direction."""
    trials = evidence.trials
    # A search ends where any direction fails, so what limited one of them limited the load of all.
    search = value.name == "throughput"
    streams = [stream for trial in trials for stream in trial.streams if search or stream.name == value.scope]
    lost = _lost(streams)
    sent = sum(stream.offered for stream in streams)
    corrupted = sum(stream.corrupted for stream in streams)

    for stream in streams:
        if stream.lost < 0:
            return Verdict(
                "invalid",
                f"{-stream.lost} more frames arrived than were sent: something makes frames",
            )
    if not streams or not sent:
        return Verdict("invalid", "no frame was sent in the trials this rests on")
    full = _line(value, result, evidence)
    # Where nothing enforces the line, a burst that makes up for a pause can look like a full one.
    if full is not None and (evidence.enforced_rate or not any(starved(trial) for trial in trials)):
        return full
    short = next((reason for trial in trials if (reason := _starved(trial, value.scope)) is not None), None)
    early = _knee_before_tester(value, result, trials) if short is not None else None
    if early is not None:
        return Verdict("device", f"{early}; later {short}")
    if short is not None:
        return Verdict("tester", f"{short}, so {_rate(value)} is a lower bound and no limit of the device")
    if value.number is None:
        return Verdict("inconclusive", value.note or "no value was found")
    # The tester may have lost frames itself. It corrupted none, so no more than the loss is excused.
    excusable = lost > corrupted
    all_lost = _lost(stream for trial in trials for stream in trial.streams)
    dropped = sum(trial.health.rx_dropped for trial in trials)
    if excusable and _noticeable(dropped, all_lost):
        return Verdict(
            "receiver",
            f"the tester itself dropped {dropped} frames on receiving; {all_lost} are missing",
        )
    late = max(trial.health.latest_departure_ns for trial in trials)
    if excusable and evidence.clock == "real" and late > LATE_NS and not _beyond_lateness(streams, trials):
        return Verdict(
            "inconclusive",
            f"{lost} of {sent} frames were lost, but the tester was up to {milliseconds(late)} late, and"
            " the burst after such a pause may be what was lost",
        )
    unknown = sum(stream.beyond_window for stream in streams)
    if excusable and lost <= unknown:
        return Verdict(
            "inconclusive",
            f"{lost} of {sent} frames count as lost, and {unknown} came so late that nobody can say whether"
            " they are copies or just those: more flows than can be told apart in such disorder",
        )
    burst = max(_burst(trial) for trial in trials)
    if excusable and evidence.clock == "real" and lost <= burst:
        return Verdict(
            "inconclusive",
            f"{lost} of {sent} frames were lost, no more than the {rounded(burst)} that the tester, up to"
            f" {milliseconds(late)} late, sent at once to make up for it",
        )
    partner = _device_counts(trials, "partner_drops")
    # Far end and device stand in a row: if the device drops too, it is the narrower of the two.
    own = sum(_device_counts(trials, name) for name in OWN_DROPS)
    if excusable and _noticeable(partner, all_lost) and not _noticeable(own, all_lost):
        return Verdict(
            "fixture",
            f"the far end of a group dropped {partner} of the {all_lost} lost frames before the device",
        )
    if lost or corrupted:
        tester = f"only {dropped} of all {all_lost} lost on receiving" if dropped and all_lost else "none"
        before = f" and the far end of a group dropped {partner} of all {all_lost} lost" if partner else ""
        return Verdict(
            "device",
            f"{_missing(streams)} while the tester sent all it was asked to and dropped {tester}{before};"
            f" {_reached(value, result, evidence)}",
        )
    # Copies end a search. A ramp rises on whatever they are, and its knee is of what is missing.
    copies = sum(stream.duplicates for stream in streams)
    if search and copies and value.high is not None:
        return Verdict(
            "device",
            f"none of {sent} frames was lost, but {copies} came more than once;"
            f" {_reached(value, result, evidence)}",
        )
    again = f"; {copies} came more than once" if copies else ""
    return Verdict(
        "inconclusive",
        f"nothing was lost and more was not offered: {_reached(value, result, evidence)}, a lower"
        f" bound{again}",
    )


def _starved(trial: TrialResult, scope: str) -> str | None:
    """Why a trial was starved: of the stream in question, if that one was."""
    own_first = sorted(trial.streams, key=lambda stream: stream.name != scope)
    return starved(replace(trial, streams=tuple(own_first)))


def _line(value: Value, result: Result, evidence: Evidence) -> Verdict | None:
    """Whether the line, or the one member a single flow may use, was full."""
    if value.number is None:
        return None
    # Loss that set in well before, and stayed, has another cause, however small a share of it is.
    knee = next((one for one in result.values if (one.name, one.scope) == ("knee", value.scope)), None)
    before = None if knee is None or knee.high is None else knee.high * KNEE_MARGIN
    situation = evidence.situation
    line = situation.line_fps
    # A search that gives an upper bound has lost frames below the line: it knows closer than this share.
    searched = value.name == "throughput" and value.high is not None
    early = before is not None and before < line
    if value.number >= LINE_SHARE * line and not searched and not early:
        declared = "" if evidence.enforced_rate else " (declared in the plan; nothing enforces it here)"
        return Verdict(
            "line",
            f"{_rate(value)} is {_share(value.number, line)} of the line's {rounded(line)} fps{declared}",
        )
    ceiling = situation.flow_ceiling_fps
    early = before is not None and ceiling is not None and before < ceiling
    if ceiling is not None and value.number >= LINE_SHARE * ceiling and not early:
        share = _share(value.number, ceiling)
        return Verdict(
            "line",
            f"{_rate(value)} is {share} of what one member of the group carries; a single flow uses one",
        )
    return None


def _knee_before_tester(value: Value, result: Result, trials: Sequence[TrialResult]) -> str | None:
    """Whether loss had set in for good, by a margin, before the tester fell behind its schedule.

    The knee of a ramp is read only where the tester kept up. With a tenth of that load to spare the
    loss is not that of the bursts by which a tester makes up for its pauses: if it had its core, and if
    the best rate was not itself received from such a burst.
    """
    found = {one.name: one for one in result.values if one.scope == value.scope}
    knee, kept = found.get("knee"), found.get("kept up to")
    if knee is None or kept is None or knee.high is None or kept.number is None or value.number is None:
        return None
    if knee.high * KNEE_MARGIN > kept.number or value.number > kept.number:
        return None
    health = [trial.health for trial in trials]
    dropped = sum(one.rx_dropped for one in health)
    if _noticeable(dropped, _lost(stream for trial in trials for stream in trial.streams)):
        return None
    if any((one.core_share_ppm or 1_000_000) < OWN_CORE_PPM for one in health):
        return None
    return (
        f"loss stayed from {rounded(knee.high)} fps on, while the tester kept its schedule up to"
        f" {rounded(kept.number)} fps"
    )


def _burst(trial: TrialResult) -> Fraction:
    """Frames of all streams that were due while the tester was latest; they left back to back after it."""
    most = sum(max(stream.tx, default=0) for stream in trial.streams)
    return Fraction(most * trial.health.latest_departure_ns, trial.sample_ns)


def _beyond_lateness(streams: Sequence[StreamResult], trials: Sequence[TrialResult]) -> bool:
    """Whether more was lost than bursts after pauses can explain.

    A tester that had its core for all but a share s of the time can have sent at most about s of its
    frames late. Three times that lost is not its doing. Without the core's share there is no saying.
    """
    shares = [trial.health.core_share_ppm for trial in trials]
    if any(share is None for share in shares):
        return False
    away = max(Fraction(1_000_000 - share, 1_000_000) for share in shares if share is not None)
    sent = sum(stream.offered for stream in streams)
    return Fraction(_lost(streams), sent) > 3 * away + LATE_SLACK


def _lost(streams: Iterable[StreamResult]) -> int:
    """Frames lost, without those one stream has too many."""
    return sum(max(stream.lost, 0) for stream in streams)


def _noticeable(dropped: int, lost: int) -> bool:
    """Whether somebody dropped enough of what was lost to be the limit."""
    return lost > 0 and dropped >= OWN_SHARE * lost and dropped > 0


def _missing(streams: Sequence[StreamResult]) -> str:
    """What did not come back intact, in words."""
    lost, sent = _lost(streams), sum(stream.offered for stream in streams)
    corrupted = sum(stream.corrupted for stream in streams)
    if not corrupted:
        return f"{lost} of {sent} frames were lost"
    if not lost:
        return f"{corrupted} of {sent} frames came corrupted"
    return f"{lost} of {sent} frames were lost and {corrupted} came corrupted"


def _device_counts(trials: Sequence[TrialResult], name: str) -> int:
    """The sum of one counter over emulated devices and their ports."""
    devices = [device for trial in trials for device in trial.devices]
    ports = [port for device in devices for port in device.get("ports", ())]
    return sum(counted.get(name, 0) for counted in (*devices, *ports))


def _judge_sum(verdicts: Mapping[str, Verdict]) -> Verdict:
    """The sum is limited by whatever limited a direction; the least certain of them is named."""
    if not verdicts:
        return Verdict("invalid", "no direction was measured")
    limits = {verdict.limit for verdict in verdicts.values()}
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    worst = next(limit for limit in _SEVERITY if limit in limits)
    reasons = {verdict.reason for verdict in verdicts.values()}
    if len(limits) == len(reasons) == 1:
        return Verdict(worst, f"each direction: {reasons.pop()}")
    if len(limits) == 1:
        return Verdict(worst, "; ".join(f"{scope}: {one.reason}" for scope, one in verdicts.items()))
    return Verdict(worst, "; ".join(f"{scope}: {one.limit}, {one.reason}" for scope, one in verdicts.items()))


def _rate(value: Value) -> str:
    if value.number is None:
        return "what was reached" if value.low is None else f"{rounded(value.low)} fps"
    return f"{rounded(value.number)} fps"


def _reached(value: Value, result: Result, evidence: Evidence) -> str:
    """The rate in words; a share of the line only where something enforces the line."""
    if value.number is None or not evidence.enforced_rate:
        return f"{_rate(value)} were reached"
    reached = f"{_rate(value)} is {_of_line(value.number, evidence.situation)}"
    filled = {one.scope: one.number for one in result.values if one.name == "line utilisation"}
    used = filled.get(value.scope)
    return reached if used is None else f"{reached}, which was {decimal(used * 100, 2)} % full at most"


def _of_line(number: Fraction, situation: Situation) -> str:
    """A rate beside the line's. Of a mix it is a share of frames: what came back need not be the mix."""
    share = _share(number, situation.line_fps)
    return (
        f"{share} of the frames of this mix on a full line"
        if situation.mixed_receivers
        else f"{share} of the line"
    )


def _share(part: Fraction, whole: Fraction) -> str:
    return f"{decimal(part / whole * 100, 2)} %"
