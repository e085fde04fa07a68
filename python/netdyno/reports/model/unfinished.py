"""What was measured of cases that have no result yet: their trials, as they were counted.

A soak that was killed after ten hours has sixty parts in its store and no result. They are shown as what they
are, trials of a method that has not said what they show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.standing import NOT_MADE
from netdyno.reports.model.table import Table, table_of_cases
from netdyno.reports.model.view import ALL, CaseView, RunView, TrialView
from netdyno.values.finding import Cell, Column, columns
from netdyno.values.load import STEADY
from netdyno.values.outcome import StreamResult

TITLE = "Trials of cases without a result"
CUT_SHORT = "cancelled"
"""The state of a trial that was interrupted: its counts are stored, and it is sent anew."""
CLOCK = Column("begun, clock")
COLUMNS = columns(
    "trial",
    CLOCK,
    "stream | load for: ns | offered: fps | sent: frames | received: frames | lost: frames | loss: share",
    "max latency: ns",
)


def cases(run: RunView) -> tuple[CaseView, ...]:
    """Those without a result of which something was measured."""
    return tuple(
        case for case in run.cases if case.result is None and case.state in NOT_MADE and any(_shown(case))
    )


def describe_stored_trials(run: RunView) -> str:
    """How many trials of which cases without a result are kept, `9 trials of small / uni`; empty: none."""
    counts = ((case, len(tuple(_done(case)))) for case in cases(run))
    return ", ".join(f"{counted(count, 'trial')} of {case.name}" for case, count in counts if count)


def sentences(run: RunView) -> tuple[str, ...]:
    """That the run has not ended, what goes on with it, how far its searches are; none of one that has."""
    if run.state not in ("interrupted", "running"):
        return ()
    trials = describe_stored_trials(run)
    also = f" Finished and kept, without a result yet: {trials}." if trials else ""
    state = "The run goes on."
    if run.state == "interrupted":
        state = f"The run was interrupted; `netdyno run --resume` goes on with its folder, {run.id}."
    return (f"{state}{also}", *describe_searches(run))


def describe_searches(run: RunView) -> Iterator[str]:
    """A sentence for each search of a case without a result: between which loads it stands."""
    return (f"{run.name_apart(case)}, {found}." for case in run.cases for found in case.so_far)


def tables(run: RunView) -> tuple[Table, ...]:
    """The table of them; none where every case that was begun has a result."""
    found = cases(run)
    if not found:
        return ()
    clock = any(_clock(trial) for case in found for trial in _shown(case))
    columns = [column for column in COLUMNS if clock or column is not CLOCK]
    rows = [(case, row if clock else (row[0], *row[2:])) for case in found for row in _rows(case)]
    caption = "Counts of the trials themselves: what a method makes of them is known when the case ends."
    return (table_of_cases(run, TITLE, caption, columns, rows),)


def _done(case: CaseView) -> Iterator[TrialView]:
    return (trial for trial in case.trials if trial.state == "done")


def _shown(case: CaseView) -> Iterator[TrialView]:
    """Those that are finished, and the one under which the run was interrupted if that sent anything."""
    yield from _done(case)
    for trial in case.trials[-1:]:
        if trial.state == CUT_SHORT and any(one.offered for one in trial.result.streams):
            yield trial


def _load_ns(trial: TrialView) -> int:
    """How long it had its load; one that was cut short not as long as asked."""
    if trial.state != CUT_SHORT:
        return trial.duration_ns
    return sum(phase.duration_ns for phase in trial.result.phases if phase.name == STEADY)


def _rows(case: CaseView) -> Iterator[tuple[Cell, ...]]:
    trials = tuple(_done(case))
    for trial in _shown(case):
        name = f"{trial.name}, cut short" if trial.state == CUT_SHORT else trial.name
        sending = tuple(one for one in trial.result.streams if one.intended)
        for one in sending:
            yield (name, _clock(trial), one.name, *_counts([one], _load_ns(trial)))
    every = [one for trial in trials for one in trial.result.streams if one.intended]
    # Of one load, as a soak's is: what different loads of a search lost adds up to nothing.
    if (
        len(every) > 1
        and len({tuple(segment.from_rate for segment in trial.segments) for trial in trials}) == 1
    ):
        duration_ns = sum(trial.duration_ns for trial in trials)
        yield (f"all {len(trials)}", None, ALL, *_counts(every, duration_ns))


def _clock(trial: TrialView) -> str | None:
    """The time of day, UTC, at which its load began; None in virtual time."""
    if trial.result.started is None:
        return None
    begun_ns = next((phase.start_ns for phase in trial.result.phases if phase.name == "traffic"), 0)
    return f"{trial.result.started + timedelta(microseconds=begun_ns // 1000):%Y-%m-%d %H:%M:%S}"


def _counts(streams: Sequence[StreamResult], duration_ns: int) -> tuple[Cell, ...]:
    sent, received = sum(one.offered for one in streams), sum(one.received for one in streams)
    lost = sum(max(one.missing, 0) for one in streams)
    latest = [one.latency.max_ns for one in streams if one.latency is not None and one.latency.count]
    return (
        Fraction(duration_ns),
        Fraction(sent * 10**9, duration_ns) if duration_ns else None,
        Fraction(sent),
        Fraction(received),
        Fraction(lost),
        Fraction(lost, sent) if sent else None,
        Fraction(max(latest)) if latest else None,
    )
