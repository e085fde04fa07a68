"""What a reader must know of the tester itself: late frames, pauses, flows on several workers, shared cores.

From counts to sentences. A tester that did well has none, but for several workers: how each of them did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from netdyno.errors import counted
from netdyno.values import number as printed
from netdyno.values.engine_reason import EngineReason
from netdyno.values.health import HostHealth, WorkerHealth
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.verdict.words import too_long

OF_LATENCY = ("late", "lag")
"""Kinds of findings that say how far latency can be used."""
ENOUGH_FRAMES = 1_000
"""Of fewer frames it says nothing how they were spread."""
LITTLE = Fraction(1, 10)
"""Of the mean latency: a mean lag of more is worth a word, even if no frame was late."""
UNEVEN = 2
"""Queues are uneven if one has less than an even share by more than this factor."""


@dataclass(frozen=True)
class Finding:
    """A sentence on the tester."""

    kind: str
    """What it is about, in the form of a code; of one kind the worst is reported for a run."""
    weight: Fraction
    """How bad it is, beside others of its kind."""
    sentence: str


def findings(results: Sequence[Outcome], *, is_uneven: bool = False) -> tuple[Finding, ...]:
    """What must be known of the tester in these trials of one case."""
    checks: tuple[Callable[[Sequence[Outcome]], Iterator[Finding]], ...] = (
        _late,
        partial(_other_load, is_uneven=is_uneven),
        _ahead,
        _not_sent,
        _full,
        _too_long,
        _unheard,
        _caught_up,
        _refused,
        _split,
        _shared,
        _hosts,
        _workers,
        _queues,
        _of_the_device,
    )
    return tuple(finding for check in checks for finding in check(results))


DROPPED = re.compile(r"drop|discard|noroute|error|fifo", re.IGNORECASE)
"""Names of a kernel's counters that speak of frames that went no further."""


def _of_the_device(results: Sequence[Outcome]) -> Iterator[Finding]:
    """What the device's own kernel, where anybody can look, dropped of what was lost."""
    results = [result for result in results if not result.has_missing_routes]
    lost = sum(max(stream.lost, 0) for result in results for stream in result.streams)
    kernels = [device for result in results for device in result.devices if "ip" in device]
    if not lost or not kernels:
        return
    found: dict[str, int] = {}
    for kernel in kernels:
        for who, counts in _counters(kernel):
            for name, count in counts.items():
                if isinstance(count, int) and DROPPED.search(name):
                    found[f"{name} of {who}"] = found.get(f"{name} of {who}", 0) + count
    named = ", ".join(f"{name} {count:,}" for name, count in found.items())
    device_drops = (
        f"counted {named} (several may be of one frame)" if found else "counted none of them as dropped"
    )
    yield Finding(
        "device-kernel",
        Fraction(lost),
        f"{counted(lost, 'frame')} lost, of which the device's own kernel {device_drops}",
    )


