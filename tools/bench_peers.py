#!/usr/bin/env python3
"""netdyno beside the generators that Debian ships, on this machine, in turns.

Each comparison runs once a round, the peer and netdyno one after the other, so that a machine which changes
its speed changes it for both: the medians of the ratios are what to read. Before, between and after the two
a cache line goes to and fro between the two cores. Where that differs more than twice though frames cross
from core to core, or a sender had under 97 % of its core, the pair is shown, not counted, and retried: up to
four times as many are made as are to count. What is missing is named, with what to install.
Rates are frames a second in real time, while nothing else runs. NETDYNO_TESTPMD names another testpmd to
compare with.

    tools/bench_peers.py [--rounds 3] [--only null]
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import peers
from peers import Found, MissingError

MANY = 65_536
LEAST_SHARE = 0.97
MOST_DRIFT = 2.0
MOST_TIMES = 4
"""Pairs that are made of a comparison at most, for each that is to count."""
LEAST_OVERLOAD = 1.05
"""How many times what a device in between passes has to be offered: else the sender was the limit."""


@dataclass(frozen=True)
class Comparison:
    """What is compared. target: netdyno's own, Mpps. least_ratio: of netdyno over the peer.

    theirs: none where nothing is beside it but a device in between, which says itself what it passed.
    """

    what: str
    peer: str
    ours: Callable[[], Found]
    theirs: Callable[[], Found] | None
    target: float | None = None
    least_ratio: float | None = None
    crosses: bool = True
    """Whether anything goes from core to core: else it does not matter how far these are from each other."""


def _null(flows: int, workers: int = 1, streams: int = 1) -> Callable[[], Found]:
    return lambda: peers.netdyno({"kind": "null"}, flows, 400 * workers, workers=workers, streams=streams)


def _veth(backend: str) -> Callable[[], Found]:
    return lambda: peers.netdyno_veth(backend, MANY)


def _beside_testpmd(
    what: str, mode: str, ours: Callable[[], Found], theirs: Callable[..., Found],
    target: float | None = None, least_ratio: float | None = None, least_given: float | None = None,
    crosses: bool = True,
) -> Iterator[Comparison]:  # fmt: skip
    """Beside Debian's testpmd and, if the environment names one, beside that."""
    yield Comparison(what, f"testpmd {mode}", ours, lambda: theirs(mode, None), target, least_ratio, crosses)
    if peers.GIVEN:
        yield Comparison(
            what, f"given testpmd {mode}", ours, lambda: theirs(mode, peers.GIVEN), None, least_given, crosses
        )


COMPARISONS = (
    *_beside_testpmd("null, 1 flow", "txonly", _null(1), peers.testpmd_null, 200, crosses=False),
    *_beside_testpmd("null, many flows", "flowgen", _null(MANY), peers.testpmd_null, 150, crosses=False),
    *(
        Comparison(
            f"null, many flows, {streams} streams", "netdyno, 1 stream",
            _null(MANY, streams=streams), _null(MANY), least_ratio=least, crosses=False,
        )
        for streams, least in ((2, 0.74), (16, None), (256, 0.37), (4096, 0.185))
    ),
    Comparison("null, many flows, 2 workers", "netdyno, 1 worker", _null(MANY, 2), _null(MANY)),
    # What two that share nothing get together is all there is to be had: cores may share more than they say.
    Comparison(
        "null, many flows, 2 workers", "2 processes at once",
        _null(MANY, 2), lambda: peers.netdyno_twice({"kind": "null"}, MANY, 400),
    ),
    *_beside_testpmd(
        "memif to testpmd rxonly, many flows", "txonly",
        lambda: peers.netdyno_memif(MANY), peers.testpmd_memif, least_ratio=1.15, least_given=1,
    ),
    *_beside_testpmd(
        "memif to testpmd rxonly, many flows", "flowgen",
        lambda: peers.netdyno_memif(MANY), peers.testpmd_memif,
    ),
    Comparison(
        "memif to testpmd rxonly, as the server", "netdyno as the client",
        lambda: peers.netdyno_memif_server(MANY), lambda: peers.netdyno_memif(MANY), least_ratio=0.9,
    ),
    Comparison(
        "memif to testpmd rxonly, 256 streams", "netdyno, 1 stream",
        lambda: peers.netdyno_memif(MANY, streams=256), lambda: peers.netdyno_memif(MANY),
    ),
    Comparison("memif through testpmd io and back", "", lambda: peers.netdyno_echo(MANY), None, 10),
    Comparison(
        "af_xdp through the kernel's router", "passed by the router",
        lambda: peers.netdyno_routed(MANY), None, least_ratio=0.95,
    ),
    Comparison("veth, af_packet, many flows", "trafgen", _veth("af_packet"), peers.trafgen),
    Comparison("veth, af_xdp, many flows", "trafgen", _veth("af_xdp"), peers.trafgen),
    Comparison("veth, af_packet, many flows", "iperf3 UDP, 1 flow", _veth("af_packet"), peers.iperf3),
)  # fmt: skip


