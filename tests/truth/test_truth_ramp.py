"""The ramp: every sample holds exactly the frames paper says, and so do the best rate and the knee."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import pytest
from closed_forms import (
    Frame,
    Stretch,
    departures,
    mixed_departures,
    mixed_through,
    order_of_sizes,
    sent_before,
    through,
    wire_bits,
)
from laboratory import RATE, Device, Found, measure
from netdyno.methods.reasons.common import LostOf

pytest.importorskip("netdyno._engine", reason="the engine is not built")

MS = 10**9
SAMPLE_PS = MS // 4
RISE_PS = 12 * MS
METHOD = "{ramp: {warmup: 2ms at 10kpps, ramp: 12ms to 100%, hold: 2ms}}"
THRESHOLD = Fraction(1, 1000)
TRAFFIC = {
    "64b": "{size: 64B, flows: 1}",
    "many": "{size: 128B, flows: 65536}",
    "large": "{size: 1518B, flows: 1}",
    "ipv6": "{size: 84B, ip: 6, flows: 1}",
}
SIZES = {"64b": 64, "many": 128, "large": 1518, "ipv6": 84}

UNI: Mapping[str, Device] = {
    "xconnect": Device(),
    "bridge": Device("bridge-domain", delay_per_byte_ps=1_237),
    "router": Device("ipv4", delay_ns=300_000),
    "port-capacity": Device(in_fps=400_000, in_queue=4),
    "port-capacity-odd": Device("bridge-domain", in_fps=399_989, in_queue=100),
    "both-capacity": Device("ipv4", both_fps=400_000, in_queue=4),
    "box-capacity": Device("ipv4", box_fps=400_000, box_queue=16),
    "slower-egress": Device("bridge-domain", out_bps=RATE // 2, out_queue=8),
    "group": Device(members=2, partner_queue=8),
}
BIDIR: Mapping[str, Device] = {
    "xconnect": Device(),
    "router": Device("ipv4"),
    "port-capacity": Device("bridge-domain", in_fps=400_000, in_queue=4),
    "box-capacity": Device("bridge-domain", box_fps=400_000, box_queue=4),
    "box-capacity-odd": Device("ipv4", box_fps=399_989, box_queue=33),
}
CASES = [
    (profile, device, "uni")
    for profile in TRAFFIC
    for device in UNI
    if UNI[device].members == 1 or profile != "many"
] + [(profile, device, "bidir") for profile in TRAFFIC for device in BIDIR]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    """All ramps."""
    both = {}
    for direction, devices in (("uni", UNI), ("bidir", BIDIR)):
        both.update(
            measure(
                tmp_path_factory.mktemp(direction),
                devices=devices,
                traffic=TRAFFIC,
                method=METHOD,
                matrix={"direction": [direction]},
                sample="250us",
            )
        )
    return both


def counted(times: list[int], samples: int) -> list[int]:
    """Events per sample, from the start of traffic."""
    counts = [0] * samples
    for time in times:
        if time // SAMPLE_PS < samples:
            counts[time // SAMPLE_PS] += 1
    return counts


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_ramp(case: tuple[str, str, str], found: dict[tuple[str, ...], Found]) -> None:
    profile, name, direction = case
    size, device = SIZES[profile], (UNI if direction == "uni" else BIDIR)[name]
    line = RATE * device.members
    slow = 10_000 * wire_bits(size)
    load = [Stretch(2 * MS, slow, slow), Stretch(RISE_PS, 0, line), Stretch(2 * MS, line, line)]
    times = departures(load, size)
    streams = 1 if direction == "uni" else 2
    arrived = through(device, size, [times] * streams)

    (trial,) = found[case].trials
    result = trial.result
    samples = 16 * MS // SAMPLE_PS
    # By the area under the load alone, without any departure:
    edges = [sent_before(load, size, edge * SAMPLE_PS) for edge in range(samples + 1)]
    tx = [after - before for before, after in pairwise(edges)]
    assert counted(times, samples) == tx

    total = [[0] * samples for _ in range(3)]
    scopes = {}
    for number, stream in enumerate(result.streams):
        mine = [frame for frame in arrived if frame.stream == number]
        rx = counted([frame.at for frame in mine], samples)
        kept = counted([frame.departure for frame in mine], samples)
        assert list(stream.tx[:samples]) == tx
        assert list(stream.arrived[:samples]) == kept
        assert list(stream.rx[:samples]) == rx
        assert sum(stream.tx) == stream.offered == len(times)
        assert sum(stream.arrived) == sum(stream.rx) == stream.received == len(mine)
        assert stream.lost == len(times) - len(mine)
        assert (stream.duplicates, stream.out_of_order, stream.corrupted) == (0, 0, 0)
        assert stream.latency is not None
        took = [frame.at - frame.departure for frame in mine]
        assert (stream.latency.min_ns, stream.latency.max_ns) == (min(took) // 1000, max(took) // 1000)
        scopes[stream.name] = (tx, rx, kept)
        total = [
            [a + b for a, b in zip(*pair, strict=True)]
            for pair in zip(total, scopes[stream.name], strict=True)
        ]
    scopes["sum"] = (total[0], total[1], total[2])

    def mean_load(scope: str, sample: int) -> Fraction:
        """Of a sample of the ramp-up from nothing to the line: the load at its middle."""
        middle = Fraction(2 * sample + 1, 2) * SAMPLE_PS / RISE_PS
        return Fraction(line, wire_bits(size)) * middle * (streams if scope == "sum" else 1)

    fps = Fraction(10**12, SAMPLE_PS)
    for scope, (sent, received, kept) in scopes.items():
        rise, hold = slice(2 * MS // SAMPLE_PS, 14 * MS // SAMPLE_PS), slice(14 * MS // SAMPLE_PS, samples)
        # Best rate: over whole samples that hold 1000 frames at line rate, within the ramp-up or the hold.
        width = math.ceil(1000 * wire_bits(size) * 10**12 / (line * SAMPLE_PS))
        windows = [
            sum(part[begin : begin + width])
            for part in (received[rise], received[hold])
            for begin in range(len(part) - width + 1)
        ]
        best = found[case].value("ramp max Rx", scope)
        least = math.inf
        if windows:
            least = (max(windows) - (streams if scope == "sum" else 1)) * fps / width
            # One frame more than fits can be counted in a window; the line carries no more than it does.
            most = Fraction(line, wire_bits(size)) * (streams if scope == "sum" else 1)
            # As many as fit whole are the line, too: the 0.24 of a frame beside them was not missed.
            fit = math.floor(most * width / fps) - max(windows) < streams
            assert best.number == (most if fit else max(windows) * fps / width)
        else:
            assert best.number is None
        # Knee: the last sample of the ramp-up after which each one loses more than the threshold.
        lossy = [a - b > THRESHOLD * a for a, b in zip(sent[rise], kept[rise], strict=True)]
        first = len(lossy) - next((n for n, bad in enumerate(reversed(lossy)) if not bad), len(lossy))
        knee = found[case].value("knee", scope)
        if first == len(lossy):
            assert knee.number is None
            lossless = sent[hold] == kept[hold]
            passed = mean_load(scope, len(lossy) - 1) + (mean_load(scope, 0) if lossless else 0)
            assert knee.low in (passed, min(passed, least))
        else:
            # Loss may begin anywhere in the first lossy sample: up to its highest load, half a step on.
            half = mean_load(scope, 0)
            assert knee.number <= mean_load(scope, first - 1)
            assert knee.number == mean_load(scope, first - 1) or knee.note.hidden_pps is not None
            # No more than came back in the best window, but for a frame of each stream at its edge.
            assert knee.low == min(mean_load(scope, first - 1), least)
            assert knee.low <= knee.number <= knee.high <= mean_load(scope, first) + half


@pytest.mark.parametrize(
    ("case", "capacity", "queue"),
    [
        (("64b", "port-capacity", "uni"), 400_000, 4),
        (("64b", "both-capacity", "uni"), 400_000, 4),
        (("64b", "box-capacity", "uni"), 400_000, 16),
        (("64b", "slower-egress", "uni"), RATE // 2 / Fraction(672), 8),
        (("ipv6", "group", "uni"), RATE / Fraction(832), 8),
        (("64b", "box-capacity", "bidir"), 400_000, 4),
    ],
)
def test_the_knee_is_where_the_capacity_is(
    case: tuple[str, str, str], capacity: Fraction, queue: int, found: dict[tuple[str, ...], Found]
) -> None:
    """No reckoning of queues at all: a load that rises by r passes a capacity; what it brings above that for
    the time t is r t^2 / 2, and the queue is full when that is one more than it holds."""
    knee = found[case].value("knee", "sum")
    wiring = found[case].case.wiring
    assert wiring is not None
    line = len(found[case].trials[0].result.streams) * wiring.situation.line_fps
    rise = line * 10**12 / RISE_PS
    late = math.sqrt(2 * (queue + 1) / rise)
    step = rise * SAMPLE_PS / 10**12
    assert capacity <= knee.high <= capacity + 5 * step / 2 + rise * Fraction(late)


# Mixes of sizes. What comes back of one need not be the mix: rates are frames, the line is its bytes.

TREX = ((64, 28), (594, 16), (1518, 4))
MEAN_WIRE_BITS = Fraction(sum(wire_bits(size) * weight for size, weight in TREX), 48)
MIXED_RISE_PS = 60 * MS
MIXED_METHOD = "{ramp: {warmup: 2ms at 30Mbps, ramp: 60ms to 100%, hold: 20ms}}"
MIXED: Mapping[str, Device] = {
    "xconnect": Device(),
    "router": Device("ipv4", delay_ns=300_000),
    "port-capacity": Device(in_fps=100_000, in_queue=4),
    "port-capacity-odd": Device("bridge-domain", in_fps=199_999, in_queue=100),
    "near-line": Device(in_fps=320_000, in_queue=4),
    "copies": Device(impairments=({"fault": "duplicate", "when": {"every": {"every": 11, "first": 3}}},)),
    "corrupt": Device(impairments=({"fault": "corrupt", "when": {"every": {"every": 20, "first": 3}}},)),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    """All ramps of a mix."""
    return measure(
        tmp_path_factory.mktemp("mixed"),
        devices=MIXED,
        traffic={"trex": "{size: imix/trex, flows: 1}", "64b": "{size: 64B, flows: 1}"},
        method=MIXED_METHOD,
        matrix={"direction": ["uni"]},
        sample="250us",
    )


@pytest.mark.parametrize("name", [name for name in MIXED if not MIXED[name].impairments])
def test_a_ramp_of_a_mix(name: str, mixed: dict[tuple[str, ...], Found]) -> None:
    load = [
        Stretch(2 * MS, 30_000_000, 30_000_000),
        Stretch(MIXED_RISE_PS, 0, RATE),
        Stretch(20 * MS, RATE, RATE),
    ]
    sent = mixed_departures(load, order_of_sizes([(size, weight // 4) for size, weight in TREX]))
    back = mixed_through(MIXED[name], sent)
    samples = 82 * MS // SAMPLE_PS
    tx = counted([time for time, _ in sent], samples)
    rx = counted([frame.at for frame in back], samples)
    kept = counted([frame.departure for frame in back], samples)

    found = mixed["trex", name, "uni"]
    (trial,) = found.trials
    (stream,) = trial.result.streams
    assert list(stream.tx[:samples]) == tx
    assert list(stream.rx[:samples]) == rx
    assert list(stream.arrived[:samples]) == kept
    assert stream.received_bytes == sum(frame.size for frame in back)

    rise, hold = slice(2 * MS // SAMPLE_PS, 62 * MS // SAMPLE_PS), slice(62 * MS // SAMPLE_PS, samples)
    width = math.ceil(1000 * MEAN_WIRE_BITS * 10**12 / (RATE * SAMPLE_PS))
    length = Fraction(width * SAMPLE_PS, 10**12)

    def best(counts: list[int]) -> int:
        return max(
            sum(part[begin : begin + width])
            for part in (counts[rise], counts[hold])
            for begin in range(len(part) - width + 1)
        )

    line = RATE / MEAN_WIRE_BITS
    lossless = sum(tx) == sum(kept)
    number = found.value("ramp max Rx", "sum").number
    if lossless:
        assert number == min(best(rx) / length, line)
    elif best(rx) / length <= line:
        assert number == best(rx) / length
    else:
        # Small frames together, by luck: over a longer time the device's own rate.
        assert Fraction(99, 100) * MIXED[name].in_fps < number <= line
    capacity = MIXED[name].in_fps
    if capacity is not None:
        # Whatever is counted, no device passes on more than it takes in, but for one frame at the edge and
        # those that a long frame on the line out (12.3 us) kept waiting.
        assert number <= capacity + (1 + capacity * wire_bits(1518) / Fraction(RATE)) / length
    held = Fraction(sum(rx[hold]) * 1000, 20)
    # A window holds a few small frames more than the line has room for, and that is the line.
    assert found.value("hold rate", "sum").number == (min(held, line) if lossless else held)
    lost = sum(tx[hold]) - sum(kept[hold])
    assert found.value("loss at the end", "sum").number == Fraction(lost, sum(tx[hold]))
    used = found.value("line utilisation", "sum")
    filled = best(_line_bits(back, samples)) / (RATE * length)
    assert used.number == min(filled, 1)


def _line_bits(frames: list[Frame], samples: int) -> list[int]:
    bits = [0] * samples
    for frame in frames:
        if frame.at // SAMPLE_PS < samples:
            bits[frame.at // SAMPLE_PS] += wire_bits(frame.size)
    return bits


def test_device_with_a_packet_limit_passes_no_more_packets_of_a_mix(
    mixed: dict[tuple[str, ...], Found],
) -> None:
    """It drops what comes while its queue is full, mostly small frames: the line is fuller than that share
    of the frames. Taken in frames of average size this device passed for twice as fast."""
    found = mixed["trex", "port-capacity", "uni"]
    assert abs(found.value("ramp max Rx", "sum").number - 100_000) <= 400
    assert abs(found.value("hold rate", "sum").number - 100_000) <= 100
    share = 100_000 * MEAN_WIRE_BITS / RATE
    assert found.value("line utilisation", "sum").number > Fraction(3, 2) * share
    verdict = found.case.verdict("sum")
    assert verdict is not None
    assert verdict.limit == "device"


def test_copies_on_the_line_are_no_rate(mixed: dict[tuple[str, ...], Found]) -> None:
    """Every eleventh frame comes twice, and the line carries no more than it does: 11 of 12 are left."""
    best = mixed["trex", "copies", "uni"].value("ramp max Rx", "sum").number
    line = RATE / MEAN_WIRE_BITS
    assert Fraction(89, 100) * line < best < Fraction(94, 100) * line


@pytest.mark.parametrize("profile", ["trex", "64b"])
def test_corrupted_frames_are_lost_for_samples_and_verdict_alike(
    profile: str, mixed: dict[tuple[str, ...], Found]
) -> None:
    found = mixed[profile, "corrupt", "uni"]
    (stream,) = found.trials[0].result.streams
    assert stream.lost == 0
    assert stream.corrupted == math.ceil(stream.offered / 20) or stream.corrupted == stream.offered // 20
    end = found.value("loss at the end", "sum")
    assert abs(end.number - Fraction(1, 20)) < Fraction(1, 500)
    assert isinstance(end.note, LostOf)
    assert end.note.is_corrupted
    assert found.value("knee", "sum").number is not None
    verdict = found.case.verdict("sum")
    assert verdict is not None
    assert verdict.limit == "device"
    told = verdict.reason.fields()
    assert (told["corrupted"], told["sent"]) == (stream.corrupted, stream.offered)
