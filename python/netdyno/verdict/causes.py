"""What the lost frames of a case have in common, where that is not the load: its cause is then another one.

`LostSizes` frame sizes that none of came back, `IdleMembers` members of a LAG that carried nothing,
`Polarised` members or ports of one that carried far from even shares, `ConstantLoss` the same share of the
frames at any load. And what came of flows, lost or not: `Reordered` frames out of order, `Retranslated` flows
that came with other addresses than before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, groupby, product, takewhile
from math import isqrt, prod
from typing import TypeAlias

from netdyno.errors import counted
from netdyno.stats.shares import chance_of_shares
from netdyno.values.breaks import ADJACENCY
from netdyno.values.load import Frames, Trial
from netdyno.values.number import count, rate
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.device_trial import count_members
from netdyno.verdict.evidence import Evidence, find_dead_flows

Weights: TypeAlias = Sequence[tuple[int, int]]
"""Frame sizes, bytes with FCS, and how many of each a round of the mix has."""

ENOUGH = 10
"""Lost frames of a load, or of a size, from which on its share is known well enough."""
LOADS = 3
"""Loads that must have lost the same share."""
APART = 4
"""Times that the highest of them must be the lowest."""
SIGMAS = 4
"""Standard deviations by which a count may miss its expectation; and a tenth of it."""
MOST_SIZES = 10
"""Of a mix whose subsets are tried."""
MOST_ENDS = 4096
"""Ways in which a mix may end in the middle of a round that are tried."""
MUCH = Fraction(11, 10)
"""Of its even share, what the busiest port carries at least where shares are called uneven."""
RARE = 1e-6
"""The chance of shares, below which flows spread at random do not explain them."""
BUCKETS = 8
"""Of a hash, as many devices have it: so many parts of the flows, each of them on one port."""
NEAR = Fraction(2, 100)
"""By so much of all frames a share may miss its buckets."""
FEW = Fraction(1, 1000)
"""Of the frames, which may be lost where the rest shows their shares."""
FLOWS_A_MEMBER = 8
"""Flows for each member of a LAG from which on none is idle by chance."""


class LostSizes(Reason, code="lost-sizes"):
    """All frames that were lost are of these sizes, of so many. is_whole: none of these came back."""

    sizes: tuple[int, ...]
    of: int
    is_whole: bool
    says = """only frames of {_named} B were lost, {is_whole:?all of them|some of them}: look at what each
        port does with these sizes (MTU)"""

    @property
    def _named(self) -> str:
        *first, last = map(count, self.sizes)
        return f"{', '.join(first)} and {last}" if first else last


class IdleMembers(Reason, code="idle-members"):
    """Members of a LAG of the device that carried no frame, of however many flows.

    varies: fields in which the flows differ, and the number of values of each. fewest: the least of these
    numbers, if all are drawn at random; else 0. member: that carried the most, from 1. shown: flows that it
    carried.
    """

    port: str
    idle: int
    members: int
    flows: int
    varies: tuple[str, ...] = ()
    fewest: int = 0
    member: int = 0
    shown: tuple[str, ...] = ()
    says = """{idle:d} of {members:d} members of the LAG `{port}` carried none of
        {flows:flow}{_varies}{_shown}. {_why}. Change the hash"""

    @property
    def _varies(self) -> str:
        return _say_varies(self.varies)

    @property
    def _shown(self) -> str:
        return _say_shown(self.member, self.shown)

    @property
    def _why(self) -> str:
        if self.members - self.idle > 1 and self.fewest >= FLOWS_A_MEMBER * self.members:
            return "A stage before it hashes alike (polarisation), or they are down"
        if self.members - self.idle == 1 and self.varies:
            return "The hash uses none of these fields, they cancel out in it, or members are down"
        tells = "tells too few of their values apart" if self.varies else "uses no field that varies"
        return f"They are down, the hash {tells}, or a stage before it hashes alike (polarisation)"


class Polarised(Reason, code="polarised"):
    """The members of a LAG, or the ports of a LAG or ECMP group, carried shares that are more uneven than so
    many flows explain. at: which LAG or ports. frames: of each, in order.

    varies: fields in which the flows differ, and the number of values of each. shown: flows of the busiest.
    """

    at: str
    frames: tuple[int, ...]
    flows: int
    varies: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    says = """polarisation at {at}: the busiest of {_count:d} carried {_most:.1%} of the frames of
        {flows:flow}{_varies}, and an even share is {_even:.1%}{_shown}. Chance makes that less than once in a
        million. Hash more fields, or with another seed"""

    @property
    def _varies(self) -> str:
        return _say_varies(self.varies)

    @property
    def _shown(self) -> str:
        return _say_shown(self.frames.index(max(self.frames)) + 1, self.shown)

    @property
    def _count(self) -> int:
        return len(self.frames)

    @property
    def _most(self) -> Fraction:
        return Fraction(max(self.frames), sum(self.frames))

    @property
    def _even(self) -> Fraction:
        return Fraction(1, len(self.frames))


def _say_varies(fields: Sequence[str]) -> str:
    return f" that differ in {' and '.join(fields)}" if fields else ""


def _say_shown(member: int, flows: Sequence[str]) -> str:
    return f". Member {member} carried {', '.join(flows)}, and others" if flows else ""


class ConstantLoss(Reason, code="constant-loss"):
    """The same share of frames was lost at every load, of all flows, sizes and directions.

    loads, lost, sent: those that show it, without frames that the tester may explain. from_pps, to_pps: the
    lowest and the highest of them, of a port. least, most: the shares that single loads lost, at least and,
    with those frames, at most.
    """

    lost: int
    sent: int
    loads: int
    from_pps: Fraction
    to_pps: Fraction
    least: Fraction | None = None
    most: Fraction | None = None

    def __str__(self) -> str:
        mean = Fraction(self.lost, self.sent)
        ends = sorted({round(1 / share) for share in (self.least or mean, self.most or mean)})
        one_in = f"{count(ends[0])} to {counted(ends[1], 'frame')}" if ends[1:] else counted(ends[0], "frame")
        span = f"{rate(self.from_pps, 'pps')} to {rate(self.to_pps, 'pps')}"
        return f"1 in {one_in} is lost at any load ({span}): look for errors, not for capacity"


class Reordered(Reason, code="out-of-order"):
    """Frames came out of the order of their flows."""

    frames: int
    received: int
    says = "{frames} of {received:received frame} ({_share:.1%}) came out of the order of their flows"

    @property
    def _share(self) -> Fraction:
        return Fraction(self.frames, self.received)


class Retranslated(Reason, code="translation-changed"):
    """Flows came with other addresses or ports than before, in the middle of a trial: what answers them goes
    to the old ones."""

    stream: str
    changes: int
    trials: int
    says = """flows of `{stream}` came with other addresses or ports than before, {changes:time} in
        {trials:trial} under load: answers to the old ones are lost. Look at the device's time-outs and at the
        room of its table"""


class Translated(Reason, code="translated"):
    """How many flows came out with other addresses or ports, and were answered there."""

    stream: str
    translated: int
    says = "{translated:flow} of `{stream}` came out with other addresses or ports; answers went there"


def find_flow_notes(outcomes: Sequence[Outcome]) -> tuple[Reason, ...]:
    """What there is to say of the flows of a case, whether or not it lost frames."""
    changes = Counter[str]()
    trials = Counter[str]()
    for stream in (one for outcome in outcomes for one in outcome.streams if one.retranslated):
        changes[stream.name] += stream.retranslated
        trials[stream.name] += 1
    reordered = _find_reordered(outcomes)
    found = [] if reordered is None else [reordered]
    # The most of any trial: some are without the service.
    most: dict[str, int] = {}
    for stream in (one for outcome in outcomes for one in outcome.streams if one.translated is not None):
        most[stream.name] = max(most.get(stream.name, 0), stream.translated or 0)
    translated = [Translated(name, number) for name, number in most.items()]
    retranslated = [Retranslated(name, number, trials[name]) for name, number in changes.items()]
    return (*found, *retranslated, *translated)


def _find_reordered(outcomes: Iterable[Outcome]) -> Reordered | None:
    """The frames of a case that came out of order, of workers that can tell; None: none did."""
    streams = [
        one
        for outcome in outcomes
        if not outcome.health.split_flows
        for one in outcome.streams
        if not one.is_bare
    ]
    frames = sum(one.out_of_order for one in streams)
    return Reordered(frames, sum(one.received for one in streams)) if frames else None


def find_causes(trials: Mapping[int, tuple[Trial, Outcome]], known: Evidence) -> tuple[Reason, ...]:
    """The causes that the trials of a case show."""
    loads = [
        (fps, number)
        for number, (trial, outcome) in trials.items()
        if (fps := _held_load(trial, known)) is not None and not outcome.carrier_losses
    ]
    ordered = [(fps, trials[number]) for fps, number in sorted(loads)]
    sizes = _of_lowest_load([outcome for _, (_, outcome) in ordered], known)
    found: list[Reason | None] = [
        sizes,
        idle := _find_idle_members(
            # A plan that has flows chosen says what each member carries.
            [outcome for trial, outcome in trials.values() if not _has_picked(trial)],
            known,
        ),
    ]
    found += _find_polarised(trials.values(), known) if idle is None else ()
    if sizes is None:
        found.append(_find_constant_loss(ordered, known))
    return tuple(one for one in found if one is not None)


def _has_picked(trial: Trial) -> bool:
    """Whether its flows were chosen: the shares of members are the plan's."""
    return isinstance(trial.load, Frames) and bool(trial.load.picked)


