"""The table of truth: every method of the catalogue on every class of device, in virtual time.

Of each trial of each cell every stream's frames are held against the reference's (bench.py): how many were
sent, came, came broken or elsewhere, in which sample, which of them are missing, and the least, the greatest
and the sum of what they took, to the nanosecond. Then what the method says is held against what it is to say
(findings.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from bench import NS, Bench, Plan, agree, run
from devices import CLASSES, Class
from findings import FINDINGS
from findings_late import is_noticed, withdrawn
from plans import MIXED, PATTERNS, PLANS, SERVICES, UNMARKED

TABLE: Mapping[str, str] = {
    # wire, delay, ...: in the order of CLASSES.
    "ramp": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "throughput": "ffffffffrffrfrrfrffffrfr",
    "ndr": "ffffffffrffrfrrfrffffrfr",
    "bisection": "ffffffffrffrfrrfrffffrfr",
    "latency": "ffffffffrffrfrrfrffffrfr",
    "frame-loss": "ffffffffrffrfrrfrffffrfr",
    "back-to-back": "ffffffffrffrfrrfrffffrfr",
    "recovery": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "reset": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "rfc2544": "ffffffffrffrfrrfrffffrfr",
    "sweep": "ffffffffrffrfrrfrffffrfr",
    "max-forwarding-rate": "ffffffffrffrfrrfrffffrfr",
    "congestion": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "address-caching": "rrrrrrrrrrrrrrrrr~rrrrrr",
    "address-learning-rate": "rrrrrrrrrrrrrrrrr~rrrrrr",
    "errored-frames": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "broadcast": "rrrrrrrrrrrrrrrrr~rrrrrr",
    "soak": "ffffffffrffrfrrfrffffrfr",
    "order": "ffffffffrffrfrrfrffffrfr",
    "delay-variation": "~~~~~~~~~~~~~~~~~~~~~~~~",
    "microburst": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "y1564": "ffffffffrffrfrrfrffffrfr",
    "throughput, both ways": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "frame-loss, many to one": "rrrrrrrrrrrrrrrrrrrrrrrr",
    "max-forwarding-rate, full mesh": "rrrrrrrrrrrrrrrrr-rrrrrr",
    "ramp, imix": "rrrrrrrrrrrrrrrrrrrrrrrr",
    **{name: "fffrrrrrrfrrrrrfrfffrrfr" for name in MIXED if name != "ramp, imix"},
}
"""f: exact, by a closed form and by the reference. r: exact, by the reference alone, which is a simulation:
the load changes, several streams meet, sizes differ, or the device has no form (devices.py says why).
~: see `WITHIN`. -: none, see `UNKNOWN`."""

WITHIN: Mapping[str, str] = {
    "address-caching": "whose a broken frame is that came to the wrong port is not always known",
    "address-learning-rate": "whose a broken frame is that came to the wrong port is not always known",
    "broadcast": "whose a broken frame is that came to the wrong port is not always known",
    "delay-variation": "percentiles are of histograms of three digits; counts, sums and extremes are exact",
}
FIRST = set(list(TABLE)[: list(TABLE).index("broadcast") + 1])
"""Half of the rows, by the time they take."""

UNKNOWN: Mapping[str, str] = {
    "max-forwarding-rate, full mesh": "a broken test frame may pass for one of those that teach the bridge,"
    " and which of the next ones are hit depends on how many of these there were",
}

ALL_CAME = {"address-caching", "address-learning-rate", "reset"}
"""Methods that lose nothing, and so nothing late, in the tries that their result rests on, or have none."""

CELLS = {
    (name, device): mark
    for name, row in TABLE.items()
    for device, mark in zip(CLASSES, row, strict=True)
    if mark != "-"
}


def asked(name: str, device: Class) -> tuple[Plan, bool]:
    """How a method is asked for, and whether its traffic is of two classes."""
    marked = device.marked and name not in UNMARKED
    return SERVICES if marked and name == "y1564" else {**PLANS, **PATTERNS, **MIXED}[name], marked


def by_form(bench: Bench, device: Class) -> int:
    """Holds what the engine counted against the closed form, where there is one; of how many trials."""
    held, before = 0, 0
    for trial, outcome, expected in zip(bench.trials, bench.outcomes, bench.expected, strict=True):
        (one,) = outcome.streams if len(outcome.streams) == 1 else (None,)
        if one is None or device.form is None:
            return 0
        loads = [segment for segment in trial.segments if segment.to_fps or segment.from_fps]
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
    if made.model.hold is not None and plan.method not in ALL_CAME and is_noticed(bench):
        withdrawn(bench)
    else:
        FINDINGS[plan.method](bench)
    if plan.size == 64 and (made.sizes or not plan.mix) and mark != "~":
        assert (by_form(bench, made) > 0) == (mark == "f"), "the table says how it is known"
