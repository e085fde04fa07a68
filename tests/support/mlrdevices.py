"""Simulated devices for searches, and FD.io's `MLRsearch` package as the reference to hold ours against.

A device is asked for the frames missing of a trial. Each has a capacity; some have a queue, some lose little
below their capacity, some stall now and then, with a chance in every second, as software does.
All of it follows from a seed and the number of the trial, so two searches that ask the same get the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.methods.mlr.controller import Search
from netdyno.methods.mlr.goals import Evidence, Shot
from netdyno.methods.mlr.grid import Grid
from netdyno.methods.mlr.presets import Goal
from netdyno.methods.ndr import rise
from netdyno.methods.parts.samples import Load, PortLoad, Sample
from netdyno.values.load import Frames, Trial
from tendevices import loads_of_samples

SAMPLE_NS = 100_000_000


@dataclass(frozen=True)
class Simulated:
    """One device. Rates in frames per second, the stall chance per second, its length in seconds."""

    seed: int
    capacity: float
    queue: int = 0
    stalls: float = 0.0
    stall_s: float = 0.01
    soft: float = 0.0
    """From this share of the capacity on, a frame in ten thousand is lost."""

    @property
    def noisy(self) -> bool:
        return self.stalls > 0

    def missing(self, fps: float, seconds: float, number: int) -> tuple[int, int]:
        """Frames missing and sent in trial `number`."""
        dice = random.Random(f"{self.seed}/{number}")
        sent = max(round(fps * seconds), 1)
        room = self.capacity * seconds + self.queue
        for _ in range(int(seconds) + 1):
            if dice.random() < self.stalls * min(seconds, 1.0):
                room -= self.capacity * self.stall_s
        lost = max(0.0, sent - room)
        stalled = self.capacity * seconds + self.queue - room
        # Between stalls there is room to catch up only as far as the queue holds.
        lost = max(lost, min(stalled - self.queue, fps * self.stall_s) if stalled > self.queue else 0.0)
        if self.soft and fps > self.soft * self.capacity:
            lost = max(lost, sent / 10_000)
        return min(int(lost), sent), sent

    def ramp(self, lowest: Fraction, highest: Fraction, length_ns: int) -> list[Sample]:
        """The samples of the ramp that a seeded search begins with."""
        dice = random.Random(f"{self.seed}/ramp")
        samples, waiting = [], 0.0
        trial = Trial("ramp", Frames(rise(lowest, highest, length_ns)))
        loads = list(loads_of_samples(trial))
        asked = Load(PortLoad(trial.segments, SAMPLE_NS, len(loads)), Fraction(1))
        for place, (load, seconds) in enumerate(loads):
            fps, sent = float(load), int(load * seconds)
            room = self.capacity * float(seconds)
            if dice.random() < self.stalls * float(seconds):
                room -= self.capacity * self.stall_s
            waiting += sent - room
            lost = max(waiting - self.queue, 0.0)
            waiting = min(max(waiting, 0.0), float(self.queue))
            if self.soft and fps > self.soft * self.capacity:
                lost = max(lost, sent / 10_000)
            gone = min(int(lost), sent)
            samples.append(Sample(sent, sent - gone, sent - gone, place, asked, sent, 0))
        return samples


def devices(count: int) -> list[Simulated]:
    """A fixed set: half of them plain, a quarter with queues or soft knees, a quarter noisy."""
    dice = random.Random(9971)
    found = []
    for seed in range(count):
        capacity = 10 ** dice.uniform(4.5, 7.3)
        match seed % 8:
            case 0 | 1 | 2 | 3:
                found.append(Simulated(seed, capacity))
            case 4:
                found.append(Simulated(seed, capacity, queue=dice.choice([64, 1000, 10_000])))
            case 5:
                found.append(Simulated(seed, capacity, soft=dice.uniform(0.8, 0.99)))
            case _:
                found.append(Simulated(seed, capacity, stalls=dice.choice([0.02, 0.05, 0.1, 0.2])))
    return found


LOWEST, HIGHEST = Fraction(9001), Fraction(14_880_952)


@dataclass
class Searched:
    """How a search went: its trials as (load in steps, load, duration in ns), and each goal's bounds."""

    trials: list[tuple[int, float, int]]
    bounds: list[tuple[float | None, float | None]]
    conditional: list[float | None]

    @property
    def seconds(self) -> float:
        return sum(duration for _, _, duration in self.trials) / 1e9


def follow(
    search: Search, evidence: Evidence, grid: Grid, goals: Sequence[Goal], device: Simulated
) -> Searched:
    """Our search against a device."""
    trials: list[tuple[int, float, int]] = []
    try:
        ask = next(search)
        while True:
            assert len(trials) < 2000, "the search does not end"
            fps = float(grid.fps(ask.load))
            bad, sent = device.missing(fps, ask.duration_ns / 1e9, len(trials))
            if not ask.warmup:
                evidence.add(Shot(ask.load, ask.duration_ns, ask.duration_ns, bad, sent, len(trials)))
            trials.append((ask.load, fps, ask.duration_ns))
            ask = search.send(1 - Fraction(bad, sent))
    except StopIteration:
        pass
    found = Searched(trials, [], [])
    for goal in goals:
        target = goal.final(grid)
        lower, upper = evidence.bounds(target)
        found.bounds.append(
            (
                None if lower is None else float(grid.fps(lower)),
                None if upper is None else float(grid.fps(upper)),
            )
        )
        loss = None if lower is None else target.conditional_loss(evidence.at(lower))
        found.conditional.append(
            None if lower is None or loss is None else float(grid.fps(lower) * (1 - loss))
        )
    return found


def reference(goals: Sequence[Goal], device: Simulated, warmup_s: float = 1.0) -> Searched:
    """The package's search against the same device."""
    from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

    trials: list[tuple[int, float, int]] = []

    class Measurer(AbstractMeasurer):
        def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
            duration_ns = round(intended_duration * 1e9)
            # The load as netdyno sends it, to a thousandth of a frame.
            fps = float(Fraction(round(intended_load * 1000), 1000))
            bad, sent = device.missing(fps, duration_ns / 1e9, len(trials))
            trials.append((-1, fps, duration_ns))
            return MeasurementResult(
                intended_duration=intended_duration,
                intended_load=intended_load,
                offered_count=sent,
                loss_count=bad,
            )

    config = Config()
    config.goals = [
        SearchGoal(
            loss_ratio=float(goal.loss.amount),
            exceed_ratio=float(goal.exceed.amount),
            relative_width=float(goal.width.amount),
            initial_trial_duration=goal.initial_ns / 1e9,
            final_trial_duration=goal.duration.ns / 1e9,
            duration_sum=goal.sum.ns / 1e9,
            fail_fast=False,
        )
        for goal in goals
    ]
    config.max_load, config.min_load = float(HIGHEST), float(LOWEST)
    config.search_duration_max = 1e6
    config.warmup_duration = warmup_s
    answer = MultipleLossRatioSearch(config).search(Measurer(), lambda text: None)
    found = Searched(trials, [], [])
    for result in answer.values():
        lower, upper = result.relevant_lower_bound, result.relevant_upper_bound
        found.bounds.append(
            (None if lower is None else float(lower), None if upper is None else float(upper))
        )
        conditional = result.conditional_throughput
        found.conditional.append(None if conditional is None else float(conditional))
    return found
