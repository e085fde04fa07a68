"""Frames that a link without carrier lost: taken out of the evidence before anything else is asked of it.

A carrier loss is dated, and so are lost frames. Whatever was lost from before the carrier went until losses
ended behind it is the link's: a device may have to learn its neighbours again, or to wait for its spanning
tree, before it forwards. So frames of all streams count, whichever port lost its carrier.

So are those lost while members of LAGs were dead as the plan asked, counted apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from netdyno.methods import sending_ns
from netdyno.stats.carrier import REPORTED_NS, SLACK_NS, ahead_ns, spans
from netdyno.values.failures import DIES, find_return
from netdyno.values.outcome import Gap, Outcome, StreamResult
from netdyno.verdict.evidence import Evidence, Linked


def with_link(evidence: Evidence) -> Evidence:
    """The evidence without the frames that links without carrier, or dead members, lost; what these were is
    in `linked`."""
    if not evidence.has_failures and not any(trial.carrier_losses for trial in evidence.trials):
        return evidence
    is_real = evidence.clock == "real"
    trials, lost, planned, undated, behind = [], Counter[str](), Counter[str](), 0, 0
    goes_on = planned_goes_on = False
    for trial, planned_ns in evidence.timed_trials:
        length_ns = planned_ns or sending_ns(trial)
        windows = list(_windows(trial, is_real=is_real))
        if goes_on:
            # The device was still not back when the part before ended.
            windows.append((-math.inf, 0))
        dead = list(_list_dead(trial, is_real=is_real)) if evidence.has_failures else []
        if planned_goes_on:
            dead.append((-math.inf, 0))
        late_ns = REPORTED_NS if is_real and windows else 0
        found, whole = (
            [
                _without_link_losses(one, trial, those, _edge_ns(one, length_ns, is_real), late_ns)
                for one in trial.streams
            ]
            for those in (windows, [*windows, *dead])
        )
        trials.append(trial.with_counts(streams=tuple(one.stream for one in whole)))
        for one, both in zip(found, whole, strict=True):
            lost[one.stream.name] += one.frames
            planned[one.stream.name] += both.frames - one.frames
        undated += sum(one.undated for one in found)
        behind += sum(one.behind for one in found)
        goes_on = any(
            loss.until_ns is None or loss.until_ns >= length_ns for loss in trial.carrier_losses
        ) or any(_is_to_end(one, length_ns, is_real) for one in found)
        planned_goes_on = bool(dead) and any(_is_to_end(one, length_ns, is_real) for one in whole)
    timed = [
        (planned_ns or sending_ns(trial), trial.carrier_losses) for trial, planned_ns in evidence.timed_trials
    ]
    linked = Linked(tuple(spans(timed)), lost, undated, behind, planned)
    return replace(evidence, trials=tuple(trials), linked=linked)


@dataclass(frozen=True)
class _Without:
    """A stream without the frames that links lost in a trial, and how many these are.

    undated: of these, those that may as well have been lost otherwise. behind: those that were lost after it
    while others came back. until_ns: when the last of them was due; None: none has a date.
    """

    stream: StreamResult
    frames: int = 0
    undated: int = 0
    behind: int = 0
    until_ns: int | None = None


def _windows(trial: Outcome, *, is_real: bool) -> Iterator[tuple[float, float]]:
    """When frames of a trial may have been lost because a port had no carrier."""
    before_ns, slack_ns = ahead_ns(trial.streams, is_real=is_real), SLACK_NS if is_real else 0
    for loss in trial.carrier_losses:
        yield loss.from_ns - before_ns, math.inf if loss.until_ns is None else loss.until_ns + slack_ns


def _list_dead(trial: Outcome, *, is_real: bool) -> Iterator[tuple[float, float]]:
    """When frames of a trial may have been lost because the plan had a member dead."""
    before_ns, slack_ns = ahead_ns(trial.streams, is_real=is_real), SLACK_NS if is_real else 0
    happened = sorted(trial.happened, key=lambda one: one.from_ns)
    for place, died in enumerate(happened):
        if died.event.kind in DIES:
            back = find_return(died.event, happened[place + 1 :])
            yield died.from_ns - before_ns, math.inf if back is None else back.until_ns + slack_ns


def _is_to_end(without: _Without, length_ns: int, is_real: bool) -> bool:
    """Whether the last of the frames was lost at the end of a trial's load."""
    edge_ns = _edge_ns(without.stream, length_ns, is_real)
    return without.until_ns is not None and without.until_ns >= length_ns - edge_ns


def _edge_ns(stream: StreamResult, length_ns: int, is_real: bool) -> int:
    """How near to the begin or the end of a part a loss goes on behind it: two frames, in real time more."""
    return 2 * length_ns // max(stream.offered, 1) + (SLACK_NS if is_real else 0)