def _held_load(trial: Trial, known: Evidence) -> Fraction | None:
    """The load of a port that a trial held, frames a second; None: it held none, or something else beside."""
    if not isinstance(trial.load, Frames) or trial.events:
        return None
    load = trial.frames
    if load.loads or load.burst or load.flows is not None or not trial.constant or len(trial.segments) > 1:
        return None
    return known.situation.fps(trial.segments[0].to_rate)


def _of_lowest_load(outcomes: Sequence[Outcome], known: Evidence) -> LostSizes | None:
    """The sizes that were lost at the lowest load that lost any: at higher ones others may find no room."""
    lossy = next((one for one in outcomes if any(stream.lost > 0 for stream in one.streams)), None)
    return None if lossy is None else find_lost_sizes(lossy.streams, known.sizes)


def find_lost_sizes(streams: Sequence[StreamResult], weights: Weights) -> LostSizes | None:
    """The sizes that all lost frames of a trial are of; None: frames of every size, or that is unknown."""
    if not 1 < len(weights) <= MOST_SIZES:
        return None
    first: LostSizes | None = None
    for one in streams:
        found = _lost_sizes_of(one, weights) if one.lost else first
        if one.lost and (found is None or first not in (None, found)):
            return None
        first = found
    return first


def _lost_sizes_of(stream: StreamResult, weights: Weights) -> LostSizes | None:
    lost, gone = stream.lost, stream.offered_bytes - stream.received_bytes
    if lost < ENOUGH or stream.corrupted or stream.duplicates or stream.is_bare:
        return None
    whole = [
        chosen
        for many in range(1, len(weights))
        for chosen in combinations(weights, many)
        if _are_all(chosen, stream, lost, gone, sum(weight for _, weight in weights))
    ]
    if len(whole) == 1:
        return LostSizes(tuple(sorted(size for size, _ in whole[0])), len(weights), is_whole=True)
    # Only at an end of the mix the mean length of what is missing is that of one size for sure.
    ends = (min(size for size, _ in weights), max(size for size, _ in weights))
    alone = [size for size in ends if gone == lost * size]
    return LostSizes(tuple(alone), len(weights), is_whole=False) if alone and not whole else None


