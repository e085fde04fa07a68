"""What a verdict rests on, and how its counts are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from netdyno.trial import Situation, StreamResult, TrialResult

if TYPE_CHECKING:
    from netdyno.calibration import Proven

OWN_DROPS = ("policed", "card_drops", "box_drops", "in_drops", "both_drops", "out_drops")
"""Counters of an emulated device (crates/dut/src/spec.rs) for what its own capacities dropped."""

LINE_SHARE = Fraction(99, 100)
"""Who reaches this share of a line fills it, be it a result or what a tester was proven to pass."""

OWN_SHARE = Fraction(1, 100)
"""Whoever dropped less than this share of what is missing was not the limit: the device, or the tester."""


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: the case's situation, clock and trials, and what its tester was proven to do.

    clock: `virtual` only where the tester has no limits of its own. proven: None if it was never calibrated.
    planned_ns: how long each trial was to send; empty where that is not known.
    """

    situation: Situation
    clock: Literal["virtual", "real"]
    enforced_rate: bool
    trials: tuple[TrialResult, ...]
    planned_ns: tuple[int, ...] = ()
    proven: Proven | None = None

    @property
    def timed_trials(self) -> Iterator[tuple[TrialResult, int | None]]:
        """Each trial with how long it was to send, if that is known."""
        return zip_longest(self.trials, self.planned_ns[: len(self.trials)])


def lost(streams: Iterable[StreamResult]) -> int:
    """Frames lost, without those one stream has too many."""
    return sum(max(stream.lost, 0) for stream in streams)


def all_lost(trials: Iterable[TrialResult]) -> int:
    """Frames that all streams lost."""
    return lost(stream for trial in trials for stream in trial.streams)


def noticeable(dropped: int, missing: int) -> bool:
    """Whether somebody dropped enough of what was lost to be the limit."""
    return missing > 0 and dropped >= OWN_SHARE * missing and dropped > 0


def device_counts(trials: Sequence[TrialResult], name: str) -> int:
    """The sum of one counter over emulated devices and their ports."""
    devices = [device for trial in trials for device in trial.devices]
    ports = [port for device in devices for port in device.get("ports", ())]
    return sum(counted.get(name, 0) for counted in (*devices, *ports))
