"""After trials that lost frames, one in bunches: whether a device that takes them lost the others for that.

In real time no tester sends every frame when it is due, and frames that are a little late come a little close
to others. A device of the shallowest queue or bucket loses frames to that alone. So half of what the device
passed is sent once more, for a moment, in bursts tighter than any tester that is on time sends. Where these
come back, the tester's own bunches did not lose the others (docs/verdicts-detail.md). The result stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import record_trials
from netdyno.values.load import Frames, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.values.unmeasured import NotMeasuredError

NAME = "bunches"
"""Of the trial."""

ON_TIME_NS = 20_000
"""Twice what a frame may be late that counts as on time."""
LEAST_FRAMES, MOST_FRAMES = 5, 33
"""Of a bunch. Odd: bunches do not begin with the same flows each time."""
LEAST_NS, MOST_NS = 200_000_000, 2_000_000_000
"""How long they are sent."""
BUNCHES = 50
"""How many there are at least, as far as time allows."""
LEAST_SAMPLE_NS = 1_000_000
"""Samples are short: of a device that loses one frame in a hundred most are without loss."""


def witnessed(method: Method, situation: Situation) -> Method:
    """The same method, with a trial in bunches behind it if trials that its result rests on lost frames."""
    result, made = yield from record_trials(method)
    each = [result.resting(name) for name in result.headlines] or [result.trials]
    resting = sorted({number for numbers in each for number in numbers})
    trial = in_bunches((made[number] for number in resting if number in made), situation)
    if trial is not None:
        # The result is known without it; only its limit may then not be.
        with suppress(NotMeasuredError):
            yield trial
    return result


def in_bunches(trials: Iterable[tuple[Trial, Outcome]], situation: Situation) -> Trial | None:
    """The trial in bunches for those that lost frames; None if none did.

    It has half the lowest rate that the device passed in them. Where nothing came back, half the lowest load:
    frames that are only late come then.
    """
    rates: list[Fraction] = []
    loads: list[Fraction] = []
    dead: list[Fraction] = []
    for trial, outcome in trials:
        if not any(stream.missing > 0 for stream in outcome.streams):
            continue
        seconds = Fraction(trial.duration_ns, 10**9)
        came = sum(stream.received for stream in outcome.streams)
        ports = len({port.name for port in outcome.ports if port.tx_frames}) or 1
        most = max(situation.fps(segment.to_rate) for segment in trial.segments)
        (rates if came else dead).append(came / seconds / ports if came else most)
        loads.append(most * ports)
    rates = [rate for rate in rates or dead if rate]
    if not rates:
        return None
    fps = min(rates) / 2
    frames = min(max(int(max(loads) * ON_TIME_NS / 10**9) + 2 | 1, LEAST_FRAMES), MOST_FRAMES)
    apart_ns = int(frames * 10**9 / fps)
    length_ns = min(max(LEAST_NS, BUNCHES * apart_ns), MOST_NS)
    sample_ns = max(LEAST_SAMPLE_NS, 2 * apart_ns // LEAST_SAMPLE_NS * LEAST_SAMPLE_NS)
    load = replace(Frames.steady(FrameRate(fps), length_ns, NAME), burst=frames)
    return Trial(NAME, load, sample_ns=sample_ns)
