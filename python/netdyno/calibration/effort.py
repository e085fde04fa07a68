"""The duration of a calibration and of its parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

MILLISECOND = 1_000_000
SECOND = 10**9


@dataclass(frozen=True)
class Effort:
    """Durations in ns of traffic."""

    name: str
    trial_ns: int
    """Of one load tried."""
    confirm_ns: int
    """Of the load that is quoted."""
    soak_ns: int
    drain_ns: int
    watch_s: float
    """How long each core is watched, before and after."""
    resolution: Fraction
    """The most without loss is known to this share of it."""
    spare: int
    """How many trials of each traffic may be retried because the tester was preempted."""
    soak_all: bool
    """Whether each traffic is soaked, or the first alone."""

    def soaking(self, ns: int) -> Effort:
        """The same with another soak, of each traffic."""
        return replace(self, soak_ns=ns, soak_all=True)


QUICK = Effort(
    "quick",
    trial_ns=200 * MILLISECOND,
    confirm_ns=500 * MILLISECOND,
    soak_ns=SECOND,
    drain_ns=50 * MILLISECOND,
    watch_s=0.5,
    resolution=Fraction(1, 10),
    spare=20,
    soak_all=False,
)

FIRST_S = 20
"""The longest that a run waits for the calibration before it."""
LEAST_TRIAL_NS = 50 * MILLISECOND


def before_a_run(traffic: int, sizes: int, cores: int, most_s: float = FIRST_S) -> Effort:
    """`QUICK`, with shorter trials where it would take longer than `most_s`. As `seconds`."""
    effort = QUICK
    while seconds(effort, traffic, sizes, cores) > most_s and effort.trial_ns > LEAST_TRIAL_NS:
        effort = replace(
            effort, name="auto", trial_ns=effort.trial_ns // 2, confirm_ns=effort.confirm_ns // 2
        )
    return effort


FULL = Effort(
    "full",
    trial_ns=SECOND,
    confirm_ns=5 * SECOND,
    soak_ns=10 * SECOND,
    drain_ns=200 * MILLISECOND,
    watch_s=3.0,
    resolution=Fraction(1, 50),
    spare=40,
    soak_all=True,
)

SHARES = (1, 10, 50, 90)
"""Loads at which rates, latencies and spacing are measured, per cent of the most without loss."""


def seconds(effort: Effort, traffic: int, sizes: int, cores: int) -> float:
    """About how long it takes: some eight loads to find the most, and then the rest. cores: those watched."""
    around = effort.drain_ns + 30 * MILLISECOND
    loads = (8 + len(SHARES)) * (effort.trial_ns + around) + effort.confirm_ns + around
    soaks = (traffic if effort.soak_all else 1) * (effort.soak_ns + around)
    counted = sizes * (100 * MILLISECOND + around)
    faults = 4 * 350 * MILLISECOND
    return (traffic * loads + soaks + counted + faults) / SECOND + 2 * cores * effort.watch_s
