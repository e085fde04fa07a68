"""A run for the tests of the reports, written through the store: a perfect tester and a device that
forwards at most so many frames a second and drops the rest. Nothing random, every time fixed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from netdyno.campaign.reasons import REASONS
from netdyno.devices.reasons import EmulatedDevice
from netdyno.methods.ramp import KNEE, MAX_RX
from netdyno.store import RunWriter, StoredRun, open_run
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.load import Segment
from netdyno.values.outcome import FrameCounts, Lag, Latency, Outcome, Phase, PortResult, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.records import CaseError, CaseHead, CaseWiring, RunHead, StoredTrial, StoredVerdict
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from words import said

BEGIN = datetime(2026, 11, 21, 19, 12, 0, tzinfo=UTC)
SECOND = 10**9

# 990 times 1,000 ns, 9 times 2,000 ns, once 50,000 ns; encoded by the Python package hdrhistogram 0.10.
HISTOGRAM = "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEYiZQrifMNh/gAic59/Df5ZfaKInEwCFNgc8"

PLAN = """title: ASR9006 / RSP440-SE
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/asr9006}}
  links:
    - {endpoints: ["tester:west", "dut:Te0/1/0/0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], rate: 10Gbps}
matrix:
  forwarding: [l2-xconnect, ipv4]
method: {ramp: {warmup: 30s at 1kpps, ramp: 120s to 100%, hold: 30s}}
"""

SIZES = {
    "1514b": ((1514, 1),),
    "imix": ((64, 28), (590, 16), (1514, 4)),
    "64b-multi": ((64, 1),),
    "64b-single": ((64, 1),),
}


@dataclass(frozen=True)
class Asked:
    """A case, and how many frames a second the device forwards each way; None: it cannot be built."""

    axes: Mapping[str, str]
    capacity_fps: int | None
    rate_bps: int = 10**10
    size: int | None = None
    """Of every frame, bytes; None: as the profile's name says."""


@dataclass(frozen=True)
class Sample:
    """What the run is to be."""

    cases: tuple[Asked, ...]
    title: str = "ASR9006 / RSP440-SE"
    device: str = "emulated Cisco ASR9006"
    emulated: bool = True
    plan: str = PLAN
    sample_ns: int = SECOND
    ramp: tuple[int, int, int] = (3, 12, 3)
    """Samples of warm-up, ramp and hold."""
    notes: tuple[Reason, ...] = (EmulatedDevice(),)
    goals: tuple[str, ...] = field(default=())
    health: Health = field(default=Health(0, 0, 0, 0, 0, None))
    lag: Lag | None = None
    """Of each stream."""
    found: Callable[[Asked, Result], Result] = field(default=lambda asked, result: result)
    """What a method made of a case, from what a ramp would have."""


def axes(forwarding: str, lag: str, profile: str, direction: str) -> dict[str, str]:
    return {"forwarding": forwarding, "lag": lag, "profile": profile, "direction": direction}


SMALL = Sample(
    cases=(
        Asked(axes("l2-xconnect", "plain", "imix", "uni"), 20_000_000),
        Asked(axes("l2-xconnect", "plain", "imix", "bidir"), 20_000_000),
        Asked(axes("l2-xconnect", "plain", "64b-multi", "uni"), 14_660_000),
        Asked(axes("l2-xconnect", "plain", "64b-multi", "bidir"), 10_150_000),
        Asked(axes("ipv4", "plain", "imix", "uni"), 20_000_000),
        Asked(axes("ipv4", "plain", "imix", "bidir"), None),
        Asked(axes("ipv4", "plain", "64b-multi", "uni"), 5_140_000),
        Asked(axes("ipv4", "plain", "64b-multi", "bidir"), 6_150_000),
    )
)

_CAPACITIES = {
    ("l2-xconnect", "plain"): (14_660_000, 10_150_000),
    ("l2-xconnect", "lacp"): (29_440_000, 17_580_000),
    ("bridge-domain", "plain"): (14_820_000, 9_500_000),
    ("bridge-domain", "lacp"): (20_120_000, 14_100_000),
    ("ipv4", "plain"): (5_140_000, 6_150_000),
    ("ipv4", "lacp"): (12_520_000, 11_245_000),
}


def article(samples: tuple[int, int, int] = (300, 1200, 300)) -> Sample:
    """The 48 load tests of the ASR9006 article, the device forwarding about what the article found."""
    cases = []
    for (forwarding, lag), (uni, bidir) in _CAPACITIES.items():
        for profile in SIZES:
            for direction, capacity in (("uni", uni), ("bidir", bidir)):
                member = profile == "64b-single" and lag == "lacp"
                rate = 2 * 10**10 if lag == "lacp" else 10**10
                least = min(capacity, 9_490_000) if member else capacity
                cases.append(Asked(axes(forwarding, lag, profile, direction), least, rate))
    return Sample(cases=tuple(cases), ramp=samples, sample_ns=SECOND // 10)


def write(folder: Path, sample: Sample) -> StoredRun:
    """Writes the run into an existing folder and opens it for reading."""
    head = RunHead(
        name="asr9006",
        title=sample.title,
        plan=sample.plan,
        plan_path="plan.yaml",
        lab="",
        scale=Fraction(1),
        only={},
        seed=42,
        versions={"netdyno": "0.1.0", "engine": "0.1.0", "python": "3.11.2", "cpu": "a processor"},
    )
    heads = [
        CaseHead(
            number=number,
            name=" ".join(f"{k}={v}" for k, v in asked.axes.items()),
            axes=asked.axes,
            kind="emulated/asr9006" if sample.emulated else "linux/router",
            kind_title=sample.device,
            emulated=sample.emulated,
            settings={k: v for k, v in asked.axes.items() if k in ("forwarding", "lag")},
            method="ramp",
            parameters="{}",
            seed=1000 + number,
        )
        for number, asked in enumerate(sample.cases)
    ]
    with RunWriter.create(folder, head, heads, BEGIN) as writer:
        for number, asked in enumerate(sample.cases):
            _write_case(writer, number, asked, sample)
        writer.run_ended("done", BEGIN + timedelta(minutes=24))
    return open_run(folder, REASONS)


def _write_case(writer: RunWriter, number: int, asked: Asked, sample: Sample) -> None:
    now = BEGIN + timedelta(minutes=3 * number)
    if asked.capacity_fps is None:
        error = CaseError("device-silent", "port Te0/2/0/0 has no route to 48.0.0.0/8", "add the route")
        writer.case_ended(number, "failed", error, now)
        return
    sizes = SIZES[asked.axes["profile"]] if asked.size is None else ((asked.size, 1),)
    mean = Fraction(sum(s * w for s, w in sizes), sum(w for _, w in sizes))
    line = Fraction(asked.rate_bps) / ((mean + 20) * 8)
    streams = ("west-east",) if asked.axes["direction"] == "uni" else ("west-east", "east-west")
    situation = Situation(streams=streams, line_fps=line, mean_size=mean)
    writer.case_wired(number, CaseWiring("virtual", situation, True, sample.notes, "{}"), now)
    found = tuple(_stream(name, asked.capacity_fps, line, mean, sample) for name in streams)
    warmup, ramp, hold = (n * sample.sample_ns for n in sample.ramp)
    segments = (
        Segment("warmup", warmup, FrameRate(1000), FrameRate(1000)),
        Segment("ramp", ramp, FrameRate(0), FrameRate(line)),
        Segment("hold", hold, FrameRate(line), FrameRate(line)),
    )
    counted = Outcome(
        FrameCounts(
            found,
            tuple(_port(name, stream) for name, stream in zip(("west", "east"), found, strict=False)),
            sample.sample_ns,
        ),
        sample.health,
        (
            Phase("settle", 0, 2 * SECOND),
            Phase("warmup", 2 * SECOND, warmup),
            Phase("ramp", 2 * SECOND + warmup, ramp),
            Phase("hold", 2 * SECOND + warmup + ramp, hold),
            Phase("drain", 2 * SECOND + warmup + ramp + hold, 2 * SECOND),
        ),
    )
    flows = 1 if asked.axes["profile"].endswith("single") else 65536
    spec = {
        "seed": 7000 + number,
        "streams": [
            {"name": name, "sizes": [{"size": s, "weight": w} for s, w in sizes], "flows": flows}
            for name in streams
        ],
    }
    ended = now + timedelta(minutes=3)
    writer.add_trial(
        StoredTrial(number, 0, 0, "ramp", "done", segments, json.dumps(spec), counted, now, ended)
    )
    result, verdicts = _judge(asked.capacity_fps, line, found, sample)
    writer.case_done(number, sample.found(asked, result), verdicts, (), ended)


def _judge(
    capacity: int, line: Fraction, streams: tuple[StreamResult, ...], sample: Sample
) -> tuple[Result, Iterable[StoredVerdict]]:
    per_sample = Fraction(SECOND, sample.sample_ns)
    best = [max(stream.rx) * per_sample for stream in streams]
    values = [Value(MAX_RX, "sum", sum(best, Fraction(0)))]
    values += [Value(MAX_RX, stream.name, rate) for stream, rate in zip(streams, best, strict=True)]
    step = line / sample.ramp[1]
    if capacity < line:
        knee = capacity // step * step
        values.append(
            Value(
                KNEE,
                "sum",
                knee * len(streams),
                low=knee * len(streams),
                high=(knee + step) * len(streams),
            )
        )
        verdict = ("device", "frames were lost below line rate and the tester sent every frame in time")
    else:
        values.append(Value(KNEE, "sum", None, note=said("no loss up to line rate")))
        verdict = ("line", "received at line rate without loss")
    result = Result("ramp", tuple(values), (0,), headlines=(MAX_RX.name,))
    scopes = ["sum", *(stream.name for stream in streams)]
    return result, [StoredVerdict(scope, verdict[0], said(verdict[1])) for scope in scopes]  # type: ignore[arg-type]


def _stream(name: str, capacity: int, line: Fraction, mean: Fraction, sample: Sample) -> StreamResult:
    warmup, ramp, hold = sample.ramp
    seconds = Fraction(sample.sample_ns, SECOND)
    offered = [Fraction(1000)] * warmup
    offered += [line * (2 * i + 1) / (2 * ramp) for i in range(ramp)]
    offered += [line] * hold
    ends = [sum(offered[:0], Fraction(0))]
    for rate in offered:
        ends.append(ends[-1] + rate * seconds)
    tx = tuple(int(after) - int(before) for before, after in pairwise(ends))
    rx = tuple(min(sent, int(capacity * seconds)) for sent in tx)
    received = sum(rx)
    return StreamResult(
        name=name,
        intended=sum(tx),
        offered=sum(tx),
        offered_bytes=int(sum(tx) * mean),
        received=received,
        received_bytes=int(received * mean),
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=sum(tx) - received,
        beyond_window=0,
        flows_received=65536,
        latency=Latency(1000, 1000, 1_058_000, 50_000, 0, 0, HISTOGRAM),
        tx=tx,
        rx=rx,
        arrived=rx,
        first_loss_ns=None,
        lag=sample.lag,
    )


def _port(name: str, stream: StreamResult) -> PortResult:
    return PortResult(
        name, stream.offered, stream.offered_bytes, stream.received, stream.received_bytes, 3, (), (), (), ()
    )
