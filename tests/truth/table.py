"""The table of truth: every method of the catalogue on every class of device, in virtual time.

Of each trial of each cell every stream's frames are held against the reference's (bench.py): how many were
sent, came, came broken or elsewhere, in which sample, which of them are missing, and the least, the greatest
and the sum of what they took, to the nanosecond. Then what the method says is held against what it is to say
(proofs/).
"""

from __future__ import annotations

from collections.abc import Mapping

from bench import NS, Bench, Plan, agree, run
from devices import CLASSES, Class
from findings_late import is_noticed, withdrawn
from plans import MIXED, PATTERNS, PLANS, SERVICES
from proofs import PROOFS

TABLE: Mapping[str, str] = {
    # wire, delay, ...: in the order of CLASSES. Rows of methods are in `proofs/`.
    **{name: one.row for name, one in PROOFS.items()},
    "throughput, both ways": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "frame-loss, many to one": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "max-forwarding-rate, full mesh": "rrrrrrrrrrrrrrrrr-rrrrrr",
    "ramp, imix": "rrrrrrrrrrrrrrrrrrrrrrrr",
    **{name: "fffrrrrrrfrrrrrfrfffrrfr" for name in MIXED if name != "ramp, imix"},
}
"""f: exact, by a closed form and by the reference. r: exact, by the reference alone, which is a simulation:
the load changes, several streams meet, sizes differ, or the device has no form (devices.py says why).
~: see `WITHIN`. -: none, see `UNKNOWN`."""

WITHIN: Mapping[str, str] = {name: one.within for name, one in PROOFS.items() if one.within}
FIRST = set(list(TABLE)[: list(TABLE).index("broadcast") + 1])
"""Half of the rows, by the time they take."""

UNKNOWN: Mapping[str, str] = {
    "max-forwarding-rate, full mesh": "a broken test frame may pass for one of those that teach the bridge,"
    " and which of the next ones are hit depends on how many of these there were",
}

CELLS = {
    (name, device): mark
    for name, row in TABLE.items()
    for device, mark in zip(CLASSES, row, strict=True)
    if mark != "-"
}


def asked(name: str, device: Class) -> tuple[Plan, bool]:
    """How a method is asked for, and whether its traffic is of two classes."""
    marked = device.marked and (name not in PROOFS or PROOFS[name].has_classes)
    return SERVICES if marked and name == "y1564" else {**PLANS, **PATTERNS, **MIXED}[name], marked


def by_form(bench: Bench, device: Class) -> int:
    """Holds what the engine counted against the closed form, where there is one; of how many trials."""
    held, before = 0, 0
    for trial, outcome, expected in zip(bench.trials, bench.outcomes, bench.expected, strict=True):
        (one,) = outcome.streams if len(outcome.streams) == 1 else (None,)
        if one is None or device.form is None:
            return 0
        loads = [segment for segment in trial.segments if segment.to_rate.amount or segment.from_rate.amount]
        # Where a trial drains for longer than frames are held they come in it.
        drained = sum(one.duration_ns for one in outcome.phases if one.name != "settle") * NS
        late = device.model.hold is None or drained < device.model.hold[2]
        if len(loads) == 1 and trial.constant and not trial.events and late:
            due = expected[0].due
            through = device.form(one.offered, due[-1] - due[0], before)
            assert one.received == through, trial.name
            held += 1
        before += one.offered
    return held


def hold(name: str, device: str) -> None:
    """Runs a cell, and holds it against all that is known of it."""
    made, mark = CLASSES[device], CELLS[name, device]
    plan, marked = asked(name, made)
    bench = run(plan, made.model, classes=marked)
    agree(bench)
    if made.model.hold is not None and not PROOFS[plan.method].loses_nothing and is_noticed(bench):
        withdrawn(bench)
    else:
        PROOFS[plan.method].finding(bench)
    if plan.size == 64 and (made.sizes or not plan.mix) and mark != "~":
        assert (by_form(bench, made) > 0) == (mark == "f"), "the table says how it is known"
