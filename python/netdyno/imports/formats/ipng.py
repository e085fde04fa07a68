"""The load test JSON of Coloclue and IPng: a ramp of T-Rex, a sample a second (`values/ipng.py`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median_high
from typing import Any

from netdyno.imports.imported import Imported, Importer, ImportFileError, Known, axes_of_name, take_repeat
from netdyno.imports.ipng_file import IpngFile, parse
from netdyno.imports.ramp import Parts, Rates, read_ramp
from netdyno.imports.reasons import ImportedRates
from netdyno.values.health import Health
from netdyno.values.ipng import PORTS, PROFILES, SECOND, mix_of
from netdyno.values.load import STEADY, Segment
from netdyno.values.mixes import Mix
from netdyno.values.outcome import FrameCounts, Outcome, Phase, StreamResult
from netdyno.values.printable import printable
from netdyno.values.rates import line_rate, wire_bits
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, L1Rate

TOOL = "T-Rex"
GBPS = 10**9
ETHERNET_BPS = (
    *(GBPS // 100, GBPS // 10, GBPS, GBPS * 5 // 2, 5 * GBPS, 10 * GBPS, 25 * GBPS, 40 * GBPS, 50 * GBPS),
    *(100 * GBPS, 200 * GBPS, 400 * GBPS, 800 * GBPS),
)
"""Rates of Ethernet lines."""
NEAR = Fraction(6, 100)
"""The utilisation of some cards lacks the FCS, 4 of the 84 bytes that the shortest frame takes."""
HEADERS = ("ethernet", "ipv4", "udp")
"""Of the profiles that come with T-Rex."""


def read(path: Path, content: bytes, known: Known) -> tuple[Imported, ...]:
    """The load test in a file, the only one. Raises ImportFileError."""
    return (_read(path, content, known),)


def _read(path: Path, content: bytes, known: Known) -> Imported:
    file = parse(path, content)
    mix = mix_of(file.profile) or known.mix
    if mix is None:
        raise ImportFileError(
            f"{path}: the frame sizes of `{printable(file.profile)}` are unknown",
            "say them: `--size 64B`, `--size imix/bench`",
            code="missing-field",
        )
    ports = PORTS[:1] if file.is_one_way else PORTS
    senders = [port for port in ports if any(file.rates(port, "tx_pps"))]
    if not senders:
        raise ImportFileError(f"{path}: nothing was sent in it", code="empty")
    line = known.line or _line(path, file, senders, mix)
    names = tuple("-".join((port, _other(port))) for port in senders)
    rates = [_rates(file, port) for port in senders]
    segments = tuple(_segments(file))
    axes = _axes(path, file, mix, len(senders))
    repeat = take_repeat(axes)
    return Imported(
        source=path,
        axes=axes,
        repeat=repeat,
        situation=Situation(names, line_rate(line, mix.mean).amount, mix.mean),
        spec=_spec(file, names, mix, line),
        segments=segments,
        outcome=Outcome(
            FrameCounts(
                tuple(_stream(name, one, mix) for name, one in zip(names, rates, strict=True)), (), SECOND
            ),
            Health(0, 0, 0, 0, 0, None),
            tuple(_phases(segments)),
            is_health_unknown=True,
        ),
        result=read_ramp(
            [*zip(names, rates, strict=True), ("sum", _sum(rates))], _parts(file), is_mix=len(mix.weights) > 1
        ),
        reason=ImportedRates(TOOL),
        started=file.began,
        ended=file.ended,
    )


def _other(port: str) -> str:
    return PORTS[1 - PORTS.index(port)]


def _line(path: Path, file: IpngFile, senders: Sequence[str], mix: Mix) -> L1Rate:
    """The line of the ports, by what was sent and how full that made it: the Ethernet rate that is near."""
    found = []
    for port in senders:
        used = file.rates(port, "tx_util")
        most = max(used)
        found += [
            Fraction(pps) * 100 / Fraction(util)
            for pps, util in zip(file.rates(port, "tx_pps"), used, strict=True)
            if pps and util and util >= most / 2
        ]
    if not found:
        raise ImportFileError(
            f"{path}: the rate of its line is unknown, as `tx_util` is always 0",
            "say it: `--line 10Gbps`",
            code="missing-field",
        )
    bps = median_high(found) * wire_bits(mix.mean)
    nearest = min(ETHERNET_BPS, key=lambda rate: abs(rate - bps))
    if abs(nearest - bps) <= NEAR * nearest:
        return L1Rate(Fraction(nearest))
    # Several lines in a group, or an emulated one: three digits.
    step = Fraction(10) ** (math.floor(math.log10(bps)) - 2)
    return L1Rate(round(bps / step) * step)


def _segments(file: IpngFile) -> Iterator[Segment]:
    warmup_ns, ramp_ns, hold_ns = file.durations_ns
    if warmup_ns:
        yield Segment("warmup", warmup_ns, file.warmup, file.warmup)
    if ramp_ns:
        yield Segment("ramp", ramp_ns, FrameRate(Fraction(0)), file.target)
    if hold_ns:
        name = "hold" if warmup_ns or ramp_ns else STEADY
        yield Segment(name, hold_ns, file.target, file.target)


def _phases(segments: Sequence[Segment]) -> Iterator[Phase]:
    start_ns = 0
    for one in segments:
        yield Phase(one.name, start_ns, one.duration_ns)
        start_ns += one.duration_ns


def _parts(file: IpngFile) -> Parts:
    """The whole seconds of ramp-up and hold."""
    warmup_ns, ramp_ns, hold_ns = file.durations_ns
    ends = warmup_ns, warmup_ns + ramp_ns, warmup_ns + ramp_ns + hold_ns
    return Parts(
        range(-(-ends[0] // SECOND), ends[1] // SECOND), range(-(-ends[1] // SECOND), ends[2] // SECOND)
    )


def _rates(file: IpngFile, port: str) -> Rates:
    """What a port sent and what came at the other one, in whole frames."""
    return Rates(
        [round(rate) for rate in file.rates(port, "tx_pps")],
        [round(rate) for rate in file.rates(_other(port), "rx_pps")],
        [Fraction(util) / 100 for util in file.rates(_other(port), "rx_util")],
    )


def _sum(rates: Sequence[Rates]) -> Rates:
    return Rates(
        [sum(each) for each in zip(*(one.sent for one in rates), strict=True)],
        [sum(each) for each in zip(*(one.came for one in rates), strict=True)],
        [sum(each, Fraction(0)) / len(rates) for each in zip(*(one.full for one in rates), strict=True)],
    )


def _stream(name: str, rates: Rates, mix: Mix) -> StreamResult:
    """A direction as a stream whose frames have no probe: T-Rex counts at ports. Bytes: of the mean size."""
    sent, came = sum(rates.sent), sum(rates.came)
    return StreamResult(
        name=name,
        intended=sent,
        offered=sent,
        offered_bytes=round(sent * mix.mean),
        received=came,
        received_bytes=round(came * mix.mean),
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=sent - came,
        beyond_window=0,
        flows_received=0,
        latency=None,
        tx=tuple(rates.sent),
        rx=tuple(rates.came),
        arrived=tuple(rates.came),
        first_loss_ns=None,
        is_bare=True,
    )


def _spec(file: IpngFile, names: Sequence[str], mix: Mix, line: L1Rate) -> Mapping[str, Any]:
    """What is known of the streams. Whether frames have a probe is not said: sizes are compared with those of
    netdyno."""
    stream: dict[str, Any] = {"sizes": [{"size": size, "weight": weight} for size, weight in mix.weights]}
    if file.profile in PROFILES:
        stream["headers"] = [{"type": header} for header in HEADERS]
    return {
        "ports": [{"name": port, "line_bps": int(line.amount)} for port in PORTS],
        "streams": [{"name": name, **stream} for name in names],
    }


def _axes(path: Path, file: IpngFile, mix: Mix, senders: int) -> dict[str, str]:
    """The axes of the case, and `repeat`: those that its file is named by, as `--as ipng` names it; else its
    profile and direction."""
    axes = axes_of_name(path)
    profile = Path(file.profile).stem if mix.name == "own mix" else mix.name
    axes.setdefault("profile", printable(profile.replace("/", "-").lower()))
    axes.setdefault("direction", "uni" if senders == 1 else "bidir")
    return axes


IMPORTER = Importer(
    name="ipng",
    tool=TOOL,
    help="ramps of T-Rex that trex-loadtest-viz draws, a JSON file each",
    most_bytes=64 << 20,
    read=read,
)
