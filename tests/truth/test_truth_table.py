"""The table of truth: every method of the catalogue on every class of device, in virtual time.

Of each trial of each cell every stream's frames are held against the reference's (bench.py): how many were
sent, came, came broken or elsewhere, in which sample, which of them are missing, and the least, the greatest
and the sum of what they took, to the nanosecond. Then what the method says is held against what it is to say
(findings.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from bench import Bench, Plan, agree, run
from devices import CLASSES, SERVICE, Class
from findings import FINDINGS
from netdyno.methods import METHODS
from plans import PLANS, SERVICES, UNMARKED
from reference import Packet, Reference, line_time

pytest.importorskip("netdyno._engine", reason="the engine is not built")

TABLE: Mapping[str, str] = {
    # w d s p b l p h s p s c r: in the order of CLASSES.
    "ramp": "rrrrrrrrrrrrr",
    "throughput": "fffffffrfrrff",
    "ndr": "fffffffrfrrff",
    "bisection": "fffffffrfrrff",
    "latency": "fffffffrfrrff",
    "frame-loss": "fffffffrfrrff",
    "back-to-back": "fffffffrfrrff",
    "recovery": "rrrrrrrrrrrrr",
    "reset": "rrrrrrrrrrrrr",
    "rfc2544": "fffffffrfrrff",
    "sweep": "fffffffrfrrff",
    "max-forwarding-rate": "fffffffrfrrff",
    "congestion": "rrrrrrrrrrrrr",
    "address-caching": "rrrrrrrrrrr~r",
    "address-learning-rate": "rrrrrrrrrrr~r",
    "errored-frames": "rrrrrrrrrrrrr",
    "broadcast": "rrrrrrrrrrr~r",
    "soak": "fffffffrfrrff",
    "order": "fffffffrfrrff",
    "delay-variation": "~~~~~~~~~~~~~",
    "microburst": "rrrrrrrrrrrrr",
    "y1564": "fffffffrfrrff",
}
"""f: exact, by a closed form and by the reference. r: exact, by the reference alone, which is a simulation:
the load changes, several streams meet, or the device has no form (devices.py says why). ~: see `WITHIN`."""

WITHIN: Mapping[str, str] = {
    "address-caching": "whose a broken frame is that came to the wrong port is not always known",
    "address-learning-rate": "whose a broken frame is that came to the wrong port is not always known",
    "broadcast": "whose a broken frame is that came to the wrong port is not always known",
    "delay-variation": "percentiles are of histograms of three digits; counts, sums and extremes are exact",
}


def test_the_table_has_every_method_and_every_class() -> None:
    assert list(TABLE) == list(METHODS) == list(PLANS) == list(FINDINGS)
    assert {len(row) for row in TABLE.values()} == {len(CLASSES)}
    assert set("".join(TABLE.values())) == {"f", "r", "~"}
    assert set(WITHIN) == {method for method, row in TABLE.items() if "~" in row}


def asked(method: str, device: Class) -> tuple[Plan, bool]:
    """How a method is asked for, and whether its traffic is of two classes."""
    marked = device.marked and method not in UNMARKED
    return SERVICES if marked and method == "y1564" else PLANS[method], marked


def by_form(bench: Bench, device: Class) -> int:
    """Holds what the engine counted against the closed form, where there is one; of how many trials."""
    held, before = 0, 0
    for trial, outcome, expected in zip(bench.trials, bench.outcomes, bench.expected, strict=True):
        (one,) = outcome.streams if len(outcome.streams) == 1 else (None,)
        if one is None or device.form is None:
            return 0
        loads = [segment for segment in trial.segments if segment.to_fps or segment.from_fps]
        if len(loads) == 1 and trial.constant and not trial.events:
            due = expected[0].due
            through = device.form(one.offered, due[-1] - due[0], before)
            assert one.received == through, trial.name
            held += 1
        before += one.offered
    return held


@pytest.mark.parametrize("device", CLASSES)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_finds_what_is_true(method: str, device: str) -> None:
    made = CLASSES[device]
    plan, marked = asked(method, made)
    bench = run(plan, made.model, classes=marked)
    agree(bench)
    FINDINGS[method](bench)
    mark = TABLE[method][list(CLASSES).index(device)]
    if plan.size == 64 and mark != "~":
        assert (by_form(bench, made) > 0) == (mark == "f"), "the table says how it is known"


# The reference itself.


def even(frames: int, spacing: int) -> list[Packet]:
    """Frames of one stream that come so far apart."""
    return [Packet(0, number, number * spacing, 0, 64) for number in range(frames)]


@pytest.mark.parametrize("spacing", [6_720_000, 7_000_001, 9_999_999, SERVICE, 13_000_007])
@pytest.mark.parametrize("device", [name for name, one in CLASSES.items() if one.form is not None])
def test_the_reference_is_as_the_closed_forms_say(device: str, spacing: int) -> None:
    """Bursts of any length, at the line's rate, just above what is served, at it, and below."""
    made = CLASSES[device]
    assert made.form is not None
    before = 0
    reference = Reference(made.model, 2)
    for number, frames in enumerate((1, 2, 7, 41, 48, 49, 97, 160, 411, 1_000), 1):
        begin = number * 10**12
        sent = even(frames, spacing)
        for packet in sent:
            packet.departure += begin
        _, came = reference.forward([sent, []], lambda packet, port: [1])
        through = sum(not one.corrupted for one in came)
        assert through == made.form(frames, (frames - 1) * spacing, before)
        before += frames


def test_a_burst_through_a_pause_is_what_fits_in_the_queue() -> None:
    """Frames every 6.72 us at a line that pauses for 401 us: as many wait as there is room for, and all that
    come while it is full are lost. Behind the pause the line is as fast as they come."""
    model = CLASSES["periodic stalls"].model
    assert model.stall is not None
    first, _, length = model.stall
    reference = Reference(model, 2)
    sent = even(400, line_time(64))
    # The first frame reaches the line 10.76 us after it departed (5.76 us of bits, 5 us through the device).
    _, came = reference.forward([sent, []], lambda packet, port: [1])
    reach = [one.departure + 10_760_000 for one in even(400, line_time(64))]
    inside = sum(first < at < first + length for at in reach)
    assert len(came) == 400 - (inside - model.queue)


def test_a_class_that_goes_first_waits_for_one_frame_at_most() -> None:
    """Strict priority that never stops in a frame: beside any other load a frame of the first class waits for
    the one that has begun, and in a shaper for the tokens that it took: 10 us (A. Cobham 1954)."""
    model = CLASSES["priority queues"].model
    for rest in (6_720_000, 9_000_000, 20_000_000):
        voice = [Packet(0, number, number * 40_000_003, 0, 64, "voice") for number in range(200)]
        other = [Packet(1, number, number * rest, 0, 64, "rest") for number in range(800)]
        _, _, came = Reference(model, 3).forward([voice, other, []], lambda packet, port: [2])
        took = [one.at - one.departure for one in came if one.stream == 0]
        assert len(took) == 200
        assert min(took) == 16_520_000
        assert max(took) <= 16_520_000 + SERVICE
