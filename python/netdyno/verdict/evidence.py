"""The evidence of a verdict: the trials behind a value, and sums of their counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from netdyno.methods import find_behind, find_worst, sending_ns, shortfalls
from netdyno.methods.reasons.tester import SentLonger, Unsent
from netdyno.stats.carrier import CarrierSpan
from netdyno.values.load import Happened
from netdyno.values.outcome import CarrierCause, Outcome, PortResult, StreamResult
from netdyno.values.rates import WIRE_OVERHEAD, wire_bits
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.verdict.coincidence import is_coincident
from netdyno.verdict.excuses import ENOUGH, Block, Judged, Timed, Witnesses, find_blocks, judge_loss
from netdyno.verdict.saying import DeadFlows
from netdyno.verdict.steady import SteadyLoss

if TYPE_CHECKING:
    from netdyno.values.proven import Proven

OWN_DROPS = ("policed", "card_drops", "box_drops", "in_drops", "both_drops", "out_drops")
"""Counters of an emulated device (crates/dut/src/spec.rs) for what its own capacities dropped."""

T = TypeVar("T")

LINE_SHARE = Fraction(99, 100)
"""Who reaches this share of a line fills it, be it a result or what a tester is calibrated for."""

CLEAN_LESS = Fraction(1, 1000)
"""A load that is less than asked for by no more than this share: what is not lost at it is not at that."""

OWN_SHARE = Fraction(1, 100)
"""Whoever dropped less than this share of what is missing was not the limit: the device, or the tester."""

DEAD_BY_CHANCE = 1e-3
"""Flows that may be expected to lose all of their frames by chance; of fewer one that does is a finding."""

WITNESSED = 10
"""A worker that sends fewer than one frame for so many that it receives may pause between any two of them."""

HANDED_OVER_FPS = Fraction(400_000_000)
"""Where no line holds it, a peer writes frames into a ring no closer together than this: twice as fast as
generators write one frame again and again into memory of their own."""


@dataclass(frozen=True)
class Counts:
    """Sums of the counts of some streams in the trials behind a value."""

    streams: int
    """Of all trials."""
    asked: int
    lost: int
    sent: int
    corrupted: int
    duplicates: int
    made: int
    """Frames that arrived and were not sent, of the first stream with any."""
    beyond_window: int
    late: int
    """Left so late that they are those of another load (`Lag.late`)."""
    dead: DeadFlows | None = None
    """The flows that lost every frame in each trial; None: none did, all did, or that is unknown."""

    @classmethod
    def of(cls, streams: Sequence[StreamResult], flows: int = 0) -> Counts:
        """Sums the counts of these streams. flows: of each stream; 0: unknown."""
        return cls(
            streams=len(streams),
            asked=sum(stream.intended for stream in streams),
            lost=count_lost(streams),
            sent=sum(stream.offered for stream in streams),
            corrupted=sum(stream.corrupted for stream in streams),
            duplicates=sum(stream.duplicates for stream in streams),
            made=next((-stream.lost for stream in streams if stream.lost < 0), 0),
            beyond_window=sum(stream.beyond_window for stream in streams),
            late=sum(stream.lag.late for stream in streams if stream.lag is not None),
            dead=find_dead_flows(streams, flows),
        )

    @property
    def is_excusable(self) -> bool:
        """The tester may have lost frames itself. It corrupted none, so no more than the loss is excused."""
        return self.lost > self.corrupted


@dataclass(frozen=True)
class Linked:
    """What links without carrier lost in some trials.

    losses: of the carrier. lost: frames, by stream. undated: of these, those that may as well have been lost
    otherwise. behind: those lost after a link was there again, while others came back. planned: frames lost
    while members of LAGs were dead as the plan asked, by stream, in neither of the others.
    """

    losses: tuple[CarrierSpan, ...]
    lost: Mapping[str, int] = field(default_factory=dict)
    undated: int = 0
    behind: int = 0
    planned: Mapping[str, int] = field(default_factory=dict)

    def lost_of(self, scope: str) -> int:
        """Frames of one stream, or of all."""
        return sum(self.lost.values()) if scope == "sum" else self.lost.get(scope, 0)

    def planned_of(self, scope: str) -> int:
        """Frames of one stream, or of all, lost while members were dead as the plan asked."""
        return sum(self.planned.values()) if scope == "sum" else self.planned.get(scope, 0)

    @property
    def times(self) -> int:
        """How often a carrier was lost."""
        return sum(loss.times for loss in self.losses)

    @property
    def without_ns(self) -> int:
        """How long there was no carrier, all ports together."""
        return sum(loss.duration_ns for loss in self.losses)

    @property
    def ports(self) -> tuple[str, ...]:
        """Ports whose carrier was lost."""
        return tuple(dict.fromkeys(loss.port for loss in self.losses))

    @property
    def cause(self) -> CarrierCause:
        """`device` only if the device did it each time, and every frame was lost to that."""
        is_sure = not self.undated and all(loss.cause == "device" for loss in self.losses)
        return "device" if is_sure else "link"


@dataclass(frozen=True)
class Arrival:
    """A port of a LAG or bundle in a trial. part: of its line that test frames filled. share: of the frames
    that came by all its ports. ports: how many these are."""

    port: str
    part: Fraction
    share: Fraction
    ports: int


@dataclass(frozen=True)
class Evidence:
    """The evidence of a verdict: the case's situation, clock, trials and calibration.

    clock: `virtual` only where the tester has no limits of its own. proven: None if it was never calibrated.
    planned_ns: how long each trial was to send; empty where that is not known.
    """

    situation: Situation
    clock: Literal["virtual", "real"]
    enforced_rate: bool
    trials: tuple[Outcome, ...]
    planned_ns: tuple[int, ...] = ()
    proven: Proven | None = None
    witnesses: Witnesses | None = None
    """What all trials of the case show that the device takes; None: what `trials` do."""
    is_constant: bool = False
    """Whether each trial is of one constant load."""
    flows: int = 0
    """Of each stream; 0: unknown."""
    steady: SteadyLoss | None = None
    """What all trials of the case lost alike; None: what `trials` did."""
    case_trials: tuple[Timed, ...] = ()
    """All trials of the case: of those that the result does not rest on some may agree with it."""
    sizes: tuple[tuple[int, int], ...] = ()
    """Of the frames, with their weights; empty: unknown."""
    varies: tuple[tuple[str, int, bool], ...] = ()
    """Fields in which flows differ, each with the most values that it has, and whether they are drawn at
    random; empty: unknown."""
    causes: tuple[Reason, ...] = ()
    """What the lost frames of the case have in common (`verdict.causes`)."""
    linked: Linked | None = None
    """What links without carrier lost, which the trials then have no more (`verdict.link`); None: nothing."""
    has_failures: bool = False
    """Whether the plan had members die beside what is measured. Of methods that cut a link to measure what
    that costs it had not."""

    @property
    def timed_trials(self) -> Iterator[tuple[Outcome, int | None]]:
        """Each trial with the time it was planned to send, ns; None: unknown."""
        return zip_longest(self.trials, self.planned_ns[: len(self.trials)])

    def of_trials(self, places: Sequence[int]) -> Evidence:
        """The evidence of some of the trials alone, by their places in `trials`."""
        return replace(
            self,
            trials=tuple(self.trials[place] for place in places),
            planned_ns=tuple(self.planned_ns[place] for place in places if place < len(self.planned_ns)),
        )

    def judged(self, of: str | None = None) -> tuple[Judged, ...]:
        """What each trial lost, of a stream or of all, and what of that the tester may explain."""
        if of not in self._judged:
            each = zip(self._timed, self._other_excuses, self._altered, self._blocks, strict=True)
            self._judged[of] = tuple(
                judge_loss(
                    timed, self._known, of, excused + altered.get(of, 0) + self._held_in(timed, of), blocks
                )
                for timed, excused, altered, blocks in each
            )
        return self._judged[of]

    @cached_property
    def _timed(self) -> Sequence[Timed]:
        constant = self.situation.burst == 1 and self.is_constant
        return [Timed(trial, planned_ns, constant) for trial, planned_ns in self.timed_trials]

    @cached_property
    def _known(self) -> Witnesses:
        return self.witnesses or Witnesses.of(self._timed)

    @cached_property
    def _blocks(self) -> Sequence[Sequence[Block]]:
        """Of each trial. What a link lost is gone from counts alone, and still in what is dated."""
        if self.linked is not None:
            return [()] * len(self.trials)
        return [find_blocks(timed, self._known) for timed in self._timed]

    def block(self, of: str | None = None) -> Block | None:
        """The longest time in which nothing came back that pauses explain in part only; None: none is."""
        blocks = (judged.block for judged in self.judged(of) if judged.block is not None)
        return max(blocks, key=lambda block: block.lost, default=None)

    def explained_block(self, of: str | None = None) -> Block | None:
        """The longest time in which nothing came back that pauses may explain; None: most came back so."""
        blocks = (one.explained_block for one in self.judged(of) if one.explained_block is not None)
        return max(blocks, key=lambda block: block.lost, default=None)

    def has_own_loss(self, of: str | None = None, allowed: Fraction = Fraction(0)) -> bool:
        """Whether a trial lost more of a stream, or of all, than this share of what was sent, beside what the
        tester may explain."""
        for trial, judged in zip(self.trials, self.judged(of), strict=True):
            sent = sum(stream.offered for stream in trial.streams if of is None or stream.name == of)
            if judged.left > allowed * sent:
                return True
        return False

    @cached_property
    def _judged(self) -> dict[str | None, tuple[Judged, ...]]:
        return {}

    @cached_property
    def last_loss_late_ns(self) -> int:
        """How late frames were, as far as that is on time, when the last one of a trial was lost in a bunch
        that the device is not known to take; 0: in none."""
        timed = [Timed(trial, planned_ns) for trial, planned_ns in self.timed_trials]
        known = self.witnesses or Witnesses.of(timed)
        return max((known.last_loss_late_ns(one) for one in timed), default=0)

    @cached_property
    def unread(self) -> int:
        """Frames that came, at most, while one of several workers did not read."""
        return sum(map(_count_unread_frames, self.trials))

    def is_lost_alike(self, of: str | None = None) -> bool:
        """Whether each trial that lost frames lost the same share as others of the case at other loads."""
        lossy = [one for one in self._timed if any(stream.missing > 0 for stream in one.trial.streams)]
        return bool(lossy) and all(self._steady.is_alike(one, of) for one in lossy)

    def is_lost_while_full(self) -> bool:
        """Whether frames were lost only while a ring that the tester receives into was full."""
        return is_coincident(self._lossy, self._full_spans)

    def is_lost_while_late(self) -> bool:
        """Whether frames were lost only while the tester sent late."""
        return is_coincident(self._lossy, _late_spans)

    @property
    def _lossy(self) -> Iterator[Timed]:
        for trial, planned_ns in self.timed_trials:
            if any(stream.missing > 0 for stream in trial.streams):
                yield Timed(trial, planned_ns, self.situation.burst == 1 and self.is_constant)

    def _full_spans(self, trial: Outcome, stream: StreamResult) -> Iterator[tuple[int, int]]:
        # What found no room had left at most its delay before.
        delay_ns = stream.latency.max_ns if stream.latency is not None else 0
        for port in self.receiving_ports(trial, stream.name):
            for begin, end in port.rx_full_spans:
                yield begin - delay_ns, end

    @cached_property
    def _other_excuses(self) -> Sequence[int]:
        return [self._other_excuses_in(trial) for trial in self.trials]

    def _other_excuses_in(self, trial: Outcome) -> int:
        """Frames of a trial that the device need not have lost: dropped by the tester, not sent, come to a
        full ring, damaged by a line, displaced by others' frames, or not counted as sent."""
        full = self._while_full(trial)
        beyond = sum(stream.beyond_window for stream in trial.streams)
        if full is None:
            return sum(stream.offered for stream in trial.streams)
        own = trial.dropped + trial.unseen + trial.not_sent + trial.health.rx_too_long
        own += (
            trial.damaged + _count_unread_frames(trial) + self._displaced_in(trial) + _count_uncounted(trial)
        )
        return own + beyond + math.ceil(full)

    def _held_in(self, timed: Timed, of: str | None) -> int:
        """Frames of a trial that were due while the device itself, or the kernel's work on frames, was
        preempted; of the latter not those of a stream, or of all, that were lost apart from it."""
        trial = timed.trial
        peers_ns = sum(peer.preempted_ns for peer in trial.health.peers)
        if not peers_ns and not trial.softirq_waited_ns:
            return 0
        offered, ns = sum(one.offered for one in trial.streams), max(sending_ns(trial), 1)
        by_kernel = math.ceil(Fraction(trial.softirq_waited_ns * offered, ns))
        if by_kernel and (apart := self._steady.count_frames(timed, of)):
            lost = sum(max(one.lost, 0) for one in trial.streams if of in (None, one.name))
            by_kernel = min(by_kernel, max(lost - apart, 0))
        return math.ceil(Fraction(peers_ns * offered, ns)) + by_kernel

    @cached_property
    def _steady(self) -> SteadyLoss:
        return self.steady or SteadyLoss(self._timed, self._known)

    def _displaced_in(self, trial: Outcome) -> int:
        """Frames of the test, at most, for which others' left no room: each displaced one, or as many as fit
        into it on a line. In virtual time nobody else is there."""
        if self.clock == "virtual":
            return 0
        frames, size = trial.others
        on_line = Fraction(size + WIRE_OVERHEAD * frames) / (self.situation.mean_size + WIRE_OVERHEAD)
        return max(frames, math.ceil(on_line))

    @cached_property
    def displaced(self) -> int:
        """Frames of the test, at most, that others' frames displaced."""
        return sum(map(self._displaced_in, self.trials))

    @cached_property
    def uncounted(self) -> int:
        """Frames that the tester's interfaces were given and did not count as sent."""
        return sum(map(_count_uncounted, self.trials))

    def altered(self, of: str | None = None) -> int:
        """Frames that came back changed, maybe: of a stream, or of all."""
        return sum(found.get(of, 0) for found in self._altered)

    @cached_property
    def _altered(self) -> Sequence[Mapping[str | None, int]]:
        """Of each trial, by stream and of all (None). Of which stream without a probe a changed frame is, of
        those that go to its port, is unknown: each may be."""
        found = []
        for trial in self.trials:
            by_port: Counter[int | None] = Counter()
            for one in trial.streams:
                by_port[self._receivers.get(one.name)] += one.altered
            by_stream: dict[str | None, int] = {None: by_port.total()} if by_port.total() else {}
            for one in trial.streams if by_stream else ():
                by_stream[one.name] = by_port[self._receivers.get(one.name)] if one.is_bare else 0
            found.append(by_stream)
        return found

    def find_silent(self, given: tuple[str, ...]) -> Mapping[str, str]:
        """Streams of which the plan gives something, a MAC address that they go to, and nothing of those with
        the same came back in any trial of the case. given: of each stream; "": nothing. In virtual time the
        lab is known."""
        if given not in self._silent:
            self._silent[given] = self._find_silent(given)
        return self._silent[given]

    @cached_property
    def _silent(self) -> dict[tuple[str, ...], Mapping[str, str]]:
        return {}

    def _find_silent(self, given: tuple[str, ...]) -> Mapping[str, str]:
        by_name = dict(zip(self.situation.streams, given, strict=False))
        if self.clock == "virtual" or not by_name:
            return {}
        trials = [timed.trial for timed in self.case_trials] or self.trials
        heard = {
            by_name.get(stream.name)
            for trial in trials
            for stream in trial.streams
            if stream.received or stream.corrupted or stream.elsewhere
        }
        return {name: one for name, one in by_name.items() if one and one not in heard}

    def while_held(self, of: str | None = None) -> int:
        """Frames that were due while the processes at the other ends of ports were preempted, or the kernel's
        own work on frames, as far as that may have lost any of a stream, or of all."""
        return sum(self._held_in(timed, of) for timed in self._timed)

    @cached_property
    def held_ns(self) -> int:
        """How long these were preempted, ns."""
        peers = sum(peer.preempted_ns for trial in self.trials for peer in trial.health.peers)
        return peers + self.kernel_held_ns

    @cached_property
    def kernel_held_ns(self) -> int:
        """How long the kernel's own work on frames was preempted, ns: a part of `held_ns`."""
        return sum(trial.softirq_waited_ns for trial in self.trials)

    # What every stream's verdict asks for is counted once: a full mesh of 64 ports has 4,032 streams.

    @cached_property
    def everything(self) -> Counts:
        """Counts of all streams in all trials."""
        return Counts.of([stream for trial in self.trials for stream in trial.streams], self.flows)

    def failed(self, scope: str) -> Counts:
        """Counts of one stream, or of all, in the trials that lost frames of it."""
        if scope not in self._failed:
            each = [[one for one in trial.streams if scope in ("sum", one.name)] for trial in self.trials]
            lossy = [streams for streams in each if any(one.missing for one in streams)]
            every = [stream for streams in lossy for stream in streams]
            self._failed[scope] = Counts.of(every, self.flows)
        return self._failed[scope]

    @cached_property
    def _failed(self) -> dict[str, Counts]:
        return {}

    def of(self, scope: str) -> Counts:
        """Counts of one stream, or of all streams."""
        return self.everything if scope == "sum" else Counts.of(self.stream(scope), self.flows)

    def stream(self, name: str) -> Sequence[StreamResult]:
        """The counts of a stream in each trial."""
        return self._streams.get(name, ())

    @cached_property
    def _streams(self) -> Mapping[str, Sequence[StreamResult]]:
        found: dict[str, list[StreamResult]] = {}
        for trial in self.trials:
            for stream in trial.streams:
                found.setdefault(stream.name, []).append(stream)
        return found

    @cached_property
    def dropped(self) -> int:
        """Frames that the tester dropped on receiving."""
        return sum(trial.dropped for trial in self.trials)

    @cached_property
    def unseen(self) -> int:
        """Frames that came to the tester's interfaces and not to its ports."""
        return sum(trial.unseen for trial in self.trials)

    @cached_property
    def damaged(self) -> int:
        """Frames that lines damaged on their way to the tester."""
        return sum(trial.damaged for trial in self.trials)

    @cached_property
    def pauses_sent(self) -> int:
        """Pause frames that the tester's cards sent: they had no room, and made the device wait."""
        return sum(one.pauses_sent for trial in self.trials for one in trial.interfaces)

    def once(self, ask: Callable[[Evidence], T]) -> T:
        """The answer of a function of this evidence, which is called once for all values judged by it."""
        if ask not in self._answers:
            self._answers[ask] = ask(self)
        found: T = self._answers[ask]
        return found

    @cached_property
    def _answers(self) -> dict[Callable[[Evidence], Any], Any]:
        return {}

    @cached_property
    def clean_ns(self) -> int | None:
        """How long the longest trial without loss sent; None: there is none."""
        each = (
            planned_ns or sending_ns(trial)
            for trial, planned_ns in self.timed_trials
            if not any(one.missing for one in trial.streams)
        )
        return max(each, default=None)

    @cached_property
    def not_sent(self) -> int:
        """Frames that the tester dropped on sending: offered, but never on the line. Of those dropped without
        a carrier it is not known which: at least so many."""
        linked = self.linked
        links = 0 if linked is None else linked.lost_of("sum") + linked.planned_of("sum")
        return max(sum(trial.not_sent for trial in self.trials) - links, 0)

    @cached_property
    def unsent(self) -> int:
        """Frames that the tester did not offer."""
        return sum(
            max(stream.intended - stream.offered, 0) for trial in self.trials for stream in trial.streams
        )

    @cached_property
    def refused(self) -> int:
        """Frames that memif peers' full rings did not take."""
        return sum(stream.refused for trial in self.trials for stream in trial.streams)

    @cached_property
    def too_long(self) -> int:
        """Frames longer than any that was sent: missing frames may be joined in them."""
        return sum(trial.health.rx_too_long for trial in self.trials)

    @cached_property
    def unheard(self) -> int:
        """Questions for the tester's addresses that it did not answer: who asked may have lost its frames."""
        return sum(trial.health.unheard for trial in self.trials)

    @cached_property
    def unwitnessed_gap_ns(self) -> int:
        """The longest pause of a worker that received frames and sent next to none, ns. What waited for it
        looks delayed, and no frame that it sent was late."""
        return max(
            (
                worker.longest_gap_ns
                for trial in self.trials
                for worker in trial.health.workers
                if sum(worker.tx_frames) * WITNESSED < sum(worker.rx_frames)
            ),
            default=0,
        )

    @cached_property
    def link_down_over_ns(self) -> int:
        """By how much longer the tester had links down than it was to, in any trial, ns."""
        return max((_link_down_over_ns(trial.happened) for trial in self.trials), default=0)

    @cached_property
    def full(self) -> int:
        """Polls of the tester that found one of its own rings full."""
        return sum(trial.health.rx_full for trial in self.trials)

    @cached_property
    def while_full(self) -> Fraction | None:
        """Frames that can have come in the time before those polls: at line rate, and one more for each.

        None where that time is not known. Not those that were sent meanwhile: a device, or a burst, may bring
        them closer together than that.
        """
        each = [self._while_full(trial) for trial in self.trials]
        return None if None in each else sum((one for one in each if one is not None), Fraction(0))

    def _while_full(self, trial: Outcome) -> Fraction | None:
        line_fps, health = self.situation.line_fps, trial.health
        if not health.rx_full:
            return Fraction(0)
        if health.rx_full_ns is None:
            return None
        if not self.enforced_rate:
            line_fps = max(line_fps, HANDED_OVER_FPS)
        return Fraction(health.rx_full_ns, 10**9) * line_fps + health.rx_full

    @cached_property
    def late_ns(self) -> int:
        """The greatest lag of a departure, ns."""
        return max((trial.health.latest_departure_ns for trial in self.trials), default=0)

    def short(self, scope: str) -> Reason | None:
        """The reason why the tester offered too little, of this stream first, else of the one with most;
        None: it did not."""
        return next((found.get(scope) or find_worst(found.values()) for found in self._shorts), None)

    @cached_property
    def behind(self) -> Fraction:
        """By how much less than asked for the tester offered, at most: the share of a stream of a trial."""
        return max((find_behind(*timed) for timed in self.timed_trials), default=Fraction(0))

    @cached_property
    def _shorts(self) -> Sequence[Mapping[str, Unsent | SentLonger]]:
        """The reasons by stream of each trial in which the tester offered too little."""
        found = []
        for trial, planned_ns in self.timed_trials:
            reasons: dict[str, Unsent | SentLonger] = {}
            for name, reason in shortfalls(trial, planned_ns):
                reasons.setdefault(name, reason)
            if reasons:
                found.append(reasons)
        return found

    def fullness(self, scope: str) -> Sequence[tuple[Fraction, Fraction]]:
        """Of each trial and port that a scope's streams go to: what was sent to it, and what of that came,
        over what its line carries in the time. Of a mix that is not known: what came need not be the mix."""
        if self.situation.mixed_receivers:
            return ()
        ports = {self._receivers[self.situation.streams[one]] for one in self.situation.members(scope)}
        return [found[port] for found in self._fullness for port in ports if port in found]

    def whole_fullness(self, scope: str) -> Sequence[tuple[Fraction, Fraction]]:
        """As `fullness`, of the whole line: with the classes that have a rate of their own, which have their
        part of it only as far as they were not lost."""
        if not any(self.situation.taken):
            return self.fullness(scope)
        found = []
        for (trial, planned_ns), shares in zip(self.timed_trials, self._fullness, strict=True):
            ns = planned_ns or sending_ns(trial)
            ports = {self._receivers[self.situation.streams[one]] for one in self.situation.members(scope)}
            for port in ports & shares.keys():
                free = 1 - self.situation.taken[port]
                beside = self._count_classes_beside(trial, port, ns)
                found.append((shares[port][0] * free + beside[0], shares[port][1] * free + beside[1]))
        return found

    def _count_classes_beside(self, trial: Outcome, port: int, ns: int) -> tuple[Fraction, Fraction]:
        """What classes with a rate of their own sent to a port's line, and what of that came, over what that
        carries in the time."""
        situation = self.situation
        ways = {name.rpartition("/")[0]: name for name in situation.streams if self._receivers[name] == port}
        sent = came = Fraction(0)
        for one in trial.beside:
            way, _, traffic = one.name.rpartition("/")
            if traffic in situation.classes and way in ways and one.offered:
                line = situation.line_out_fps(ways[way]) * (situation.mean_size + WIRE_OVERHEAD)
                share = (one.offered_bytes + WIRE_OVERHEAD * one.offered) * 10**9 / (line * ns)
                sent += share
                came += share * (one.offered - one.missing) / one.offered
        return sent, came

    def foreign_share(self, scope: str) -> Fraction | None:
        """The part of a receiving line that foreign frames took, where these and the test's filled it; None:
        no line was full, or nothing enforces its rate."""
        if not self.enforced_rate:
            return None
        place_bytes = self.situation.mean_size + WIRE_OVERHEAD
        shares = []
        for trial, planned_ns in self.timed_trials:
            for name in {self.situation.streams[one] for one in self.situation.members(scope)}:
                ports = self.receiving_ports(trial, name)
                ns = planned_ns or sending_ns(trial)
                full = self.situation.arrival_fps(name) * place_bytes * ns / 10**9
                if not full or not any(port.foreign for port in ports):
                    continue
                came = sum(sum(port.rx) for port in ports) * place_bytes
                others = Fraction(0)
                for port in ports:
                    own = sum(port.rx_bytes_series)
                    others += max(port.rx_bytes + WIRE_OVERHEAD * port.rx_frames - own, 0)
                    others -= WIRE_OVERHEAD * sum(port.rx)
                if came + others >= LINE_SHARE * full and others >= OWN_SHARE * full:
                    shares.append(others / full)
        return max(shares, default=None)

    def receiving_ports(self, trial: Outcome, stream: str) -> Sequence[PortResult]:
        """The ports of a trial that may receive a stream."""
        if not self.situation.places:
            return trial.ports
        numbers = self.situation.arrives(stream)
        return [trial.ports[number] for number in numbers if number < len(trial.ports)]

    def fullest_arrival(self, trial: Outcome, planned_ns: int | None, stream: str) -> Arrival | None:
        """The fullest port of the LAG or bundle that a stream may arrive at; None: it goes to none.

        Frames still queued come after the traffic, and are not counted. Of a load that changed, the part of
        the line that a tenth of the samples reached.
        """
        situation, samples = self.situation, (planned_ns or sending_ns(trial)) // trial.sample_ns
        ports = situation.arrives(stream)
        if len(ports) < 2 or not situation.lines or not samples:
            return None
        came = {number: trial.ports[number] for number in ports}
        total = sum(sum(port.rx) for port in came.values())
        found = []
        for number, port in came.items():
            line = situation.lines[number] * (situation.mean_size + WIRE_OVERHEAD)
            each = zip(port.rx[:samples], port.rx_bytes_series[:samples], strict=True)
            parts = [
                (octets + WIRE_OVERHEAD * frames) * 10**9 / (line * trial.sample_ns)
                for frames, octets in each
            ]
            part = sum(parts, Fraction(0)) / samples
            if not self.is_constant and parts:
                part = sorted(parts, reverse=True)[len(parts) // 10]
            found.append(Arrival(port.name, part, Fraction(sum(port.rx), max(total, 1)), len(ports)))
        return max(found, key=lambda one: one.part)

    @cached_property
    def _receivers(self) -> Mapping[str, int]:
        places = self.situation.places
        return {
            name: places[number].rx if places else number
            for number, name in enumerate(self.situation.streams)
        }

    @cached_property
    def _fullness(self) -> Sequence[Mapping[int, tuple[Fraction, Fraction]]]:
        found = []
        for trial, planned_ns in self.timed_trials:
            ports: dict[int, list[Fraction]] = {}
            for stream in trial.streams:
                full = self.situation.out_fps(stream.name) * (planned_ns or sending_ns(trial)) / 10**9
                # Of frames of its own size as many more or fewer.
                full *= wire_bits(self.situation.mean_size) / wire_bits(self.situation.size(stream.name))
                shares = ports.setdefault(self._receivers[stream.name], [Fraction(0), Fraction(0)])
                if full:
                    shares[0] += stream.offered / full
                    shares[1] += (stream.offered - stream.missing) / full
            found.append({port: (sent, came) for port, (sent, came) in ports.items()})
        return found

    def device(self, name: str) -> int:
        """The sum of one counter over emulated devices and their ports."""
        if name not in self._devices:
            self._devices[name] = device_counts(self.trials, name)
        return self._devices[name]

    @cached_property
    def _devices(self) -> dict[str, int]:
        return {}


def find_dead_flows(streams: Sequence[StreamResult], flows: int) -> DeadFlows | None:
    """The flows of streams of which no frame came in any of their trials; None: unknown, none, or all.

    streams: the counts of each in one trial or more. flows: of each; 0: unknown. A trial with too few
    frames of each flow to tell is left out: of an overloaded device a flow may lose all of its few by chance.
    """
    if not flows:
        return None
    missing: dict[str, int] = {}
    for stream in streams:
        if stream.by_flow is not None and len(stream.by_flow.sent) != flows:
            # A trial with flows of its own, one for each prefix.
            continue
        if stream.offered >= ENOUGH * flows and not stream.is_bare:
            dead = max(flows - stream.flows_received, 0)
            if _is_chance(stream, dead, flows):
                continue
            missing[stream.name] = min(missing.get(stream.name, dead), dead)
    dead, every = sum(missing.values()), flows * len(missing)
    if not 0 < dead < every:
        return None
    lost = sum(max(stream.lost, 0) for stream in streams)
    # Of each flow a trial has as many frames as of any other, or one more.
    theirs = sum(-(-stream.offered // flows) * missing.get(stream.name, 0) for stream in streams)
    return DeadFlows(dead, every, lost <= theirs)


def _is_chance(stream: StreamResult, dead: int, flows: int) -> bool:
    """Whether a flow that is like those that came may well have lost all of its frames.

    Each of n frames is lost with the share p of the frames of the flows that came: by the binomial p^n of the
    flows lose all, and fewer than `DEAD_BY_CHANCE` of all flows are to be expected.
    """
    each = stream.offered // flows
    sent = stream.offered - each * dead
    if not 0 < dead < flows or sent <= 0:
        return False
    share = min(max(stream.lost - each * dead, 0) / sent, 1)
    return share > 0 and math.log(flows) + each * math.log(share) > math.log(DEAD_BY_CHANCE)


def _count_uncounted(trial: Outcome) -> int:
    """Frames that the tester's interfaces did not count as sent; 0 where frames came back that they did not
    count."""
    missing = sum(max(one.missing, 0) for one in trial.streams)
    return trial.uncounted if trial.uncounted <= missing + ENOUGH else 0


def _count_unread_frames(trial: Outcome) -> int:
    """Frames that came while one of several workers did not read: a card without room may count none of them.

    A worker that does all sends late then, too, which is dated.
    """
    workers = trial.health.workers
    if len(workers) < 2:
        return 0
    gap_ns = max(
        (one.longest_gap_ns for one in workers if any(one.rx_frames) or not one.rx_frames), default=0
    )
    sent = sum(stream.offered for stream in trial.streams)
    return -(-sent * gap_ns // max(sending_ns(trial), 1))


def _link_down_over_ns(happened: Sequence[Happened]) -> int:
    over_ns, down = 0, dict[str | None, Happened]()
    for one in happened:
        if one.event.kind == "link-down":
            down[one.event.port] = one
        elif one.event.kind == "link-up" and one.event.port in down:
            begun = down.pop(one.event.port)
            over_ns += max(one.until_ns - begun.from_ns - (one.event.at_ns - begun.event.at_ns), 0)
    return over_ns


def _late_spans(trial: Outcome, stream: StreamResult) -> Iterator[tuple[int, int]]:
    for one in trial.streams:
        for period in one.lag.periods if one.lag is not None else ():
            yield period.from_ns, period.until_ns


def count_lost(streams: Iterable[StreamResult]) -> int:
    """Frames lost, without those one stream has too many."""
    return sum(max(stream.lost, 0) for stream in streams)


def is_noticeable(dropped: int, missing: int) -> bool:
    """Whether these drops are enough of the missing frames to be the limit."""
    return missing > 0 and dropped >= OWN_SHARE * missing and dropped > 0


def device_counts(trials: Sequence[Outcome], name: str) -> int:
    """The sum of one counter over emulated devices and their ports."""
    devices = [device for trial in trials for device in trial.devices]
    ports = [port for device in devices for port in device.get("ports", ())]
    return sum(counted.get(name, 0) for counted in (*devices, *ports))
