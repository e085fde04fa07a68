"""The limit of values of connections: the questions of docs/verdicts.md, in order. The first answer stands.

What fills the path is limited by the path, whatever else happened. Then the tester's programs are doubted,
what both kernels hold back, and what is lost below overload; the device is named by its own counters, or by
own frames alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from netdyno.stats.path import FULL, HALF, Path, read_path
from netdyno.values.finding import Result
from netdyno.values.gauge import mean_within
from netdyno.values.load import CONNECTIONS, Trial
from netdyno.values.number import bits
from netdyno.values.outcome import Carried, Outcome
from netdyno.values.rates import ip_length
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict.connection_reasons import (
    BufferSmall,
    DeviceBusy,
    DeviceDropped,
    DeviceFull,
    PathFull,
    PathLoses,
    PathPolices,
    PathUnclear,
    PathUnknown,
    TesterBusy,
    WindowSmall,
)
from netdyno.verdict.device_counts import IN_DROPS, OUT_DROPS
from netdyno.verdict.directions import with_sums
from netdyno.verdict.licence import find_round_figure
from netdyno.verdict.reasons import NoValue
from netdyno.verdict.served import find_late_device

TCP_HEADERS = 52
"""Bytes of IPv4 and TCP with timestamps, which Linux sends: 20, 20, 12."""
FULL_PATH = Fraction(97, 100)
"""Of what full frames pass. Acknowledgements are 2.3 % of what both ways share."""
BEYOND = Fraction(103, 100)
"""More than what own frames passed shows that these, and not the path, were held up."""
FULL_LINE = Fraction(995, 1000)
LICENCE = Fraction(2, 100)
"""Own frames this close to a declared licence are at it."""
WANTS = Fraction(9, 10)
"""A program that wants a core for so much of the time would send more on a faster one."""
WAITS = Fraction(1, 20)
"""One that waited so much of the time was not there when it should have been."""
HELD = Fraction(1, 2)
"""Of the time with something to send, in which one thing held the sender back."""
BUSY = Fraction(95, 100)
"""Of a processor of the device, over the whole test."""
LOSSES = 3
"""Lost frames that are no accident."""
QUEUE_NS = 10**6
"""Frames that wait this much longer stand in a queue."""


@dataclass(frozen=True)
class _Subject:
    """What is known of one stream's connections. path: by own frames; None: they showed nothing."""

    carried: Carried
    path: Path | None
    outcome: Outcome
    situation: Situation
    is_line_enforced: bool

    @property
    def bps(self) -> Fraction:
        """Payload that arrived, bits a second."""
        return Fraction(8 * self.carried.received_bytes * 10**9, max(self.carried.received_ns, 1))

    @property
    def of_path(self) -> Fraction | None:
        """The share of what the path passes, in bits of frames; None: not known."""
        if self.path is None:
            return None
        size = self.situation.mean_size
        most = Fraction(ip_length(size) - TCP_HEADERS)
        mss = min((Fraction(one.mss_bytes) for one in self.carried.each), default=most)
        frame = size - most + min(mss, most)
        return self.bps * frame / min(mss, most) / (self.path.fps * 8 * size)

    @property
    def is_capped(self) -> bool:
        """Whether own frames found the most that the path passes."""
        if self.of_path is None or self.of_path > BEYOND:
            return False
        return self.path is not None and (self.is_line or not self.path.is_least)

    @property
    def is_line(self) -> bool:
        """Whether the path passes as many as its line carries, and something holds the line to its rate."""
        line = self.situation.line(self.carried.name)
        return self.path is not None and self.is_line_enforced and self.path.fps >= FULL_LINE * line

    @property
    def retransmitted(self) -> int:
        """Segments that were sent again."""
        return self.carried.retransmitted_segments or 0

    @property
    def queue_ns(self) -> int | None:
        """How much longer own frames take where more come than pass."""
        return None if self.path is None else self.path.queue_ns

    @property
    def busy_ns(self) -> int:
        """Time with something to send, over all connections."""
        return sum(one.busy_ns for one in self.carried.each)

    @property
    def rtt_ns(self) -> int:
        """The mean round-trip time."""
        each = self.carried.each
        if self.carried.mean_rtt_ns is not None:
            return self.carried.mean_rtt_ns
        return sum(one.rtt_ns for one in each) // len(each) if each else 0


_Question: TypeAlias = Callable[[_Subject], Verdict | None]


def judge_connections(
    result: Result,
    name: str,
    trials: Mapping[int, tuple[Trial, Outcome]],
    situation: Situation,
    *,
    is_line_enforced: bool,
) -> dict[str, Verdict]:
    """The verdict on each scope of a value, and on their sum. is_line_enforced: whether something holds the
    ports to their lines' rates."""
    found: dict[str, Verdict] = {}
    for stream in situation.streams:
        if result.value(name, stream) is None:
            continue
        numbers = result.resting(name, stream)
        resting = [trials[number][1] for number in numbers if number in trials]
        subjects = [
            _Subject(carried, _path(trials.values(), stream), outcome, situation, is_line_enforced)
            for outcome in resting
            for carried in outcome.carried
            if carried.name == stream
        ]
        found[stream] = _judge(subjects[-1]) if subjects else Verdict("inconclusive", NoValue())
    return with_sums(found, situation, found)


def _path(trials: Iterable[tuple[Trial, Outcome]], stream: str) -> Path | None:
    frames = [(trial.name, outcome) for trial, outcome in trials if trial.load.load_class is not CONNECTIONS]
    half = next((outcome for of, outcome in frames if of == HALF), None)
    return read_path([outcome for of, outcome in frames if of == FULL], half, stream)


