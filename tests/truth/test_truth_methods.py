"""Methods that look at one direction, on devices that forward otherwise than those of the table of truth
(table.py): every trial frame by frame, and what the method makes of them by the closed form itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise
from statistics import median

import pytest
from closed_forms import SECOND, Frame, Stretch, departures, l1_bps, last_bit_ps, line_ps, through
from laboratory import RATE, Device, Found, measure
from netdyno.values.finding import Cell
from netdyno.values.records import StoredTrial

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SIZE = 64
WIRE_BITS = 672
LINE = Fraction(RATE, WIRE_BITS)
TRIAL_PS = 2 * 10**9
TRIAL = "duration: 2ms"

DEVICES: Mapping[str, Device] = {
    "bridge": Device("bridge-domain"),
    "router": Device("ipv4"),
    "both-capacity": Device("ipv4", both_fps=300_000, in_queue=5),
    "slower-egress": Device(out_bps=RATE // 2, out_queue=20),
}
GOAL = "{loss: 0%, exceed: 0%, duration: 2ms, sum: 2ms, initial: 2ms, width: 2%}"
METHODS: Mapping[str, str] = {
    "bisection": f"{{{TRIAL}, width: 2%, repeats: 0}}",
    "ndr": f"{{goals: {{NDR: {GOAL}}}, warmup: 0s, minimum: 1%}}",
    "frame-loss": f"{{{TRIAL}}}",
    "sweep": f"{{loads: 10% to 100% by 10%, {TRIAL}}}",
    "soak": "{load: 50%, duration: 4ms, part: 2ms}",
    "order": f"{{load: 50%, {TRIAL}, repeats: 2}}",
    "delay-variation": f"{{throughput: 50%, {TRIAL}, repeats: 2}}",
    "latency": f"{{throughput: 15%, repeats: 2, {TRIAL}, after: 0s}}",
    "max-forwarding-rate": f"{{throughput: 10%, {TRIAL}, step: 10%}}",
    "back-to-back": "{throughput: 20%, repeats: 2, longest: 1ms, quiet: 5ms}",
}


@pytest.fixture(scope="module", params=METHODS)
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Mapping[str, Found]]:
    """A method, and what it found of each device."""
    name = request.param
    cases = measure(
        tmp_path_factory.mktemp("methods"),
        devices=DEVICES,
        traffic={"64b": "{size: 64B, flows: 1}"},
        method=f"{{{name}: {METHODS[name]}}}",
        matrix={"direction": ["uni"]},
    )
    return name, {device: cases["64b", device, "uni"] for device in DEVICES}


@cache
def one_trial(device: str, bps: int, duration_ps: int) -> tuple[int, tuple[Frame, ...]]:
    """Frames sent, and those that arrive, of a device that is as it was made."""
    times = departures([Stretch(duration_ps, bps, bps)], SIZE)
    return len(times), tuple(through(DEVICES[device], SIZE, [times]))


def load_of(trial: StoredTrial) -> tuple[int, int]:
    """Bits per second and length, ps."""
    (segment,) = trial.segments
    return math.floor(l1_bps(segment.from_rate, RATE, WIRE_BITS)), segment.duration_ns * 1000


def table(found: Found, name: str) -> list[dict[str, Cell]]:
    assert found.case.result is not None
    (shown,) = (one for one in found.case.result.tables if one.name == name)
    return [dict(zip([column.name for column in shown.columns], row, strict=True)) for row in shown.rows]


@pytest.mark.parametrize("device", DEVICES)
def test_every_trial_is_as_reckoned(device: str, found: tuple[str, Mapping[str, Found]]) -> None:
    _, cases = found
    assert cases[device].trials
    for trial in cases[device].trials:
        sent, arrived = one_trial(device, *load_of(trial))
        (stream,) = trial.result.streams
        assert (stream.offered, stream.received, stream.lost) == (sent, len(arrived), sent - len(arrived))
        took = [frame.at - frame.departure for frame in arrived]
        assert stream.latency is not None
        assert (stream.latency.min_ns, stream.latency.max_ns) == (min(took) // 1000, max(took) // 1000)
        assert stream.latency.sum_ns == sum(time // 1000 for time in took)


def lost(device: str, fps: Fraction) -> int:
    """Frames that a trial of 2 ms at that load loses."""
    sent, arrived = one_trial(device, math.floor(fps * WIRE_BITS), TRIAL_PS)
    return sent - len(arrived)


def forwarded(device: str, fps: Fraction) -> Fraction:
    """Frames a second that come while traffic lasts, in the one sample of 1 ms that begins after the first
    can have come; the load itself, or what was sent of it, where all come and at that rate.

    A frame more or less at either end of the sample is no other rate. What a queue gives back afterwards is
    not of it.
    """
    sent, arrived = one_trial(device, math.floor(fps * WIRE_BITS), TRIAL_PS)
    assert 0 < min(frame.at - frame.departure for frame in arrived) <= TRIAL_PS // 2
    load = min(fps, Fraction(sent * SECOND, TRIAL_PS))
    came = sum(TRIAL_PS // 2 <= frame.at < TRIAL_PS for frame in arrived)
    if len(arrived) == sent and abs(came - load / 1000) <= 2:
        return load
    return Fraction(came * 1000)


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_method_finds_is_what_the_form_says(
    device: str, found: tuple[str, Mapping[str, Found]]
) -> None:
    name, cases = found
    case = cases[device]
    match name:
        case "bisection" | "ndr":
            value = case.value("NDR", "west-east")
            assert value.low <= value.number <= value.load, "but for what was still queued"
            assert lost(device, value.load) == 0
            at = [load_of(trial)[0] for trial in case.trials]
            assert math.floor(value.load * WIRE_BITS) in at, "it was tried"
            if value.high is None:
                assert value.load == LINE
            else:
                assert lost(device, value.high) > 0
                assert value.high - value.load <= (LINE if name == "bisection" else value.high) / 50
        case "frame-loss":
            rows = table(case, "Frame loss rate")
            expected = []
            for tenth in range(10, 0, -1):
                sent, arrived = one_trial(device, math.floor(LINE * tenth / 10 * WIRE_BITS), TRIAL_PS)
                expected.append((Fraction(tenth, 10), Fraction(sent - len(arrived), sent)))
                if [loss for _, loss in expected[-2:]] == [0, 0]:
                    break
            assert [(row["load"], row["loss"]) for row in rows] == expected
            assert case.value("frame loss rate", "west-east").number == expected[0][1]
        case "sweep":
            clean = [lost(device, LINE * tenth / 10) == 0 for tenth in range(1, 11)]
            best = clean.index(False) if False in clean else 10
            value = case.value("loss-free load", "west-east")
            assert value.number == LINE * best / 10
            assert value.high == (None if best == 10 else LINE * (best + 1) / 10)
        case "soak":
            sent, arrived = one_trial(device, RATE // 2, TRIAL_PS)
            assert case.value("loss ratio", "west-east").number == Fraction(sent - len(arrived), sent)
            # Where one is lost in the last 2 ms and one in the first, they are one event: within a second.
            events = case.value("loss events", "west-east").number
            assert (events > 0) == (len(arrived) < sent)
        case "order":
            assert case.value("reordered", "west-east").number == 0
        case "delay-variation":
            _, arrived = one_trial(device, RATE // 2, TRIAL_PS)
            took = {frame.departure: frame.at - frame.departure for frame in arrived}
            times = departures([Stretch(TRIAL_PS, RATE // 2, RATE // 2)], SIZE)
            steps = [
                Fraction(took[after] - took[before], 1000)
                for before, after in pairwise(times)
                if before in took and after in took
            ]
            least, middle, most = (
                case.value(f"IPDV, {which}", "west-east").number for which in ("least", "median", "most")
            )
            # In whole nanoseconds; and the histogram has three digits.
            assert abs(least - min(steps)) < 1
            assert abs(most - max(steps)) < 1
            assert (middle is None) == (len(steps) < 20), "a percentile p takes 10 / (1 - p)"
            assert middle is None or middle == pytest.approx(float(median(steps)), rel=1e-3, abs=1)
        case "latency":
            _, arrived = one_trial(device, math.floor(LINE * 15 / 100 * WIRE_BITS), TRIAL_PS)
            each = [(frame.at - frame.departure) // 1000 for frame in arrived]
            assert case.value("latency", "west-east").number == Fraction(sum(each), len(each))
        case "max-forwarding-rate":
            rates = [forwarded(device, LINE * tenth / 10) for tenth in range(1, 11)]
            assert [row["forwarded"] for row in table(case, "Forwarding rate")] == rates
            assert case.value("maximum forwarding rate", "west-east").number == max(rates)
            assert case.value("forwarding rate at maximum load", "west-east").number == rates[-1]
        case _:
            value = case.value("back-to-back frames", "west-east").number
            assert value == longest_burst(device)


def longest_burst(device: str) -> int | None:
    """Frames back to back of which none is lost; None where no such burst ends in loss within a millisecond.

    A server of time s with room for q takes n frames that come every t if n <= (n - 1) t / s + q + 1.
    """
    t = line_ps(SIZE, RATE)
    made = DEVICES[device]
    servers = {
        "both-capacity": (Fraction(SECOND, 300_000), 5),
        "slower-egress": (line_ps(SIZE, RATE // 2), 20),
    }
    if device not in servers:
        assert made.in_fps is made.both_fps is made.box_fps is made.out_bps is None
        return None
    service, queue = servers[device]
    n = 1
    while n + 1 <= math.floor(n * t / service) + queue + 1:
        n += 1
    return n


def test_the_forms_of_a_frame_are_those_of_its_line() -> None:
    assert (line_ps(SIZE, RATE), last_bit_ps(SIZE, RATE)) == (672_000, 576_000)
