"""A ramp as the load test JSON of IPng, which trex-loadtest-viz draws: one case a file.

`rx_pps` counts the frames that came back of those sent in the second, so that the loss a reader computes is
theirs, however long they took; of streams without a probe it counts what came in the second.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from netdyno.errors import NetdynoError
from netdyno.reports import Look
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import CaseView, TrialView
from netdyno.values.ipng import DURATIONS, LOADS, ONE_WAY, PORTS, PROFILE, RATES, SECOND, profile_file
from netdyno.values.load import Segment
from netdyno.values.number import decimal
from netdyno.values.outcome import StreamResult
from netdyno.values.units import FrameRate

PLACES = 2
"""Decimals of a load in per cent of the line; one that has more is written in frames a second."""


class _Shape(NamedTuple):
    """A load as the format has it: each part may be missing."""

    warmup: Segment | None
    rise: Segment | None
    hold: Segment | None


class _Way(NamedTuple):
    """One direction: frames sent in each second and frames that came back of these; what its lines carry."""

    sent: Sequence[Fraction]
    back: Sequence[Fraction]
    out_fps: Fraction
    in_fps: Fraction


def render(runs: RunSet, look: Look) -> bytes:
    """The ramp of the run's only case, or another load of it. Raises NetdynoError."""
    cases = runs.only.cases
    if len(cases) != 1:
        raise NetdynoError(
            f"the run has {len(cases)} cases, and this format has one a file",
            "`-o FOLDER` writes a file for each",
            code="wrong-count",
        )
    (case,) = cases
    trial, shape = _load(case)
    ways = list(_ways(case, trial))
    document = {"vars": _vars(case, shape, len(ways) == 1), "stats": dict(_samples(ways))}
    if not document["stats"]:
        raise _no_room(case, "no second of its load has frames in each direction", "run it without `--scale`")
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _no_room(case: CaseView, why: str, hint: str | None = None) -> NetdynoError:
    return NetdynoError(f"{case.name}: {why}", hint, code="unsupported")


def _load(case: CaseView) -> tuple[TrialView, _Shape]:
    """The ramp of a case; without one the last load that its first headline rests on."""
    shaped = [
        (trial, shape)
        for trial in case.trials
        if trial.state == "done" and trial.result.streams and (shape := _shape(trial.segments)) is not None
    ]
    rising = [one for one in shaped if one[1].rise is not None]
    resting = {trial.number for trial in case.resting_trials}
    held = [one for one in shaped if one[0].number in resting]
    found = rising[:1] or held[-1:]
    if not found:
        raise _no_room(case, "no trial with a ramp or one load of frames", "`netdyno reports` lists others")
    return found[0]


def _shape(segments: Sequence[Segment]) -> _Shape | None:
    """A warm-up, a rise and a hold, or one load that is held; None: it is another one."""
    rises = [number for number, one in enumerate(segments) if not one.is_constant]
    match segments, rises:
        case [one], []:
            return _Shape(None, None, one)
        case [rise, *after], [0] if len(after) < 2:
            return _Shape(None, rise, next(iter(after), None))
        case [warmup, rise, *after], [1] if len(after) < 2:
            return _Shape(warmup, rise, next(iter(after), None))
    return None


def _vars(case: CaseView, shape: _Shape, is_one_way: bool) -> dict[str, Any]:
    target = shape.rise or shape.hold
    assert target is not None
    loads = (None if shape.warmup is None else shape.warmup.to_rate.amount, target.to_rate.amount)
    durations = (0 if one is None else one.duration_ns for one in shape)
    return {
        **{key: _mult(load, case.line_fps) for key, load in zip(LOADS, loads, strict=True)},
        **{key: _seconds(ns) for key, ns in zip(DURATIONS, durations, strict=True)},
        PROFILE: profile_file(case.sizes),
        ONE_WAY: is_one_way,
    }


def _seconds(ns: int) -> int | float:
    return ns // SECOND if ns % SECOND == 0 else ns / SECOND


def _mult(fps: Fraction | None, line_fps: Fraction | None) -> str:
    """A load as T-Rex is asked for it: `100%`, `1kpps`."""
    if fps is None:
        return "0pps"
    share = fps * 100 / line_fps if line_fps else None
    if share is not None and (share * 10**PLACES).denominator == 1:
        return f"{decimal(share)}%"
    return str(FrameRate(fps)).lower()


def _ways(case: CaseView, trial: TrialView) -> Iterator[_Way]:
    """From port 0 to port 1, and if anything is sent there from port 1 to port 0: all their streams."""
    found: dict[tuple[int, int], list[StreamResult]] = {}
    for number, stream in enumerate(trial.result.streams):
        place = case.places[number] if case.places else None
        ends = (number % 2, 1 - number % 2) if place is None else (place.tx, place.rx)
        found.setdefault(ends, []).append(stream)
    first = next(iter(found))
    if not {*found} <= {first, first[::-1]}:
        ports = len({port for ends in found for port in ends})
        raise _no_room(case, f"traffic between {ports} ports, and this format has two")
    for (tx, rx), streams in found.items():
        sent = [sum(each) for each in zip(*(one.tx for one in streams), strict=True)]
        back = [sum(each) for each in zip(*(one.arrived for one in streams), strict=True)]
        lines = case.port_lines or (case.line_fps or Fraction(0),) * (max(tx, rx) + 1)
        yield _Way(_by_second(sent, trial), _by_second(back, trial), lines[tx], lines[rx])


def _by_second(counts: Sequence[int], trial: TrialView) -> list[Fraction]:
    """Frames in each whole second of the load; a sample that a border cuts counts by its parts."""
    step = trial.result.sample_ns
    before = list(accumulate(counts, initial=0))

    def until(ns: int) -> Fraction:
        whole, rest = divmod(ns, step)
        return before[whole] + Fraction((counts[whole] if rest else 0) * rest, step)

    end = min(trial.duration_ns, len(counts) * step) // SECOND
    edges = [until(second * SECOND) for second in range(end + 1)]
    return [after - start for start, after in pairwise(edges)]


def _samples(ways: Sequence[_Way]) -> Iterator[tuple[str, Mapping[str, Mapping[str, float]]]]:
    """Each second by its number. One in which a direction sent nothing is left out: readers divide by it."""
    for second in range(min(len(way.sent) for way in ways)):
        if all(way.sent[second] for way in ways):
            yield str(second), {port: _rates(ways, number, second) for number, port in enumerate(PORTS)}


def _rates(ways: Sequence[_Way], port: int, second: int) -> Mapping[str, float]:
    """What a port sent and received, always as floats: a reader divides whole numbers as such."""
    sent, received = (ways[way] if way < len(ways) else None for way in (port, 1 - port))
    tx = Fraction(0) if sent is None else sent.sent[second]
    rx = Fraction(0) if received is None else received.back[second]
    shares = (
        tx / sent.out_fps if sent is not None and sent.out_fps else 0,
        rx / received.in_fps if received is not None and received.in_fps else 0,
    )
    return dict(zip(RATES, (float(tx), float(rx), *(float(share * 100) for share in shares)), strict=True))