def _judge(subject: _Subject) -> Verdict:
    answers = (question(subject) for question in QUESTIONS)
    return next(filter(None, answers), Verdict("inconclusive", PathUnclear(subject.of_path)))


def _find_full_path(subject: _Subject) -> Verdict | None:
    if not subject.is_capped or (subject.of_path or 0) < FULL_PATH:
        return None
    return _name_path(subject)


def _name_path(subject: _Subject) -> Verdict:
    """Who sets what the path passes: the line, a licence, a shaper; else the device itself."""
    path, situation = subject.path, subject.situation
    assert path is not None
    assert subject.of_path is not None
    size = situation.mean_size

    def full(limit: Limit, what: str, figure: str = "") -> Verdict:
        reason = PathFull(
            what,
            min(subject.of_path or Fraction(0), Fraction(1)),
            path.fps,
            int(size),
            subject.queue_ns,
            figure,
        )
        return Verdict(limit, reason)

    if subject.is_line:
        return full("line", "Line rate")
    bps = path.fps * 8 * size
    licence = situation.licence_bps
    if licence is not None and abs(bps - licence) <= LICENCE * licence:
        return full("licence", "Licence limit", f"the licence is for {bits(licence)}")
    figure = find_round_figure(path.fps, size)
    if figure is not None:
        return full("shaper", "Shaper limit", f"{bits(figure.bps)} of {figure.layer}")
    reason = DeviceFull(subject.of_path, path.fps, int(size), subject.retransmitted)
    return Verdict("device", reason)


def _find_busy_tester(subject: _Subject) -> Verdict | None:
    ends = (("receiving", subject.carried.receiver), ("sending", subject.carried.sender))
    busy = [
        (end, one) for end, one in ends if one is not None and (one.wanted >= WANTS or one.waited >= WAITS)
    ]
    if not busy:
        return None
    end, one = max(busy, key=lambda of: of[1].wanted)
    return Verdict("tester", TesterBusy(end, Fraction(one.ran_ns, one.elapsed_ns), one.waited))


def _find_small_window(subject: _Subject) -> Verdict | None:
    held = sum(one.window_ns for one in subject.carried.each)
    if not subject.busy_ns or held < HELD * subject.busy_ns:
        return None
    return Verdict("receive-window", WindowSmall(Fraction(held, subject.busy_ns), subject.rtt_ns))


def _find_small_buffer(subject: _Subject) -> Verdict | None:
    held = sum(one.buffer_ns for one in subject.carried.each)
    if not subject.busy_ns or held < HELD * subject.busy_ns:
        return None
    return Verdict("send-buffer", BufferSmall(Fraction(held, subject.busy_ns), subject.rtt_ns))


def _find_late_device(subject: _Subject) -> Verdict | None:
    late = find_late_device(subject.outcome)
    return None if late is None else Verdict("tester", late)


def _find_loss(subject: _Subject) -> Verdict | None:
    path = subject.path
    if path is None or path.lost < LOSSES or not subject.retransmitted:
        return None
    return Verdict("loss", PathLoses(path.lost, path.of, subject.retransmitted))


def _find_policer(subject: _Subject) -> Verdict | None:
    path = subject.path
    if path is None or not subject.is_capped or not subject.retransmitted or subject.queue_ns is None:
        return None
    if subject.queue_ns >= QUEUE_NS:
        return None
    assert subject.of_path is not None
    reason = PathPolices(subject.of_path, path.fps, int(subject.situation.mean_size), subject.retransmitted)
    return Verdict("policer", reason)


def _find_dropping_device(subject: _Subject) -> Verdict | None:
    drops = dict(_drops(subject.outcome))
    if not drops or not subject.retransmitted:
        return None
    reason = DeviceDropped(sum(drops.values()), tuple(drops), subject.retransmitted, subject.of_path)
    return Verdict("device", reason)


def _drops(outcome: Outcome) -> Iterator[tuple[str, int]]:
    """The device's counters of drops that moved while connections were open."""
    for one in outcome.series:
        is_drop = one.name in (*IN_DROPS, *OUT_DROPS) or one.name.endswith("_drops")
        if one.is_counter and is_drop and one.values and one.values[-1] > one.values[0]:
            yield one.name, one.values[-1] - one.values[0]


def _find_busy_device(subject: _Subject) -> Verdict | None:
    took_ns = subject.carried.sent_ns
    means = [
        (mean / 100, one)
        for one in subject.outcome.series
        if (one.unit, one.is_counter) == ("%", False) and one.name.endswith("CPU")
        if (mean := mean_within(one, 0, took_ns)) is not None
    ]
    busy, one = max(means, key=lambda of: of[0], default=(Fraction(0), None))
    if one is None or busy < BUSY:
        return None
    return Verdict("device", DeviceBusy(one.subject, one.name, busy, subject.of_path))


def _find_path_with_losses(subject: _Subject) -> Verdict | None:
    """TCP that loses at the path's own limit does not fill it all the time."""
    return _name_path(subject) if subject.is_capped and subject.retransmitted else None


def _find_unknown_path(subject: _Subject) -> Verdict | None:
    return Verdict("inconclusive", PathUnknown()) if subject.path is None else None


QUESTIONS: Sequence[_Question] = (
    _find_full_path,
    _find_busy_tester,
    _find_small_window,
    _find_small_buffer,
    _find_loss,
    _find_late_device,
    _find_policer,
    _find_dropping_device,
    _find_busy_device,
    _find_path_with_losses,
    _find_unknown_path,
)