def _are_all(chosen: Weights, stream: StreamResult, lost: int, gone: int, total: int) -> bool:
    """Whether all frames of these sizes are as many, and as many bytes, as are missing. A mix comes in rounds
    of exact weights; of the last one some frames may not have been sent."""
    rounds, rest = divmod(stream.offered, total)
    more = lost - rounds * sum(weight for _, weight in chosen)
    bytes_more = gone - rounds * sum(weight * size for size, weight in chosen)
    if not 0 <= more <= rest:
        return False
    if prod(weight + 1 for _, weight in chosen) > MOST_ENDS:
        sizes = [size for size, _ in chosen]
        return more * min(sizes) <= bytes_more <= more * max(sizes)
    ends = product(*(range(min(weight, more) + 1) for _, weight in chosen))
    return any(
        sum(end) == more
        and sum(frames * size for frames, (size, _) in zip(end, chosen, strict=True)) == bytes_more
        for end in ends
    )


def _find_idle_members(outcomes: Sequence[Outcome], known: Evidence) -> IdleMembers | None:
    """The first LAG of a device of which members carried no frame in any trial; None: there is none, or too
    few flows were sent to load them all."""
    for port, frames in _sent_by_members(outcomes):
        idle = frames.count(0)
        if 0 < idle < len(frames) and min(known.flows, sum(frames)) >= FLOWS_A_MEMBER * len(frames):
            busiest = frames.index(max(frames))
            # Fields of senders, such as their MAC addresses, are beside those in which flows differ.
            senders = len({place.tx for place in known.situation.places})
            is_drawn = all(drawn for _, _, drawn in known.varies) and len(frames) - idle > senders
            return IdleMembers(
                port,
                idle,
                len(frames),
                known.flows,
                _list_varying(known),
                min((values for _, values, _ in known.varies), default=0) if is_drawn else 0,
                busiest + 1,
                _list_flows(outcomes, port, busiest),
            )
    return None


