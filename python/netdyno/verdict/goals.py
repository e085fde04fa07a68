"""Judges the plan's goals: met, missed, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from netdyno.errors import counted
from netdyno.stats.intervals import frames_to_show, loss_bound
from netdyno.values.finding import Result, Value
from netdyno.values.kind import TRIAL_LOSS, ValueKind, group_by_goal
from netdyno.values.number import RATES, Claim, latency, loss, rate, ratio, searched
from netdyno.values.records import StoredGoal
from netdyno.values.situation import Situation
from netdyno.values.units import ConnectionRate, Duration, GoodputRate, Load, Percent, decimal
from netdyno.values.verdict import OWN_LIMITS, Verdict
from netdyno.verdict.doubt_reasons import LostAsPlanned
from netdyno.verdict.evidence import CLEAN_LESS, Evidence
from netdyno.verdict.proof_reasons import GoalClass, GoalCount, GoalStreams
from netdyno.verdict.reasons import NoMoreOffered, NoMoreOnLine, NothingMeasured
from netdyno.verdict.saying import as_found, lost_of, pps
from netdyno.verdict.words import MOST, of_line

if TYPE_CHECKING:
    from netdyno.plan import Goal


Rate: TypeAlias = "Load | GoodputRate | ConnectionRate"
"""The bound of a goal for a rate or a share."""


def is_asked(goal: Goal, result: Result) -> bool:
    """Whether a goal is for cases like that of a result, which may have another value in its place."""
    if goal.of_class:
        return goal.value in result.kinds
    return goal.value in result.kinds or all(kind.instead != goal.value for kind in result.kinds.values())


def judge_goal(goal: Goal, result: Result, verdicts: Mapping[str, Verdict], evidence: Evidence) -> StoredGoal:
    """A goal of the plan against each direction: met only if every direction meets it.

    A number that fell short because of the tester is a lower bound: it can show that a goal was met,
    never that it was missed. Verdicts and evidence are those of the value that the goal is about, or of the
    first headline where that has none.
    """
    kinds = group_by_goal(result.kinds.values()).get(goal.value, ())
    if isinstance(goal.bound, int):
        return _judge_count(goal, goal.bound, kinds, result)
    if goal.of_class or isinstance(goal.bound, Duration):
        return _judge_class(goal, result, verdicts, evidence)
    judge = _judge_share if any(kind.is_share for kind in kinds) else _judge_rate
    answers: dict[bool | None, list[tuple[str, str]]] = {False: [], None: [], True: []}
    for stream in evidence.situation.streams:
        found = _find_number(goal, kinds, stream, result, evidence)
        # What has no verdict of its own has that of all together, or nobody's.
        verdict = verdicts.get(stream) or verdicts.get("sum")
        if found.low is None or (verdict is not None and verdict.limit == "invalid"):
            holds, text = None, found.text
        else:
            holds, text = judge(goal, goal.bound, found, stream, verdict, evidence)
            if holds and not _is_known(verdict) and any(kind.at_full_load for kind in kinds):
                holds, text = None, f"{text}{_why(verdict)}"
        answers[holds].append((stream, text))
    # One direction that missed decides, and then one that is unknown.
    passed, said = next(((holds, said) for holds, said in answers.items() if said), (None, None))
    return StoredGoal(str(goal), passed, _of_streams(said) if said else NothingMeasured())


def _judge_share(
    goal: Goal, bound: Rate, found: _Found, stream: str, verdict: Verdict | None, evidence: Evidence
) -> tuple[bool | None, str]:
    """Whether a share meets a goal, and why. A tester that lost frames itself makes it larger, and one that
    offered less load smaller."""
    # Of a share a goal's per cent are no part of a line.
    assert isinstance(bound, Load)
    assert isinstance(bound.amount, Percent)
    wanted = bound.amount.amount
    holds = found.holds(goal, wanted)
    # A load held for a whole trial: the loss at the end of a ramp is of samples on schedule.
    is_less = evidence.is_constant and evidence.behind > CLEAN_LESS and not evidence.refused
    if holds and is_less and goal.operator in ("<", "<="):
        return None, f"{found.text}, at less load than asked for"
    if holds or (holds is False and _is_known(verdict) and not _is_open(verdict)):
        excused = 0 if holds else _count_excused_frames(goal, wanted, found, stream, evidence)
        if not excused:
            return holds, found.text
        return None, f"{found.text}; the tester's pauses may have lost {counted(excused, 'frame')}"
    return None, f"{found.text}; {found.too_few}" if found.too_few else f"{found.text}{_why(verdict)}"


def _judge_rate(
    goal: Goal, bound: Rate, found: _Found, stream: str, verdict: Verdict | None, evidence: Evidence
) -> tuple[bool | None, str]:
    """Whether a rate meets a goal, and why. It is a lower bound short of the device's own limit, and where no
    more was offered."""
    if not _is_known(verdict) or _is_open(verdict) or (verdict and verdict.limit in ("link", "none")):
        found = replace(found, exact=False, below=None)
    holds = found.holds(goal, _rate(bound, evidence.situation, stream))
    if holds is not None:
        return holds, found.text
    if found.low is not None and found.below is not None and found.narrower:
        span = f"it is from {found.pps(found.low)} to below {found.pps(found.below, 'at most')}"
        return None, f"{found.text}; {span}. Use {found.narrower}"
    return None, f"{found.text}{_why(verdict)}"


def _is_known(verdict: Verdict | None) -> bool:
    """Whether a limit is known, and not the tester's own, or the plan asked for the losses."""
    if verdict is None or verdict.reason.code == LostAsPlanned.code:
        return verdict is not None
    return verdict.limit not in (*OWN_LIMITS, "inconclusive")


