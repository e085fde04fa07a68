"""The throughput search finds exactly what paper says, on every class of emulated device."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction

import pytest
from closed_forms import SECOND, Stretch, admitted, departures, line_ps, sent_before, through, wire_bits
from laboratory import RATE, Device, Found, measure
from netdyno.values.records import StoredTrial

engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")

SENT_PS = 4 * 10**9
WIDTH = Fraction(1, 100)
METHOD = "{throughput: {duration: 4ms, width: 1%}}"
TRAFFIC = {
    "64b": "{size: 64B, flows: 1}",
    "many": "{size: 128B, flows: 65536}",
    "large": "{size: 1518B, flows: 64}",
    "ipv6": "{size: 84B, ip: 6, flows: 1}",
}
SIZES = {"64b": 64, "many": 128, "large": 1518, "ipv6": 84}

# Loads of one stream. A bottleneck stands alone, so that the formula for it can be written on one line.
DEVICES: Mapping[str, Device] = {
    "xconnect": Device(),
    "bridge": Device("bridge-domain"),
    "router": Device("ipv4"),
    "slow": Device(delay_ns=123_456),
    "store-and-forward": Device(delay_ns=0, delay_per_byte_ps=1_237),
    "port-capacity": Device(in_fps=300_000, in_queue=1),
    "port-capacity-deep": Device(in_fps=300_000, in_queue=64),
    "port-capacity-odd": Device("bridge-domain", in_fps=299_993, in_queue=7),
    "both-capacity": Device("ipv4", both_fps=300_000, in_queue=5),
    "box-capacity": Device(box_fps=300_000, box_queue=9),
    "box-router": Device("ipv4", box_fps=300_007, box_queue=3),
    "slower-egress": Device(out_bps=RATE // 2, out_queue=2),
    "slower-egress-deep": Device("bridge-domain", out_bps=RATE // 2, out_queue=200),
    "group": Device(members=2, partner_queue=8),
    "group-router": Device("ipv4", members=2, partner_queue=8, hash="src-ip"),
}
ONE_MEMBER = {"64b", "ipv6"}
"""Profiles of one flow, which meets one member of a group."""


@pytest.fixture(scope="module")
def uni(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    return measure(
        tmp_path_factory.mktemp("uni"),
        devices=DEVICES,
        traffic=TRAFFIC,
        method=METHOD,
        matrix={"direction": ["uni"]},
    )


def grid(size: int, device: Device) -> list[int]:
    """L1 bits per second of each load of the search, lowest first: whole steps of 1 % of the line."""
    line = Fraction(RATE * device.members, wire_bits(size))
    steps = math.ceil(1 / WIDTH)
    return [math.floor(line * step / steps * wire_bits(size)) for step in range(1, steps + 1)]


def bottleneck(device: Device, size: int) -> tuple[Fraction, int] | None:
    """Service and queue of what limits the device, if anything does."""
    if device.members > 1:
        return line_ps(size, RATE), device.partner_queue
    if device.out_bps is not None:
        return line_ps(size, device.out_bps), device.out_queue
    for capacity, queue in (
        (device.in_fps, device.in_queue),
        (device.both_fps, device.in_queue),
        (device.box_fps, device.box_queue),
    ):
        if capacity is not None and Fraction(SECOND, capacity) > line_ps(size, RATE):
            return Fraction(SECOND, capacity), queue
    return None


def passes(device: Device, size: int, bps: int) -> tuple[int, int]:
    """Frames offered, and taken by the bottleneck, at one load."""
    load = [Stretch(SENT_PS, bps, bps)]
    count = sent_before(load, size, SENT_PS)
    last = math.floor(Fraction((count - 1) * wire_bits(size) * SECOND, bps))
    limit = bottleneck(device, size)
    if limit is None or limit[0] <= Fraction(wire_bits(size) * SECOND, bps):
        return count, count
    return count, admitted(count, last, *limit)


CASES = [
    (profile, device)
    for profile in TRAFFIC
    for device in DEVICES
    if DEVICES[device].members == 1 or profile in ONE_MEMBER
]


@pytest.mark.parametrize(("profile", "device"), CASES)
def test_throughput_is_the_highest_load_without_loss(
    profile: str, device: str, uni: dict[tuple[str, ...], Found]
) -> None:
    found, size = uni[profile, device, "uni"], SIZES[profile]
    loads = grid(size, DEVICES[device])
    clean = [offered == taken for offered, taken in (passes(DEVICES[device], size, bps) for bps in loads)]
    best = clean.index(False) if False in clean else len(loads)
    assert not any(clean[best:]), "halving wants one border between loads that pass and loads that do not"
    line = Fraction(RATE * DEVICES[device].members, wire_bits(size))
    value = found.value("throughput", "west-east")
    assert value.load == line * best / len(loads)
    assert value.high == (None if best == len(loads) else line * (best + 1) / len(loads))
    assert found.value("throughput", "sum").number == value.number


@pytest.mark.parametrize(("profile", "device"), CASES)
def test_every_trial_counts_what_the_formula_says(
    profile: str, device: str, uni: dict[tuple[str, ...], Found]
) -> None:
    found, size = uni[profile, device, "uni"], SIZES[profile]
    loads = set(grid(size, DEVICES[device]))
    assert found.case.wiring is not None
    session = found.case.wiring.session
    for trial in found.trials:
        bps = math.floor(trial.segments[0].from_rate.amount * wire_bits(size))
        assert bps in loads
        check(trial, [departures([Stretch(SENT_PS, bps, bps)], size)], DEVICES[device], size)
        (stream,) = trial.result.streams
        assert (stream.offered, stream.received) == passes(DEVICES[device], size, bps)
        agrees_with_the_engines_own(session, trial, DEVICES[device])


def check(trial: StoredTrial, times: list[list[int]], device: Device, size: int) -> None:
    """Counts and latencies of every stream of one trial against frame-by-frame reckoning."""
    assert trial.state == "done"
    assert trial.result.health.unsent == trial.result.health.rx_dropped == 0
    arrived = through(device, size, times)
    for number, stream in enumerate(trial.result.streams):
        took = [frame.at - frame.departure for frame in arrived if frame.stream == number]
        assert (stream.intended, stream.offered) == (len(times[number]), len(times[number]))
        assert stream.offered_bytes == stream.offered * size
        assert (stream.received, stream.received_bytes) == (len(took), len(took) * size)
        assert stream.lost == len(times[number]) - len(took)
        assert (stream.duplicates, stream.out_of_order, stream.corrupted) == (0, 0, 0)
        assert (stream.elsewhere, stream.beyond_window) == (0, 0)
        assert stream.latency is not None
        assert stream.latency.count == len(took)
        assert stream.latency.min_ns == min(took) // 1000
        assert stream.latency.max_ns == max(took) // 1000
        assert stream.latency.sum_ns == sum(time // 1000 for time in took)


ALWAYS_TOLD = {"offered", "received", "lost", "duplicates", "corrupted"}
"""What the engine's closed form says of every trial above: there is none that it may pass over."""