def _list_varying(known: Evidence) -> tuple[str, ...]:
    return tuple(f"{field} ({counted(values, 'value')})" for field, values, _ in known.varies)


def _list_flows(outcomes: Iterable[Outcome], name: str, member: int) -> tuple[str, ...]:
    """Flows that a member of an emulated device's LAG carried; none: the device does not say."""
    for outcome in outcomes:
        for port in (port for device in outcome.devices for port in device.get("ports", ())):
            flows = port.get("member_flows") or ()
            if port["name"] == name and member < len(flows) and flows[member]:
                return tuple(flows[member])
    return ()


def _sent_by_members(outcomes: Iterable[Outcome]) -> list[tuple[str, list[int]]]:
    """Each LAG of a device, and the frames that each of its members sent in all trials."""
    sent: dict[tuple[int, str, int], list[int]] = {}
    for outcome in outcomes:
        for number, device in enumerate(outcome.devices):
            for port in device.get("ports", ()):
                members = port.get("member_tx") or ()
                before = sent.setdefault((number, port["name"], len(members)), [0] * len(members))
                before[:] = map(sum, zip(before, members, strict=True))
    return [(port, frames) for (_, port, _), frames in sent.items()]


def _find_polarised(made: Iterable[tuple[Trial, Outcome]], known: Evidence) -> Iterator[Polarised]:
    """The LAGs and ECMP groups whose shares are more uneven than the flows explain, by the device's counters
    of members and by what the tester's ports received."""
    held = [
        (trial.duration_ns, outcome)
        # After a member died a device may leave flows where they went.
        for trial, outcome in takewhile(lambda one: not one[0].has_failure, made)
        if not trial.events
        and not outcome.carrier_losses
        and trial.frames.flows is None
        and not _has_picked(trial)
        and _is_nearly_whole(outcome)
    ]
    outcomes = [outcome for _, outcome in held]
    names = [port.name for port in outcomes[0].ports] if outcomes else []
    shares_of = [
        (f"`{port}`", tuple(frames), 1, _list_flows(outcomes, port, frames.index(max(frames))))
        for port, frames in _sent_by_members(outcomes)
        if frames
    ]
    places = known.situation.places
    by_name = dict(zip(known.situation.streams, places, strict=False))
    read = count_members(held, by_name, known.situation.device_ports)
    shares_of += [(f"`{lag}`", frames, 1, ()) for (lag, way), frames in read.items() if way == "out"]
    for bundle in dict.fromkeys(place.bundle for place in places if place.bundle):
        frames = tuple(sum(outcome.ports[port].test_frames for outcome in outcomes) for port in bundle)
        at = ", ".join(f"`{names[port]}`" for port in bundle) if names else ""
        # The VLANs between two ports share the flows of the profile, and so do the members of a sending LAG.
        ways = {
            (known.situation.lag_of(place.tx), place.rx, place.traffic)
            for place in places
            if place.bundle == bundle
        }
        shares_of.append((at, frames, len(ways), ()))
    for at, shares, streams, shown in shares_of:
        flows = min(known.flows * streams, sum(shares))
        if len(shares) < 2 or max(shares) * len(shares) < MUCH * sum(shares):
            continue
        if chance_of_shares(shares, flows) < RARE and not _are_of_buckets(shares, flows):
            yield Polarised(at, shares, flows, _list_varying(known), shown)


