"""The limit of values of connections: the questions of docs/verdicts.md, in order. The first answer stands.

What fills the path, its line or a licence is limited by that, whatever else happened. Then the tester's
programs are doubted, what both kernels hold back, and what is lost below overload; the device is named by its
own counters, or by own frames alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from netdyno.stats.path import FULL, HALF, Path, count_unheard, find_smaller, read_path
from netdyno.values.finding import Result
from netdyno.values.gauge import mean_within
from netdyno.values.load import Trial
from netdyno.values.number import bits
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
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
from netdyno.verdict.connection_subject import BEYOND, Subject, count_drops
from netdyno.verdict.directions import with_sums
from netdyno.verdict.licence import find_round_figure
from netdyno.verdict.reasons import NoValue
from netdyno.verdict.served import find_late_device

FULL_PATH = Fraction(97, 100)
"""Of what full frames pass. Acknowledgements are 2.3 % of what both ways share."""
LICENCE = Fraction(2, 100)
"""Own frames this close to a declared licence are at it."""
LOSING = Fraction(9, 10)
"""Of what the path passes: TCP that loses at its queue fills so much of it, or more."""
LEAST_LOSING = Fraction(1, 2)
"""Of what the path passes: TCP that halves its window at each loss there fills more, without any queue."""
EXPLAINED = Fraction(1, 2)
"""Of the segments that were sent again: the device dropped so many frames, or others lost the rest."""
CONTROL_PLANE = "control-plane"
"""Begins the names of processors that no frame waits for."""
AT_FRAMES = Fraction(5, 100)
"""Frames both ways this close to the most own frames that passed are as many."""
WANTS = Fraction(9, 10)
"""A program that wants a core for so much of the time would send more on a faster one."""
WAITS = Fraction(1, 20)
"""One that waited so much of the time was not there when it should have been."""
COST = Fraction(1, 2)
"""Waiting for a core costs up to twice its share of the time."""
HELD = Fraction(1, 2)
"""Of the time with something to send, in which one thing held the sender back."""
BUSY = Fraction(95, 100)
"""Of a processor of the device, over the whole test."""
OF_POLICER = Fraction(8, 10)
"""Of what a policer passes: TCP, which halves its window at each loss, has hardly more."""
AT_FIGURE = Fraction(3, 1000)
"""Of a policer's rate: what own frames count of it for a second differs no more."""
OF_BUCKET = Fraction(5, 4)
"""Of what a policer passes for long, with what its bucket held."""
POLICER = "policer"
"""Begins the names of counters of what policers dropped."""
OVERLOAD = 4
"""Losses that come of too much are so many times the share of those that do not."""
LOSSES = 3
"""Lost frames that are no accident: a probe of the last segment is sent again, too."""
QUEUE_NS = 10**6
"""Frames that wait this much longer stand in a queue."""
QUEUE_FRAMES = 50
"""So do those before which so many pass: the ring of a fast card is empty in less than a millisecond."""


_Question: TypeAlias = Callable[[Subject], Verdict | None]


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
    full = [outcome for trial, outcome in trials.values() if trial.name == FULL]
    half = [outcome for trial, outcome in trials.values() if trial.name == HALF]
    known = {stream: read_path(full, half, stream) for stream in situation.streams}
    paths = {stream: path for stream, path in known.items() if path is not None}
    for stream in situation.streams:
        if result.value(name, stream) is None:
            continue
        numbers = result.resting(name, stream)
        far = next((note.servers for note in result.notes if isinstance(note, FarServer)), ())
        unheard = count_unheard(full, stream)
        resting = [trials[number][1] for number in numbers if number in trials]
        subjects = [
            Subject(carried, paths, outcome, situation, is_line_enforced, unheard, far)
            for outcome in resting
            for carried in outcome.carried
            if carried.name == stream
        ]
        found[stream] = _judge(subjects[-1]) if subjects else Verdict("inconclusive", NoValue())
    # Of several programs without a core the sum names that first which waited most.
    found = dict(sorted(found.items(), key=lambda of: -_waited(of[1].reason)))
    return with_sums(found, situation, found)


def _waited(reason: Reason) -> Fraction:
    return reason.waited if isinstance(reason, TesterBusy) else Fraction(0)


