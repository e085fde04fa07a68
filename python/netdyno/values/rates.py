"""The arithmetic of rates, sizes and layers, in exact fractions.

A frame of L bytes (destination address through FCS, tags counted) takes L + 20 bytes of the line:
preamble 7, start delimiter 1, minimum gap 12. Nothing is rounded here; printing rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from netdyno.values.mixes import mix_of_text, read_mix
from netdyno.values.number import bits, decimal
from netdyno.values.units import FrameRate, L1Rate, L2Rate, L3Rate, Load, Percent, Rate, UnitError

WIRE_OVERHEAD = 20
"""Bytes a frame takes on the line beyond its own: preamble and start delimiter 8, minimum gap 12."""

LONGEST_FRAME = 9216
"""Bytes of the longest frame in a mix: what the edge of a window can cut, or an order of sizes shift."""

FCS = 4
"""Bytes of the frame check sequence."""

ETHERNET = 14
"""Bytes of an untagged Ethernet header."""

TAG = 4
"""Bytes of one VLAN tag."""

MTU_SETTING = "mtu"
"""Of a device that netdyno builds: bytes of the longest packet that its cables carry."""

Size = int | Fraction
"""Bytes of a frame with FCS and tags; a fraction for the average of a mix."""


def mtu_of(settings: Mapping[str, str]) -> int | None:
    """The MTU among settings of a device, bytes; None: there is none, or it is no number."""
    text = settings.get(MTU_SETTING, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def longest_frame(mtu: int, tags: int = 0) -> int:
    """Bytes of the longest frame with so many VLAN tags that an MTU lets pass, FCS counted.

    An interface lets in one tag besides; further ones take room of the packet.
    """
    return mtu + ETHERNET + FCS + min(tags, 1) * TAG


def wire_bits(size: Size) -> Fraction:
    """Bits of line time one frame takes."""
    return Fraction(8 * (size + WIRE_OVERHEAD))


def line_rate(rate: L1Rate, size: Size) -> FrameRate:
    """The most frames per second one direction of a line carries, RFC 2544 section 20 unrounded."""
    return FrameRate(rate.amount / wire_bits(size))


def l1(rate: FrameRate | L1Rate | L2Rate, size: Size) -> L1Rate:
    """L1 rate of a rate given in any layer."""
    match rate:
        case L1Rate():
            return rate
        case L2Rate():
            return L1Rate(rate.amount * (size + WIRE_OVERHEAD) / size)
        case FrameRate():
            return L1Rate(rate.amount * wire_bits(size))


def l2(frames: FrameRate, size: Size) -> L2Rate:
    """L2 rate of this many frames."""
    return L2Rate(frames.amount * 8 * size)


def l3(frames: FrameRate, size: Size, tags: int = 0) -> L3Rate:
    """L3 rate of this many frames; `size` counts the tags."""
    return L3Rate(frames.amount * 8 * ip_length(size, tags))


def overhead(frames: FrameRate) -> L1Rate:
    """What the line spends on preambles and gaps alone."""
    return L1Rate(frames.amount * 8 * WIRE_OVERHEAD)


def load_l1(load: Rate, *, line: L1Rate, size: Size) -> L1Rate:
    """L1 rate of a load on a line, for frames of this (average) size."""
    return line * load.amount if isinstance(load, Percent) else l1(load, size)


def load_fps(load: Rate, *, line: L1Rate, size: Size) -> FrameRate:
    """Frames per second of a load on a line, for frames of this (average) size."""
    return line_rate(load_l1(load, line=line, size=size), size)


def share_of_line(received: FrameRate, line: L1Rate, size: Size) -> Fraction:
    """Utilisation: received frames over the most the line carries; 1 is 100 %."""
    return received / line_rate(line, size)


def ip_length(size: Size, tags: int = 0) -> Size:
    """Total length of the IP packet in a frame (RFC 2544 appendix C.2.6.4: frame - 18 when untagged)."""
    return size - ETHERNET - FCS - TAG * tags


def rate_table(rate: str | FrameRate | L1Rate | L2Rate, size: object, tags: int = 0) -> dict[str, Any]:
    """What a rate is in every layer, for a size or a mix: the answer of `netdyno rate`.

    rate: `10Gbps` (L1 unless L2 is said), `14.88Mpps`. size: `64B`, a mix's name, `64:28,594:16`, or
    `{64: 28, 594: 16}`, as text too; of untagged frames. tags: VLAN tags, each of which makes every
    frame 4 bytes longer. Raises Problem or Problems. Plain values only, so that it can be printed as JSON:
    numbers are exact fractions as text (`312500000/21`), `printed` is what a person reads.
    """
    load = Load.parse(rate) if isinstance(rate, str) else Load(rate)
    if isinstance(load.amount, Percent):
        raise UnitError(
            str(rate),
            "is a share, and there is no line here to take it of",
            "give a rate: `10Gbps`, `14.88Mpps`",
            code="wrong-unit",
        )
    if not 0 <= tags <= 8:
        raise UnitError(str(tags), "is not a number of VLAN tags", "give 0 to 8", code="out-of-range")
    mix = mix_of_text(size) if isinstance(size, str) else read_mix(size)
    mean = mix.mean + TAG * tags
    frames = line_rate(l1(load.amount, mean), mean)
    rows = []
    for untagged, weight in mix.weights:
        wire = untagged + TAG * tags
        part = frames * Fraction(weight, mix.total)
        rows.append({"size": untagged, "tagged_size": wire, "weight": weight, **_layers(part, wire, tags)})
    return {
        "rate": str(load),
        "mix": mix.name,
        "genome": mix.genome,
        "tags": tags,
        "mean_size": {"exact": str(mean), "printed": f"{decimal(mean, 4)} B"},
        **_layers(frames, mean, tags),
        "sizes": rows,
    }


def _frames(rate: Fraction) -> str:
    return f"{decimal(rate, 2 if rate >= 1 else 9)} pps"


def _layers(frames: FrameRate, size: Size, tags: int) -> dict[str, dict[str, str]]:
    rates = (l1(frames, size), l2(frames, size), l3(frames, size, tags))
    table = {"fps": {"exact": str(frames.amount), "printed": _frames(frames.amount)}}
    for rate in rates:
        table[rate.layer] = {
            "exact": str(rate.amount),
            "printed": bits(rate.amount),
        }
    return table
