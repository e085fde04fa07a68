"""The limit of values of connections: the questions of docs/verdicts.md, in order. The first answer stands.

What fills the path, its line or a licence is limited by that, whatever else happened. Then the tester's
programs are doubted, what both kernels hold back, and what is lost below overload; the device is named by its
own counters, or by own frames alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from netdyno.stats.path import FULL, HALF, Path, count_unheard, find_smaller, read_path
from netdyno.values.finding import Result
from netdyno.values.gauge import mean_within
from netdyno.values.load import Trial
from netdyno.values.number import bits
from netdyno.values.outcome import Carried, Outcome
from netdyno.values.rates import ip_length, wire_bits
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import FarServer
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict.connection_reasons import (
    BufferSmall,
    DeviceBusy,
    DeviceDropped,
    DeviceFull,
    FramesFull,
    FullFramesLost,
    LicenceFull,
    LineFull,
    PathFull,
    PathLoses,
    PathOfServer,
    PathPolices,
    PathUnclear,
    PathUnknown,
    TesterBusy,
    WindowSmall,
)
from netdyno.verdict.device_counts import IN, IN_DROPS, OUT_DROPS
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
ACK = 70
"""Bytes of a frame that only acknowledges: Ethernet with FCS, IPv4, TCP with timestamps."""
LOSING = Fraction(9, 10)
"""Of what the path passes: TCP that loses at its queue fills so much of it, or more."""
AT_FRAMES = Fraction(5, 100)
"""Frames both ways this close to the most own frames that passed are as many."""
WANTS = Fraction(9, 10)
"""A program that wants a core for so much of the time would send more on a faster one."""
WAITS = Fraction(1, 20)
"""One that waited so much of the time was not there when it should have been."""
HELD = Fraction(1, 2)
"""Of the time with something to send, in which one thing held the sender back."""
BUSY = Fraction(95, 100)
"""Of a processor of the device, over the whole test."""
OF_POLICER = Fraction(8, 10)
"""Of what a policer passes: TCP, which halves its window at each loss, has hardly more."""
POLICER = "policer"
"""Begins the names of counters of what policers dropped."""
OVERLOAD = 4
"""Losses that come of too much are so many times the share of those that do not."""
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
    unheard: int = 0
    """Own frames of full size of which none came."""
    servers: tuple[str, ...] = ()
    """On other hosts, which receive no own frames."""

    @property
    def bps(self) -> Fraction:
        """Payload that arrived, bits a second."""
        return Fraction(8 * self.carried.received_bytes * 10**9, max(self.carried.received_ns, 1))

    @property
    def most_payload(self) -> Fraction:
        """Bytes of payload in a frame of full size."""
        return Fraction(ip_length(self.situation.mean_size) - TCP_HEADERS)

    @property
    def payload(self) -> Fraction:
        """Bytes of payload in its frames."""
        return min((Fraction(one.mss_bytes) for one in self.carried.each), default=self.most_payload)

    @property
    def frame(self) -> Fraction:
        """Bytes of its frames, FCS counted."""
        return self.situation.mean_size - self.most_payload + min(self.payload, self.most_payload)

    @property
    def data_fps(self) -> Fraction:
        """Its frames with payload a second."""
        return self.bps / 8 / min(self.payload, self.most_payload)

    @property
    def of_path(self) -> Fraction | None:
        """The share of what the path passes, in bits of frames; None: not known."""
        if self.path is None:
            return None
        return self.data_fps * self.frame / (self.path.fps * self.situation.mean_size)

    @property
    def of_line(self) -> Fraction:
        """The share of its line, in bits of frames with preamble and gap: its own, and acknowledgements that
        its port sends of what it receives."""
        line = self.situation.line(self.carried.name) * wire_bits(self.situation.mean_size)
        bps = self.data_fps * wire_bits(self.frame) + self.acks_fps(self._against) * wire_bits(ACK)
        return bps / line if line else Fraction(0)

    @property
    def _against(self) -> int:
        """Bytes that came to the port that sends it."""
        at = dict(zip(self.situation.streams, self.situation.places, strict=False))
        port = at.get(self.carried.name)
        others = (one for one in self.outcome.carried if one.name in at)
        return sum(one.received_bytes for one in others if port and at[one.name].rx == port.tx)

    @property
    def both_fps(self) -> Fraction | None:
        """Frames a second that the device took in on all ports, by its counters; None: it has none."""
        return _count_fps(self.outcome, self.situation.device_ports)

    @property
    def all_data_fps(self) -> Fraction:
        """Frames with payload of all streams a second."""
        return self.data_fps * Fraction(self._all_bytes, max(self.carried.received_bytes, 1))

    @property
    def _all_bytes(self) -> int:
        return sum(one.received_bytes for one in self.outcome.carried)

    def acks_fps(self, received_bytes: int) -> Fraction:
        """Frames a second that acknowledge so many bytes of payload, by the device's counters; 0: it has
        none."""
        acks = max((self.both_fps or Fraction(0)) - self.all_data_fps, Fraction(0))
        return acks * Fraction(received_bytes, max(self._all_bytes, 1))

    @property
    def both_bps(self) -> Fraction:
        """Bits of frames of all streams a second, with as many acknowledgements as are known."""
        return 8 * (self.all_data_fps * self.frame + self.acks_fps(self._all_bytes) * ACK)

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
        far = next((note.servers for note in result.notes if isinstance(note, FarServer)), ())
        unheard = count_unheard(_list_full(trials.values()), stream)
        resting = [trials[number][1] for number in numbers if number in trials]
        subjects = [
            _Subject(
                carried, _path(trials.values(), stream), outcome, situation, is_line_enforced, unheard, far
            )
            for outcome in resting
            for carried in outcome.carried
            if carried.name == stream
        ]
        found[stream] = _judge(subjects[-1]) if subjects else Verdict("inconclusive", NoValue())
    return with_sums(found, situation, found)


def _list_full(trials: Iterable[tuple[Trial, Outcome]]) -> list[Outcome]:
    return [outcome for trial, outcome in trials if trial.name == FULL]


def _path(trials: Collection[tuple[Trial, Outcome]], stream: str) -> Path | None:
    half = [outcome for trial, outcome in trials if trial.name == HALF]
    return read_path(_list_full(trials), half, stream)


def _count_fps(outcome: Outcome, ports: Sequence[str]) -> Fraction | None:
    """Frames a second that came to the device's ports, in the middle one of its readings."""
    found = []
    for one in outcome.series:
        if one.name != IN or not one.is_counter or (ports and one.subject not in ports):
            continue
        steps = pairwise(zip(one.times_ns, one.values, strict=True))
        rates = [
            Fraction((count - before) * 10**9, at_ns - from_ns) for (from_ns, before), (at_ns, count) in steps
        ]
        if rates:
            found.append(median(rates))
    return sum(found, Fraction(0)) or None


