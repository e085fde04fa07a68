"""How many lost frames the tester's own timing may explain; docs/verdicts-detail.md has the rules.

The question of each lost frame is whether a device would have lost it, too, had every frame left when it was
due. Suppose a device that then loses nothing: a queue or a bucket of at least one frame, served at least at
the load. What arrives late arrives in a bunch. Each frame that is moved in time changes what such a device
loses by one frame at most, so a pause explains no more frames than it moved.

Samples of a trial in which nothing was lost are witnesses: a bunch that the device took there it takes
anywhere at no higher load, for such a device does not depend on the time of day.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, zip_longest

from netdyno.stats.histogram import decode
from netdyno.values.outcome import Lag, LatePeriod, Outcome, StreamResult

TRUSTED_RATE = Fraction(9, 10)
"""A device that passed a rate over a whole trial serves at least this share of it: a bucket that makes up the
rest holds more frames than any bunch of on-time frames."""

ENOUGH = 16
"""Frames of each flow, from which on one that never came is dead."""

BEGUN_CHANCE = Fraction(1, 10)
"""That all losses begin with pauses by chance is then unlikely enough to blame nobody for them."""

STRAY_CHANCE = Fraction(1, 100)
"""That as many copies came elsewhere as frames were lost is then no chance."""

FULL = Fraction(999, 1000)
"""From this share of a line on no frame can come earlier than it is due."""

APART = Fraction(3, 2)
"""Loads so far apart are two."""

SETTLED_NS = 1_000_000_000
"""So long after a pause a device may still be busy with what it has left: one that serves its queue, or fills
its bucket, in turns of up to that length. Policers count frames by the second, and a process has its quota of
its core by the second at most."""

BEGUN_NS = (20_000_000, 125_000_000)
"""Frames that begin to be lost no later than this after a pause may be lost because of it: at once, or of a
device that works in long turns at the end of one."""

GOES_ON = 4
"""Losses go on over a part of the time they have lasted: one in so many samples."""

SILENT = Fraction(99, 100)
"""The share of frames in a dated gap from which on nothing came back in it; the others stood between two."""

MOMENT_NS = 1_000_000
"""Nothing came back for so long at least: bunches of frames up to 10 us late are over by then."""

WAITING_NS = 100_000
"""Frames that wait no longer than this in a device are no queue that a pause has left."""

SECOND_NS = 10**9


@dataclass(frozen=True)
class Timed:
    """A trial, and how long it was to send, ns; None: unknown. is_constant: of one load, sent frame
    by frame."""

    trial: Outcome
    planned_ns: int | None = None
    is_constant: bool = False

    @cached_property
    def sent_ns(self) -> int:
        """How long it sent, ns, as planned or as it did. Each of its streams asks."""
        samples = max((len(stream.tx) for stream in self.trial.streams), default=0)
        return max(self.planned_ns or self.trial.sample_ns * samples, 1)

    @cached_property
    def late(self) -> list[tuple[Witnesses, Sequence[_Moved]]]:
        """Its late periods as `_list_moved` found them, by witnesses. Each of its streams asks for them."""
        return []

    @cached_property
    def lags(self) -> Sequence[tuple[int, int]]:
        """How late frames left, ns, and how many of them, by the buckets of all its streams."""
        found: Counter[int] = Counter()
        for stream in self.trial.streams:
            if stream.lag is not None:
                for ns, frames in decode(stream.lag.histogram).buckets:
                    found[ns] += frames
        return list(found.items())

    @cached_property
    def sent(self) -> Sequence[int]:
        """How many frames all its streams sent in each sample. Each of them asks."""
        return [sum(tx for tx, _ in row) for row in _rows(self.trial.streams)]

    @cached_property
    def latest_ns(self) -> Sequence[int]:
        """The most a frame was late up to each sample, ns, as far as that is on time."""
        lags = [stream.lag for stream in self.trial.streams if stream.lag is not None]
        rows = [[min(row[0], lag.limit_ns) for row in tuple(lag.by_sample)[: len(self.sent)]] for lag in lags]
        each = (max(row) for row in zip_longest(*rows, fillvalue=0))
        most = [*each, *([0] * len(self.sent))][: len(self.sent)]
        return list(accumulate(most, max))


@dataclass(frozen=True)
class Traffic:
    """What a case sends. flows: of each stream, 0: unknown. burst: frames that are due at once. ratio: of the
    time on the line of its longest frame to that of its shortest, rounded up: so many short ones may be lost
    to a long one that comes late. frame_ns: the time of a frame on the slowest line that they are sent on; 0:
    nothing keeps frames apart. ports: that send. sizes: of its frames, with their weights; empty: unknown.
    varies: fields in which flows differ, each with the most values that it has, and whether they are drawn at
    random; empty: unknown."""

    flows: int = 0
    burst: int = 1
    ratio: int = 1
    frame_ns: Fraction = Fraction(0)
    ports: int = 1
    sizes: tuple[tuple[int, int], ...] = ()
    varies: tuple[tuple[str, int, bool], ...] = ()

    def apart_ns(self, fps: Fraction) -> Fraction:
        """The time from one frame to the next on full lines of all ports together.

        0 where the load is that of full lines: frames come no closer than they are due.
        """
        apart_ns = self.frame_ns / self.ports
        # What is handed over faster than lines bring it makes up for a pause.
        is_full = FULL <= fps * apart_ns / SECOND_NS <= 2 - FULL
        return Fraction(0) if is_full else apart_ns


@dataclass(frozen=True)
class Block:
    """A time in which no frame of a stream came back.

    from_ns, until_ns: of the traffic. lost: frames sent in it. moved: how many of them, at most, are lost to
    pauses in it or in the second before. is_calm: it begins while every frame left when it was due, and no
    other stream can have met this one in a queue.
    """

    stream: str
    from_ns: int
    until_ns: int
    lost: int
    moved: int
    is_calm: bool


@dataclass(frozen=True)
class Judged:
    """What a trial lost, and how much of that the tester's timing, rings and drops may explain.

    sure: frames that came elsewhere or corrupted, of flows that never came, or lost in a block that begins in
    calm: no pause causes that. block: the longest other one that pauses explain in part only.
    explained_block: the longest that they explain, where such blocks are half of what is lost.
    """

    lost: int
    excused: int
    sure: int
    block: Block | None = None
    explained_block: Block | None = None

    @property
    def left(self) -> int:
        """Frames that the tester does not explain."""
        return max(self.lost - self.excused, self.sure)

    @property
    def explained(self) -> int:
        """Frames of the loss that the tester explains, at most."""
        return max(self.lost - self.left, 0)


@dataclass(frozen=True)
class Witnesses:
    """How tightly frames came where nothing was lost: the bunches that the device is known to take.

    bunch: frames that one worker sent at once, of each stream, which may have a queue of its own. closer_ns:
    where one worker sent one stream, the most that a frame left closer to the one before it than due, less
    the time between two due frames. rate: what the device passed over a whole trial, frames per second, where
    one stream was sent. Of a mix of sizes none is known: bunches of short frames say nothing of long ones.
    """

    traffic: Traffic = field(default_factory=Traffic)
    bunch: int = 1
    closer_ns: Fraction | None = None
    rate: Fraction = Fraction(0)
    dead: Mapping[str, Fraction] = field(default_factory=dict)
    """The share of a stream's flows that never came, the same number of them at every load: no bunches
    that come and go lose all of one flow and none of others, wherever in time its frames are."""
    strays: bool = False
    """Whether frames that came elsewhere are lost ones: as many in trials, not by chance, and never more. A
    switch that floods sends copies elsewhere."""

    @classmethod
    def of(cls, trials: Iterable[Timed], traffic: Traffic | None = None) -> Witnesses:
        """Those of all trials of a case."""
        trials, traffic = tuple(trials), traffic or Traffic()
        streams = [stream for timed in trials for stream in timed.trial.streams]
        strayed = [(one.elsewhere, max(one.lost, 0)) for one in streams if one.elsewhere]
        alike = math.prod(lost + 1 for there, lost in strayed if there == lost)
        strays = all(there <= lost for there, lost in strayed) and Fraction(1, alike) <= STRAY_CHANCE
        if traffic.ratio > 1:
            found = cls(traffic, strays=strays)
            return replace(found, dead=dict(_dead(trials, found)))
        bunches, rate = {stream.name: 1 for stream in streams}, Fraction(0)
        closer: list[Fraction] = []
        for timed in trials:
            trial = timed.trial
            plain = timed.is_constant and traffic.burst == 1 and len(trial.streams) == 1
            if plain and trial.streams[0].received >= ENOUGH:
                rate = max(rate, Fraction(trial.streams[0].received * SECOND_NS, timed.sent_ns))
            clean = [bool(row) and all(tx == came for tx, came in row) for row in _rows(trial.streams)]
            for stream in trial.streams:
                known = () if stream.lag is None else stream.lag.by_sample
                before = True
                for whole, tx, (_, closer_ns, at_once) in zip(clean, stream.tx, known, strict=False):
                    # Of the closest two the first may have been lost in the sample before.
                    both, before = whole and before, whole
                    if not whole or not tx:
                        continue
                    bunches[stream.name] = max(bunches[stream.name], at_once)
                    if plain and both and closer_ns and len(trial.health.workers) < 2:
                        # No more than on average: after a pause more of them leave.
                        load = min(Fraction(tx, trial.sample_ns), Fraction(stream.offered, timed.sent_ns))
                        closer.append(closer_ns - 1 / load)
        bunch = min(bunches.values(), default=1)
        found = cls(traffic, bunch, max(closer, default=None), rate, strays=strays)
        return replace(found, dead=dict(_dead(trials, found)))

    def harmless_ns(self, fps: Fraction, streams: int, load: Fraction | None = None) -> Fraction:
        """The lag up to which frames of this load, all streams together, make no bunch that would be lost.

        load: that of the whole trial, where `fps` is that of a moment.
        """
        if not fps:
            return Fraction(0)
        gap_ns, frame_ns = SECOND_NS / fps, self.traffic.apart_ns(fps if load is None else load)
        # So many may be due at one instant as it is. The line brought the bunch frame by frame, and meanwhile
        # the device served some.
        more, waits_ns = self.bunch - streams * self.traffic.burst, (self.bunch - 1) * frame_ns
        least = max(more * gap_ns - waits_ns, Fraction(0))
        if self.closer_ns is not None:
            least = max(least, gap_ns + min(self.closer_ns, -frame_ns))
        if self.rate:
            least = max(least, gap_ns - SECOND_NS / (TRUSTED_RATE * self.rate))
        return least

    def last_loss_late_ns(self, timed: Timed) -> int:
        """How late frames were in the last sample of a trial that lost some, as far as that is on time.

        0 where they made no bunch that the device is not known to take.
        """
        trial = timed.trial
        rows = list(_rows(trial.streams))
        lossy = [number for number, row in enumerate(rows) if any(tx > came for tx, came in row)]
        if not lossy:
            return 0
        lags = [stream.lag for stream in trial.streams if stream.lag is not None]
        fps = Fraction(sum(tx for tx, _ in rows[lossy[-1]]) * SECOND_NS, trial.sample_ns)
        late_ns = _lag_in(lags, lossy[-1])
        return late_ns if late_ns > self.harmless_ns(fps, len(trial.streams)) else 0


def judge_loss(
    timed: Timed,
    witnesses: Witnesses,
    of: str | None = None,
    other: int = 0,
    blocks: Sequence[Block] | None = None,
) -> Judged:
    """What a trial lost, of one stream or of all, and what excuses it.

    Frames of all streams meet in the device: whoever was late excuses what any of them lost afterwards.
    other: frames that something else excuses. blocks: those of `find_blocks`, if they are known.
    """
    trial = timed.trial
    judged = [stream for stream in trial.streams if of is None or stream.name == of]
    found = find_blocks(timed, witnesses) if blocks is None else blocks
    own = [block for block in found if of in (None, block.stream)]
    in_calm = sum(max(block.lost - block.moved, 0) for block in own if block.is_calm) - other
    sure = max(sum(_sure(stream, witnesses) for stream in judged), in_calm)
    unclear = [block for block in own if not block.is_calm and block.lost > block.moved + other]
    lost = lost_by_sample(judged)
    if not any(lost):
        # What has no date may have been lost behind any pause.
        lost = [*lost[1:], sum(max(stream.missing, 0) for stream in judged)]
    lossy = [(number, frames) for number, frames in enumerate(lost) if frames]
    pauses, small = (
        sorted(_list_moved(timed, witnesses), key=lambda moved: moved.from_ns),
        _Small.of(timed, witnesses, [one for one, _ in lossy]),
    )
    calm = _Calm.of(timed, witnesses) if any(stream.arrived for stream in judged) else None
    left, begun, excused = 0, 0, 0
    for number, frames in lossy:
        while begun < len(pauses) and pauses[begun].from_ns < (number + 1) * trial.sample_ns:
            left += pauses[begun].frames
            begun += 1
        moved = min(frames, left) if calm is None else calm.take(number, min(frames, left))
        left -= moved
        taken = min(frames - moved, other)
        other -= taken
        excused += moved + taken + small.take(number, frames - moved - taken)
    is_unexplained = excused < sum(lost) and any(stream.arrived for stream in judged)
    if is_unexplained and _is_begun_by_pauses(timed, lossy):
        excused = sum(lost)
    explained = [block for block in own if block.lost <= block.moved + other]
    if 2 * sum(block.lost for block in explained) < sum(lost):
        explained = []
    return Judged(sum(lost), excused, sure, _longest(unclear), _longest(explained))


def _longest(blocks: Sequence[Block]) -> Block | None:
    return max(blocks, key=lambda block: block.lost, default=None)


def find_blocks(timed: Timed, witnesses: Witnesses) -> Sequence[Block]:
    """The times in which no frame of a stream came back, and how many pauses explain of what was lost.

    What serves at least at the load loses no more frames than were moved in time, nor any later than it may
    still be busy with a pause. That holds for all that one queue serves: so only of one stream of one worker
    it is said that a block begins in calm, for two may meet in a queue. Few frames, or those of a moment, are
    no block: bunches of frames that are on time may lose them.
    """
    trial = timed.trial
    is_alone = len(trial.streams) == 1 and len(trial.health.workers) < 2
    known = [one for one in trial.streams if not one.is_bare and one.lag is not None]
    silent = [(one.name, *found) for one in known for found in _list_silent(one, trial.sample_ns)]
    pauses = list(_list_moved(timed, witnesses)) if silent else []
    blocks = []
    for name, begin_ns, end_ns, lost, dated_ns in silent:
        # It may have begun so much before, and what works in turns may begin to lose at the end of one.
        after_ns = begin_ns - dated_ns - BEGUN_NS[1]
        before_ns = begin_ns - dated_ns - SETTLED_NS
        near = [one for one in pauses if one.from_ns < end_ns and one.until_ns > before_ns]
        moved = sum(one.frames for one in near)
        is_begun = any(one.from_ns <= begin_ns + dated_ns and one.until_ns >= after_ns for one in near)
        blocks.append(Block(name, begin_ns, end_ns, lost, moved, is_alone and not is_begun))
    return blocks


def _list_silent(stream: StreamResult, sample_ns: int) -> Iterator[tuple[int, int, int, int]]:
    """The times in which frames of a stream were sent and none came: from and until, ns, how many frames, and
    how exactly that is dated, ns. Of samples those that are silent from end to end."""
    if stream.gaps is not None:
        for gap in stream.gaps.gaps:
            is_silent = gap.frames >= max(ENOUGH, math.ceil(SILENT * (gap.last - gap.first + 1)))
            if is_silent and gap.last_ns - gap.first_ns >= MOMENT_NS:
                yield gap.first_ns, gap.last_ns, gap.frames, 0
        return
    first, lost = -1, 0
    for number, (sent, came) in enumerate((*zip(stream.tx, stream.arrived, strict=False), (0, 1))):
        if sent and not came:
            first, lost = (number if first < 0 else first), lost + sent
        elif came and first >= 0:
            if lost >= ENOUGH and (number - first) * sample_ns >= MOMENT_NS:
                yield first * sample_ns, number * sample_ns, lost, sample_ns
            first, lost = -1, 0


def _sure(stream: StreamResult, witnesses: Witnesses) -> int:
    """Frames that no pause lost."""
    elsewhere = stream.elsewhere if witnesses.strays else 0
    dead = int(stream.offered * witnesses.dead.get(stream.name, 0))
    return stream.corrupted + min(max(elsewhere, dead), max(stream.lost, 0))


@dataclass
class _Calm:
    """Samples in which all frames left as evenly as the device is known to take them, well after any pause.

    A queue or a bucket that is served at least at the load has room for a frame again before the next one
    comes, whatever a pause left in it. So in each run of such samples it loses few: as many as come in the
    time by which frames are late there, and two. A device that manages its queue also drops from one that is
    not full, until nothing waits any more: so no sample counts in which frames wait.

    within: the first sample of the run in which each is, None: in none. few: how many a run may still lose to
    a pause.
    """

    within: Sequence[int | None]
    few: dict[int, int]

    @classmethod
    def of(cls, timed: Timed, witnesses: Witnesses) -> _Calm | None:
        """Those of a trial; None: it is not simple enough to tell."""
        trial = timed.trial
        if not (timed.is_constant and _is_simple(timed, witnesses)):
            return None
        (stream,) = trial.streams
        if stream.lag is None or not stream.offered:
            return None
        disturbed: set[int] = set()
        for period in stream.lag.periods:
            begin, end = period.from_ns - delay_ns(trial), period.until_ns + SETTLED_NS
            disturbed.update(range(max(begin, 0) // trial.sample_ns, end // trial.sample_ns + 1))
        average = Fraction(stream.offered * SECOND_NS, timed.sent_ns)
        inside = _inside(stream)
        on_its_way_ns = WAITING_NS + (0 if stream.latency is None else stream.latency.min_ns)
        within: list[int | None] = []
        few: dict[int, int] = {}
        for number, tx in enumerate(stream.tx):
            fps = max(Fraction(tx * SECOND_NS, trial.sample_ns), average)
            late_ns = _lag_in((stream.lag,), number)
            lost = int(fps * late_ns / SECOND_NS) + 2
            waits = max(inside[number : number + 2], default=0) > fps * on_its_way_ns / SECOND_NS + lost
            if number in disturbed or waits or late_ns > witnesses.harmless_ns(fps, 1, average):
                within.append(None)
                continue
            first = within[-1] if within else None
            first = number if first is None else first
            within.append(first)
            few[first] = max(few.get(first, 0), lost)
        return cls(within, few)

    def take(self, number: int, frames: int) -> int:
        """How many of so many frames lost in a sample the pauses before it explain."""
        first = self.within[number] if number < len(self.within) else None
        if first is None:
            return frames
        taken = min(frames, self.few[first])
        self.few[first] -= taken
        return taken


def _is_begun_by_pauses(timed: Timed, lossy: Sequence[tuple[int, int]]) -> bool:
    """Whether frames begin to be lost with pauses only, not by chance, and cease to be lost at the same load.

    So does a device that remembers a bunch, or a silence: it may lose more frames than were moved in time.
    And one that works in turns may lose to a pause what it took of another one, which was as long.
    """
    trial = timed.trial
    sent = {number for number, frames in enumerate(timed.sent) if frames}
    lost = {number for number, _ in lossy}
    if not timed.is_constant or not lost or max(lost) >= max(sent, default=0):
        return False
    begun = list(find_begins(sorted(lost)))
    return any(_is_near_pauses(trial, begun, sent, within_ns) for within_ns in BEGUN_NS)


def find_begins(lossy: Sequence[int]) -> Iterator[int]:
    """The samples in which losses begin, of all lossy ones in order.

    They go on over samples without loss, a quarter as many as they have lasted: a device that forgets a full
    queue slowly ends with a frame now and then.
    """
    first, last = 0, -1
    for number in lossy:
        if last < 0 or number - last - 1 > (last - first + 1) // GOES_ON:
            first = number
            yield number
        last = number


def _is_near_pauses(trial: Outcome, begun: Sequence[int], sent: set[int], within_ns: int) -> bool:
    """Whether all these samples follow pauses so soon, and not by chance."""
    longest: dict[int, int] = {}
    on_its_way_ns = delay_ns(trial)
    for stream in trial.streams:
        for period in () if stream.lag is None else stream.lag.periods:
            begin, end = max(period.from_ns - on_its_way_ns, 0), period.until_ns + within_ns
            for number in range(begin // trial.sample_ns, end // trial.sample_ns + 1):
                longest[number] = max(longest.get(number, 0), period.longest_ns)
    least = min(longest.get(number, 0) for number in begun)
    # By chance all begin with pauses that are as long as the shortest of these: of one draw for each.
    near = sum(longest.get(number, 0) >= least for number in sent)
    return least > 0 and Fraction(near, len(sent)) ** len(begun) <= BEGUN_CHANCE


@dataclass
class _Small:
    """Frames that left on time, as far as that goes, but later than any witness.

    moved: how many, that excuse nothing yet. most: how many of them may excuse in each lossy sample.
    """

    moved: int
    most: Mapping[int, int]

    @classmethod
    def of(cls, timed: Timed, witnesses: Witnesses, lossy: Sequence[int]) -> _Small:
        """Those of a trial that lost frames in these samples."""
        trial = timed.trial
        lags = [stream.lag for stream in trial.streams if stream.lag is not None]
        sent = timed.sent
        average = Fraction(sum(sent) * SECOND_NS, timed.sent_ns)
        highest = max((Fraction(one * SECOND_NS, trial.sample_ns) for one in sent), default=average)
        # What came in a bunch waits, and another frame is lost to it later, or before it.
        latest = timed.latest_ns
        ahead = -(-delay_ns(trial) // trial.sample_ns) + 1
        most: dict[int, int] = {}
        least: Fraction | None = None
        for number in lossy:
            if number >= len(sent):
                continue
            fps = max(Fraction(sent[number] * SECOND_NS, trial.sample_ns), average)
            if not timed.is_constant:
                fps = max(fps, highest)
            held_fps = average if timed.is_constant else highest
            harmless_ns = witnesses.harmless_ns(fps, len(trial.streams), held_fps)
            late_ns = latest[min(number + ahead, len(latest) - 1)]
            if late_ns <= harmless_ns:
                continue
            least = harmless_ns if least is None else min(least, harmless_ns)
            # Behind each frame that it takes, even a device of one place loses no more than these.
            behind = (int(fps * late_ns / SECOND_NS) + len(trial.streams)) * witnesses.traffic.ratio
            behind *= witnesses.traffic.burst
            most[number] = -(-sent[number] * behind // (behind + 1))
        if least is None:
            return cls(0, {})
        # Of a bucket its upper end is known, in whole ns.
        moved = sum(frames for ns, frames in timed.lags if ns + 1 > least) - sum(lag.late for lag in lags)
        return cls(max(moved, 0) * witnesses.traffic.ratio, most)

    def take(self, number: int, frames: int) -> int:
        """How many of so many frames lost in a sample they explain."""
        taken = min(frames, self.moved, self.most.get(number, 0))
        self.moved -= taken
        return taken


def _lag_in(lags: Sequence[Lag], number: int) -> int:
    """The most a frame was late in a sample, ns, as far as that is on time."""
    known = (lag for lag in lags if number < len(lag.by_sample))
    return max((min(lag.by_sample[number][0], lag.limit_ns) for lag in known), default=0)


def _inside(stream: StreamResult) -> Sequence[int]:
    """How many frames that came back were in the device as each sample began, and as the last one ended."""
    pairs = zip_longest(stream.rx, stream.arrived, fillvalue=0)
    # From the end on: copies, and what came corrupted, make it more and never less.
    counted = list(accumulate(came - departed for came, departed in reversed(list(pairs))))
    return (*reversed(counted), 0)


def delay_ns(trial: Outcome) -> int:
    """The longest that a frame was on its way, ns."""
    return max((one.latency.max_ns for one in trial.streams if one.latency is not None), default=0)


def _dead(trials: Sequence[Timed], witnesses: Witnesses) -> Iterator[tuple[str, Fraction]]:
    """Streams and the share of their flows that never came.

    A pause that comes again and again may hit the same flows each time, at two loads that go with its rhythm.
    So of two loads there has to be one at which fewer frames were sent late than of these flows, or each of
    these flows sent more frames than pauses came near; or three.
    """
    flows = witnesses.traffic.flows
    if not flows:
        return
    found: dict[str, set[int]] = {}
    loads: dict[str, list[Fraction]] = {}
    proven: set[str] = set()
    for timed in trials:
        late = [_late_turns(stream, timed, witnesses) for stream in timed.trial.streams]
        frames = sum(_late_frames(stream, timed, witnesses) for stream in timed.trial.streams)
        for stream in timed.trial.streams:
            if stream.offered < ENOUGH * flows or stream.is_bare:
                continue
            dead = flows - stream.flows_received
            found.setdefault(stream.name, set()).add(dead)
            loads.setdefault(stream.name, []).append(Fraction(stream.offered, timed.sent_ns))
            each = stream.offered // flows
            if each > sum(late) or each * dead > frames:
                proven.add(stream.name)
    for name, counts in found.items():
        several = count_apart(loads[name])
        is_sure = several > 2 or (several == 2 and name in proven)
        if len(counts) == 1 and is_sure and (dead := counts.pop()) > 0:
            yield name, Fraction(dead, flows)


def count_apart(loads: Iterable[Fraction]) -> int:
    """How many of these loads are apart from each other."""
    count, last = 0, Fraction(0)
    for load in sorted(loads):
        if load >= APART * last:
            count, last = count + 1, load
    return count


def _harmless_ns(timed: Timed, witnesses: Witnesses) -> Fraction:
    streams = timed.trial.streams
    fps = Fraction(sum(one.offered for one in streams) * SECOND_NS, timed.sent_ns)
    return witnesses.harmless_ns(fps, len(streams))


def _late_frames(stream: StreamResult, timed: Timed, witnesses: Witnesses) -> int:
    """Frames of a stream that were sent so late that a device may lose them."""
    harmless_ns = _harmless_ns(timed, witnesses)
    periods = (one for one in _periods(stream, timed.trial) if one.longest_ns > harmless_ns)
    return sum(period.frames for period in periods) * witnesses.traffic.ratio


def _late_turns(stream: StreamResult, timed: Timed, witnesses: Witnesses) -> int:
    """Frames of one flow, at most, that a device may lose because frames of a stream were sent late.

    Flows take turns: so a frame in each round of them that was sent late, and one before and one behind each
    pause. All of the flow, unless the device is known to take frames that are as late as counts as on time.
    """
    harmless_ns = _harmless_ns(timed, witnesses)
    if stream.lag is not None and stream.lag.limit_ns > harmless_ns:
        return stream.offered
    times = sum(one.times for one in _periods(stream, timed.trial) if one.longest_ns > harmless_ns)
    return _late_frames(stream, timed, witnesses) // witnesses.traffic.flows + 2 * times


@dataclass(frozen=True)
class _Moved:
    """A late period: from when on, ns, it excuses frames, until when it lasts, and how many it excuses."""

    from_ns: int
    until_ns: int
    frames: int


def _list_moved(timed: Timed, witnesses: Witnesses) -> Sequence[_Moved]:
    """The late periods that excuse frames: none if witnesses were as late."""
    for known, moved in timed.late:
        if known is witnesses:
            return moved
    timed.late.append((witnesses, list(_find_moved(timed, witnesses))))
    return timed.late[-1][1]


def _find_moved(timed: Timed, witnesses: Witnesses) -> Iterator[_Moved]:
    trial = timed.trial
    traffic = witnesses.traffic
    total = max(
        Fraction(max(timed.sent, default=0), trial.sample_ns),
        Fraction(sum(stream.offered for stream in trial.streams), timed.sent_ns),
    )
    total_fps = total * SECOND_NS
    average = Fraction(sum(stream.offered for stream in trial.streams) * SECOND_NS, timed.sent_ns)
    held_fps = average if timed.is_constant else total_fps
    harmless_ns = witnesses.harmless_ns(total_fps, len(trial.streams), held_fps)
    simple = _is_simple(timed, witnesses)
    on_its_way_ns = delay_ns(trial)
    for stream in trial.streams:
        # Frames per ns.
        load = max(
            Fraction(max(stream.tx, default=0), trial.sample_ns), Fraction(stream.offered, timed.sent_ns)
        )
        for period in _periods(stream, trial):
            if period.longest_ns > harmless_ns:
                due = int(load * period.sum_ns) + period.times
                moved = min(due, period.frames) if simple else period.frames
                # What was on its way when the late frames came may be lost to them.
                begin_ns = max(period.from_ns - on_its_way_ns, 0)
                yield _Moved(begin_ns, period.until_ns, moved * traffic.ratio)


def _is_simple(timed: Timed, witnesses: Witnesses) -> bool:
    """Whether a bunch costs no more frames than came in it.

    With room for two, one stream of one worker loses no more. In a bucket of one frame each frame that is
    made up for may be lost; and streams that are late by themselves meet each other in another way for as
    long.
    """
    trial, traffic = timed.trial, witnesses.traffic
    alone = len(trial.streams) == 1 and len(trial.health.workers) < 2
    return alone and traffic.burst * traffic.ratio == 1 and witnesses.bunch > 1


def _periods(stream: StreamResult, trial: Outcome) -> Sequence[LatePeriod]:
    if stream.lag is not None:
        return stream.lag.periods
    # Nothing is known of single frames: one period, all the time.
    late_ns = trial.health.latest_departure_ns
    if not late_ns or not stream.offered:
        return ()
    return (LatePeriod(0, late_ns, late_ns, late_ns, 1, stream.offered),)


def lost_by_sample(streams: Sequence[StreamResult]) -> list[int]:
    """Of each sample the frames sent in it that did not come back."""
    return [sum(max(tx - came, 0) for tx, came in row) for row in _rows(streams)]


def _rows(streams: Sequence[StreamResult]) -> Iterator[list[tuple[int, int]]]:
    """Of each sample the frames that each stream sent in it, and how many of them came back."""
    for row in zip_longest(*(zip(stream.tx, stream.arrived, strict=False) for stream in streams)):
        yield [pair for pair in row if pair is not None]
