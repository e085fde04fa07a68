"""The trials of a search: run as the controller asks, repeated where they show nothing, and judged.

A trial in which the tester fell short is no evidence against the device (FD.io CSIT counts what was not sent
as lost). One in which more came than was sent is no evidence at all.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.methods.mlr.controller import Ask, Search
from netdyno.methods.mlr.goals import Evidence, Shot
from netdyno.methods.mlr.grid import Grid
from netdyno.methods.parts.ended import find_clean_groups
from netdyno.methods.parts.procedure import find_own_shortfall
from netdyno.methods.parts.queued import Queued, find_lasting_share, find_queued
from netdyno.methods.reasons.searches import BudgetSpent, MoreArrived
from netdyno.methods.wrap.late import find_late_frames
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, PositiveDuration

Use: TypeAlias = Literal["counts", "ramp", "warm-up", "the tester fell short", "more came than was sent"]
"""What a trial was good for."""


@dataclass(frozen=True)
class Budget:
    """The most that a search may take: trials, and time of traffic."""

    trials: int
    time: PositiveDuration
    repeats: int
    """How often a trial that showed nothing is retried."""


@dataclass(frozen=True)
class Made:
    """A trial as it went."""

    number: int
    load: int
    fps: Fraction
    duration_ns: int
    sent: int
    bad: int
    use: Use


@dataclass
class Shooting:
    """The trials of a search, and the reason of its end."""

    grid: Grid
    evidence: Evidence
    budget: Budget
    overhead_ns: int
    situation: Situation
    finest: Fraction
    """The narrowest width of the goals, a share of the load: one step of the search."""
    count: int = 0
    """Trials of the case so far, and so the number of the next one."""
    made: list[Made] = field(default_factory=list)
    traffic_ns: int = 0
    spent: Reason | None = None
    """Why it ended before the goals were reached: the budget is used up."""
    senseless: Reason | None = None
    """Why its counts say nothing of the device: no number can be given."""
    short: Reason | None = None
    """Why the tester fell short at the ceiling."""
    waits_ns: dict[str, int] = field(default_factory=dict)
    """The phases around the traffic of the last trial, by name."""
    waiting: dict[int, tuple[Queued, ...]] = field(default_factory=dict)
    """What queues held at the end of trials that lost nothing, by their numbers."""
    lasts: dict[int, Fraction] = field(default_factory=dict)
    """The share of its load that lasts in each trial that counts, by number."""
    unharmed: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Port groups, and their streams, that lost nothing in trials in which others did, by their numbers."""
    at_fault: list[int] = field(default_factory=list)
    """Numbers of the trials that show the two above."""
    _last: Outcome | None = None

    def run(self, search: Search) -> Generator[Trial, Outcome, None]:
        """Makes the trials that the search asks for, until it has enough or may have no more."""
        try:
            ask = next(search)
            while True:
                share = yield from self._shoot(ask)
                if share is None:
                    return
                ask = search.send(share)
        except StopIteration:
            return

    def ramped(self, trial: Trial, outcome: Outcome) -> None:
        """A ramp was made first: its cost counts."""
        number = self._took(trial.duration_ns)
        sent, bad = _counts(outcome)
        self.made.append(
            Made(number, self.grid.steps, self.grid.highest, trial.duration_ns, sent, bad, "ramp")
        )

    def _shoot(self, ask: Ask) -> Generator[Trial, Outcome, Fraction | None]:
        """One trial, retried as long as it shows nothing; the share that came back, None to end all."""
        fps = self.grid.fps(ask.load)
        name = "warm-up" if ask.warmup else f"search {self.count + 1}"
        trial = Trial(name, Frames.steady(FrameRate(fps), ask.duration_ns))
        unsent: list[int] = []
        negative: list[int] = []
        while True:
            if not self._affordable(ask.duration_ns):
                return None
            outcome = yield trial
            number = self._took(ask.duration_ns)
            self.waits_ns = {phase.name: phase.duration_ns for phase in outcome.phases}
            sent, bad = _counts(outcome)
            intended = sum(stream.intended for stream in outcome.streams)
            use = self._use(ask, outcome)
            self.made.append(Made(number, ask.load, fps, ask.duration_ns, sent, bad, use))
            if self._too_late(outcome, number):
                return None
            share = Fraction(max(sent - bad, 0), max(sent, intended, 1))
            if use == "counts":
                effective = ask.duration_ns + self.overhead_ns
                self.evidence.add(Shot(ask.load, ask.duration_ns, effective, bad, sent, number))
                self.lasts[number] = find_lasting_share(outcome)
                if bad:
                    self.unharmed[number] = find_clean_groups(self.situation, outcome)
                else:
                    self.waiting[number] = find_queued(self.situation, outcome)
                return share
            if use == "warm-up":
                return share
            (negative if use == "more came than was sent" else unsent).append(number)
            if len(negative) > self.budget.repeats:
                self.senseless = MoreArrived(fps, len(negative))
                self.at_fault = negative
                return None
            if len(unsent) > self.budget.repeats:
                # The tester's bound: what the device does from here on is not known.
                ceiling = self.evidence.ceiling
                self.evidence.ceiling = ask.load if ceiling is None else min(ceiling, ask.load)
                self.short = find_own_shortfall(outcome, ask.duration_ns)
                self.at_fault = unsent[-1:]
                return share

    def _affordable(self, duration_ns: int) -> bool:
        budget = self.budget
        if len(self.made) >= budget.trials:
            self.spent = BudgetSpent(trials=budget.trials)
        elif self.traffic_ns + duration_ns > budget.time.ns:
            self.spent = BudgetSpent(traffic_ns=budget.time.ns)
        return self.spent is None

    def _took(self, duration_ns: int) -> int:
        self.traffic_ns += duration_ns
        self.count += 1
        return self.count - 1

    def _use(self, ask: Ask, outcome: Outcome) -> Use:
        if any(stream.lost < 0 for stream in outcome.streams):
            return "more came than was sent"
        if ask.warmup:
            return "warm-up"
        return "the tester fell short" if find_own_shortfall(outcome, ask.duration_ns) else "counts"

    def _too_late(self, outcome: Outcome, number: int) -> bool:
        """Whether frames that the trial before counted as lost arrived in this one."""
        late = None if self._last is None else find_late_frames(self._last, outcome)
        self._last = outcome
        if late is not None:
            self.senseless = late
            self.at_fault = [number - 1, number] if number else [number]
        return late is not None


def _counts(outcome: Outcome) -> tuple[int, int]:
    """Frames sent or refused, and of these not back once and intact, of all streams. Taken of each stream by
    itself: frames that one direction made do not make up for those another one lost."""
    sent = sum(stream.offered + stream.refused for stream in outcome.streams)
    bad = sum(max(stream.missing, 0) + stream.duplicates + stream.refused for stream in outcome.streams)
    return sent, bad