def _judge(subject: _Subject) -> Verdict:
    answers = (question(subject) for question in QUESTIONS)
    return next(filter(None, answers), Verdict("inconclusive", PathUnclear(subject.of_path)))


def _find_black_hole(subject: _Subject) -> Verdict | None:
    """Small segments opened the connections, and of full ones none came, not once."""
    if not subject.unheard or subject.carried.received_bytes or not subject.retransmitted:
        return None
    size = int(subject.situation.mean_size)
    reason = FullFramesLost(size, subject.unheard, subject.retransmitted, find_smaller(size))
    return Verdict("loss", reason)


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


def _find_full_figure(subject: _Subject) -> Verdict | None:
    """What is declared and full needs no frames of the tester's own: its line, or a licence of both ways."""
    licence = subject.situation.licence_bps
    of_licence = subject.both_bps / licence if licence else Fraction(0)
    of_line = subject.of_line if subject.is_line_enforced else Fraction(0)
    if not FULL_PATH <= max(of_line, of_licence) <= BEYOND:
        return None
    if licence and of_licence > of_line:
        return Verdict("licence", LicenceFull(of_licence, subject.both_bps, licence))
    return Verdict("line", LineFull(of_line, subject.bps, subject.bps / of_line))


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
    # Losses of any load are as many at half of it; a burst behind a pause is too much for a policer, too.
    at_any_load = OVERLOAD * Fraction(path.lost, max(path.of, 1))
    if subject.is_line or subject.queue_ns >= QUEUE_NS or path.beyond <= at_any_load:
        return None
    assert subject.of_path is not None
    reason = PathPolices(subject.of_path, path.fps, int(subject.situation.mean_size), subject.retransmitted)
    return Verdict("policer", reason)


def _find_used_policer(subject: _Subject) -> Verdict | None:
    """A policer of which TCP has as much as it can have: however the tester's programs waited."""
    return _find_policer(subject) if (subject.of_path or 0) >= OF_POLICER else None


def _find_full_frames(subject: _Subject) -> Verdict | None:
    """A device that counts frames, and not their bits, passes fewer with payload: some acknowledge them."""
    path, both_fps = subject.path, subject.both_fps
    if path is None or both_fps is None or not subject.is_capped or subject.is_line:
        return None
    if not subject.retransmitted or abs(both_fps - path.fps) > AT_FRAMES * path.fps:
        return None
    reason = FramesFull(both_fps, subject.data_fps, path.fps, subject.retransmitted)
    return Verdict("device", reason)


def _find_dropping_device(subject: _Subject) -> Verdict | None:
    drops = dict(_drops(subject.outcome))
    if not drops or not subject.retransmitted:
        return None
    if subject.is_capped and not subject.is_line and (subject.of_path or 0) >= LOSING:
        return _name_path(subject)
    by_policer = all(name.startswith(POLICER) for name in drops)
    what = "Policer limit" if by_policer else "Device limit"
    reason = DeviceDropped(sum(drops.values()), tuple(drops), subject.retransmitted, subject.of_path, what)
    return Verdict("policer" if by_policer else "device", reason)


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
    if subject.servers:
        return Verdict("inconclusive", PathOfServer(subject.servers))
    return Verdict("inconclusive", PathUnknown()) if subject.path is None else None


QUESTIONS: Sequence[_Question] = (
    _find_black_hole,
    _find_full_path,
    _find_full_figure,
    _find_used_policer,
    _find_busy_tester,
    _find_small_window,
    _find_small_buffer,
    _find_full_frames,
    _find_policer,
    _find_loss,
    _find_late_device,
    _find_dropping_device,
    _find_busy_device,
    _find_path_with_losses,
    _find_unknown_path,
)