def _counters(kernel: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Whose counters they are, and they. A record from elsewhere may have anything there."""
    ports = kernel.get("ports")
    for port in ports if isinstance(ports, list) else ():
        if isinstance(port, Mapping):
            yield str(port.get("name")), port
    if isinstance(kernel["ip"], Mapping):
        yield "IPv4", kernel["ip"]


def merge_worst(cases: Iterable[tuple[str, Sequence[Finding]]]) -> tuple[str, ...]:
    """Of each kind the worst of all cases, with the name of its case and how many there are."""
    kinds: dict[str, list[tuple[str, Finding]]] = {}
    for name, found in cases:
        for finding in found:
            kinds.setdefault(finding.kind, []).append((name, finding))
    sentences = []
    for of_kind in kinds.values():
        name, finding = max(of_kind, key=lambda one: one[1].weight)
        among = f" (the worst of {len(of_kind)} load tests)" if len(of_kind) > 1 else ""
        sentences.append(f"{name}: {finding.sentence}{among}")
    return tuple(sentences)


def worker(health: WorkerHealth, number: int) -> str:
    """How one worker did: `worker 2 on core 1 had 99.8 % of it, longest pause 1.2 ms, 45 ns a frame`."""
    where = "" if health.core is None else f" on core {health.core}"
    had = ""
    if health.core_share_ppm is not None:
        share = printed.percent(Fraction(health.core_share_ppm, 1_000_000))
        had = f" had {share} of {'a core' if health.core is None else 'it'},"
    parts = [f"longest pause {printed.duration(health.longest_gap_ns)}"]
    if health.frames:
        parts.append(f"{round(health.busy_ns / health.frames)} ns a frame")
    if health.rx_frames:
        parts.append(f"{sum(health.rx_frames):,} frames received")
    return f"worker {number}{where}{had} {', '.join(parts)}"


@dataclass(frozen=True)
class Brief:
    """What the line on the tester needs of a trial. late, sent: frames; 0 if nobody looked for late ones."""

    core_share_ppm: int
    longest_gap_ns: int
    late: int
    sent: int
    latest_ns: int
    host: str = ""
    """The one that had the least of its core, of several; empty: there is one."""

    @classmethod
    def of(cls, result: Outcome) -> Brief | None:
        """That of a trial; None in virtual time: the tester has no limits there."""
        share = result.health.core_share_ppm
        if share is None:
            return None
        lags = [stream.lag for stream in result.streams if stream.lag is not None]
        late, sent = sum(lag.late for lag in lags), sum(lag.count for lag in lags)
        latest_ns = max((lag.max_ns for lag in lags), default=0)
        host = next((one.name for one in result.hosts if one.core_share_ppm == share), "")
        return cls(share, result.health.longest_gap_ns, late, sent, latest_ns, host)


def in_short(trials: Sequence[Brief]) -> str | None:
    """The tester's health in a line, for who watches; None without trials."""
    if not trials:
        return None
    least = min(trials, key=lambda one: one.core_share_ppm)
    whose = f" (host `{least.host}`)" if least.host else ""
    share = Fraction(least.core_share_ppm, 1_000_000)
    parts = [
        f"{printed.percent(share, claim='at least')} of its core at least{whose}",
        f"longest pause {printed.duration(max(one.longest_gap_ns for one in trials))}",
    ]
    late, sent = sum(one.late for one in trials), sum(one.sent for one in trials)
    if sent:
        latest = _latest(one.latest_ns for one in trials if one.sent)
        parts.append(f"{late:,} of {sent:,} frames late, at most {latest}")
    return ", ".join(parts)


def _late(results: Sequence[Outcome]) -> Iterator[Finding]:
    """A note if timed frames were sent late; it counts all frames of each trial with such."""
    timed = [
        [stream.lag for stream in result.streams if stream.lag and stream.latency and stream.latency.count]
        for result in results
    ]
    unusable = [lags for lags in timed if any(lag.late for lag in lags)]
    lags = [lag for of_trial in unusable for lag in of_trial]
    if not lags:
        return
    late, sent = sum(lag.late for lag in lags), sum(lag.count for lag in lags)
    mean = printed.duration(Fraction(sum(lag.sum_ns for lag in lags), sent))
    limits = sorted({lag.limit_ns for lag in lags})
    limit = " to ".join(dict.fromkeys(printed.duration(ns) for ns in (limits[0], limits[-1])))
    yield Finding(
        "late",
        Fraction(late, sent),
        f"no usable latency{_in_trials(unusable, timed)}: {late:,} of {sent:,} frames were sent more than"
        f" {limit} late, up to {_latest(lag.max_ns for lag in lags)}, in the mean {mean}. Latency"
        " counts from when a frame was sent, so it is that of another load than was asked for",
    )


def _other_load(results: Sequence[Outcome], *, is_uneven: bool) -> Iterator[Finding]:
    """Whether frames left later, by more than a little of their latency, where none was late.

    is_uneven: they were to leave at uneven distances.
    """
    worst: tuple[Fraction, Fraction, Fraction] | None = None
    for stream in (stream for result in results for stream in result.streams):
        latency, lag = stream.latency, stream.lag
        if latency is None or not latency.sum_ns or lag is None or lag.late:
            continue
        taken, waited = Fraction(latency.sum_ns, latency.count), Fraction(lag.sum_ns, lag.count)
        if waited > LITTLE * taken:
            worst = max(worst or (Fraction(0), taken, waited), (waited / taken, taken, waited))
    if worst is None:
        return
    share, taken, waited = worst
    why = (
        ": they waited for the tester's own line, which is busy where arrivals are close to each other"
        if is_uneven
        else f" ({printed.percent(share)} of it): for who sends on time they might have taken that much"
        " longer"
    )
    yield Finding(
        "lag",
        share,
        f"the mean latency, {printed.duration(taken)}, is counted from when frames left, in the mean"
        f" {printed.duration(waited)} after they were due{why}",
    )


def _ahead(results: Sequence[Outcome]) -> Iterator[Finding]:
    """How much of a latency may be the tester's own queue in front of the line."""
    timed = [result for result in results if any(s.latency and s.latency.count for s in result.streams)]
    most = max((result.health.tx_ahead_ns or 0 for result in timed), default=0)
    if most:
        frames = max(result.health.tx_ahead for result in timed)
        yield Finding(
            "ahead",
            Fraction(most),
            f"up to {printed.duration(most, 'at most')} of a latency may be the tester's own: it is counted"
            f" from when a frame is handed to the card, where up to {frames:,} others were still to leave"
            " before it",
        )


def _not_sent(results: Sequence[Outcome]) -> Iterator[Finding]:
    dropped = sum(result.not_sent for result in results)
    if dropped:
        yield Finding(
            "not-sent",
            Fraction(dropped),
            f"the tester's card, driver or kernel dropped {counted(dropped, 'frame')} it was to send:"
            f" {'it counts' if dropped == 1 else 'they count'} as offered",
        )


def _full(results: Sequence[Outcome]) -> Iterator[Finding]:
    full = sum(result.health.rx_full for result in results)
    if not full:
        return
    spans = [result.health.rx_full_ns for result in results if result.health.rx_full]
    known = [ns for ns in spans if ns is not None]
    lasting = (
        "" if len(known) < len(spans) else f", for {printed.duration(sum(known), 'at most')} in all at most"
    )
    yield Finding(
        "full",
        Fraction(full),
        f"{'once' if full == 1 else f'{full:,} times'} the tester found a ring full that it receives into"
        f"{lasting}: what came then found no room, and nobody counts that",
    )


def _too_long(results: Sequence[Outcome]) -> Iterator[Finding]:
    count = sum(result.health.rx_too_long for result in results)
    if count:
        yield Finding("too-long", Fraction(count), too_long(count))


def _unheard(results: Sequence[Outcome]) -> Iterator[Finding]:
    unheard = sum(result.health.unheard for result in results)
    if unheard:
        yield Finding(
            "unheard",
            Fraction(unheard),
            f"{unheard:,} frames that are no test frames came so many at once that the tester did not listen"
            " to them or did not answer: questions for its addresses may be among them, and answers to its"
            " own",
        )


def _caught_up(results: Sequence[Outcome]) -> Iterator[Finding]:
    """Whether frames left at another load than the intended one, to make up for pauses.

    Not of trials whose frames a memif peer's full ring refused: the tester was behind for that.
    """
    paused = [one for one in results if one.health.made_up and not _is_refused(one)]
    caught = [result.health.catch_up for result in paused if result.health.catch_up is not None]
    if not caught:
        return
    made_up = sum(one.frames for one in caught)
    sent = sum(stream.offered for result in paused for stream in result.streams)
    pauses = counted(sum(one.pauses for one in caught), "time")
    yield Finding(
        "caught up",
        Fraction(made_up, max(sent, 1)),
        f"the tester fell behind its schedule {pauses}{_in_trials(paused, results)}, by up to"
        f" {_latest(one.longest_ns for one in caught)}: {made_up:,} of {sent:,} frames left at up to"
        f" {max(one.percent for one in caught)} % of the rate to make up for it, at most"
        f" {max(one.longest_run for one in caught):,} in a row"
        + (
            ", and it hardly ever was on time: leave it its core, or ask for less"
            if 2 * made_up > sent
            else ""
        ),
    )


def _refused(results: Sequence[Outcome]) -> Iterator[Finding]:
    """How many frames found a memif peer's ring full."""
    found = [result for result in results if _is_refused(result)]
    if not found:
        return
    refused = sum(stream.refused for result in found for stream in result.streams)
    intended = sum(stream.intended for result in found for stream in result.streams)
    full = [port.back_pressure.full_ns for result in found for port in result.ports if port.back_pressure]
    yield Finding(
        "refused",
        Fraction(refused, max(intended, 1)),
        f"{refused:,} of {counted(intended, 'frame')} were not taken{_in_trials(found, results)}: the memif"
        f" peer's ring was full for {printed.duration(sum(full))} in all",
    )


def _is_refused(result: Outcome) -> bool:
    return any(stream.refused for stream in result.streams)


def _in_trials(found: Sequence[object], every: Sequence[object]) -> str:
    """` in 2 of 5 trials`; empty where there is one."""
    return f" in {len(found)} of {len(every)} trials" if len(every) > 1 else ""


def count_retries(reasons: Sequence[tuple[Reason, ...]]) -> Finding | None:
    """Trials that did not count and were retried, by the codes of why."""
    if not reasons:
        return None
    trials = f"{counted(len(reasons), 'trial')} {'was' if len(reasons) == 1 else 'were'}"
    # Of one kind the first is printed, with its numbers.
    alike: dict[tuple[str, ...], list[tuple[Reason, ...]]] = {}
    for each in reasons:
        alike.setdefault(tuple(map(_kind, each)), []).append(each)
    why = "; ".join(
        "; ".join(map(str, first))
        + ("" if all(one == first for one in more) else f" (and {len(more)} more like it)")
        for first, *more in alike.values()
    )
    return Finding("retried", Fraction(len(reasons)), f"{trials} retried: {why}")


def _kind(reason: Reason) -> str:
    """The code of a reason; of one of the engine's, the engine's."""
    return reason.kind if isinstance(reason, EngineReason) else reason.code


def _split(results: Sequence[Outcome]) -> Iterator[Finding]:
    most = max((result.health.split_flows for result in results), default=0)
    if most:
        each = ", in one trial" if len(results) > 1 else ""
        yield Finding(
            "split",
            Fraction(most),
            f"order and copies of {counted(most, 'flow')} whose frames came in on several workers{each} are"
            " not known from one to the other: a copy among them counts as a frame that came",
        )


def _shared(results: Sequence[Outcome]) -> Iterator[Finding]:
    crowded = [one.health for one in results if one.health.threads > one.health.cores > 0]
    if not crowded:
        return
    one = max(crowded, key=lambda health: Fraction(health.threads, health.cores))
    workers = max(len(one.workers), 1)
    devices = one.threads - workers
    core = one.workers[0].core if one.workers else None
    if one.cores == 1 and workers == 1 and devices == 1:
        who = f"tester and emulated device share {'a core' if core is None else f'core {core}'}"
    else:
        beside = f" and {counted(devices, 'emulated device')}" if devices else ""
        who = f"{counted(workers, 'worker')} of the tester{beside} share {counted(one.cores, 'core')}"
    yield Finding(
        "shared",
        Fraction(one.threads, one.cores),
        f"{who}, and none of them sleeps: each is away while another has it, which makes loss and latency",
    )


def _hosts(results: Sequence[Outcome]) -> Iterator[Finding]:
    """How each of several generator hosts did, its worst over the trials; the least core share first."""
    by_name: dict[str, list[HostHealth]] = {}
    for result in results:
        for one in result.hosts:
            by_name.setdefault(one.name, []).append(one)
    sentences = []
    for name, every in by_name.items():
        shares = [one.core_share_ppm for one in every if one.core_share_ppm is not None]
        parts = [f"{printed.percent(Fraction(min(shares), 1_000_000))} of its core"] if shares else []
        for what, times in (
            ("longest pause {}", [one.longest_gap_ns for one in every]),
            ("began {} late at most", [one.began_late_ns for one in every]),
            ("its clock known to {}", [one.clock_bound_ns for one in every]),
            ("some process waited for a core for {}", [one.pressure_ns for one in every]),
        ):
            known = [ns for ns in times if ns is not None]
            parts += [what.format(printed.duration(max(known)))] if known else []
        unsent, dropped = sum(one.unsent or 0 for one in every), sum(one.rx_dropped or 0 for one in every)
        parts += [f"{counted(unsent, 'frame')} not sent"] if unsent else []
        parts += [f"{counted(dropped, 'frame')} dropped on receiving"] if dropped else []
        who = f"host `{name}`" if name else "this host"
        sentences.append((min(shares, default=1_000_000), f"{who}: {', '.join(parts)}"))
    if sentences:
        # The end of a long sentence is left out of a first screen.
        sentences.sort(key=lambda of: of[0])
        weight = Fraction(1_000_000 - sentences[0][0], 1_000_000)
        yield Finding("hosts", weight, "; ".join(sentence for _, sentence in sentences))


def _workers(results: Sequence[Outcome]) -> Iterator[Finding]:
    """How each of several workers did, its worst over the trials."""
    results = [result for result in results if not result.hosts]
    count = max((len(result.health.workers) for result in results), default=0)
    if count < 2:
        return
    sentences, least = [], 1_000_000
    for place in range(count):
        trials = [one.health.workers[place] for one in results if len(one.health.workers) > place]
        shares = [one.core_share_ppm for one in trials if one.core_share_ppm is not None]
        least = min(least, *shares) if shares else least
        merged = WorkerHealth(
            core=trials[0].core,
            core_share_ppm=min(shares, default=None),
            rounds=sum(one.rounds for one in trials),
            longest_gap_ns=max(one.longest_gap_ns for one in trials),
            frames=sum(one.frames for one in trials),
            busy_ns=sum(one.busy_ns for one in trials),
            rx_frames=tuple(sum(one.rx_frames) for one in trials if one.rx_frames),
        )
        sentences.append(worker(merged, place + 1))
    yield Finding("workers", Fraction(1_000_000 - least, 1_000_000), "; ".join(sentences))


def _queues(results: Sequence[Outcome]) -> Iterator[Finding]:
    """Whether the frames that came in on a port were mostly one worker's: the others could not help it."""
    found: list[Finding] = []
    for result in results:
        # A worker of another host receives nothing here.
        for place, port in enumerate(() if result.hosts else result.ports):
            came = [one.rx_frames[place] for one in result.health.workers if len(one.rx_frames) > place]
            total, even = sum(came), Fraction(sum(came), max(len(came), 1))
            if len(came) < 2 or total < ENOUGH_FRAMES or min(came) >= even / UNEVEN:
                continue
            shares = [
                f"worker {number}{' had' if number == 1 else ''} {printed.percent(Fraction(count, total))}"
                for number, count in enumerate(came, start=1)
            ]
            who = f"{', '.join(shares[:-1])} and {shares[-1]}"
            sentence = (
                f"of the {total:,} frames that came in on `{port.name}` {who}: flows are not spread"
                " evenly over their queues, by the card, the kernel or the peer, so what one worker can"
                " receive may be the limit"
            )
            found.append(Finding("queues", Fraction(max(came), total), sentence))
    if found:
        yield max(found, key=lambda finding: finding.weight)


def _latest(lags_ns: Iterable[int]) -> str:
    return printed.duration(max(lags_ns))