def agrees_with_the_engines_own(session: str, trial: StoredTrial, device: Device) -> None:
    """The engine's closed form is a third opinion on every device and profile of CASES."""
    truth = json.loads(engine.truth(json.dumps(json.loads(session)["devices"][0]), session, trial.spec))
    for expected, stream in zip(truth["streams"], trial.result.streams, strict=True):
        latency = stream.latency
        assert latency is not None
        found = {name: getattr(stream, name) for name in (*ALWAYS_TOLD, "out_of_order")}
        found |= {f"latency_{name}": getattr(latency, name) for name in ("min_ns", "max_ns")}
        told = {name for name in found if expected[name] is not None}
        assert {name: expected[name] for name in told} == {name: found[name] for name in told}
        assert told >= ALWAYS_TOLD
        # Behind `both_fps` of the port in stands that of the port out: for waits at both there is no form.
        assert device.both_fps is not None or {"latency_min_ns", "latency_max_ns"} <= told
        assert ("out_of_order" in told) == (json.loads(trial.spec)["streams"][0]["flows"] == 1)


# Both directions at once.

BOTH: Mapping[str, Device] = {
    "xconnect": Device(),
    "bridge": Device("bridge-domain"),
    "router": Device("ipv4", delay_per_byte_ps=11),
    "port-capacity": Device("ipv4", in_fps=300_000, in_queue=4),
    "box-capacity": Device("bridge-domain", box_fps=300_000, box_queue=4),
    "box-capacity-odd": Device("ipv4", box_fps=299_993, box_queue=30),
}


@pytest.fixture(scope="module")
def bidir(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    return measure(
        tmp_path_factory.mktemp("bidir"),
        devices=BOTH,
        traffic=TRAFFIC,
        method=METHOD,
        matrix={"direction": ["bidir"]},
    )


@pytest.mark.parametrize("device", BOTH)
@pytest.mark.parametrize("profile", TRAFFIC)
def test_both_directions_share_a_box(profile: str, device: str, bidir: dict[tuple[str, ...], Found]) -> None:
    """Two frames arrive at a time: D/D/1/K for pairs, and each direction by reckoning in the box's order."""
    found, size = bidir[profile, device, "bidir"], SIZES[profile]
    loads = grid(size, BOTH[device])
    clean = []
    for bps in loads:
        count, taken = passes(BOTH[device], size, bps)
        capacity = BOTH[device].box_fps
        if capacity is not None:
            last = math.floor(Fraction((count - 1) * wire_bits(size) * SECOND, bps))
            # With less than two frames' work between two pairs the server rests, and nothing is lost.
            busy = Fraction(2 * SECOND, capacity) > Fraction(wire_bits(size) * SECOND, bps)
            service, queue = Fraction(SECOND, capacity), BOTH[device].box_queue
            count, taken = 2 * count, admitted(2 * count, last, service, queue) if busy else 2 * count
        clean.append(count == taken)
    best = clean.index(False) if False in clean else len(loads)
    assert not any(clean[best:])
    line = Fraction(RATE, wire_bits(size))
    assert found.value("throughput", "west-east").number == line * best / len(loads)
    assert found.value("throughput", "east-west").number == line * best / len(loads)
    assert found.value("throughput", "sum").number == 2 * line * best / len(loads)
    for trial in found.trials:
        bps = math.floor(trial.segments[0].from_rate.amount * wire_bits(size))
        times = departures([Stretch(SENT_PS, bps, bps)], size)
        check(trial, [times, times], BOTH[device], size)