def _is_open(verdict: Verdict | None) -> bool:
    """Whether nothing was offered beyond a value."""
    return verdict is not None and verdict.reason.code in (NoMoreOffered.code, NoMoreOnLine.code)


def _why(verdict: Verdict | None) -> str:
    """The clause on a limit that leaves a goal unknown."""
    limit = "inconclusive" if verdict is None else verdict.limit
    why = {"inconclusive": "; the limit is inconclusive", "none": "; no more was offered"}
    return why.get(limit, f", limited by: {limit}")


def _count_excused_frames(goal: Goal, bound: Fraction, found: _Found, stream: str, evidence: Evidence) -> int:
    """Frames that pauses of the tester explain of a loss, if it met the goal without them; else 0."""
    sent = evidence.of(stream).sent
    if evidence.clock == "virtual" or found.low is None or not sent:
        return 0
    frames = sum(one.explained for one in evidence.judged(stream))
    return frames if goal.holds(max(found.low - Fraction(frames, sent), Fraction(0)), bound) else 0


def _judge_count(goal: Goal, bound: int, kinds: Sequence[ValueKind], result: Result) -> StoredGoal:
    """A goal for a count: it is what was counted, whatever the limit of the case."""
    value = next((one for kind in kinds if (one := result.value(kind.name, "sum")) is not None), None)
    if value is None or value.number is None:
        return StoredGoal(str(goal), None, GoalCount(goal.value, None, None if value is None else value.note))
    holds = goal.holds(value.number, Fraction(bound))
    return StoredGoal(str(goal), holds, GoalCount(goal.value, int(value.number)))


