"""Classes of devices of the table of truth: what each is, and what it lets through by closed form.

Times are of 64-byte frames on lines of 100 Mbit/s: a frame takes 6.72 us, and 10 us of what serves 100,000 of
them a second, be it a server or a bucket of 51.2 Mbit/s (512 bits a frame).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model import Bucket, Model

US = 1_000_000
"""In picoseconds."""
SERVICE = 10 * US
"""Of a frame by all that serves 100,000 a second."""

Form = Callable[[int, int, int], int]
"""How many frames get through of a single even stream: of so many, the last of which comes so many
picoseconds after the first, with so many before them since the device was made. It was idle before."""


@dataclass(frozen=True)
class Class:
    """A class of devices. marked: whether the traffic is of two classes, voice and the rest."""

    model: Model
    marked: bool = False
    form: Form | None = None
    """None: there is none, why is said where the class is."""
    sizes: bool = False
    """Whether that holds of frames of several sizes, too."""


def _all(frames: int, last: int, before: int) -> int:
    del last, before
    return frames


def _above(form: Callable[[int], int], service: int = SERVICE) -> Form:
    """Below the capacity all get through, above it so many by the time the last one comes."""

    def through(frames: int, last: int, before: int) -> int:
        del before
        return frames if last >= (frames - 1) * service else min(frames, form(last))

    return through


def _served(queue: int, service: int = SERVICE) -> Form:
    """D/D/1/K that is never idle: by the last arrival floor(t / s) are done, one is served, `queue` wait."""
    return _above(lambda last: last // service + 1 + queue, service)


def _shaped(depth: int, queue: int) -> Form:
    """Frame k (from 0) may begin at (k + 1) T - D, if D is what fills the bucket and T what a frame takes of
    it (ITU-T I.371 Annex A); so by the time t floor((t + D) / T) have begun, and `queue` more wait."""
    return _above(lambda last: (last + depth) // SERVICE + queue)


def _policed(depth: int) -> Form:
    """A bucket of D that fills and never runs over again gives floor((t + D) / T) by the time t."""
    return _above(lambda last: (last + depth) // SERVICE)


def _without(first: int, every: int) -> Form:
    """All but number `first`, `first + every`, ...: of n numbers floor((n - 1 - first) / every) + 1."""

    def hit(numbers: int) -> int:
        return max((numbers - 1 - first) // every + 1, 0)

    return lambda frames, last, before: frames - hit(before + frames) + hit(before)


def _asleep(idle: int, count: int) -> Form:
    """All are lost that come further apart, and else the first ones, which wake it."""
    return lambda frames, last, before: 0 if last > idle * (frames - 1) else max(frames - count, 0)


QUEUE = 32
DEPTH = 3_072
"""Bytes, six frames of 512 bits eight times: what fills in 480 us."""
FILLS = DEPTH * 8 * 10**12 // 51_200_000
RATE = Bucket(51_200_000, DEPTH)

CLASSES: Mapping[str, Class] = {
    "wire": Class(Model(), form=_all, sizes=True),
    "delay": Class(Model(delay_ns=123_456), form=_all, sizes=True),
    "store and forward": Class(Model(delay_ns=1_000, delay_per_byte_ps=1_237), form=_all, sizes=True),
    "port capacity": Class(Model(port_fps=100_000, in_queue=7), form=_served(7)),
    "box capacity": Class(Model(box_fps=100_000, in_queue=QUEUE), form=_served(QUEUE)),
    # By bits: frames of 512 of them.
    "licence": Class(Model(box_bps=51_200_000, in_queue=QUEUE), form=_served(QUEUE)),
    "card": Class(Model(card_fps=100_000, in_queue=QUEUE), form=_served(QUEUE)),
    # By bits and what a line has between frames: 672 bits each.
    "trunk": Class(Model(trunk=64_000_000, in_queue=QUEUE), form=_served(QUEUE, 10_500_000)),
    # Two flows of three meet the same member: what comes to it is not even.
    "link aggregation": Class(Model(members=2, partner_queue=QUEUE)),
    "leak": Class(Model(lose=(40, 211)), form=_without(40, 211), sizes=True),
    "policer": Class(Model(police=RATE), form=_policed(FILLS)),
    # Two buckets of the port fill beside each other, and which of them a frame is taken from depends on both,
    # and on what the class below let through before: no form without the history.
    "hierarchical policer": Class(
        Model(
            police=RATE,
            excess=Bucket(12_800_000, 1_536),
            police_classes={"voice": Bucket(12_800_000, 2_048)},
        ),
        marked=True,
    ),
    "shaper": Class(Model(queue=QUEUE, shape=RATE), form=_shaped(FILLS, QUEUE)),
    # How many of the rest find room depends on where the voice frames fall between them.
    "priority queues": Class(Model(queues={"voice": 8, "rest": 16}, shape=RATE), marked=True),
    # The same, and on whose turn it is.
    "weighted queues": Class(
        Model(queues={"voice": 8, "rest": 16}, weights={"voice": 1, "rest": 3}, shape=RATE), marked=True
    ),
    # Of a single stream nothing ever waits for a line as fast as that it came by.
    "head-of-line blocking": Class(Model(head_of_line=True, in_queue=24, queue=4), form=_all, sizes=True),
    # How many meet a pause, and how many of these find room, depends on when it falls in each trial.
    "periodic stalls": Class(Model(queue=24, stall=(1_300 * US, 3_700 * US, 401 * US))),
    "corruption": Class(Model(corrupt=(40, 211)), form=_without(40, 211), sizes=True),
    "reordering": Class(Model(reorder=(40, 97, 3)), form=_all, sizes=True),
    "duplication": Class(Model(duplicate=(40, 211)), form=_all, sizes=True),
    # It loses at low loads and not at high ones.
    "inverted loss": Class(Model(sleep=(15 * US, 3)), form=_asleep(15 * US, 3)),
    # What an overload leaves behind depends on when its last frame found no room.
    "overload memory": Class(Model(port_fps=100_000, in_queue=7, weary=(2_000 * US, 10))),
    # Most trials have been drained by then, and the next one has begun.
    "late answers": Class(Model(hold=(40, 211, 333_000 * US)), form=_without(40, 211), sizes=True),
    # Drawn from a seed; as periodic stalls.
    "noise": Class(Model(queue=24, noise=(1_000 * US, 4, 20_261_122, 301 * US))),
}
