"""How long the rest of a run takes: by what its trials took so far, retries and lab building included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from netdyno.campaign.selection import Length

PRIOR = 4
"""Trials without a retry that are taken as seen before the first: one retry is no rate yet."""

PRIOR_SHARE = 0.05
"""How much of what is left of a run in real time is taken as seen, to last as planned."""

SOON_S = 1.0
"""In virtual time nothing is said before a run has taken so long."""


@dataclass
class _Case:
    """A case under way. Shares are of the whole case, as planned."""

    length: Length
    planned_s: float
    """How long it is to take."""
    begun: bool = False
    """Its lab is built."""
    made: float | None = None
    """The share that has been measured; None: no trial of it was seen."""
    trial_share: float = 0.0
    """That of the trial under way."""
    progress: float = 0.0
    """Of the trial under way, 0 to 1."""
    number: int = 0
    """Of the trial under way."""
    setup_s: float = 0.0
    """Time it took to build its lab."""
    attempt_s: float = 0.0
    """Time the attempt under way has taken."""
    longest_s: float = 0.0
    """Time of the longest attempt at the trial under way that does not count; 0: none was made."""


def _plan_s(length: Length) -> float:
    return max(float(length.seconds), 1e-9)


class TimeLeft:
    """Takes in what happens in a run and estimates how long the rest takes.

    Cases that run at once share the time: what each takes is its part of the time that passes.
    """

    def __init__(self, cases: Mapping[int, Length], clock: Callable[[], float]) -> None:
        """cases: by number. clock: in seconds."""
        self._lengths = cases
        self._waiting = len(cases)
        self._waiting_s = sum(map(_plan_s, cases.values()))
        """How long the cases that wait are to take."""
        self._clock = clock
        self._began = self._last = clock()
        self._cases: dict[int, _Case] = {}
        self._begun = 0
        self._real = False
        self._idle_s = 0.0
        """Time since the last case ended, while none is under way."""
        self._setup_s = 0.0
        """Time outside of trials: labs built and taken down, results judged."""
        self._counted_s = self._counted = 0.0
        """Time of the attempts that count, and how many they were."""
        self._spoilt_s = 0.0
        """Time of the attempts that do not."""
        self._done_s = 0.0
        """What the attempts that count have measured, in seconds as planned."""

    def begin_case(self, case: int, *, real: bool) -> None:
        """The lab of a case is built. real: it is measured in real time."""
        one = self._at(case)
        one.begun = True
        self._real |= real
        self._setup_s += one.setup_s
        one.setup_s = 0.0

    def look(self, case: int, number: int, elapsed_ns: int, total_ns: int) -> None:
        """How the trial under way stands."""
        one = self._at(case)
        if number > one.number and one.trial_share and one.made is not None:
            self.end_attempt(case, one.number, counts=True)
        self._reach(one, number)
        # Where the number of trials is unknown, so is that of waits: shares are of the traffic alone.
        traffic_s = max(total_ns / 1e9 - float(one.length.around_s), 0.0)
        of_case_s = max(float(one.length.traffic_s), 1e-9)
        one.trial_share = traffic_s / of_case_s if one.length.trials is None else 1 / one.length.trials
        one.progress = min(elapsed_ns / total_ns, 1.0) if total_ns else 0.0

    def end_attempt(self, case: int, number: int, *, counts: bool) -> None:
        """An attempt at a trial has ended. counts: the trial is not retried."""
        one = self._at(case)
        self._reach(one, number)
        if counts:
            assert one.made is not None
            trials = one.length.trials
            share = one.trial_share if trials is None else (number + 1) / trials - one.made
            share = max(min(share, 1 - one.made), 0.0)
            one.made += share
            self._done_s += share * one.planned_s
            self._counted_s += one.attempt_s
            self._counted += 1
            one.longest_s = 0.0
        else:
            self._spoilt_s += one.attempt_s
            one.longest_s = max(one.longest_s, one.attempt_s)
        one.attempt_s = one.progress = one.trial_share = 0.0

    def end_case(self, case: int, *, measured: bool) -> None:
        """A case has ended. measured: with a result."""
        one = self._at(case)
        self._setup_s += one.setup_s + one.attempt_s
        if measured and one.made is not None:
            # A search that needed fewer trials than planned: so may the next one.
            self._done_s += (1 - one.made) * one.planned_s
        del self._cases[case]

    def estimate_s(self) -> float | None:
        """How many seconds the rest takes; None if unknown."""
        self._pass()
        cases = self._cases.values()
        if not self._real and self._last - self._began <= SOON_S:
            return None
        rest_s = self._waiting_s + sum((1 - (one.made or 0.0)) * one.planned_s for one in cases)
        now_s = sum(one.progress * one.trial_share * one.planned_s for one in cases)
        if self._done_s and self._counted_s:
            # A first short trial with long waits around it is no measure of an hour.
            prior_s = PRIOR_SHARE * rest_s if self._real else 0.0
            each = (self._counted_s + prior_s) / (self._done_s + prior_s)
            retried = self._spoilt_s * self._counted / self._counted_s
            retries = (self._counted + retried + PRIOR) / (self._counted + PRIOR)
            # An attempt that takes longer than the others is taken to end any moment.
            passed = sum(min(one.attempt_s, each * one.trial_share * one.planned_s) for one in cases)
            return max(each * retries * rest_s - passed, 0.0) + self._setups_s()
        if self._real:
            return max(rest_s - now_s, 0.0) + self._setups_s()
        if now_s:
            return sum(one.attempt_s for one in cases) / now_s * (rest_s - now_s)
        return self._setups_s() if self._setup_s and not self._cases else None

    def retries_s(self, more: Mapping[int, int]) -> float:
        """How many seconds retried trials may still take, each attempt as long as the longest before it.

        more: of each case, the attempts that the trial under way may still take, the one under way too.
        """
        cases = ((more.get(number, 0), one) for number, one in self._cases.items())
        return sum(max(times * one.longest_s - one.attempt_s, 0.0) for times, one in cases if one.longest_s)

    def _setups_s(self) -> float:
        """Time outside of trials that is still to come."""
        each = self._setup_s / max(self._begun, 1)
        building = sum(max(each - one.setup_s, 0.0) for one in self._cases.values() if not one.begun)
        return each * self._waiting - (min(self._idle_s, each) if self._waiting else 0.0) + building

    def _at(self, case: int) -> _Case:
        self._pass()
        if case not in self._cases:
            length = self._lengths[case]
            self._cases[case] = _Case(length, _plan_s(length))
            self._waiting -= 1
            self._waiting_s -= self._cases[case].planned_s
            self._begun += 1
            self._setup_s += self._idle_s
            self._idle_s = 0.0
        return self._cases[case]

    def _reach(self, one: _Case, number: int) -> None:
        """A trial of that number is under way; an earlier run has made those before the first seen."""
        before = 0.0 if one.length.trials is None else min(number / one.length.trials, 1.0)
        one.made = before if one.made is None else max(one.made, before)
        if number != one.number:
            one.longest_s = 0.0
        one.number = number

    def _pass(self) -> None:
        """Gives the time since the last event to what it was spent on."""
        now = self._clock()
        passed, self._last = now - self._last, now
        if not self._cases:
            self._idle_s += passed
        for one in self._cases.values():
            if one.begun:
                one.attempt_s += passed / len(self._cases)
            else:
                one.setup_s += passed / len(self._cases)