def _judge_class(
    goal: Goal, result: Result, verdicts: Mapping[str, Verdict], evidence: Evidence
) -> StoredGoal:
    """A goal for a class of traffic, all directions together, over all trials of the case.

    What a tester did that was late or short itself can show that a goal was met, never that it was missed.
    """
    value = result.value(goal.value, "sum")
    numbers = () if value is None else tuple(one for one in (value.number, value.high) if one is not None)
    if value is None or not numbers:
        return StoredGoal(str(goal), None, NothingMeasured())
    limits = {verdict.limit for verdict in verdicts.values()}
    if isinstance(goal.bound, Duration):
        bound, shown = Fraction(goal.bound.ns), " to ".join(map(latency, numbers))
    else:
        assert isinstance(goal.bound, Load)
        bound, shown = goal.bound.amount.amount, loss(numbers[0])
        if not numbers[0] and bound and value.of_frames:
            # Of no lost frame of N at most 3/N are lost, at 95 %.
            numbers = (Fraction(0), loss_bound(value.of_frames))
            shown += f" of {counted(value.of_frames, 'frame')}"
    held = {goal.holds(one, bound) for one in numbers}
    holds: bool | None = held.pop() if len(held) == 1 else None
    # A tester that is late or short makes loss and latency larger than the device's own, never smaller.
    is_upper = goal.operator in ("<=", "<")
    excused = evidence.clock == "real" and bool(limits & {"tester", "receiver", "inconclusive"})
    if "invalid" in limits or (excused and holds is not is_upper):
        holds = None
        shown += "; the tester may have caused it: see the limit of this case"
    return StoredGoal(str(goal), holds, GoalClass(goal.value, shown))


def _rate(bound: Rate, situation: Situation, stream: str) -> Fraction:
    """A bound in the unit of its value; that of a load is frames per second of a stream.

    A load is a port's: a percentage of its line, and of each of several streams that it sends the part that
    this one has of them.
    """
    if not isinstance(bound, Load):
        return bound.amount
    asked = situation.fps(bound.amount)
    if isinstance(bound.amount, Percent):
        asked *= situation.port_fps(stream) / situation.line_fps
    return asked * _part(situation, stream)


def _part(situation: Situation, stream: str) -> Fraction:
    """A stream's share of all frames that its port sends in the test."""
    if not situation.places:
        return Fraction(1)
    place = situation.places[situation.streams.index(stream)]
    sent = sum((one.share for one in situation.places if one.tx == place.tx), Fraction(0))
    return place.share / sent if sent else Fraction(1)


@dataclass(frozen=True)
class _Found:
    """The number a goal is about: it is `low` if `exact`, else at least `low`.

    below: the number is less than this; None: that is not known. narrower: what would bring the two closer.
    """

    low: Fraction | None
    text: str
    exact: bool = False
    below: Fraction | None = None
    narrower: str = ""
    is_searched: bool = False
    too_few: str = ""
    """Of a loss of nothing: why more frames would have to be sent to tell."""

    @classmethod
    def nothing_lost(cls, frames: int, text: str, goal: Goal) -> _Found:
        """The bound of the loss ratio where none of so many frames was lost (the rule of three).

        A goal of no loss at all is about these frames, for no number of them could show it of others.
        """
        assert isinstance(goal.bound, Load)
        bound = goal.bound.amount.amount
        if not bound:
            return cls(Fraction(0), text, exact=True)
        most, wanted = loss_bound(frames), counted(frames_to_show(bound), "frame")
        why = f"that shows no less than {decimal(most * 100, 4, 'at most')} % at 95 %: send {wanted}"
        return cls(Fraction(0), text, below=most, too_few=why)

    def pps(self, bound: Fraction, claim: Claim = "at least") -> str:
        """A bound of it, as exact as tables print those of a search."""
        return searched(bound, claim) if self.is_searched else rate(bound, "pps", claim)

    def holds(self, goal: Goal, bound: Fraction) -> bool | None:
        """Whether every possible number meets the goal (True) or none does (False); None: some do."""
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


