"""The goals of a search, and the class of a load by its trials: RFC 9971 section 4 and its appendix A."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

Class: TypeAlias = Literal["lower", "upper", "undecided"]


@dataclass(frozen=True)
class Shot:
    """A trial at a load, as far as the search is concerned.

    bad: frames that did not come back once and intact, of all streams together; sent: frames offered.
    effective_ns: what it counts in the sums of durations.
    """

    load: int
    duration_ns: int
    effective_ns: int
    bad: int
    sent: int
    number: int
    """Of the trial in its case."""

    @property
    def loss(self) -> Fraction:
        """The trial loss ratio, at most 1; 1 if nothing was sent."""
        return min(Fraction(self.bad, self.sent), Fraction(1)) if self.sent else Fraction(1)


@dataclass(frozen=True)
class Target:
    """A goal, or a coarser one on the way to it. Durations in ns, the width in steps of the grid."""

    loss: Fraction
    exceed: Fraction
    width: int
    trial_ns: int
    sum_ns: int

    def classify(self, shots: Iterable[Shot]) -> Class:
        """Whether all trials at one load make it a lower or an upper bound, whatever is measured there later.

        Trials of the full length count both ways. Shorter ones are no proof that a load is good; those that
        are bad count, as far as good short ones do not make up for them.
        """
        good = bad = short_good = short_bad = 0
        for shot in shots:
            low = shot.loss <= self.loss
            if shot.duration_ns >= self.trial_ns:
                good, bad = (good + shot.effective_ns, bad) if low else (good, bad + shot.effective_ns)
            elif low:
                short_good += shot.effective_ns
            else:
                short_bad += shot.effective_ns
        against = bad + max(Fraction(0), short_bad - short_good * self.exceed / (1 - self.exceed))
        whole = max(good + against, Fraction(self.sum_ns))
        if whole - good <= self.exceed * whole:
            return "lower"
        return "upper" if against > self.exceed * whole else "undecided"

    def conditional_loss(self, shots: Iterable[Shot]) -> Fraction:
        """The loss ratio of the conditional throughput: the quantile of full trials by their duration that
        the exceed ratio names; what was not measured counts as lost."""
        full = sorted((shot for shot in shots if shot.duration_ns >= self.trial_ns), key=lambda one: one.loss)
        rest = (1 - self.exceed) * max(self.sum_ns, sum(shot.effective_ns for shot in full))
        for shot in full:
            rest -= shot.effective_ns
            if rest <= 0:
                return shot.loss
        return Fraction(1)


@dataclass
class Evidence:
    """All trials of a search, by load."""

    shots: dict[int, list[Shot]] = field(default_factory=dict)
    ceiling: int | None = None
    """The lowest load that the tester could not offer: what lies there says nothing of the device."""

    _known: dict[tuple[Target, int], Class] = field(default_factory=dict)

    def add(self, shot: Shot) -> None:
        """One more trial."""
        self.shots.setdefault(shot.load, []).append(shot)
        self._known = {key: found for key, found in self._known.items() if key[1] != shot.load}

    def at(self, load: int) -> Sequence[Shot]:
        """The trials at a load."""
        return self.shots.get(load, ())

    def classify(self, target: Target, load: int) -> Class:
        """The class of a load for a target: lower bound, upper bound or undecided."""
        key = (target, load)
        if key not in self._known:
            self._known[key] = target.classify(self.at(load))
        return self._known[key]

    def device_bounds(self, target: Target) -> tuple[int | None, int | None]:
        """The relevant bounds, as far as trials show them: the lowest upper bound, and the highest lower one
        below it. A load that passes above one that failed is luck."""
        lower = None
        for load in sorted(self.shots):
            match self.classify(target, load):
                case "upper":
                    return lower, load
                case "lower":
                    lower = load
        return lower, None

    def bounds(self, target: Target) -> tuple[int | None, int | None]:
        """The relevant bounds between which to search: the tester's own limit is one from above."""
        lower, upper = self.device_bounds(target)
        if self.ceiling is not None and (upper is None or self.ceiling < upper):
            below = [load for load in self.shots if load < self.ceiling]
            passed = [load for load in below if self.classify(target, load) == "lower"]
            return max(passed, default=None), self.ceiling
        return lower, upper