def _judge(subject: Subject) -> Verdict:
    answers = (question(subject) for question in QUESTIONS)
    return next(filter(None, answers), Verdict("inconclusive", PathUnclear(subject.of_path)))


def _find_black_hole(subject: Subject) -> Verdict | None:
    """Small segments opened the connections, and of full ones none came, not once."""
    if not subject.unheard or subject.carried.received_bytes or not subject.retransmitted:
        return None
    size = int(subject.situation.mean_size)
    reason = FullFramesLost(size, subject.unheard, subject.retransmitted, find_smaller(size))
    return Verdict("loss", reason)


def _find_full_path(subject: Subject) -> Verdict | None:
    if not subject.is_capped or (subject.of_path or 0) < FULL_PATH:
        return None
    return _name_path(subject)


def _name_path(subject: Subject) -> Verdict:
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
    if _is_licence(subject, path):
        return full("licence", "Licence limit", f"the licence is for {bits(situation.licence_bps or 0)}")
    figure = find_round_figure(path.fps, size)
    if figure is not None:
        return full("shaper", "Shaper limit", f"{bits(figure.bps)} of {figure.layer}")
    reason = DeviceFull(subject.of_path, path.fps, int(size), subject.retransmitted)
    return Verdict("device", reason)


def _is_licence(subject: Subject, path: Path) -> bool:
    """Whether own frames pass at the rate of a declared licence."""
    licence = subject.situation.licence_bps
    return (
        licence is not None and abs(path.fps * 8 * subject.situation.mean_size - licence) <= LICENCE * licence
    )


def _find_full_figure(subject: Subject) -> Verdict | None:
    """What is declared and full needs no frames of the tester's own: its line, or a licence of both ways."""
    licence = subject.situation.licence_bps
    of_licence = subject.both_bps / licence if licence else Fraction(0)
    of_line = subject.of_line if subject.is_line_enforced else Fraction(0)
    if not FULL_PATH <= max(of_line, of_licence) <= BEYOND:
        return None
    if licence and of_licence > of_line:
        return Verdict("licence", LicenceFull(of_licence, subject.both_bps, licence))
    return Verdict("line", LineFull(of_line, subject.bps, subject.bps / of_line))


def _find_busy_tester(subject: Subject) -> Verdict | None:
    """A program that had no core to spare, or waited long enough to cost as much as is missing."""
    missing = 1 - subject.of_path if subject.is_capped and subject.of_path is not None else Fraction(0)
    return _blame_tester(subject, max(WAITS, missing * COST))


def _find_waiting_tester(subject: Subject) -> Verdict | None:
    """A program that waited at all: before a device is named."""
    return _blame_tester(subject, WAITS)


def _blame_tester(subject: Subject, waits: Fraction) -> Verdict | None:
    ends = (("receiving", subject.carried.receiver), ("sending", subject.carried.sender))
    busy = [(end, one) for end, one in ends if one and (one.wanted >= WANTS or one.waited >= waits)]
    if not busy:
        return None
    end, one = max(busy, key=lambda of: of[1].wanted)
    return Verdict("tester", TesterBusy(end, Fraction(one.ran_ns, one.elapsed_ns), one.waited, one.host))


def _find_small_window(subject: Subject) -> Verdict | None:
    held = sum(one.window_ns for one in subject.carried.each)
    if not subject.busy_ns or held < HELD * subject.busy_ns:
        return None
    return Verdict("receive-window", WindowSmall(Fraction(held, subject.busy_ns), subject.rtt_ns))


def _find_small_buffer(subject: Subject) -> Verdict | None:
    held = sum(one.buffer_ns for one in subject.carried.each)
    if not subject.busy_ns or held < HELD * subject.busy_ns:
        return None
    return Verdict("send-buffer", BufferSmall(Fraction(held, subject.busy_ns), subject.rtt_ns))


def _find_late_device(subject: Subject) -> Verdict | None:
    late = find_late_device(subject.outcome)
    return None if late is None else Verdict("tester", late)


def _find_loss(subject: Subject) -> Verdict | None:
    path = subject.path
    if path is None or path.lost < LOSSES or not subject.retransmitted:
        return None
    return Verdict("loss", PathLoses(path.lost, path.of, subject.retransmitted))


