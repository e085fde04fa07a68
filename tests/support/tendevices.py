"""Devices of a few lines that stand in for the engine, and what drives a method against them.

A device is asked for the frames sent and received in a time at a constant load; rates and sizes are
chosen in the tests so that every count is a whole number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from netdyno.values.finding import Result
from netdyno.values.health import Health
from netdyno.values.load import Frames, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import FrameCounts, Outcome, Phase, PortResult, StreamResult
from netdyno.values.situation import Situation

Device: TypeAlias = Callable[[Fraction, Fraction, str], tuple[int, int]]
"""(offered fps, seconds, stream) -> frames sent, frames received."""

SAMPLE_NS = 100_000_000


def wall(capacity: int) -> Device:
    """Forwards up to a capacity and not a frame more."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        return sent, min(sent, int(capacity * seconds))

    return device


def passes_everything() -> Device:
    """A cable."""
    return lambda fps, seconds, stream: (int(fps * seconds), int(fps * seconds))


def never_passes() -> Device:
    """A cut cable."""
    return lambda fps, seconds, stream: (int(fps * seconds), 0)


def makes_frames() -> Device:
    """One frame more than was sent, always."""
    return lambda fps, seconds, stream: (int(fps * seconds), int(fps * seconds) + 1)


def finite_queue(capacity: int, frames: int) -> Device:
    """A wall with a queue that drains after the trial."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        return sent, min(sent, int(capacity * seconds) + frames)

    return device


def window_loss(low: int, high: int, above: int | None = None) -> Device:
    """Loses a tenth between two loads, and above a third."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        loses = low <= fps <= high or (above is not None and fps >= above)
        return sent, sent - sent // 10 if loses else sent

    return device


def starved_tester(most: int) -> Device:
    """The device passes everything; the tester cannot send more than this."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = min(int(fps * seconds), int(most * seconds))
        return sent, sent

    return device


def behind_a_starved_tester(device: Device, most: int) -> Device:
    """A device offered no more than this, whatever is asked."""
    return lambda fps, seconds, stream: device(min(fps, Fraction(most)), seconds, stream)


def measure(trial: Trial, device: Device, situation: Situation) -> Outcome:
    """What the engine would find. A trial of one constant segment is asked for as a whole, so that a
    queue is filled once; any other is asked for sample by sample at the mean load of the sample."""
    trial = replace(trial, load=Frames(situation.in_frames(trial.segments)))
    streams = []
    for name in situation.streams:
        if len(trial.segments) == 1 and trial.constant:
            segment = trial.segments[0]
            seconds = Fraction(segment.duration_ns, 10**9)
            intended = int(segment.from_rate.amount * seconds)
            sent, received = device(segment.from_rate.amount, seconds, name)
            streams.append(_stream(name, intended, (sent,), (received,)))
        else:
            counts = [
                (int(load * length), *device(load, length, name)) for load, length in loads_of_samples(trial)
            ]
            streams.append(
                _stream(
                    name,
                    sum(count[0] for count in counts),
                    tuple(count[1] for count in counts),
                    tuple(count[2] for count in counts),
                )
            )
    unsent = sum(stream.intended - stream.offered for stream in streams)
    end = trial.duration_ns
    return Outcome(
        FrameCounts(tuple(streams), tuple(_port(name) for name in situation.streams), SAMPLE_NS),
        Health(unsent, 0, 0, 0, 0, None),
        (
            Phase("settle", 0, 7 * 10**9),
            Phase("traffic", 7 * 10**9, end),
            Phase("drain", end, 2 * 10**9),
        ),
    )


def drive(method: Method, device: Device, situation: Situation) -> tuple[Result, list[Outcome]]:
    """Runs a method to its end."""
    outcomes: list[Outcome] = []
    try:
        trial = next(method)
        while True:
            outcomes.append(measure(trial, device, situation))
            assert len(outcomes) < 1000, "the method does not end"
            trial = method.send(outcomes[-1])
    except StopIteration as stop:
        result: Result = stop.value
        return result, outcomes


def loads_of_samples(trial: Trial) -> list[tuple[Fraction, Fraction]]:
    """Mean load and length in seconds of every sample from the start of traffic."""
    found = []
    for start in range(0, trial.duration_ns, SAMPLE_NS):
        end = min(start + SAMPLE_NS, trial.duration_ns)
        frames = Fraction(0)
        begin = 0
        for segment in trial.segments:
            low, high = max(start, begin), min(end, begin + segment.duration_ns)
            if low < high:
                slope = (segment.to_rate.amount - segment.from_rate.amount) / segment.duration_ns
                middle = segment.from_rate.amount + slope * (Fraction(low + high, 2) - begin)
                frames += middle * Fraction(high - low, 10**9)
            begin += segment.duration_ns
        seconds = Fraction(end - start, 10**9)
        found.append((frames / seconds, seconds))
    return found


def _stream(name: str, intended: int, tx: tuple[int, ...], rx: tuple[int, ...]) -> StreamResult:
    sent, received = sum(tx), sum(rx)
    return StreamResult(
        name=name,
        intended=intended,
        offered=sent,
        offered_bytes=sent * 64,
        received=received,
        received_bytes=received * 64,
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=sent - received,
        beyond_window=0,
        flows_received=1,
        latency=None,
        tx=tx,
        rx=rx,
        arrived=rx,
        first_loss_ns=None,
    )


def _port(name: str) -> PortResult:
    return PortResult(name, 0, 0, 0, 0, 0, (), (), (), ())
