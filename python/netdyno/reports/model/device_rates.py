"""Rates of the device's own counters while a load was held, in the trial that received most.

They are differences of counters over the trial. A rate that the device prints is an average over a window of
its own, and never stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model import device
from netdyno.reports.model.view import CaseView, TrialView, once_a_case
from netdyno.values.counter import Interval, rate_within
from netdyno.values.counter_reasons import CounterChangesTooFew
from netdyno.verdict.device_counts import IN, IN_BYTES, MEMBERS, OUT, OUT_BYTES, Counters, Line

BITS = 8
_KINDS = ("Ucast", "Multicast", "Broadcast")
COUNTED = {
    **dict.fromkeys((IN, *(f"if{wide}In{kind}Pkts" for wide in ("HC", "") for kind in _KINDS)), (IN, 1)),
    **dict.fromkeys((OUT, *(f"if{wide}Out{kind}Pkts" for wide in ("HC", "") for kind in _KINDS)), (OUT, 1)),
    **dict.fromkeys((IN_BYTES, "ifHCInOctets", "ifInOctets"), (IN, BITS)),
    **dict.fromkeys((OUT_BYTES, "ifHCOutOctets", "ifOutOctets"), (OUT, BITS)),
}
"""Counters of a port by their drivers' names and IF-MIB's: their way, and what one count is of the rate."""


@dataclass(frozen=True)
class CounterRate:
    """One counter of a port. unit: `pps` or `bit/s`, of what is found. found: unknown with its reason."""

    source: str
    port: str
    way: str
    counter: str
    unit: str
    found: Interval


@dataclass(frozen=True)
class DeviceRates:
    """The rates in a trial. begin_ns, end_ns: of the time for which the load was held."""

    trial: TrialView
    begin_ns: int
    end_ns: int
    rates: tuple[CounterRate, ...]


@once_a_case
def device_rates(case: CaseView) -> DeviceRates | None:
    """The rates of a case; None: no driver counted frames or bytes while a load was held."""
    best: tuple[Fraction, TrialView, int, int] | None = None
    for trial in case.resting_trials:
        is_read = any(one.is_counter and one.name in COUNTED for one in trial.result.series)
        span = device.held(trial) if is_read else None
        if span is None:
            continue
        received = device.received(trial, *span) or Fraction(0)
        if best is None or received > best[0]:
            best = received, trial, *span
    if best is None:
        return None
    _, trial, begin_ns, end_ns = best
    rates = tuple(_rates(case, device.count_trial(case, trial), begin_ns, end_ns))
    return DeviceRates(trial, begin_ns, end_ns, rates) if rates else None


def _rates(case: CaseView, counters: Counters, begin_ns: int, end_ns: int) -> Iterator[CounterRate]:
    lines = (*device.lines(case), *(None for _ in case.device_ports))
    for port, line in zip(case.device_ports, lines, strict=False):
        subjects = (port,) if port in counters.subjects else tuple(port.split(MEMBERS))
        for subject in subjects:
            for name in COUNTED:
                found = _rate(counters, port, subject, name, line, begin_ns, end_ns)
                if found is not None:
                    yield found


def _rate(
    counters: Counters, port: str, subject: str, name: str, line: Line | None, begin_ns: int, end_ns: int
) -> CounterRate | None:
    """The rate of a counter; None: it is not there, or it stood still and no traffic of the test is its."""
    series = counters.series.get((subject, name))
    if series is None:
        return None
    way, bits = COUNTED[name]
    flow = counters.flows.get((port, way)) if subject == port else None
    if len(set(series.values)) < 2 and (flow is None or name not in (IN, OUT, IN_BYTES, OUT_BYTES)):
        return None
    most = None if line is None else line.frames if bits == 1 else line.bytes
    found = rate_within(
        series,
        most,
        begin_ns,
        end_ns,
        moving=() if flow is None else tuple(flow.spans()),
        resets=counters.resets.of(subject),
    )
    is_idle = found.rate == 0 or isinstance(found.reason, CounterChangesTooFew)
    if flow is None and is_idle:
        # A member of a LAG may carry some of its traffic, and be old.
        if subject == port:
            return None
        found = Interval(begin_ns, end_ns, None, CounterChangesTooFew(subject, name, 0, begin_ns, end_ns))
    rate, low, high = (None if one is None else one * bits for one in (found.rate, found.low, found.high))
    scaled = Interval(found.begin_ns, found.end_ns, rate, found.reason, low, high)
    unit = "pps" if bits == 1 else "bit/s"
    return CounterRate(series.source, subject, "in" if way == IN else "out", name, unit, scaled)