def _find_policer(subject: Subject) -> Verdict | None:
    path = subject.path
    if path is None or path.is_least or subject.of_path is None or subject.retransmitted < LOSSES:
        return None
    # Losses of any load are as many at half of it; a burst behind a pause is too much for a policer, too.
    at_any_load = OVERLOAD * Fraction(path.lost, max(path.of, 1))
    least_ns = min(Fraction(QUEUE_NS), QUEUE_FRAMES * 10**9 / path.fps)
    does_wait = subject.queue_ns is None or subject.queue_ns >= least_ns
    if subject.is_line or does_wait or path.beyond <= at_any_load:
        return None
    if subject.of_path > OF_BUCKET:
        return None
    if _is_licence(subject, path):
        return _name_path(subject)
    reason = PathPolices(subject.of_path, path.fps, int(subject.situation.mean_size), subject.retransmitted)
    return Verdict("policer", reason)


def _find_used_policer(subject: Subject) -> Verdict | None:
    """A policer of which TCP has as much as it can have: however the tester's programs waited.

    It is set to a round figure; a device without a queue passes what it can.
    """
    path = subject.path
    if path is None or (subject.of_path or 0) < OF_POLICER:
        return None
    is_round = find_round_figure(path.fps, subject.situation.mean_size, AT_FIGURE) is not None
    return _find_policer(subject) if is_round else None


def _find_full_frames(subject: Subject) -> Verdict | None:
    """A device that counts frames, and not their bits, passes fewer with payload: some acknowledge them."""
    passed, both_fps = subject.passed_fps, subject.both_fps
    if passed is None or both_fps is None or not subject.is_capped or subject.is_line:
        return None
    if _find_waiting_tester(subject) is not None:
        return None
    if subject.retransmitted < LOSSES or abs(both_fps - passed) > AT_FRAMES * passed:
        return None
    reason = FramesFull(both_fps, subject.all_data_fps, passed, subject.retransmitted)
    return Verdict("device", reason)


def _find_dropping_device(subject: Subject) -> Verdict | None:
    dropped, counters = count_drops(subject.outcome, subject.situation.device_ports)
    if not dropped or dropped < EXPLAINED * subject.retransmitted or not subject.retransmitted:
        return None
    if subject.is_line and (subject.of_path or 0) >= LEAST_LOSING:
        # Own frames fill it without a loss: what its queue dropped was too much at once.
        return None
    if subject.is_capped and (subject.of_path or 0) >= LOSING:
        return _name_path(subject)
    by_policer = counters[0].startswith(POLICER)
    what = "Policer limit" if by_policer else "Device limit"
    reason = DeviceDropped(dropped, counters, subject.retransmitted, subject.of_path, what)
    return Verdict("policer" if by_policer else "device", reason)


def _find_busy_device(subject: Subject) -> Verdict | None:
    took_ns = subject.carried.sent_ns
    means = [
        (mean / 100, one)
        for one in subject.outcome.series
        if (one.unit, one.is_counter) == ("%", False) and one.name.endswith("CPU")
        if not one.name.startswith(CONTROL_PLANE)
        if (mean := mean_within(one, 0, took_ns)) is not None
    ]
    busy, one = max(means, key=lambda of: of[0], default=(Fraction(0), None))
    if one is None or busy < BUSY:
        return None
    return Verdict("device", DeviceBusy(one.subject, one.name, busy, subject.of_path))


def _find_path_with_losses(subject: Subject) -> Verdict | None:
    """TCP that loses at the path's own limit does not fill it all the time."""
    is_there = subject.is_capped and (subject.of_path or 0) >= LEAST_LOSING
    return _name_path(subject) if is_there and subject.retransmitted >= LOSSES else None


def _find_unknown_path(subject: Subject) -> Verdict | None:
    if subject.servers:
        return Verdict("inconclusive", PathOfServer(subject.servers))
    return Verdict("inconclusive", PathUnknown()) if subject.path is None else None


QUESTIONS: Sequence[_Question] = (
    _find_black_hole,
    _find_used_policer,
    _find_full_path,
    _find_full_figure,
    _find_busy_tester,
    _find_small_window,
    _find_small_buffer,
    _find_full_frames,
    _find_policer,
    _find_loss,
    _find_late_device,
    _find_waiting_tester,
    _find_dropping_device,
    _find_busy_device,
    _find_path_with_losses,
    _find_unknown_path,
)
