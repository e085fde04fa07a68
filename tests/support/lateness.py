"""A tester that is late as real ones are, before a device that loses frames: frame by frame, in picoseconds.

Written from the description of the tester (docs/ports.md, docs/verdicts-detail.md), not from its code: a loop
whose rounds take a while, pauses in which it does nothing, and owed frames that leave at twice their pace,
but for those of the last millisecond, or the last 32, of which 128 leave at once.
"""

from __future__ import annotations

import base64
import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, groupby

from netdyno.values.health import CatchUp, Health
from netdyno.values.outcome import FrameCounts, Lag, LatePeriod, Outcome, Phase, StreamResult

PS = 1_000_000_000_000
NS = 1000
US = 1_000_000
MS = 1_000_000_000
AT_ONCE, FEW = 128, 32
LIMIT_PS = 10 * US

Admit = Callable[[int], bool]
"""Whether a frame that arrives at a time (ps, ascending) finds room."""


def bucket(pps: float, frames: int) -> Admit:
    """A token bucket."""
    tokens, last = float(frames), 0

    def admits(at: int) -> bool:
        nonlocal tokens, last
        tokens, last = min(tokens + (at - last) * pps / PS, float(frames)), at
        if tokens < 1 - 1e-9:
            return False
        tokens -= 1
        return True

    return admits


def queue(pps: float, frames: int) -> Admit:
    """A server with room for so many frames that wait (a G/D/1/n queue)."""
    leaves: list[int] = []
    service = round(PS / pps)

    def admits(at: int) -> bool:
        while leaves and leaves[0] <= at:
            leaves.pop(0)
        # One is served, the others wait.
        if len(leaves) > frames:
            return False
        leaves.append(max(at, leaves[-1] if leaves else 0) + service)
        return True

    return admits


@dataclass(frozen=True)
class Tester:
    """How late it is. round_ps: the shortest and longest round. pauses: when, ps, and how long."""

    round_ps: tuple[int, int]
    pauses: Sequence[tuple[int, int]] = ()


def departures(fps: float, duration_ps: int, tester: Tester, draw: random.Random) -> list[tuple[int, int]]:
    """When each frame is due, and when it leaves."""
    gap = PS / fps
    total = int(duration_ps / gap)
    pauses = sorted(tester.pauses)
    left: list[tuple[int, int]] = []
    now, sent, owing, credit, before = 0, 0, False, 0.0, 0
    first = min(AT_ONCE * gap, max(MS, FEW * gap))
    while sent < total:
        now += draw.randint(*tester.round_ps)
        while pauses and pauses[0][0] <= now:
            now += pauses.pop(0)[1]
        due = sent * gap
        if not owing and now - due > first:
            owing, credit, before = True, first, now
        if owing:
            credit = min(credit + 2 * (now - before), first)
            before = now
        most = AT_ONCE
        while sent < total and sent * gap <= now and most and (not owing or credit > 0):
            left.append((int(sent * gap), now))
            sent, most = sent + 1, most - 1
            credit -= gap
        if owing and sent * gap > now:
            owing = False
    return left


def shoot(
    fps: float,
    duration_ps: int,
    tester: Tester,
    admits: Admit,
    draw: random.Random,
    *,
    sample_ps: int = 10 * MS,
    ideal: bool = False,
) -> Outcome:
    """The outcome of a trial of one stream. ideal: every frame leaves when it is due."""
    frames = departures(fps, duration_ps, tester, draw)
    if ideal:
        frames = [(due, due) for due, _ in frames]
    samples = -(-duration_ps // sample_ps)
    tx, arrived = [0] * samples, [0] * samples
    known = [(0, 0, 0)] * samples
    periods: list[LatePeriod] = []
    opened: list[LatePeriod] = []
    lags: list[int] = []
    rest = 0
    for at, burst in groupby(frames, key=lambda frame: frame[1]):
        due = [one for one, _ in burst]
        sample = min(at // sample_ps, samples - 1)
        tx[sample] += len(due)
        arrived[sample] += sum(admits(at) for _ in due)
        # All count as late as the first.
        late = -(-(at - due[0]) // NS)
        before, rest = rest, at - due[-1]
        longest, closer, most = known[sample]
        known[sample] = (max(longest, late), max(closer, (before - at + due[0]) // NS), max(most, len(due)))
        lags += [late] * len(due)
        if at - due[0] <= LIMIT_PS:
            periods += _join(opened, 1)
            opened = []
            continue
        more = max(at - due[0] - before, 0)
        opened.append(LatePeriod(due[0] // NS, -(-at // NS), late, -(-more // NS), int(more > 0), len(due)))
    periods += _join(opened, 1)
    lag = Lag(
        count=len(lags),
        min_ns=min(lags),
        sum_ns=sum(lags),
        max_ns=max(lags),
        over=0,
        histogram=encode(lags),
        late=sum(late > LIMIT_PS // NS for late in lags),
        limit_ns=LIMIT_PS // NS,
        periods=tuple(_join(periods, 256)),
        by_sample=tuple(known),
    )
    lost = len(frames) - sum(arrived)
    stream = StreamResult(
        name="west-east",
        intended=len(frames),
        offered=len(frames),
        offered_bytes=64 * len(frames),
        received=sum(arrived),
        received_bytes=64 * sum(arrived),
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=lost,
        beyond_window=0,
        flows_received=1,
        latency=None,
        tx=tuple(tx),
        rx=tuple(arrived),
        arrived=tuple(arrived),
        first_loss_ns=None,
        lag=lag,
    )
    at_once = max(Counter(at for _, at in frames).values())
    caught = CatchUp(200, len(periods), max(lags), 0, 0, at_once)
    health = Health(0, max(lags), 0, 0, 0, 990_000, catch_up=caught)
    phase = Phase("traffic", 0, duration_ps // NS)
    return Outcome(FrameCounts((stream,), (), sample_ps // NS), health, (phase,))


def _join(periods: list[LatePeriod], most: int) -> list[LatePeriod]:
    """No more than `most` of them, neighbours joined two by two."""
    while len(periods) > most:
        pairs = (periods[at : at + 2] for at in range(0, len(periods), 2))
        periods = [
            LatePeriod(
                pair[0].from_ns,
                pair[-1].until_ns,
                max(one.longest_ns for one in pair),
                sum(one.sum_ns for one in pair),
                sum(one.times for one in pair),
                sum(one.frames for one in pair),
            )
            for pair in pairs
        ]
    return periods


def encode(values: Iterable[int]) -> str:
    """An HDR histogram of three digits (V2, deflate, base64), as HdrHistogram writes it."""
    counts: Counter[int] = Counter()
    for value in values:
        octave = max(value.bit_length() - 11, 0)
        counts[octave * 1024 + (value >> octave)] += 1
    payload, zeros = b"", 0
    for index in range(max(counts) + 1):
        if not counts[index]:
            zeros += 1
            continue
        if zeros:
            payload += _zigzag(-zeros)
            zeros = 0
        payload += _zigzag(counts[index])
    inner = struct.pack(">iiiiqqd", 0x1C849303, len(payload), 0, 3, 1, 10**10, 1.0) + payload
    packed = zlib.compress(inner)
    return base64.b64encode(struct.pack(">ii", 0x1C849304, len(packed)) + packed).decode()


def _zigzag(number: int) -> bytes:
    raw = (number << 1) ^ (number >> 63)
    raw &= (1 << 64) - 1
    out = b""
    for place in count():
        if place == 8 or raw < 0x80:
            return out + bytes([raw & 0xFF])
        out += bytes([raw & 0x7F | 0x80])
        raw >>= 7
    raise AssertionError
