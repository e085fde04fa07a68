"""The first frames of each stream of a plan, as they would be sent: a capture file, without an interface."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netdyno.methods import METHODS
from netdyno.plan.matrix import situation
from netdyno.testers.netdyno import engine
from netdyno.testers.netdyno.spec import trial_spec

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

MAGIC_NS, ETHERNET, LONGEST = 0xA1B23C4D, 1, 262_144


@dataclass(frozen=True)
class SentFrame:
    """A frame without FCS, due at_ps from the begin of the traffic."""

    stream: str
    at_ps: int
    data: bytes


def first_frames(plan: Plan, case: Case, count: int) -> Iterator[SentFrame]:
    """The first `count` frames of each stream in the first trial of a case, stream by stream.

    MAC addresses that are asked for before a trial are zero. Raises TesterError.
    """
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    method = METHODS[plan.method].start(plan.parameters_of(case), situation(case, wiring))
    spec = trial_spec(plan, case, wiring, next(method))
    text = json.dumps(spec)
    for number, stream in enumerate(spec["streams"]):
        for one in engine.frames(text, number, 0, count):
            yield SentFrame(stream["name"], one["at_ps"], bytes.fromhex(one["frame"]))


def write_capture(path: Path, frames: list[SentFrame]) -> None:
    """Writes a pcap file with nanosecond times, frames in order of departure. Raises OSError."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, LONGEST, ETHERNET))
        for one in sorted(frames, key=lambda frame: frame.at_ps):
            seconds, rest = divmod(one.at_ps, 10**12)
            size = len(one.data)
            file.write(struct.pack("<IIII", seconds, rest // 1000, size, size) + one.data)
