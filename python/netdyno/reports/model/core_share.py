"""The share of its core that the device worked in the trials that a case's rate rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model.device import held
from netdyno.reports.model.view import CaseView, TrialView, once_a_case
from netdyno.values.gauge import mean_within

DATA_PLANE, PERCENT = "data-plane CPU", "%"
SOFTIRQ = "softirq"
"""The time that a core of this machine spent in soft interrupts, where a kernel forwards."""
BUSY = "busy"
MOST_OTHERS = Fraction(1, 20)
"""Of the core's time, that others may have had."""
LEAST_NS = 5 * 10**8
"""Of load, all trials together: the kernel counts in ticks of 10 ms."""


@dataclass(frozen=True)
class CoreShare:
    """source: who says it, for a sentence."""

    share: Fraction
    source: str


@once_a_case
def core_share(case: CaseView) -> CoreShare | None:
    """Of a device built on this machine by its kernel, of an emulated one by its model, of any other as read.

    None: none of them says it.
    """
    notes = {note.code: note.fields() for note in case.notes}
    if "device-on-own-core" in notes:
        return _of_kernel(case, f"cpu{notes['device-on-own-core']['device_core']}")
    if "capacity-from-cpu" in notes:
        return _of_model(case, Fraction(str(notes["capacity-from-cpu"]["capacity_fps"])))
    return _as_read(case)


def _trials(case: CaseView) -> tuple[TrialView, ...]:
    """The trials of the first headline."""
    if case.result is None:
        return ()
    numbers = frozenset(case.result.resting(next(iter(case.result.headlines), "")))
    return tuple(trial for trial in case.trials if trial.number in numbers and trial.state == "done")


def _of_kernel(case: CaseView, core: str) -> CoreShare | None:
    """None also where the core had other work, whose ticks may be counted as the device's, or where frames
    that open flows were forwarded beside those of the load."""
    worked = {SOFTIRQ: Fraction(0), BUSY: Fraction(0)}
    length_ns = 0
    for trial in _trials(case):
        if any(one.translated is not None for one in trial.result.streams):
            return None
        for one in trial.result.series:
            if one.subject == core and one.name in worked and one.is_counter and len(one.values) > 1:
                # Read just before the trial and just after it.
                worked[one.name] += one.numbers[-1] - one.numbers[0]
                length_ns += trial.duration_ns if one.name == SOFTIRQ else 0
    others = (worked[BUSY] - worked[SOFTIRQ]) * 10**9
    if length_ns < LEAST_NS or others > MOST_OTHERS * length_ns:
        return None
    worked_ns = worked[SOFTIRQ] * 10**9
    return CoreShare(
        min(worked_ns / length_ns, Fraction(1)),
        "soft interrupts on the device's core, where others had less than 5 % of it",
    )


def _of_model(case: CaseView, capacity: Fraction) -> CoreShare | None:
    rate = case.headline
    if rate is None or rate.number is None or rate.unit != "fps":
        return None
    return CoreShare(min(rate.number / capacity, Fraction(1)), "of the model's capacity")


def _as_read(case: CaseView) -> CoreShare | None:
    """The busiest of its data plane's gauges; of one that has none, of all its CPUs."""
    found: dict[tuple[bool, str, str], list[Fraction]] = {}
    for trial in _trials(case):
        for kind, mean in _means(trial):
            found.setdefault(kind, []).append(mean)
    best = any(is_data_plane for is_data_plane, _, _ in found)
    means = [
        (sum(each, Fraction(0)) / len(each), name) for (kind, _, name), each in found.items() if kind == best
    ]
    if not means:
        return None
    percent, name = max(means)
    return CoreShare(percent / 100, f"the device's {name}")


def _means(trial: TrialView) -> Iterator[tuple[tuple[bool, str, str], Fraction]]:
    span = held(trial)
    for one in trial.result.series if span else ():
        is_gauge = one.unit == PERCENT and not one.is_counter and one.name.endswith("CPU")
        mean = mean_within(one, *span) if is_gauge and span else None
        if mean is not None:
            yield (one.name == DATA_PLANE, one.subject, one.name), mean