def _is_nearly_whole(outcome: Outcome) -> bool:
    """Whether what arrived shows how frames were spread: the tester dropped none, few were lost, and no
    adjacency that is watched was down, LACP's on a member or a routing protocol's on a next hop."""
    sent = sum(one.offered for one in outcome.streams)
    if any(one.source == ADJACENCY and 0 in one.values for one in outcome.series):
        return False
    return not outcome.dropped and sum(max(one.lost, 0) for one in outcome.streams) <= FEW * sent


def _are_of_buckets(shares: Sequence[int], flows: int) -> bool:
    """Whether a hash of 8 buckets, spread over the ports as evenly as they go, explains shares: 3, 3 and 2 of
    three ports."""
    each, more = divmod(BUCKETS, len(shares))
    if not each:
        return False
    weights = [each + (number < more) for number in range(len(shares))]
    ordered, total = sorted(shares, reverse=True), sum(shares)
    parts = [Fraction(one, total) for one in ordered]
    is_near = all(
        abs(part - Fraction(weight, BUCKETS)) <= NEAR for part, weight in zip(parts, weights, strict=True)
    )
    return is_near or chance_of_shares(ordered, flows, weights) >= RARE


@dataclass(frozen=True)
class _AtLoad:
    """What the trials of a load sent and lost of all streams."""

    fps: Fraction
    sent: int
    lost: int


def _find_constant_loss(
    ordered: Sequence[tuple[Fraction, tuple[Trial, Outcome]]], known: Evidence
) -> ConstantLoss | None:
    """The share that was lost alike at loads far apart, from the lowest one up; above them capacity may be
    lacking as well."""
    lossy = {fps for fps, (_, outcome) in ordered if any(one.lost > 0 for one in outcome.streams)}
    if len(lossy) < LOADS or max(lossy) < APART * min(lossy):
        return None
    shown = _find_alike(ordered, _count_lost)
    if shown and known.clock == "real":
        # Pauses of the tester lose the same share at any load, too.
        shown = _find_alike(ordered, lambda trial, outcome: _count_own(trial, outcome, known))
    if not shown:
        return None
    within = [outcome for fps, (_, outcome) in ordered if fps <= shown[-1].fps]
    if _is_concentrated([one for outcome in within for one in outcome.streams], shown, known):
        return None
    lost, sent = sum(one.lost for one in shown), sum(one.sent for one in shown)
    if 2 * lost >= sent:
        # Where most are lost something is wrong with all of them: an address, a route, an MTU.
        return None
    loads = {one.fps for one in shown}
    counted_at = [_at_load(fps, made) for fps, made in _by_load(ordered) if fps in loads]
    most = max(Fraction(one.lost, one.sent) for one in counted_at)
    least = min(Fraction(one.lost, one.sent) for one in shown)
    return ConstantLoss(lost, sent, len(shown), shown[0].fps, shown[-1].fps, least, most)