def _without_link_losses(
    stream: StreamResult, trial: Outcome, windows: Sequence[tuple[float, float]], edge_ns: int, late_ns: int
) -> _Without:
    """A stream without the frames lost in windows of a trial. edge_ns: see `_edge_ns`. late_ns: by how much
    the windows may begin too late."""
    if not windows:
        return _Without(stream)
    # What was learned behind a link goes with it, and a switch floods until it has learned it again: frames
    # at other ports are no evidence then.
    stream = replace(stream, elsewhere=0)
    if stream.lost <= 0:
        return _Without(stream)
    windows = [(begin, edge_ns if begin == -math.inf else end) for begin, end in windows]
    lossy = _count_lost_by_sample(stream)
    undated, behind = 0, 0
    if stream.gaps is not None:
        dated = []
        for gap in stream.gaps.gaps:
            touched = [one for one in windows if gap.first_ns <= one[1] and one[0] <= gap.last_ns]
            if not touched:
                continue
            first_ns, frames = gap.first_ns, gap.frames
            if frames <= gap.last - gap.first:
                # Frames came back between: those lost before the carrier went were not lost to that.
                first_ns, frames = _cut_gap(
                    gap, min(one[0] for one in touched), lossy, trial.sample_ns, late_ns
                )
                until_ns = max(one[1] for one in touched)
                undated += frames if gap.last_ns > until_ns else 0
                span = range(gap.first_ns // trial.sample_ns, gap.last_ns // trial.sample_ns + 1)
                behind += min(_count_lost_behind(stream, lossy, span, trial.sample_ns, until_ns), frames)
            dated.append((first_ns, gap.last_ns, frames))
        # What has no date may have been lost then.
        is_own = any(begin > -math.inf for begin, _ in windows)
        further = stream.gaps.further_frames if is_own else 0
        undated, behind = undated + further, behind + further
        frames = sum(frames for _, _, frames in dated) + further
        lost_until_ns = max((last_ns for _, last_ns, _ in dated), default=None)
        samples = [
            (first_ns // trial.sample_ns, last_ns // trial.sample_ns, count)
            for first_ns, last_ns, count in dated
        ]
        if further:
            samples.append((0, len(lossy) - 1, further))
    else:
        runs = list(_find_lossy_runs(lossy, trial.sample_ns, windows, late_ns))
        samples = [(span[0], span[-1], sum(lossy[span.start : span.stop])) for span, _ in runs]
        frames = sum(count for _, _, count in samples)
        behind = sum(
            _count_lost_behind(stream, lossy, span, trial.sample_ns, until_ns) for span, until_ns in runs
        )
        undated = behind
        lost_until_ns = max((span.stop * trial.sample_ns for span, _ in runs), default=None)
    frames = min(frames, stream.lost)
    arrived = _fill_arrivals(stream, lossy, samples, frames)
    left = replace(stream, lost=stream.lost - frames, arrived=arrived)
    return _Without(left, frames, undated, min(behind, frames), lost_until_ns)


def _cut_gap(
    gap: Gap, begin_ns: float, lossy: Sequence[int], sample_ns: int, late_ns: int
) -> tuple[int, int]:
    """When frames of a gap were lost from the sample on in which a window begins, or may, and how many."""
    if begin_ns - late_ns <= gap.first_ns:
        return gap.first_ns, gap.frames
    begin = int(begin_ns - late_ns) // sample_ns
    early = sum(lossy[gap.first_ns // sample_ns : begin])
    return max(begin * sample_ns, gap.first_ns), max(gap.frames - early, 0)


def _count_lost_by_sample(stream: StreamResult) -> list[int]:
    pairs = zip_longest(stream.tx, stream.arrived, fillvalue=0)
    return [max(tx - arrived, 0) for tx, arrived in pairs]


def _count_lost_behind(
    stream: StreamResult, lossy: Sequence[int], samples: range, sample_ns: int, until_ns: float
) -> int:
    """Frames lost in samples behind an instant in which others came back. In the last sample losses ended."""
    return sum(
        lossy[number]
        for number in samples[:-1]
        if number * sample_ns > until_ns and number < len(stream.arrived) and stream.arrived[number]
    )


def _find_lossy_runs(
    lossy: Sequence[int], sample_ns: int, windows: Sequence[tuple[float, float]], late_ns: int
) -> Iterator[tuple[range, float]]:
    """Samples in a row that lost frames and of which one is in a window, from the one in which it begins, and
    when the window ends. late_ns: by how much windows may begin too late."""
    start = None
    for number, lost in enumerate((*lossy, 0)):
        if lost and start is None:
            start = number
        elif not lost and start is not None:
            begin_ns, end_ns = start * sample_ns, number * sample_ns
            touched = [one for one in windows if begin_ns <= one[1] and one[0] < end_ns]
            if touched:
                first_ns = min(one[0] for one in touched) - late_ns
                first = start if first_ns <= begin_ns else int(first_ns) // sample_ns
                yield range(first, number), max(one[1] for one in touched)
            start = None


def _fill_arrivals(
    stream: StreamResult, lossy: Sequence[int], samples: Sequence[tuple[int, int, int]], most: int
) -> tuple[int, ...]:
    """What arrived by sample, as if the frames of these samples had, `most` in all."""
    arrived, left = list(stream.arrived), list(lossy)
    for first, last, frames in samples:
        for number in range(max(first, 0), min(last + 1, len(arrived))):
            taken = min(frames, left[number], most)
            arrived[number] += taken
            left[number] -= taken
            frames -= taken
            most -= taken
    return tuple(arrived)