@dataclass
class Rounds:
    """What the rounds of one comparison found."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    dropped: int = 0
    missing: str = ""
    more: str = ""


def run(comparison: Comparison, rounds: Rounds, number: int) -> None:
    """One pair, unless the peer or netdyno's own way is known to be missing."""
    if rounds.missing:
        return
    try:
        bounces = [peers.ping_pong_ns()]
        # Who goes first changes with the round.
        runs = [comparison.theirs, comparison.ours]
        order = (0, 1) if number % 2 else (1, 0)
        found: list[Found | None] = [None, None]
        for place in order:
            one = runs[place]
            if one is not None:
                found[place] = one()
                bounces.append(peers.ping_pong_ns())
    except MissingError as missing:
        rounds.missing = str(missing)
        print(f"  {comparison.what}, {comparison.peer}: MISSING: {missing}", flush=True)
        return
    except (RuntimeError, subprocess.SubprocessError) as failed:
        rounds.dropped += 1
        print(f"  {comparison.what}, {comparison.peer}: FAILED: {failed}", flush=True)
        return
    theirs, ours = found
    assert ours is not None
    if theirs is None and ours.passed_mpps is not None:
        theirs = peers.Found(ours.passed_mpps)
    is_slow = ours.passed_mpps is not None and (ours.offered_mpps or 0) < LEAST_OVERLOAD * ours.passed_mpps
    drift = max(bounces) / min(bounces)
    shares = [one.core_share for one in found if one is not None and one.core_share is not None]
    is_steady = drift <= MOST_DRIFT or not comparison.crosses
    counted = is_steady and min(shares, default=1) >= LEAST_SHARE and not is_slow
    print(
        f"  {comparison.what:37} netdyno {ours.mpps:7.2f}"
        + (
            f"   {comparison.peer:20} {theirs.mpps:7.2f}   ratio {ours.mpps / theirs.mpps:5.2f}"
            if theirs
            else ""
        )
        + (f"   offered {ours.offered_mpps:.2f}" if ours.offered_mpps is not None else "")
        + (", THE SENDER WAS THE LIMIT" if is_slow else "")
        + f"   core {min(shares, default=1):4.0%}   ping-pong {', '.join(f'{one:.0f}' for one in bounces)} ns"
        + ("" if counted else "   NOT COUNTED"),
        flush=True,
    )
    rounds.more = ours.more or rounds.more
    if not counted:
        rounds.dropped += 1
        return
    rounds.ours.append(ours.mpps)
    if theirs is not None:
        rounds.theirs.append(theirs.mpps)


def row(comparison: Comparison, rounds: Rounds) -> str:
    """A line of the table."""
    head = f"{comparison.what:37} {comparison.peer:20}"
    if rounds.missing:
        return f"{head} missing: {rounds.missing}"
    if not rounds.ours:
        return f"{head} no round counted of {rounds.dropped}"
    ours = statistics.median(rounds.ours)
    text = f"{head} {ours:8.2f}"
    if rounds.theirs:
        ratios = [one / other for one, other in zip(rounds.ours, rounds.theirs, strict=True)]
        ratio = statistics.median(ratios)
        text += f" {statistics.median(rounds.theirs):8.2f} {ratio:6.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        if comparison.least_ratio is not None:
            reached = "reached" if ratio >= comparison.least_ratio else "MISSED"
            text += f"  target {comparison.least_ratio:g} x: {reached}"
    if comparison.target is not None:
        reached = "reached" if ours >= comparison.target else "MISSED"
        text += f"  target {comparison.target:g} Mpps: {reached}"
    text += f"  {len(rounds.ours)} round{'s' * (len(rounds.ours) > 1)}" + (
        f", {rounds.dropped} not counted" if rounds.dropped else ""
    )
    return text + (f"\n{'':37} {rounds.more}" if rounds.more else "")


def main() -> int:
    """Runs all rounds, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="pairs that are to count, of each comparison")
    parser.add_argument("--only", default="", help="comparisons with these words in their name")
    asked = parser.parse_args()
    # Ended by a signal it ends what it started, as with Ctrl-C.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    chosen = [one for one in COMPARISONS if asked.only in f"{one.what}, {one.peer}"]
    found = [Rounds() for _ in chosen]
    for number in range(1, MOST_TIMES * asked.rounds + 1):
        unfinished = [
            (comparison, rounds)
            for comparison, rounds in zip(chosen, found, strict=True)
            if len(rounds.ours) < asked.rounds and not rounds.missing
        ]
        if not unfinished:
            break
        print(
            f"round {number}, {asked.rounds} are to count: 64 bytes, one sending core unless said, Mpps",
            flush=True,
        )
        for comparison, rounds in unfinished:
            run(comparison, rounds, number)
    print(f"\n{'medians of the rounds':37} {'peer':20}  netdyno     peer  ratio (least-most)")
    for comparison, rounds in zip(chosen, found, strict=True):
        print(row(comparison, rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
