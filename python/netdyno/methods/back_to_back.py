"""Back-to-back frames as RFC 9004 has it: the longest burst at the line's rate that is buffered whole."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import stdev

from pydantic import Field

from netdyno.methods import rows
from netdyno.methods.procedure import (
    Parameters,
    Procedure,
    constant,
    starved,
)
from netdyno.methods.throughput import WAIT, OnThroughput, known_load, searching
from netdyno.trial import Cell, Column, Method, Result, Situation, Table, Trial, TrialResult, Value
from netdyno.units import PositiveDuration

REPEATS = 50
"""RFC 2544 section 26.4: at least 50 times; RFC 9004 section 6.3 leaves the number open."""
QUIET_NS = 2 * 10**9
"""RFC 9004 section 6.2: quiet for at least 2 seconds after the burst can have been received."""
LONGEST_NS = 30 * 10**9
"""RFC 9004 section 6.2: bursts of up to 30 seconds must be possible."""

GUESS = 1024
"""Steps of the first burst: what many devices' buffers hold."""
TRIES = 3
"""Of a burst that the tester did not send as asked."""

NAME = "back-to-back frames"
TABLE = (
    Column("frame size", "B"),
    Column("mean", "frames"),
    Column("least", "frames"),
    Column("most", "frames"),
    Column("stdev", "frames"),
    Column("implied buffer time", "ns"),
    Column("corrected buffer time", "ns"),
    Column("throughput", "fps"),
    Column("searches"),
    Column("step", "frames"),
)


class BackToBackSettings(Parameters):
    """Parameters of back-to-back frames."""

    repeats: int = Field(
        default=REPEATS, ge=1, le=1000, description="Complete searches; their mean is the result."
    )
    longest: PositiveDuration = Field(
        default=PositiveDuration.of_ns(LONGEST_NS), description="The longest burst that is tried."
    )
    step: int = Field(default=1, ge=1, le=10**9, description="Frames to which the longest burst is found.")
    quiet: PositiveDuration = Field(
        default=PositiveDuration.of_ns(QUIET_NS), description="Wait behind a burst, when all can have come."
    )


class BackToBackParameters(BackToBackSettings, OnThroughput):
    """The same, and the throughput."""


def back_to_back(parameters: BackToBackParameters, situation: Situation) -> Method:
    """RFC 9004 section 6: bursts at the line's rate, their length searched, the whole search repeated.

    The throughput comes first: a device that forwards at the line's rate never fills its buffer, and the test
    does not apply (section 6.1). The corrected buffer time is the implied one less what the device forwarded
    while the burst came in (section 6.4).
    """
    load, first = yield from known_load(parameters, situation)
    result, _ = yield from measured(parameters, situation, load, first)
    return result


@dataclass
class _Seen:
    """What the bursts showed."""

    first: int
    count: int = 0
    passing: dict[int, int] = field(default_factory=dict)
    """The last trial in which a length passed, and the last in which one did not."""
    failing: dict[int, int] = field(default_factory=dict)
    short: str | None = None
    """Why the tester did not send a burst as asked, however often it tried."""


def measured(
    parameters: BackToBackSettings, situation: Situation, known: Fraction | None, first: int
) -> Generator[Trial, TrialResult, tuple[Result, int]]:
    """The searches, with the throughput known; the result and the number of the next trial."""
    line = situation.line_fps
    if not known or known >= line:
        why = (
            "no load passed without loss, and there is no throughput"
            if not known
            else "the device forwards at the line's rate, so its buffer never fills (RFC 9004 section 6.1)"
        )
        return _result(parameters, situation, known, [], _Seen(first), f"not applicable: {why}"), first
    seen = _Seen(first)
    most = int(parameters.longest.ns * line / 10**9) // parameters.step
    lengths: list[int] = []
    for number in range(parameters.repeats):
        length = yield from _search(
            parameters, situation, known, seen, most, lengths[-1] if lengths else GUESS, number
        )
        if length is None:
            break
        lengths.append(length)
        if length == most:
            break
    note, again = "", ""
    if seen.short is not None:
        note = f"the tester could not send such bursts: {seen.short}"
    elif lengths and lengths[-1] == most:
        note = f"the longest burst that was tried, {parameters.longest}, passed: no limit was found"
        again = f"back-to-back: {note}, RFC 9004 section 6.2 has the test repeated with a higher one"
        lengths = []
    elif lengths == [0] * len(lengths):
        note = "not even the shortest burst passed"
    result = _result(parameters, situation, known, [n * parameters.step for n in lengths], seen, note)
    if again:
        result = replace(result, compliance=(*result.compliance, again))
    return result, first + seen.count


