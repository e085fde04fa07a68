"""What a device of the table of truth is, in a few words, and how an emulated one is configured so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from ipaddress import ip_address
from operator import xor


def whole(numerator: int, denominator: int) -> int:
    """A quotient that there must be."""
    quotient, rest = divmod(numerator, denominator)
    assert rest == 0, "choose a rate that divides"
    return quotient


@dataclass(frozen=True)
class Bucket:
    """What makes a token bucket: bits per second, and bytes."""

    rate: int
    depth: int

    def spec(self, excess: Bucket | None = None) -> dict[str, object]:
        """As crates/dut/src/spec.rs has it."""
        more = None if excess is None else {"rate_bps": excess.rate, "burst_bytes": excess.depth}
        return {"rate_bps": self.rate, "layer": "l2", "burst_bytes": self.depth, "excess": more}


FLOWS = 3
"""Of a stream to a device whose ports have members: two to the first one and one to the second."""
SOURCE, DESTINATION = ip_address("16.0.0.1"), ip_address("48.0.0.1")
"""Of the first of these flows; the others have the next sources."""


def member(flow: int, members: int) -> int:
    """As Linux bonding folds it, of both IP addresses: the XOR of all their bytes."""
    addresses = (SOURCE + flow % FLOWS).packed + DESTINATION.packed
    return reduce(xor, addresses) % members


@dataclass(frozen=True)
class Model:
    """A device, the same at each of its ports."""

    delay_ns: int = 5_000
    delay_per_byte_ps: int = 0
    port_fps: int | None = None
    """What a port takes in, frames per second; of them `in_queue` wait."""
    box_fps: int | None = None
    """What the device takes in of all ports, in order of time; of them `in_queue` wait."""
    box_bps: int | None = None
    """What a licence lets it switch, L2 bits per second of all ports; of them `in_queue` frames wait."""
    card_fps: int | None = None
    """What all ports take in together, which are on one card; of it `in_queue` wait."""
    members: int = 1
    """Lines of each port, which share the rate of the tester's; a frame's is the hash of its addresses."""
    partner_queue: int = 1024
    """Frames that wait at the far end for a member."""
    trunk: int | None = None
    """Between the first port and all others, L1 bits per second; of them `in_queue` wait, each way."""
    in_queue: int = 1024
    head_of_line: bool = False
    """What finds no room at its output waits at its input, where `in_queue` frames do."""
    queue: int = 1024
    """Frames that wait for the line out."""
    queues: Mapping[str, int] = field(default_factory=dict)
    """Queues by class of traffic, the highest priority first; the last takes what no other does."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """Of each of `queues`: they share the line by turns instead."""
    shape: Bucket | None = None
    """In front of the line out."""
    police: Bucket | None = None
    excess: Bucket | None = None
    """The second bucket of `police`."""
    police_classes: Mapping[str, Bucket] = field(default_factory=dict)
    """Below the policer of the port."""
    stall: tuple[int, int, int] | None = None
    """Nothing begins to leave from `first` on for `length`, and so again `every`; ps since it was made."""
    lose: tuple[int, int] | None = None
    """Of the frames to a port, number `first`, `first + every`, ..."""
    corrupt: tuple[int, int] | None = None
    """The same, one bit of them flipped."""
    reorder: tuple[int, int, int] | None = None
    """The same, held back until `by` more have passed."""
    duplicate: tuple[int, int] | None = None
    """The same, sent twice."""
    hold: tuple[int, int, int] | None = None
    """The same, leaving so much later, ps; all others overtake it."""
    sleep: tuple[int, int] | None = None
    """After no frame to a port for so long, ps, so many are lost."""
    weary: tuple[int, int] | None = None
    """For so long, ps, after a frame found no room at `port_fps` one in so many is lost."""
    noise: tuple[int, int, int, int] | None = None
    """Time is cut into windows, ps; of these one in so many, drawn from a seed, begins with a pause, ps."""

    def spec(self, marks: Mapping[str, int]) -> Callable[[dict[str, object]], None]:
        """What it is of an emulated device. marks: the DSCP of each class."""

        def change(device: dict[str, object]) -> None:
            ports = device["ports"]
            assert isinstance(ports, list)
            faults: list[dict[str, object]] = []
            if self.stall is not None:
                first, every, length = (whole(time, 1000) for time in self.stall)
                period = {"first_ns": first, "every_ns": every, "for_ns": length}
                faults.append({"fault": {"stall": {"for_ns": length}}, "when": {"period": period}})
            if self.noise is not None:
                window, of, seed, length = self.noise
                drawn = {"window_ns": whole(window, 1000), "parts": 1, "of": of, "seed": seed}
                stall = {"stall": {"for_ns": whole(length, 1000)}}
                faults.append({"fault": stall, "when": {"window": drawn}})
            if self.sleep is not None:
                idle, count = self.sleep
                asleep = {"idle_ns": whole(idle, 1000), "frames": count}
                faults.append({"fault": "lose", "when": {"after_idle": asleep}})
            if self.duplicate is not None:
                faults.append({"fault": "duplicate", "when": _every(*self.duplicate)})
            if self.lose is not None:
                faults.append({"fault": "lose", "when": _every(*self.lose)})
            if self.corrupt is not None:
                faults.append({"fault": "corrupt", "when": _every(*self.corrupt)})
            if self.reorder is not None:
                first, every, by = self.reorder
                faults.append({"fault": {"reorder": {"by": by}}, "when": _every(first, every)})
            if self.hold is not None:
                first, every, length = self.hold
                later = {"hold": {"for_ns": whole(length, 1000)}}
                faults.append({"fault": later, "when": _every(first, every)})
            device["impairments"] = faults
            device["delay_ns"], device["delay_per_byte_ps"] = self.delay_ns, self.delay_per_byte_ps
            device["head_of_line"] = self.head_of_line
            device["box_fps"], device["box_queue"] = _rate(self.box_fps), self.in_queue
            if self.box_bps is not None:
                device["box_bits"] = {"rate_bps": self.box_bps, "layer": "l2"}
            if self.card_fps is not None:
                card = {"ports": list(range(len(ports))), "in_fps": _rate(self.card_fps)}
                device["cards"] = [{**card, "in_queue": self.in_queue}]
            if self.trunk is not None:
                device["trunk"] = {"near": [0], "rate_bps": self.trunk, "queue": self.in_queue}
            for port in ports:
                port["members"], port["partner_queue"] = self.members, self.partner_queue
                port["rate_bps"] = whole(port["rate_bps"], self.members)
                port["hash"] = port["partner_hash"] = "src-dst-ip"
                port["in_fps"], port["in_queue"] = _rate(self.port_fps), self.in_queue
                if self.weary is not None:
                    port["weary"] = {"for_ns": whole(self.weary[0], 1000), "every": self.weary[1]}
                port["out_queue"] = self.queue
                port["classes"] = [
                    {
                        "name": name,
                        "dscp": [marks[name]] if name in marks else [],
                        "priority": 0 if self.weights else place,
                        "weight": self.weights.get(name, 1),
                        "queue": room,
                    }
                    for place, (name, room) in enumerate(self.queues.items())
                ]
                port["shape"] = None if self.shape is None else self.shape.spec()
                port["police"] = None if self.police is None else self.police.spec(self.excess)
                port["police_classes"] = [
                    {"dscp": [marks[name]], "police": bucket.spec()}
                    for name, bucket in self.police_classes.items()
                    if name in marks
                ]

        return change


def _every(first: int, every: int) -> dict[str, object]:
    return {"every": {"first": first, "every": every}}


def _rate(fps: int | None) -> list[int] | None:
    return None if fps is None else [fps, 1]