def _find_number(
    goal: Goal, kinds: Sequence[ValueKind], stream: str, result: Result, evidence: Evidence
) -> _Found:
    """The number a goal is about, with its bounds, and the number in words. kinds: those the goal is for."""
    found = (result.value(kind.name, stream) for kind in kinds if kind != TRIAL_LOSS)
    value = next((one for one in found if one is not None), None)
    if value is None and TRIAL_LOSS in kinds:
        # A search: what was lost in the trial that its result rests on, the first it names and sent some in.
        sent = (
            (one, planned_ns)
            for trial, planned_ns in evidence.timed_trials
            for one in trial.streams
            if one.name == stream and one.offered
        )
        first, planned_ns = next(sent, (None, None))
        if first is None:
            return _Found(None, "no trial")
        lost = Fraction(first.missing, first.offered)
        at = f" at {pps(Fraction(first.offered * 10**9, planned_ns))}" if planned_ns else ""
        text = f"{lost_of(max(first.lost, 0), first.offered, first.corrupted)}{at}"
        if not lost:
            return _Found.nothing_lost(first.offered, text, goal)
        return _Found(lost, text, exact=True)
    if value is None:
        return _Found(None, f"the method `{result.method}` gives no {goal.value}")
    if not isinstance(goal.bound, Load):
        said = "not known" if value.number is None else rate(value.number, RATES[value.unit])
        return _Found(value.number, said, exact=True)
    if value.number is None:
        # Of a share that is known to lie below its bound; at the bound it may be it.
        most = value.high if value.kind.is_share and value.high is not None else None
        short = most is not None and not goal.holds(most, goal.bound.amount.amount)
        return _Found(value.low, str(value.note or "not found"), below=most if short else None)
    if TRIAL_LOSS in kinds:
        text = f"{ratio(value.number)} were lost{_format_note(value)}"
        if not value.number and value.of_frames:
            return _Found.nothing_lost(value.of_frames, text, goal)
        return _Found(value.number, text, exact=True)
    if value.kind.is_share:
        return _Found(value.number, f"{ratio(value.number)}{_format_note(value)}", exact=True)
    part = _part(evidence.situation, stream)
    of_own = " (of the part its port has for this stream)" if part != 1 else ""
    number = as_found(value.number, is_searched=value.searched)
    text = f"{number}, {of_line(value, evidence.situation)}{of_own}"
    if value.contradicted and value.load is not None:
        # The device was seen to lose frames at that load or below: it is not known to pass any of these.
        text = f"{searched(value.load)} passed, but {value.contradicted}"
        low = Fraction(0) if value.is_refuted or value.as_searched is None else value.number
        below = value.high or value.number
        return _Found(low, text, below=below, narrower="longer trials", is_searched=value.searched)
    lasting = value.lasting
    assert lasting is not None
    if value.kind.closer and value.high is not None:
        # What was still queued when trials ended is known closer by longer ones alone.
        queued = value.as_searched is not None or value.number - lasting > value.high - value.number
        narrower = "longer trials" if queued else value.kind.closer
        return _Found(lasting, text, below=value.high, narrower=narrower, is_searched=value.searched)
    if value.kind.role == "best rate" and not evidence.situation.mixed_receivers:
        return _Found(_in_favour(goal, value, evidence.situation), text, exact=True)
    # A knee without an upper bound lies anywhere above.
    return _Found(lasting, text, exact=lasting == value.number and value.kind.role != "knee")


def _of_streams(sentences: Sequence[tuple[str, str]]) -> GoalStreams:
    return GoalStreams(tuple(sentences[:MOST]), len(sentences) - min(len(sentences), MOST))


def _format_note(value: Value) -> str:
    return "" if value.note is None else f" ({value.note})"


def _in_favour(goal: Goal, value: Value, situation: Situation) -> Fraction:
    """A rate that was counted is known to the frame: what a goal asks within that is met.

    Its bounds are one frame of a window away, and no rate is above its line. Not of a mix, whose bounds
    say how far the order of sizes shifts a count.
    """
    assert value.number is not None
    if goal.operator in (">=", ">"):
        most = value.number if value.high is None else min(value.high, situation.port_fps(value.scope))
        return max(value.number, most)
    return value.number if value.low is None else min(value.number, value.low)
