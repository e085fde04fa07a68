"""A run of the reports' sample whose device drivers read in each trial, by series made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.counter_reasons import CounterNotRead
from netdyno.values.outcome import Outcome
from netdyno.values.series import Missed, Series
from netdyno.values.situation import Place

S = 10**9
HOSTILE = "<img src=x onerror=alert(1)>|`*"
TRAFFIC_S, DRAIN_S = 18, 2
"""Of the sample: warm-up 3 s, ramp 12 s, hold 3 s."""
Change = Callable[[tuple[Series, ...]], tuple[Series, ...]]


def counter(subject: str, name: str, count: int) -> Series:
    at_ns = (-S, 9 * S, (TRAFFIC_S + DRAIN_S) * S)
    values = (7, 7 + count // 2, 7 + count)
    return Series("fake", subject, name, "packets", at_ns, values, is_counter=True, bits=64)


def power(subject: str) -> Series:
    """9 W before traffic, 20 W from 15 s on, which is the hold; the reading at 5 s was missed."""
    at_ns = tuple(second * S for second in (-1, 3, 7, 15, 16, 17, 18, 20))
    values = (90, 100, 150, 200, 200, 200, 200, 90)
    missed = (Missed(5 * S, CounterNotRead(subject, "power")),)
    return Series("fake", subject, "power", "W", at_ns, values, 1, missed=missed)


def cpu(window_s: int) -> Series:
    at_ns = tuple(second * S for second in range(0, 20, 2))
    values = tuple(range(10, 20))
    return Series("fake", HOSTILE, "control-plane CPU", "%", at_ns, values, window_ns=window_s * S)


def with_device(run: RunView, change: Change = lambda series: series) -> RunView:
    """The run as if drivers had read the device in each trial of two ports."""

    def changed(case: CaseView) -> CaseView:
        trials = []
        for trial in case.trials:
            # The sample has one port with what it sent and what came back; here west sends to east.
            west, *rest = trial.result.ports
            stream = trial.result.streams[0]
            if rest:
                west = replace(west, rx_frames=trial.result.streams[1].received, foreign=0)
                east = replace(rest[0], rx_frames=stream.received, foreign=0)
            else:
                east = replace(west, name="east", tx_frames=0, rx_frames=stream.received, foreign=0)
                west = replace(west, rx_frames=0, foreign=0)
            outcome = trial.result.with_counts(ports=(west, east))
            trials.append(replace(trial, result=read_by_drivers(outcome, change)))
        places = (Place(0, 1), Place(1, 0))[: len(case.streams)]
        return replace(case, trials=tuple(trials), places=places, device_ports=("Te0", "Te1"))

    return replace(run, cases=tuple(map(changed, run.cases)))


def read_by_drivers(outcome: Outcome, change: Change = lambda series: series) -> Outcome:
    """The trial as if drivers had read the device."""
    series: list[Series] = []
    for number, stream in enumerate(outcome.streams):
        series += [
            counter(f"Te{number}", "rx_packets", stream.offered),
            counter(f"Te{number}", "in_drops", stream.lost),
            counter(f"Te{1 - number}", "tx_packets", stream.received),
        ]
    series += [power("PS0"), power("PS1"), cpu(60)]
    return replace(outcome, series=change(tuple(series)))
