"""A path between two ports: a delay, a rate, losses, a policer. Frames pass it untouched.

`loses`, `police` and `shape` meet frames from the first to the second port alone unless the plan says both:
a TCP tester sends its data one way, and acknowledgements come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from netdyno.devices.emulated.model import LEAST_SHAPER_BYTES, SHAPER_MS, Emulated, Model
from netdyno.devices.reasons import DeviceSetTo
from netdyno.devices.wiring import LabLink, Wiring
from netdyno.errors import Problem
from netdyno.values.units import Duration, FrameSize, L1Rate, Quantity

WAYS = ("first", "both")
FREE = ("delay", "rate", "queue", "loses", "seed", "police", "burst", "shape", "largest")
"""Settings of any value; left out, the path does nothing of it."""
LEAST_BURST_BYTES = 1500
"""And 250 ms of the rate: what IOS gives the bucket of a policer unless told."""
MINIMUM_BYTES = 64
MOST_QUEUE = 1_000_000


class Path(Emulated):
    """The kind: its lines run at the setting `rate`, where there is one."""

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        """As of every emulated kind."""
        if "rate" in settings:
            rate_bps = _bits("rate", settings["rate"])
            links = tuple(replace(link, rate_bps=rate_bps) for link in links)
        return super().wire(links, settings)


def _model(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    _refuse_alone(chosen)
    queue = int(_number("queue", chosen.get("queue", "1024"), MOST_QUEUE))
    device: dict[str, Any] = {"delay_ns": int(_parse("delay", Duration, chosen.get("delay", "0ns")) * 10**9)}
    ports: list[dict[str, Any]] = [{"out_queue": queue} for _ in links]
    is_both = chosen["impairs"] == "both"
    if "largest" in chosen:
        device["largest"] = int(_parse("largest", FrameSize, chosen["largest"]))
        if device["largest"] < MINIMUM_BYTES:
            raise ValueError(f"`largest` is at least {MINIMUM_BYTES}B, the shortest frame")
    if "loses" in chosen:
        device["impairments"] = [
            {"port": to, "fault": "lose", "when": _losses(chosen["loses"], chosen.get("seed"))}
            for to in ((0, 1) if is_both else (1,))
        ]
    if "police" in chosen:
        rate_bps = _bits("police", chosen["police"])
        usual = max(LEAST_BURST_BYTES, rate_bps // 32)
        burst = int(_number("burst", chosen.get("burst", str(usual)).removesuffix("B"), 1 << 40))
        for port in ports if is_both else ports[:1]:
            port["police"] = {"rate_bps": rate_bps, "layer": "l2", "burst_bytes": burst}
    if "shape" in chosen:
        rate_bps = _bits("shape", chosen["shape"])
        burst = max(LEAST_SHAPER_BYTES, rate_bps * SHAPER_MS // 8000)
        for port in ports if is_both else ports[1:]:
            port["shape"] = {"rate_bps": rate_bps, "layer": "l2", "burst_bytes": burst}
    changed = tuple((name, value) for name, value in chosen.items() if name in FREE or value != WAYS[0])
    notes = (DeviceSetTo(changed),) if changed else ()
    return Model("l2-xconnect", ports=tuple(ports), device=device, notes=notes)


def _refuse_alone(chosen: Mapping[str, str]) -> None:
    """ValueError for a setting without the one that it is about."""
    for name, of in (("seed", "loses"), ("burst", "police")):
        if name in chosen and of not in chosen:
            raise ValueError(f"`{name}` is of `{of}`, which is not set")


def _losses(share: str, seed: str | None) -> dict[str, Any]:
    """Which frames are lost: each n-th, the first in the middle of n; with a seed each with that chance."""
    try:
        part = Fraction(share)
    except (ValueError, ZeroDivisionError):
        part = Fraction(0)
    if not Fraction(1, 10**9) <= part <= 1:
        raise ValueError(f"`loses` is a share of the frames, as `1/1000`, not `{share[:20]}`")
    if seed is not None:
        drawn = int(_number("seed", seed, 2**32))
        return {"chance": {"parts": part.numerator, "of": part.denominator, "seed": drawn}}
    if part.numerator != 1:
        raise ValueError(
            f"`loses: {share[:20]}` is not one frame in so many: write `1/1000`, or give a `seed`"
        )
    return {"every": {"every": part.denominator, "first": part.denominator // 2}}


def _parse(name: str, unit: type[Quantity], text: str) -> Fraction:
    try:
        return unit.parse(text).amount
    except Problem as problem:
        raise ValueError(f"`{name}`: {problem.message}") from problem


def _bits(name: str, text: str) -> int:
    """A rate, bits per second, whose layer follows from the setting: `50Mbps`."""
    rate = int(_parse(name, L1Rate, text))
    if rate == 0:
        raise ValueError(f"`{name}` lets nothing through at `{text}`")
    return rate


def _number(name: str, text: str, most: int) -> str:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise ValueError(f"`{name}` is a number of 1 to {most}, not `{text[:20]}`")
    return text


KIND = Path(
    "emulated/path",
    "emulated path",
    _model,
    settings={**dict.fromkeys(FREE, ()), "impairs": WAYS},
)