def _search(
    parameters: BackToBackSettings,
    situation: Situation,
    known: Fraction,
    seen: _Seen,
    most: int,
    guess: int,
    number: int,
) -> Generator[Trial, TrialResult, int | None]:
    """The most steps a burst may have and pass: away from a guess in steps that double, then by halves."""
    lower, upper = 0, most + 1
    at, stride = min(max(guess, 1), most), 1
    while upper - lower > 1:
        passed = yield from _passes(parameters, situation, known, seen, at, f"search {number + 1}")
        if passed is None:
            return None
        lower, upper = (at, upper) if passed else (lower, at)
        if passed and upper > most:
            at, stride = min(at + stride, most), 2 * stride
        elif not passed and lower == 0:
            at, stride = max(at - stride, 1), 2 * stride
        else:
            at = (lower + upper) // 2
    return lower


def _passes(
    parameters: BackToBackSettings,
    situation: Situation,
    known: Fraction,
    seen: _Seen,
    steps: int,
    name: str,
) -> Generator[Trial, TrialResult, bool | None]:
    """Whether a burst of so many steps comes back whole; None if the tester could not send it."""
    line, frames = situation.line_fps, steps * parameters.step
    duration_ns = max(int(frames * 10**9 / line), 1)
    # What the device holds of it when its last frame comes takes so long at its throughput.
    late_ns = int(frames * 10**9 / known) - duration_ns
    burst = replace(
        constant(f"{name}: {frames} frames", line, duration_ns), drain_ns=parameters.quiet.ns + late_ns
    )
    for _ in range(TRIES):
        outcome = yield burst
        trial, seen.count = seen.first + seen.count, seen.count + 1
        seen.short = starved(outcome, duration_ns)
        if seen.short is None:
            passed = all(one.missing == 0 and one.duplicates == 0 for one in outcome.streams)
            (seen.passing if passed else seen.failing)[steps] = trial
            return passed
    return None


def _result(
    parameters: BackToBackSettings,
    situation: Situation,
    known: Fraction | None,
    lengths: list[int],
    seen: _Seen,
    note: str,
) -> Result:
    line = situation.line_fps
    mean = Fraction(sum(lengths), len(lengths)) if lengths else None
    implied = None if mean is None else mean / line * 10**9
    corrected = None if implied is None or known is None else implied * (1 - known / line)
    spread = Fraction(stdev(lengths)) if len(lengths) > 1 else None
    ends = (Fraction(min(lengths)), Fraction(max(lengths))) if lengths else (None, None)
    cells: tuple[Cell, ...] = (
        rows.frame_size(situation),
        mean,
        *ends,
        spread,
        implied,
        corrected,
        known,
        Fraction(len(lengths)),
        Fraction(parameters.step),
    )
    values = []
    for scope in (*situation.streams, "sum"):
        times = situation.share(scope)
        number, low, high = (None if one is None else one * times for one in (mean, *ends))
        values.append(Value(NAME, scope, number, "frames", low, high, note))
        if corrected is not None:
            how = "corrected, RFC 9004 section 6.4"
            values.append(Value("buffer time", scope, corrected, "ns", note=how))
    trials = {*list(seen.passing.values())[-1:], *list(seen.failing.values())[-1:]}
    return Result(
        method=BACK_TO_BACK.name,
        values=tuple(values),
        trials=tuple(sorted(trials)),
        compliance=tuple(_deviations(parameters, situation)),
        recommended=tuple(_recommended(parameters)),
        notes=(f"back-to-back: {note}",) if note else (),
        standard=BACK_TO_BACK.standard,
        headlines={NAME: "the longest burst at the line's rate of which no frame was lost, the mean"},
        tables=(
            Table(
                "Back-to-back frames",
                TABLE,
                (cells,),
                "RFC 9004: the longest burst at the line's rate of which no frame is lost, and the buffer it"
                " shows: the mean over the line's rate, less what was forwarded meanwhile.",
            ),
        ),
    )


def _deviations(parameters: BackToBackSettings, situation: Situation) -> Iterator[str]:
    if parameters.quiet.ns < QUIET_NS:
        yield f"back-to-back: {parameters.quiet} of quiet behind a burst, RFC 9004 section 6.2 asks for 2 s"
    if situation.mixed_receivers:
        yield "back-to-back: a mix of frame sizes, which RFC 9004 section 3 forbids"


def _recommended(parameters: BackToBackSettings) -> Iterator[str]:
    if parameters.repeats < REPEATS:
        yield f"back-to-back: {parameters.repeats} searches, RFC 2544 section 26.4 asks for {REPEATS}"


def seconds(parameters: BackToBackSettings) -> Fraction:
    """About how long it takes: some sixteen bursts a search, each hardly longer than its quiet."""
    return 16 * parameters.repeats * parameters.quiet.amount


BACK_TO_BACK = Procedure(
    name="back-to-back",
    title="Back-to-back frames",
    doc="The longest burst at the line's rate that comes back whole, and the buffer time it shows.",
    standard="RFC 9004 (RFC 2544 section 26.4)",
    parameters=BackToBackParameters,
    start=back_to_back,
    settle=WAIT,
    traffic_seconds=lambda parameters: seconds(parameters) + searching(parameters.throughput),
)
