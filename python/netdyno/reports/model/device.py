"""What drivers read of the device beside the trials that a case rests on: balance of frames, power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model.view import CaseView, TrialView, once_a_case
from netdyno.values.gauge import sum_of_means
from netdyno.values.reason import Reason
from netdyno.verdict.balance import Path, balance_trial, sum_paths
from netdyno.verdict.balance_reasons import explain_bytes, explain_frames
from netdyno.verdict.conventions import Bytes, reconcile
from netdyno.verdict.device_counts import Counters, Line, count_ports
from netdyno.verdict.device_trial import bound_lines
from netdyno.verdict.device_trial import count_trial as count_outcome
from netdyno.verdict.printed_rates import PrintedRate, reconcile_rates

HOLD = "hold"
POWER, WATT = "power", "W"
MEGA = 10**6


@dataclass(frozen=True)
class Power:
    """Power of all supplies together. hold_watts: mean while the load was held. idle_watts: before traffic;
    None: not read. rx_fps: received meanwhile, over all streams.
    """

    trial: int
    hold_watts: Fraction
    idle_watts: Fraction | None
    rx_fps: Fraction

    @property
    def mpps_per_watt(self) -> Fraction | None:
        """Million frames per second received for each watt drawn; None: the device says it draws none."""
        return self.rx_fps / MEGA / self.hold_watts if self.hold_watts > 0 else None


@dataclass(frozen=True)
class Balance:
    """The balance of a case. paths: over all trials that it rests on. trials: of each, by its view."""

    paths: tuple[Path, ...]
    trials: tuple[tuple[TrialView, tuple[Path, ...]], ...]
    bytes: tuple[Bytes, ...]

    @property
    def answer(self) -> Reason | None:
        """What it says in a sentence; None: no driver counted frames."""
        return explain_frames(self.paths)

    @property
    def conventions(self) -> tuple[Reason, ...]:
        """Which bytes the device counts, of the links whose frames both ends counted alike."""
        return explain_bytes(self.bytes)


@once_a_case
def balance(case: CaseView) -> Balance:
    """The balance of the trials that a case rests on; empty if no driver counted frames in them."""
    places = dict(zip(case.streams, case.places, strict=False))
    trials, found = [], list[Bytes]()
    for trial in case.resting_trials:
        # Most trials were read by nobody: of a soak there are thousands.
        if not trial.result.series or trial.result.has_missing_routes:
            continue
        counters = count_trial(case, trial)
        if not counters.has_frames:
            continue
        ports = count_ports(trial.result, case.device_ports, counters, lines(case))
        shared = tuple(counters.shared(case.device_ports))
        paths = balance_trial(trial.result, places, ports, shared)
        if paths:
            trials.append((trial, paths))
            found += reconcile(ports.values(), case.tags)
    return Balance(sum_paths(paths for _, paths in trials), tuple(trials), tuple(found))


def count_trial(case: CaseView, trial: TrialView) -> Counters:
    """The device's counters in a trial, with the traffic that they had to count."""
    places = dict(zip(case.streams, case.places, strict=False))
    return count_outcome(trial.result, trial.duration_ns, places, case.device_ports)


def lines(case: CaseView) -> tuple[Line, ...]:
    """What the links carry at most, by number; empty: unknown."""
    return bound_lines(case.port_lines, case.mean_size, is_enforced=case.line_enforced)


@once_a_case
def printed_rates(case: CaseView) -> tuple[tuple[TrialView, PrintedRate], ...]:
    """The rates that the device printed in the trials that a case rests on, each with its trial."""
    return tuple(_printed_rates(case))


def _printed_rates(case: CaseView) -> Iterator[tuple[TrialView, PrintedRate]]:
    for trial in case.resting_trials:
        if trial.result.series:
            for rate in reconcile_rates(trial.result, case.device_ports, held(trial), case.tags):
                yield trial, rate


def power(case: CaseView) -> Power | None:
    """Power and rate of the trial with the most received while it held a load; None: no power was read."""
    return max(powers(case), key=lambda one: one.rx_fps, default=None)


def powers(case: CaseView) -> Iterator[Power]:
    """Power and rate of each trial that held a load, of those that the case rests on."""
    for trial in case.resting_trials:
        every = [one for one in trial.result.series if (one.name, one.unit) == (POWER, WATT)]
        # What two instruments read of a device is the same power.
        supplies = [one for one in every if one.source == every[0].source]
        span = held(trial) if supplies else None
        if span is None:
            continue
        watts = sum_of_means(supplies, *span)
        rate = received(trial, *span)
        if watts is not None and rate is not None:
            first_ns = min((one.times_ns[0] for one in supplies if one.values), default=0)
            yield Power(trial.number, watts, sum_of_means(supplies, first_ns, -1), rate)


def held(trial: TrialView) -> tuple[int, int] | None:
    """When a trial holds its load, ns of the load, from and to; None: it holds none."""
    found = trial.segment(HOLD)
    if found is None and len(trial.segments) == 1 and trial.segments[0].is_constant:
        found = trial.segments[0], 0
    if found is None or not found[0].duration_ns:
        return None
    segment, begin_ns = found
    return begin_ns, begin_ns + segment.duration_ns


def received(trial: TrialView, begin_ns: int, end_ns: int) -> Fraction | None:
    """Frames per second received in the whole samples of a time; None: there is none."""
    step = trial.result.sample_ns
    rx = trial.result.samples.rx[-(-begin_ns // step) : end_ns // step]
    return Fraction(sum(rx) * 10**9, len(rx) * step) if rx else None
