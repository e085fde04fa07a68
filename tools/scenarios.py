"""Labs whose limit is known, drawn from a seed, with the answers that are right declared beside each.

A scenario is a plan's profile, direction and method, an emulated device, and what the tester's own ports
cannot do (crates/io/src/limit.rs). What limits it is known from how it was made and not from what is found.
Two limits within a few percent of each other are drawn as well, as `edge`, with all answers not wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

LINE_BPS = 1_000_000_000
SIZES = (64, 128, 256, 512, 1024, 1518)
MIX = "imix/trex"
MIX_MEAN = Fraction(7 * 64 + 4 * 594 + 1518, 12)
FRAMES = 30_000
"""Frames of a trial at line rate: enough that a queue of 1024 is 3 % of them."""


@dataclass(frozen=True)
class Scenario:
    """One lab. truth: the row of the table it counts in. accepts: the answers that are right.

    sizes: one case each, with other frames. device, ports: fields of the emulated device and of each
    of its ports that differ from an ideal one's. limits: of the tester's two ports. most: the highest load
    asked for, a share of the line. quiet: the calibration was made when the tester had no limits. interfaces:
    whether its ports are interfaces of a kernel, which counts what came to them, and not those of a memif.
    """

    number: int
    truth: str
    kind: str
    accepts: frozenset[str]
    sizes: tuple[int | str, ...]
    direction: str
    method: str
    calibrated: bool = True
    device: Mapping[str, Any] = field(default_factory=dict)
    ports: Mapping[str, Any] = field(default_factory=dict)
    members: int = 1
    flows: int = 4096
    limits: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None] = (None, None)
    most: Fraction = Fraction(1)
    quiet: bool = False
    interfaces: bool = False

    def mean(self, size: int | str) -> Fraction:
        """Average frame size, bytes."""
        return MIX_MEAN if isinstance(size, str) else Fraction(size)

    def line_fps(self, size: int | str) -> Fraction:
        """The most one direction carries."""
        return LINE_BPS * self.members / (8 * (self.mean(size) + 20))

    def trial_ns(self, size: int | str) -> int:
        """How long a trial sends."""
        return int(FRAMES * 10**9 / self.line_fps(size))


class _Draw:
    """What is drawn for one scenario, in a fixed order."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(f"limit {number}")
        self.number = number
        self.size: int | str = self.random.choice((*SIZES, MIX))
        self.direction = self.random.choice(("uni", "bidir"))
        self.method = self.random.choice(("ramp", "throughput"))

    def share(self, low: float, high: float) -> Fraction:
        return Fraction(self.random.uniform(low, high)).limit_denominator(10_000)

    def fps(self, share: Fraction) -> list[int]:
        """A share of the line as a rate of frames."""
        line = LINE_BPS / (8 * ((MIX_MEAN if isinstance(self.size, str) else self.size) + 20))
        return [int(line * share), 1]

    def pauses(self, low: float, high: float, often: int) -> dict[str, int]:
        """Pauses of so many frames' time at line rate, `often` times a trial."""
        line = LINE_BPS / (8 * ((MIX_MEAN if isinstance(self.size, str) else self.size) + 20))
        frame_ns = 10**9 / line
        every = int(FRAMES * frame_ns / often)
        return {
            "first_ns": self.random.randrange(every),
            "every_ns": every,
            "for_ns": min(int(self.random.uniform(low, high) * frame_ns), every * 6 // 10),
        }

    def scenario(self, truth: str, kind: str, accepts: str, **rest: Any) -> Scenario:
        given = {
            "sizes": (self.size,),
            "direction": self.direction,
            "method": self.method,
            **rest,
        }
        return Scenario(self.number, truth, kind, frozenset(accepts.split()), **given)


# The device


def _capacity(d: _Draw) -> Scenario:
    name = d.random.choice(("in_fps", "both_fps"))
    # In and out of a port in both directions share one capacity.
    times = 2 if name == "both_fps" and d.direction == "bidir" else 1
    ports = {name: d.fps(times * d.share(0.05, 0.88)), "in_queue": d.random.choice((16, 128, 1024))}
    return d.scenario("device", f"{name} below the line", "device", ports=ports)


def _box(d: _Draw) -> Scenario:
    times = 2 if d.direction == "bidir" else 1
    box = {"box_fps": d.fps(times * d.share(0.05, 0.88)), "box_queue": d.random.choice((16, 128, 1024))}
    return d.scenario("device", "box_fps below the line", "device", device=box)


def _behind_a_good_tester(d: _Draw) -> Scenario:
    """The tester cannot fill the line and drops the rest without counting, but was calibrated for more."""
    share = d.share(0.1, 0.5)
    own = {"rx": {"fps": d.fps(share * d.share(1.3, 1.9)), "room": 256, "silent": True}}
    ports = {"in_fps": d.fps(share), "in_queue": 16}
    return d.scenario(
        "device", "in_fps, the tester not up to the line", "device", ports=ports, limits=(own, own)
    )


def _random_loss(d: _Draw) -> Scenario:
    # A ramp that receives 99 % of the line says `line`, whatever is missing: that much is lost for certain.
    of = d.random.randrange(20, 60) if d.method == "ramp" else d.random.randrange(20, 2000)
    chance = {"parts": 1, "of": of, "seed": d.random.randrange(2**32)}
    lose = {"fault": "lose", "when": {"chance": chance}}
    return d.scenario("device", "random loss", "device", device={"impairments": [lose]})


def _stall(d: _Draw) -> Scenario:
    """Stops for longer than its queue lasts, at any load asked for: every few thousand frames."""
    size = d.size if isinstance(d.size, int) else 64
    length = int(d.random.uniform(3000, 6000) * 8 * (size + 20))
    stall = {"fault": {"stall": {"for_ns": length}}, "when": {"every": {"every": 10_000, "first": 4_000}}}
    changed = {"sizes": (size,), "ports": {"out_queue": 64}, "device": {"impairments": [stall]}}
    return d.scenario("device", "stalls", "device", **{**changed, "method": "throughput"})


# The line, and nothing wrong at all


def _line(d: _Draw) -> Scenario:
    return d.scenario("line", "an ideal device", "line")


def _line_of_a_member(d: _Draw) -> Scenario:
    return d.scenario("line", "one flow over a group", "line", members=2, flows=1)


def _nothing(d: _Draw) -> Scenario:
    return d.scenario("nothing wrong", "less asked for than the line", "none", most=d.share(0.2, 0.9))


# The tester as a sender

NEVER = "tester inconclusive"


def _slow_sender(d: _Draw) -> Scenario:
    own = {"tx": {"fps": d.fps(d.share(0.1, 0.9))}}
    return d.scenario("tester", "a sender too slow", "tester", limits=(own, own))


def _paused_sender(d: _Draw) -> Scenario:
    """What was late is sent at line rate: more than the small queue of a device holds."""
    own = {"tx": {"pauses": d.pauses(500, 3000, d.random.randrange(3, 9))}}
    most = d.share(0.3, 0.7)
    ports = {"in_fps": d.fps(most * d.share(1.1, 1.3)), "in_queue": d.random.choice((8, 16, 32))}
    return d.scenario(
        "tester", "a sender that stops and catches up", NEVER, limits=(own, own), ports=ports, most=most
    )


def _starved_sender(d: _Draw) -> Scenario:
    """Stops so often that a full line cannot be sent at all; to an ideal device."""
    pauses = d.pauses(300, 600, 40)
    own = {"tx": {"pauses": pauses}}
    return d.scenario("tester", "a starved sender", NEVER, limits=(own, own))


def _vanishing(d: _Draw) -> Scenario:
    own = {"tx": {"fps": d.fps(d.share(0.1, 0.9)), "room": d.random.choice((0, 64, 512)), "silent": True}}
    return d.scenario("tester", "frames vanish before the wire", NEVER, limits=(own, own))


def _vanishing_in_pauses(d: _Draw) -> Scenario:
    own = {"tx": {"pauses": d.pauses(200, 2000, 6), "room": 64, "silent": True}}
    return d.scenario("tester", "frames vanish in pauses", NEVER, limits=(own, own))


def _disturbed_card(d: _Draw) -> Scenario:
    """Drops on its way out, and says so, when it is too late for the calibration to see it."""
    own = {"tx": {"pauses": d.pauses(200, 2000, 6), "room": 64, "silent": True, "noticed": True}}
    return d.scenario(
        "tester", "quiet when calibrated, a card that drops later", "tester", limits=(own, own), quiet=True
    )


# The tester as a receiver


def _slow_receiver(d: _Draw) -> Scenario:
    own = {"rx": {"fps": d.fps(d.share(0.1, 0.9)), "room": d.random.choice((64, 256, 1024))}}
    return d.scenario("receiver", "a receiver too slow", "receiver", limits=(own, own))


def _small_ring(d: _Draw) -> Scenario:
    own = {"rx": {"pauses": d.pauses(400, 2000, d.random.randrange(10, 30)), "room": 64}}
    return d.scenario("receiver", "a ring of 64 and a reader that pauses", "receiver", limits=(own, own))


def _silent_receiver(d: _Draw) -> Scenario:
    own = {"rx": {"fps": d.fps(d.share(0.1, 0.9)), "room": d.random.choice((64, 256, 1024)), "silent": True}}
    return _uncounted(d, "a receiver that counts no drops", own)


def _uncounted(d: _Draw, kind: str, own: Mapping[str, Any]) -> Scenario:
    """Every second one behind interfaces that count what came to them."""
    if d.number // len(KINDS) % 2:
        kind = f"{kind}, behind an interface"
        return d.scenario("receiver", kind, "receiver", limits=(own, own), interfaces=True)
    return d.scenario("receiver", kind, "tester receiver inconclusive", limits=(own, own))


def _silent_ring(d: _Draw) -> Scenario:
    own = {"rx": {"pauses": d.pauses(400, 2000, d.random.randrange(10, 30)), "room": 64, "silent": True}}
    return _uncounted(d, "a ring of 64 that counts no drops", own)


def _disturbed_ring(d: _Draw) -> Scenario:
    """Its peer drops what finds no room, once the calibration is over; the tester sees that it is full."""
    pauses = d.pauses(400, 2000, d.random.randrange(10, 30))
    own = {"rx": {"pauses": pauses, "room": 64, "silent": True, "noticed": True}}
    right = "receiver inconclusive"
    return d.scenario(
        "receiver", "quiet when calibrated, a ring found full later", right, limits=(own, own), quiet=True
    )


# What stands between tester and device


def _far_end(d: _Draw) -> Scenario:
    """Three flows on two members are never even: one member of the far end is full before the line is."""
    return d.scenario("fixture", "the far-end switch of the LAG", "fixture", members=2, flows=3)


def _switch_between(d: _Draw) -> Scenario:
    """A switch between that drops and cannot be asked; the calibration went through it."""
    own = {"tx": {"fps": d.fps(d.share(0.1, 0.9)), "room": 128, "silent": True}}
    right = "fixture tester inconclusive"
    return d.scenario(
        "fixture", "a switch between that counts nothing", right, limits=(own, None), direction="uni"
    )


# Licences


def _licence(d: _Draw) -> Scenario:
    """A round rate below the line at every size; a bucket of at most 0.2 % of a trial, as for real trials."""
    layer = d.random.choice(("l1", "l2"))
    rate = d.random.choice((150, 200, 250, 300, 400, 500, 600)) * 1_000_000
    sizes = sorted(d.random.sample(SIZES, 3))
    burst = max(2 * sizes[-1], int(rate / LINE_BPS * FRAMES * sizes[0] * d.random.uniform(0.0005, 0.002)))
    police = {"rate_bps": rate, "layer": layer, "burst_bytes": burst}
    return d.scenario("licence", "a token bucket", "licence", sizes=tuple(sizes), ports={"police": police})


# Without a calibration nobody is blamed


def _uncalibrated(d: _Draw) -> Scenario:
    what = d.random.choice(("device", "receiver"))
    rate = {"fps": d.fps(d.share(0.1, 0.85))}
    own = {"rx": {**rate, "room": 64, "silent": True}} if what == "receiver" else None
    ports = {"in_fps": rate["fps"]} if what == "device" else {}
    kind = "a device" if what == "device" else "a receiver that counts no drops"
    return d.scenario(
        "not calibrated", kind, "inconclusive", calibrated=False, limits=(own, own), ports=ports
    )


# Two limits close together: each answer that is not wrong


def _edge_of_the_line(d: _Draw) -> Scenario:
    ports = {"in_fps": d.fps(d.share(0.96, 0.997)), "in_queue": 64}
    return d.scenario("edge", "device within 4 % of the line", "device line", ports=ports)


def _edge_of_the_proof(d: _Draw) -> Scenario:
    share = d.share(0.1, 0.7)
    own = {"rx": {"fps": d.fps(share * d.share(0.97, 1.03)), "room": 64, "silent": True}}
    ports = {"in_fps": d.fps(share), "in_queue": 64}
    kind = "device within 3 % of a receiver that counts no drops"
    return d.scenario("edge", kind, "tester receiver inconclusive", limits=(own, own), ports=ports)


def _edge_of_the_receiver(d: _Draw) -> Scenario:
    share = d.share(0.1, 0.7)
    own = {"rx": {"fps": d.fps(share * d.share(0.97, 1.03)), "room": 64}}
    ports = {"in_fps": d.fps(share), "in_queue": 64}
    kind = "device within 3 % of a receiver that counts"
    return d.scenario("edge", kind, "tester receiver inconclusive", limits=(own, own), ports=ports)


def _edge_of_the_sender(d: _Draw) -> Scenario:
    share = d.share(0.1, 0.7)
    own = {"tx": {"fps": d.fps(share * d.share(0.97, 1.03))}}
    ports = {"in_fps": d.fps(share), "in_queue": 64}
    return d.scenario("edge", "device within 3 % of a slow sender", NEVER, limits=(own, own), ports=ports)


KINDS: tuple[Callable[[_Draw], Scenario], ...] = (
    *(_capacity, _slow_sender, _line, _slow_receiver, _licence, _far_end, _nothing),
    *(_box, _paused_sender, _line_of_a_member, _small_ring, _licence, _switch_between, _nothing),
    *(_behind_a_good_tester, _starved_sender, _silent_receiver, _edge_of_the_line, _uncalibrated),
    *(_random_loss, _vanishing, _silent_ring, _edge_of_the_proof, _edge_of_the_receiver),
    *(_stall, _vanishing_in_pauses, _edge_of_the_sender, _disturbed_card, _disturbed_ring),
)
"""In turn, so that the first so many are a fair sample."""


def scenario(number: int) -> Scenario:
    """The scenario of that number, from 0."""
    return KINDS[number % len(KINDS)](_Draw(number))
