"""Back-to-back frames as RFC 9004 has it: the longest burst at the line's rate that is buffered whole."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from statistics import stdev

from pydantic import Field

from netdyno.errors import Problem, counted
from netdyno.methods.parts.bursts import Bursts
from netdyno.methods.parts.procedure import Parameters, Procedure
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.bursts import BufferAtMost, BufferUnknown, NoBurstPassed
from netdyno.methods.reasons.common import LineRateForwarded, NotApplicable, Taken
from netdyno.methods.throughput import KNOWN, THROUGHPUT, WAIT, Known, OnThroughput, at_the_throughput
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Trial
from netdyno.values.method import Method
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration

REPEATS = 50
"""RFC 2544 section 26.4: at least 50 times; RFC 9004 section 6.3 leaves the number open."""
QUIET_NS = 2 * 10**9
"""RFC 9004 section 6.2: quiet for at least 2 seconds after the burst can have been received."""
LONGEST_NS = 30 * 10**9
"""RFC 9004 section 6.2: bursts of up to 30 seconds must be possible."""

BURST = ValueKind(
    "back-to-back frames",
    "frames",
    "the longest burst at the line's rate of which no frame was lost, the mean",
    good="more",
)
BUFFER = ValueKind(
    "buffer time",
    "ns",
    "how long a buffer takes to fill at the line's rate, less what is forwarded meanwhile (RFC 9004)",
    on_throughput=True,
    good="more",
)
TABLE = columns(
    "frame size: B | mean: frames | least: frames | most: frames | stdev: frames"
    " | implied buffer time: ns | corrected buffer time: ns *"
    f" | {THROUGHPUT.name}: {THROUGHPUT.unit} * | searches | step: frames"
)


class BackToBackSettings(Parameters):
    """Parameters of back-to-back frames."""

    repeats: int = Field(default=REPEATS, ge=1, le=1000)
    """Complete searches; their mean is the result."""
    longest: PositiveDuration = PositiveDuration.of_ns(LONGEST_NS)
    """The longest burst that is tried."""
    step: int = Field(default=1, ge=1, le=10**9)
    """Frames to which the longest burst is found."""
    quiet: PositiveDuration = PositiveDuration.of_ns(QUIET_NS)
    """Wait behind a burst, when all can have come."""

    @property
    def seconds(self) -> Fraction:
        """About how long it takes: some sixteen bursts a search, each hardly longer than its quiet."""
        return 16 * self.repeats * self.quiet.amount


class BackToBackParameters(BackToBackSettings, OnThroughput):
    """The same, and the throughput."""


def measure(parameters: BackToBackSettings, situation: Situation, known: Known) -> Method:
    """RFC 9004 section 6: bursts at the line's rate, their length searched, the whole search repeated; the
    result and the number of the next trial.

    A device that forwards at the line's rate never fills its buffer, and the test does not apply (section
    6.1). The corrected buffer time is the implied one less what the device forwarded while the burst came in
    (section 6.4).
    """
    line, fps = situation.line_fps, known.fps
    if not fps or fps >= line:
        why = LineRateForwarded("buffer") if fps else known.is_missing
        return _result(parameters, situation, known, [], (), NotApplicable(why))

    def burst(steps: int) -> Trial:
        frames = steps * parameters.step
        duration_ns = max(int(frames * 10**9 / line), 1)
        # What the device holds of it when its last frame comes takes so long at its throughput.
        late_ns = int(frames * 10**9 / fps) - duration_ns
        return Trial(
            f"{frames} frames",
            Frames.steady(Percent(Fraction(1)), duration_ns, "burst"),
            drain_ns=parameters.quiet.ns + late_ns,
        )

    most = int(parameters.longest.ns * line / 10**9) // parameters.step
    bursts = Bursts(most, burst)
    yield from bursts.search(parameters.repeats)
    note = bursts.why_none(parameters.repeats, parameters.longest)
    lengths = [n * parameters.step for n in bursts.lengths]
    if bursts.is_unlimited:
        least = Fraction(sum(lengths), len(lengths))
        result = _result(parameters, situation, known, [], bursts.resting, note, least)
    else:
        if lengths and not any(lengths):
            note = NoBurstPassed()
        result = _result(parameters, situation, known, lengths, bursts.resting, note)
    if bursts.is_unlimited:
        again = deviations(f"{METHOD.name}, no limit", parameters, situation)
        result = replace(result, compliance=(*result.compliance, *again["compliance"]))
    return result


def _result(
    parameters: BackToBackSettings,
    situation: Situation,
    known: Known,
    lengths: list[int],
    trials: tuple[int, ...],
    note: Reason | None,
    least: Fraction | None = None,
) -> Result:
    """The result of bursts of these lengths. least: lower bound of their mean, where one has no limit."""
    line = situation.line_fps
    mean = Fraction(sum(lengths), len(lengths)) if lengths else None
    implied = None if mean is None else mean / line * 10**9
    corrected = None if implied is None or known.fps is None else implied * (1 - known.fps / line)
    # A device that passes more than is known emptied its buffer faster, which is that much smaller.
    at_most = None if known.bound is None else BufferAtMost(known.bound)
    spread = Fraction(stdev(lengths)) if len(lengths) > 1 else None
    ends = (Fraction(min(lengths)), Fraction(max(lengths))) if lengths else (None, None)
    cells: tuple[Cell, ...] = (
        situation.mean_size,
        mean,
        *ends,
        spread,
        implied,
        None if at_most else corrected,
        known.fps,
        Fraction(len(lengths)),
        Fraction(parameters.step),
    )
    notes: list[Reason] = [] if note is None else [note]
    if known.bound is not None and corrected is not None:
        notes.append(BufferUnknown(corrected, known.bound))
    values = []
    for scope in (*situation.streams, "sum"):
        # A buffer holds all frames of a burst, those that a modifier puts among the test frames, too.
        times = situation.share(scope) / (1 - situation.beside)
        number, low, high = (None if one is None else one * times for one in (mean, *ends))
        low = least * times if least is not None else low
        values.append(Value(BURST, scope, number, low, high, note))
        if corrected is not None:
            values.append(
                Value(BUFFER, scope, None, high=corrected, note=at_most)
                if at_most
                else Value(BUFFER, scope, corrected, note=Taken("corrected"))
            )
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=trials,
        **deviations(METHOD.name, parameters, situation),
        notes=tuple(About("back-to-back", one) for one in notes),
        headlines=(BURST.name,),
        tables=(
            Table(
                "Back-to-back frames",
                TABLE,
                (cells,),
                "RFC 9004: the longest burst at the line's rate of which no frame is lost, and the buffer it"
                " shows: the mean over the line's rate, less what was forwarded meanwhile. Frames and the"
                " throughput are a port's, with those of a modifier among them.",
            ),
        ),
    )


def fits(parameters: BackToBackSettings, situation: Situation) -> Problem | None:
    """The longest burst is at least one step."""
    frames = int(parameters.longest.ns * situation.line_fps / 10**9)
    if frames >= parameters.step:
        return None
    return Problem(
        f"`longest` ({parameters.longest}) is {counted(frames, 'frame')} at line rate, less than one `step`"
        f" ({counted(parameters.step, 'frame')})",
        "a smaller `step`, or a longer `longest`",
        at=("step",),
        code="conflict",
    )


METHOD = Procedure(
    name="back-to-back",
    title="Back-to-back frames",
    doc="The longest burst at the line's rate that comes back whole, and the buffer time it shows.",
    standard="RFC 9004 (RFC 2544 section 26.4)",
    parameters=BackToBackParameters,
    start=at_the_throughput(measure),
    fits=fits,
    settle=WAIT,
    traffic_seconds=lambda parameters: parameters.seconds + parameters.search_seconds,
    values=(BURST, BUFFER, *KNOWN),
    needs_even=True,
)
