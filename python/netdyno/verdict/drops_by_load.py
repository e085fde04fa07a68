"""Whether the share of lost frames depends on the load, from the loads of a case that were tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.values.outcome import Outcome
from netdyno.verdict.evidence import Evidence

LESS = Fraction(9, 10)
"""Of a load: from here on another one is less."""
SHOWN = 50
"""Frames that a load had to lose at the share of another one before it shows anything of that share."""


@dataclass(frozen=True)
class _Load:
    """A trial's load, frames a second. parts: frames asked for, by stream. frames: sent and lost, by stream;
    None: of all."""

    fps: Fraction
    parts: Mapping[str, int]
    frames: Mapping[str | None, tuple[int, int]]

    @classmethod
    def of(cls, trial: Outcome, planned_ns: int) -> _Load:
        frames: dict[str | None, tuple[int, int]] = {
            one.name: (one.offered, one.lost) for one in trial.streams
        }
        frames[None] = sum(one.offered for one in trial.streams), sum(one.lost for one in trial.streams)
        asked = sum(one.intended for one in trial.streams)
        parts = {one.name: one.intended for one in trial.streams if one.intended}
        return cls(Fraction(asked * 10**9, planned_ns), parts, frames)

    def tells_of(self, one: _Load) -> bool:
        """Whether this load is less, as much or more, and each stream the same part of either, but for a
        frame: what a stream has room for depends on the others, too."""
        if LESS * one.fps < self.fps < one.fps or self.parts.keys() != one.parts.keys():
            return False
        asked, others = sum(self.parts.values()), sum(one.parts.values())
        return all(
            abs(frames * others - one.parts[name] * asked) < asked + others
            for name, frames in self.parts.items()
        )


@dataclass(frozen=True)
class _Other:
    """Another load. rate, full: of it and of the one it is compared to, in a unit in which both are whole: a
    full mesh of 64 ports has 4,032 streams to compare, for which fractions are slow."""

    frames: Mapping[str | None, tuple[int, int]]
    rate: int
    full: int

    @classmethod
    def of(cls, other: _Load, one: _Load) -> _Other:
        (rate, per), (full, full_per) = other.fps.as_integer_ratio(), one.fps.as_integer_ratio()
        return cls(other.frames, rate * full_per, full * per)


def is_lost_by_load(evidence: Evidence) -> bool | None:
    """Whether half of the share or less was lost at less load, of each load and stream that lost frames.

    False: at less load nearly the same share was lost, and no rate was kept; or as much load lost half of the
    share or less. None: the case does not show it.
    """
    judged = list(_loads(evidence.timed_trials))
    tried = [*_loads((one.trial, one.planned_ns) for one in evidence.case_trials), *judged]
    answers = set()
    for one in judged:
        lossy = [name for name, (_, lost) in one.frames.items() if lost > 0]
        alike = [_Other.of(other, one) for other in tried if lossy and other.tells_of(one)]
        answers |= {_compare(name, one, alike) for name in lossy}
        if False in answers:
            return False
    return True if answers == {True} else None


def _compare(name: str | None, one: _Load, others: Sequence[_Other]) -> bool | None:
    """The answer of one stream, or of all, by other loads."""
    sent, lost = one.frames[name]
    found = None
    for other in others:
        fewer, gone = other.frames[name]
        if lost * fewer < SHOWN * sent:
            continue
        is_half = 2 * gone * sent <= lost * fewer
        if other.rate >= other.full:
            if is_half:
                return False
        elif is_half:
            found = True if lost >= SHOWN else found
        # A limit passes the same rate at either load; a share lost for another reason, the same part of each.
        elif 2 * other.rate * (fewer - gone) * sent < (other.full + other.rate) * (sent - lost) * fewer:
            return False
    return found


def _loads(trials: Iterable[tuple[Outcome, int | None]]) -> Iterator[_Load]:
    return (_Load.of(trial, planned_ns) for trial, planned_ns in trials if planned_ns)