def _count_lost(trial: Trial, outcome: Outcome) -> int:
    """Frames that a trial lost, whoever lost them."""
    return sum(max(one.lost, 0) for one in outcome.streams)


def _by_load(
    ordered: Sequence[tuple[Fraction, tuple[Trial, Outcome]]],
) -> Iterator[tuple[Fraction, list[tuple[Trial, Outcome]]]]:
    """Each load with its trials."""
    for fps, pairs in groupby(ordered, key=lambda one: one[0]):
        yield fps, [pair for _, pair in pairs]


def _at_load(
    fps: Fraction,
    made: Sequence[tuple[Trial, Outcome]],
    count_lost: Callable[[Trial, Outcome], int] = _count_lost,
) -> _AtLoad:
    sent = sum(one.offered for _, outcome in made for one in outcome.streams)
    return _AtLoad(fps, sent, sum(count_lost(*pair) for pair in made))


def _count_own(trial: Trial, outcome: Outcome, known: Evidence) -> int:
    """Frames that a trial lost and the tester does not explain."""
    alone = replace(known, trials=(outcome,), planned_ns=(trial.duration_ns,), is_constant=True)
    return sum(judged.left for judged in alone.judged())


def _find_alike(
    ordered: Sequence[tuple[Fraction, tuple[Trial, Outcome]]], count_lost: Callable[[Trial, Outcome], int]
) -> list[_AtLoad]:
    """The loads that lost the same share, from the lowest up, if they are enough and far enough apart."""
    every: list[_AtLoad] = []
    shown: list[_AtLoad] = []
    for fps, made in _by_load(ordered):
        at = _at_load(fps, made, count_lost)
        if shown and not _agrees(at.lost, at.sent, shown):
            break
        every.append(at)
        if at.lost >= ENOUGH:
            shown.append(at)
    if len(shown) < LOADS or shown[-1].fps < APART * shown[0].fps:
        return []
    below = [at for at in every if at.fps <= shown[-1].fps]
    return shown if all(_agrees(at.lost, at.sent, shown) for at in below) else []


def _agrees(lost: int, sent: int, shown: Sequence[_AtLoad]) -> bool:
    """Whether so many are as many as the share of these loads makes one expect."""
    expected = Fraction(sum(one.lost for one in shown) * sent, sum(one.sent for one in shown))
    deviation = SIGMAS * isqrt(int(expected) + 1) + expected / 10
    return abs(lost - expected) <= deviation


def _is_concentrated(streams: Sequence[StreamResult], shown: Sequence[_AtLoad], known: Evidence) -> bool:
    """Whether some directions, VLANs, flows or sizes lose more than others."""
    if find_dead_flows(streams, known.flows) is not None:
        return True
    by_name: dict[str, list[StreamResult]] = {}
    for one in streams:
        by_name.setdefault(one.name, []).append(one)
    for own in by_name.values():
        lost, sent = sum(max(one.lost, 0) for one in own), sum(one.offered for one in own)
        if not _agrees(lost, sent, shown):
            return True
    return len(known.sizes) > 1 and not _is_of_mean_size(streams)


def _is_of_mean_size(streams: Sequence[StreamResult]) -> bool:
    """Whether the frames that were lost are as long on average as those that were sent."""
    lost, sent = sum(one.lost for one in streams), sum(one.offered for one in streams)
    gone = sum(one.offered_bytes - one.received_bytes for one in streams)
    expected = Fraction(sum(one.offered_bytes for one in streams) * lost, max(sent, 1))
    return lost > 0 and abs(gone - expected) * isqrt(lost) <= SIGMAS * expected


def limits_by_errors(cause: Reason, high: Fraction | None) -> bool:
    """Whether a cause is that of a limit: always, but a constant loss only of a load at which it shows.

    high: the lowest load of a port that did not pass.
    """
    return not isinstance(cause, ConstantLoss) or (high is not None and high <= cause.to_pps)


REASONS: Codes = declared(globals())
