"""Devices behind memifs that read slower than they are sent to, in virtual time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from netdyno.values.finding import Result
from netdyno.values.health import PeerHealth
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import BackPressure, Outcome
from netdyno.values.situation import Situation
from tendevices import measure

RING = 4096
MS = 1_000_000
QUIET_PEER = PeerHealth(
    pid=7, elapsed_ns=1000 * MS, ran_ns=999 * MS, waited_ns=0, ours_ns=0, stolen_ns=0, interrupts_ns=0
)


def read_slowly(trial: Trial, taken_fps: int, situation: Situation, lost: int = 0) -> Outcome:
    """A trial with a device that takes so many frames a second of each stream, and loses `lost` of them.

    The tester is healthy. What is not taken finds the peer's ring full, from the first frame to the last.
    """

    def reader(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        taken = int(min(fps, Fraction(taken_fps)) * seconds)
        return taken, taken

    found = measure(trial, reader, situation)
    streams = tuple(
        replace(
            one,
            refused=one.intended - one.offered,
            lost=lost,
            received=one.received - lost,
        )
        for one in found.streams
    )
    ports = tuple(
        replace(
            port,
            back_pressure=BackPressure(
                ring=RING, full_ns=trial.duration_ns if one.refused else 0, stops=0, stopped_ns=0
            ),
        )
        for port, one in zip(found.ports, streams, strict=True)
    )
    health = replace(found.health, core_share_ppm=1_000_000, longest_gap_ns=MS, peers=(QUIET_PEER,))
    return replace(found.with_counts(streams=streams, ports=ports), health=health)


def drive_slowly(
    method: Method, taken_fps: int, situation: Situation, lost: int = 0
) -> tuple[Result, list[Trial], list[Outcome]]:
    """Runs a method to its end with such a device: the result, the trials asked for and their outcomes."""
    asked: list[Trial] = []
    outcomes: list[Outcome] = []
    try:
        trial = next(method)
        while True:
            asked.append(trial)
            outcomes.append(read_slowly(trial, taken_fps, situation, lost))
            assert len(outcomes) < 1000, "the method does not end"
            trial = method.send(outcomes[-1])
    except StopIteration as stop:
        result: Result = stop.value
        return result, asked, outcomes
