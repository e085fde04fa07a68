"""Acceptance of a router with a full table: does routing survive the load, and how fast does it converge.

Loads first, one after the other, with everything watched. Then what a speaker of the tester announces is
withdrawn and announced again, and a link is cut, each under a load of the same rate to every prefix. The
words are those of RFC 6413 (loss-derived convergence time) and RFC 7747 (withdrawal, announcement).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts.convergence import (
    Converged,
    Sent,
    TableTime,
    compare_planes,
    find_table_time,
    find_times,
    join,
)
from netdyno.methods.parts.criteria import (
    CRITERIA,
    Criterion,
    Made,
    judge_convergence,
    judge_loss,
    judge_table,
    judge_watches,
)
from netdyno.methods.parts.procedure import (
    FurtherLoad,
    Parameters,
    Place,
    Procedure,
    find_shortfall,
    record_trials,
)
from netdyno.methods.reasons.convergence import (
    MISSING,
    ChangeNotSent,
    CriteriaMet,
    FlowsNotCounted,
    LostBeforeEvent,
    Missing,
    NoPrefixMeasured,
    PartLeftOut,
    PartNotMeasured,
    PrefixesConverged,
    PrefixesLate,
    PrefixesLeftOut,
    TableUnchanged,
)
from netdyno.methods.sweep import LOSS_FREE, Point, Range, SweepParameters
from netdyno.methods.sweep import METHOD as SWEEP
from netdyno.methods.sweep import VALUES as OF_LOADS
from netdyno.values import number as printed
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Event, EventKind, Frames, Observe, Trial
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, FrameRate, Load, Percent, PositiveDuration, PositiveLoad
from netdyno.values.unmeasured import NotMeasuredError

MOST_LOADS = 100
POINTS = 100
"""Of the curve of convergence times: more are no other curve."""

FAILED = ValueKind(
    "criteria failed", "", "how many criteria of the acceptance failed", goal="criteria failed <= 0"
)


def _convergence(name: str, meaning: str) -> ValueKind:
    return ValueKind(
        f"convergence after {name}",
        "ns",
        f"from {meaning}: full convergence, the longest time of all sampled prefixes",
        goal=f"convergence after {name} <= 1s",
        hinges_on="loss",
        closer="a higher `rate`",
    )


WITHDRAWAL = _convergence("withdrawal", "the withdrawal to the last prefix that is no longer forwarded")
ANNOUNCEMENT = _convergence("announcement", "the announcement to the last prefix that is forwarded")
CUT = _convergence("cut", "the cut of a link to the last prefix that is forwarded by another, by lost frames")
_OF_EVENT: Mapping[EventKind, ValueKind] = {
    "withdraw": WITHDRAWAL,
    "announce": ANNOUNCEMENT,
    "link-down": CUT,
}
_NAMES: Mapping[EventKind, str] = {"withdraw": "withdrawal", "announce": "announcement", "link-down": "cut"}


class AcceptanceParameters(Parameters):
    """Parameters of an acceptance."""

    steps: Range | list[Load] = Field(
        alias="loads",
        default=[Load(Percent(Fraction(share, 10_000))) for share in (1000, 5000, 9000, 9998)],
        examples=["[10%, 50%, 90%, 99.98%]", "10% to 90% by 10%"],
    )
    """Loads, one after the other: a list, or a range, `10% to 90% by 10%`."""
    hold: PositiveDuration = PositiveDuration(Fraction(30))
    """How long each load is held."""
    loss_free: PositiveLoad = PositiveLoad(Percent(Fraction(9, 10)))
    """Up to this load no frame may be lost."""
    withdraw: bool | str = True
    """The tester port whose routes are withdrawn and announced again, as many as its `withdraw` says; `true`:
    the first one that has some and that frames are sent to, if there is one; `false`: none."""
    cut: str | None = None
    """The tester port whose link the device takes down; another port must lead to the same prefixes."""
    down: Duration = Duration.of_ns(0)
    """Of `cut`: until the link is up again; `0s`: at the end of the trial."""
    rate: int = Field(default=100, ge=1, le=1_000_000)
    """Frames a second to each prefix while routes change; convergence times are known to 1 / rate."""
    before: PositiveDuration = PositiveDuration(Fraction(2))
    """Traffic before a withdrawal, an announcement or a cut."""
    watch: PositiveDuration = PositiveDuration(Fraction(30))
    """Traffic after it: longer than convergence takes."""
    convergence: PositiveDuration | None = None
    """The longest that a full convergence may take; without it, within `watch`."""

    @model_validator(mode="after")
    def _possible(self) -> AcceptanceParameters:
        if not self.asked:
            raise Problem("no loads", "give at least one: `[90%]`", at=("loads",), code="empty")
        if len(self.asked) > MOST_LOADS:
            raise Problem(
                f"{len(self.asked)} loads, at most {MOST_LOADS}", "fewer", at=("loads",), code="too-many"
            )
        texts = [str(one) for one in self.asked]
        twice = next((place for place, text in enumerate(texts) if text in texts[:place]), None)
        if twice is not None:
            raise Problem(
                f"{texts[twice]} is asked for twice",
                "each load once",
                at=("loads", twice),
                code="given-twice",
            )
        if self.cut is not None and self.down.ns >= self.watch.ns:
            raise Problem(
                f"`down` ({self.down}) is not shorter than `watch` ({self.watch})",
                "a longer `watch`, or a shorter `down`",
                at=("down",),
                code="conflict",
            )
        if self.convergence is not None and self.convergence.ns > self.watch.ns:
            raise Problem(
                f"`convergence` ({self.convergence}) is longer than `watch` ({self.watch})",
                "a longer `watch`",
                at=("convergence",),
                code="conflict",
            )
        return self

    @property
    def asked(self) -> list[Load]:
        """The loads, in order."""
        return (
            self.steps
            if isinstance(self.steps, list)
            else [one for one in self.steps.all() if isinstance(one, Load)]
        )

    @property
    def limit_ns(self) -> int:
        """The longest that a convergence may take."""
        return (self.convergence or self.watch).ns

    def loads(self) -> Iterator[tuple[Place, Load]]:
        """Every load that is held, and the one up to which none may be lost."""
        for load in self.asked:
            yield ("loads",), load
        yield ("loss_free",), self.loss_free


CONVERGENCE = columns(
    "event | port | stream | prefixes | not converged | first: ns | median: ns | last: ns | resolution: ns"
    " | table by: ns | table resolution: ns | forwarding and table"
)
CURVE = columns("event | time: ns | converged: share")


@dataclass(frozen=True)
class _Target:
    """A port whose prefixes are sent to. streams: those that go to it, each with its number of prefixes.
    names: the prefix of each flow of a stream, if known."""

    port: str
    prefixes: int
    streams: Mapping[str, int]
    names: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class _Change:
    """What an event did. found: by stream; empty: nothing was measured. notes: why, or what bounds it."""

    kind: EventKind
    port: str
    made: Made
    event_ns: int
    found: Mapping[str, Converged]
    table: TableTime | Reason
    short: Reason | None

    @property
    def together(self) -> Converged | None:
        """All streams together; None: nothing was measured."""
        return join(list(self.found.values())) if self.found else None


def acceptance(parameters: AcceptanceParameters, situation: Situation) -> Method:
    """Loads, then a withdrawal and an announcement, then a cut; each criterion is judged by itself."""
    loads: list[Point | Load] = list(parameters.asked)
    sweep = SweepParameters(loads=loads, duration=parameters.hold)
    held, by_number = yield from record_trials(SWEEP.start(sweep, situation))
    steps = [Made(number, *one) for number, one in by_number.items()]
    notes: list[Reason] = list(held.notes)
    changes: list[_Change] = []
    for number, (kind, target) in enumerate(_list_events(parameters, situation, notes), len(steps)):
        trial = _build_trial(parameters, situation, kind, target)
        try:
            outcome = yield trial
        except NotMeasuredError as error:
            notes.append(PartNotMeasured(trial.name, error.reason))
        else:
            made = Made(number, trial, outcome)
            changes.append(_find_change(parameters, kind, target, made))
    return _result(parameters, situation, held, steps, changes, notes)


def _list_events(
    parameters: AcceptanceParameters, situation: Situation, notes: list[Reason]
) -> Iterator[tuple[EventKind, _Target]]:
    """The events of the case, each with the port that it is of. notes: takes what is left out, and why."""
    if parameters.withdraw:
        target = _find_withdrawn(parameters.withdraw, situation)
        if isinstance(target, _Target):
            yield "withdraw", target
            yield "announce", target
        else:
            notes.append(PartLeftOut("withdraw", target))
    if parameters.cut is not None:
        target = _find_target(parameters.cut, situation)
        if isinstance(target, _Target):
            yield "link-down", target
        else:
            notes.append(PartLeftOut("cut", target))


def _find_withdrawn(wanted: bool | str, situation: Situation) -> _Target | Missing:
    """The port whose routes are withdrawn; or what is missing."""
    speaking = [one.port for one in situation.behind if one.withdrawn and wanted in (True, one.port)]
    found = [_find_target(port, situation) for port in speaking]
    is_emulated = not situation.by_hand and any(one.announced for one in situation.behind)
    missing: Missing = "emulated" if is_emulated else "speaker"
    return next((one for one in found if isinstance(one, _Target)), found[0] if found else missing)


def _find_target(port: str, situation: Situation) -> _Target | Missing:
    """A port with the streams that go to it from others than those with the same prefixes behind them."""
    names = [one.port for one in situation.behind]
    if port not in names or not situation.behind[names.index(port)].prefixes:
        return "prefixes"
    behind = situation.behind[names.index(port)]
    streams = {
        name: prefixes
        for name, place, prefixes in zip(situation.streams, situation.places, situation.prefixes, strict=True)
        if names[place.rx] == port and names[place.tx] not in behind.like
    }
    of_flows = dict(zip(situation.streams, situation.destinations, strict=False))
    return _Target(port, behind.prefixes, streams, of_flows) if streams else "stream"


def _build_trial(
    parameters: AcceptanceParameters, situation: Situation, kind: EventKind, target: _Target
) -> Trial:
    """A load of the same rate to each prefix, and the event meanwhile; all other streams are silent."""
    duration_ns = parameters.before.ns + parameters.watch.ns
    loads = {
        name: Frames.steady(_rate(parameters, target.streams[name]), duration_ns).segments
        if name in target.streams
        else ()
        for name in situation.streams
    }
    most = FrameRate(max(_port_fps(parameters, situation, target).values()))
    load = replace(Frames.steady(most, duration_ns), loads=loads, flows=target.prefixes)
    events = [Event(parameters.before.ns, kind, target.port)]
    if kind == "link-down":
        up_ns = parameters.before.ns + parameters.down.ns if parameters.down.ns else duration_ns
        events.append(Event(up_ns, "link-up", target.port))
    return Trial(
        _NAMES[kind],
        load,
        observe=Observe(by_flow=True),
        events=tuple(events),
        # Begun anew it would not find the routes as they were.
        stands=True,
        counts_carrier_losses=kind == "link-down",
    )


def _rate(parameters: AcceptanceParameters, prefixes: int) -> FrameRate:
    return FrameRate(Fraction(parameters.rate * prefixes))


def _port_fps(
    parameters: AcceptanceParameters, situation: Situation, target: _Target
) -> Mapping[int, Fraction]:
    """What each port sends to the prefixes of a target."""
    found: dict[int, Fraction] = {}
    for name, prefixes in target.streams.items():
        sender = situation.sender(name)
        found[sender] = found.get(sender, Fraction(0)) + _rate(parameters, prefixes).amount
    return found


def _find_change(parameters: AcceptanceParameters, kind: EventKind, target: _Target, made: Made) -> _Change:
    outcome = made.outcome
    # Of a real device, when it was asked; in virtual time that is when it was to be.
    event_ns = next((one.from_ns for one in outcome.happened if one.event.kind == kind), parameters.before.ns)
    up_ns = (one.from_ns for one in outcome.happened if one.event.kind == "link-up")
    end_ns = min(up_ns, default=None)
    # How late frames were sent is in the resolution of the times: only those not sent count here.
    unsent = find_shortfall(outcome, None)
    short: Reason | None = None if unsent is None else ChangeNotSent(unsent)
    found: dict[str, Converged] = {}
    for stream in outcome.streams if short is None else ():
        if stream.name not in target.streams:
            continue
        prefixes = target.streams[stream.name]
        fps, names = _rate(parameters, prefixes).amount, target.names.get(stream.name, ())
        sent = Sent(fps, prefixes, event_ns, made.trial.duration_ns, names)
        times = find_times(kind, stream, sent, outcome)
        if times is None:
            short = FlowsNotCounted()
        else:
            found[stream.name] = times
    return _Change(
        kind, target.port, made, event_ns, found, find_table_time(outcome.series, event_ns, end_ns), short
    )


def _list_values(change: _Change) -> Iterator[Value]:
    kind = _OF_EVENT[change.kind]
    every = [*change.found.items(), ("sum", change.together)]
    for scope, found in every:
        if found is None or not found.prefixes:
            yield Value(kind, scope, None, note=change.short or NoPrefixMeasured())
        elif found.last_ns is None:
            least = Fraction(change.made.trial.duration_ns - change.event_ns)
            note = PrefixesLate(found.late, found.prefixes, int(least), found.late_named)
            yield Value(kind, scope, None, least, None, note)
        elif found.lost_before and change.kind == "link-down":
            high = found.last_ns + found.resolution_ns
            yield Value(kind, scope, None, None, high, LostBeforeEvent(found.lost_before))
        else:
            ends = (
                max(found.last_ns - found.resolution_ns, Fraction(0)),
                found.last_ns + found.resolution_ns,
            )
            yield Value(
                kind, scope, found.last_ns, *ends, PrefixesConverged(found.prefixes, found.resolution_ns)
            )


def _result(
    parameters: AcceptanceParameters,
    situation: Situation,
    held: Result,
    steps: Sequence[Made],
    changes: Sequence[_Change],
    notes: list[Reason],
) -> Result:
    criteria = [
        *judge_table(situation, steps),
        *judge_watches(situation, [*steps, *(one.made for one in changes)]),
        judge_loss(situation, parameters.loss_free, steps),
        *(_judge_change(parameters, one) for one in changes),
    ]
    for one in changes:
        found = one.together
        if found is not None and found.left_out:
            notes.append(About(one.made.trial.name, PrefixesLeftOut(found.left_out, found.left_out_named)))
        agreement = None if found is None else compare_planes(found, one.table)
        # A cut changes next hops, and not how many routes there are.
        is_expected = one.kind == "link-down" and isinstance(agreement, TableUnchanged)
        if agreement is not None and not is_expected:
            notes.append(About(one.made.trial.name, agreement))
    by_verdict = {
        verdict: tuple(one.name for one in criteria if one.verdict == verdict)
        for verdict in (PASS, FAIL, NOT_KNOWN)
    }
    failed, unknown = by_verdict[FAIL], by_verdict[NOT_KNOWN]
    note = CriteriaMet(len(by_verdict[PASS]), len(criteria), failed, unknown)
    count = Value(FAILED, "sum", Fraction(len(failed)), note=note)
    if unknown:
        # One that failed is known, whatever of the others is not.
        count = replace(count, number=count.number or None, low=count.number)
    every = tuple(range(len(steps) + len(changes)))
    showing = {one.made.number for one in criteria if one.verdict == FAIL and one.made is not None}
    rests = {
        FAILED.name: tuple(sorted(showing)) or tuple(one.number for one in steps),
        **held.rests,
        **{_OF_EVENT[one.kind].name: (one.made.number,) for one in changes},
    }
    curve = tuple(_list_points(changes))
    tables = [
        Table(
            "Acceptance",
            CRITERIA,
            tuple(one.cells for one in criteria),
            "Instants are of the traffic of the trial; the clock is UTC.",
        )
    ]
    if changes:
        tables.append(
            Table(
                "Convergence",
                CONVERGENCE,
                tuple(row for one in changes for row in _list_rows(one)),
                "From the event, when the device or the speaker was asked for it. After a cut or an"
                " announcement a time is the frames that a prefix lost over its rate (RFC 6413 section"
                " 5.1.2); after a withdrawal it is the first frame that was forwarded no more (RFC 7747)."
                " Last: full convergence. Table: when the device's own count of routes had its final value,"
                " by its readings.",
            )
        )
    if curve:
        figure = Figure("time", ("converged",), y_range=(Fraction(0), Fraction(1)), by="event")
        tables.append(
            Table("Convergence of the prefixes", CURVE, curve, "The share converged by a time.", figure)
        )
    return Result(
        method=METHOD.name,
        values=(count, *(value for one in changes for value in _list_values(one)), *held.values),
        trials=every,
        notes=tuple(notes),
        headlines=(FAILED.name, LOSS_FREE.name, *(_OF_EVENT[one.kind].name for one in changes)),
        rests=rests,
        rests_by_scope=held.rests_by_scope,
        tables=(*tables, *held.tables),
    )


def _judge_change(parameters: AcceptanceParameters, change: _Change) -> Criterion:
    return judge_convergence(change.together, parameters.limit_ns, change.made, change.event_ns, change.short)


def _list_rows(change: _Change) -> Iterator[tuple[Cell, ...]]:
    """A row of the table for each stream."""
    table = change.table if isinstance(change.table, TableTime) else None
    for stream, found in change.found.items():
        agreement = compare_planes(found, change.table)
        yield (
            change.made.trial.name,
            change.port,
            stream,
            Fraction(found.prefixes),
            Fraction(found.late),
            found.first_ns,
            found.median_ns,
            found.last_ns,
            found.resolution_ns,
            None if table is None else Fraction(table.by_ns),
            None if table is None else Fraction(table.resolution_ns),
            None if agreement is None else str(agreement),
        )


def _list_points(changes: Sequence[_Change]) -> Iterator[tuple[Cell, ...]]:
    """The share of all prefixes that had converged by a time: the curve of each event."""
    for change in changes:
        found = change.together
        if found is None or not found.times_ns:
            continue
        times = found.times_ns
        places = ((len(times) - 1) * point // POINTS for point in range(POINTS + 1))
        # Of several at one time the last one.
        by_time = {times[place]: bisect_right(times, times[place]) for place in places}
        for time_ns, count in by_time.items():
            yield change.made.trial.name, time_ns, Fraction(count, found.prefixes)


def _fits(parameters: AcceptanceParameters, situation: Situation) -> Problem | None:
    """The problem if the case has no such port, cannot cut its link, or has no line for the rate."""
    highest = max(situation.fps(one.amount) for one in parameters.asked)
    if situation.line_fps and situation.fps(parameters.loss_free.amount) > highest:
        return Problem(
            f"`loss_free: {parameters.loss_free}` is above all `loads`",
            "a load of at least that",
            at=("loss_free",),
            code="out-of-range",
        )
    if isinstance(parameters.withdraw, str):
        problem = _find_no_port("withdraw", parameters.withdraw, situation)
        target = _find_withdrawn(parameters.withdraw, situation)
        if problem is None and not isinstance(target, _Target):
            problem = _no_target("withdraw", parameters.withdraw, target)
        if problem is not None:
            return problem
    if parameters.cut is not None:
        problem = _find_no_cut(parameters, parameters.cut, situation)
        if problem is not None:
            return problem
    for target in dict(_list_events(parameters, situation, [])).values():
        most = max(_port_fps(parameters, situation, target).values())
        if most > situation.line_fps:
            return Problem(
                f"{parameters.rate} frames a second to each of {target.prefixes} prefixes are"
                f" {printed.percent(most / situation.line_fps)} of the line",
                "a lower `rate`",
                at=("rate",),
                code="load-above-line",
            )
    return None


def _find_further_loads(parameters: AcceptanceParameters, situation: Situation) -> tuple[FurtherLoad, ...]:
    """What is sent while routes change, which `rate` and the number of prefixes say."""
    asked = {load: situation.fps(load.amount) for load in parameters.asked}
    largest = max(asked, key=lambda load: asked[load])
    loads: dict[tuple[int, Fraction], list[str]] = {}
    for kind, target in _list_events(parameters, situation, []):
        fps = max(_port_fps(parameters, situation, target).values())
        loads.setdefault((target.prefixes, fps), []).append(_NAMES[kind])
    found = []
    for (prefixes, fps), names in loads.items():
        above = ""
        if fps > asked[largest]:
            above = f"the largest of `loads` ({largest})"
        elif fps > situation.fps(parameters.loss_free.amount):
            above = f"`loss_free` ({parameters.loss_free})"
        to = "1 prefix" if prefixes == 1 else f"each of {printed.count(prefixes)} prefixes"
        found.append(FurtherLoad(f"{' and '.join(names)}: {parameters.rate} frames/s to {to}", fps, above))
    return tuple(found)


def _find_no_port(part: str, port: str, situation: Situation) -> Problem | None:
    ports = [one.port for one in situation.behind]
    if port in ports:
        return None
    hint = f"`{'`, `'.join(ports)}`" if ports else "leave it out"
    return Problem(f"there is no tester port `{port[:40]}`", hint, at=(part,), code="unknown-name")


def _no_target(part: Literal["withdraw", "cut"], port: str, missing: Missing) -> Problem:
    hint = {
        "speaker": "`routing: {bgp: {routes: 900000, withdraw: 100000}}` at its link",
        "emulated": "leave it out; the real device has it",
        "prefixes": "`routing: {bgp: {...}}` with routes at its link, or the axis `routes` of the matrix",
        "stream": "a `direction` or `pattern` in which a port without these prefixes sends to it",
    }[missing]
    return Problem(f"`{part}: {port[:40]}`: {MISSING[missing]}", hint, at=(part,), code="unsupported")


def _find_no_cut(parameters: AcceptanceParameters, port: str, situation: Situation) -> Problem | None:
    problem = _find_no_port("cut", port, situation)
    if problem is not None:
        return problem
    if not situation.asked:
        return Problem(
            "netdyno cannot ask this device to take a link down",
            "leave `cut` out, or take a device that netdyno builds",
            at=("cut",),
            code="not-askable",
        )
    target = _find_target(port, situation)
    if not isinstance(target, _Target):
        return _no_target("cut", port, target)
    if not any(one.port == port and one.like for one in situation.behind) and not parameters.down.ns:
        return Problem(
            f"no other port leads to the prefixes behind `{port}`: they cannot converge",
            "a third port with the same table, or `down: 1s` for a link that comes back",
            at=("cut",),
            code="conflict",
        )
    return None


def _seconds(parameters: AcceptanceParameters) -> Fraction:
    """About how long a case sends, s."""
    events = 2 * bool(parameters.withdraw) + (parameters.cut is not None)
    change = parameters.before.amount + parameters.watch.amount
    return parameters.hold.amount * len(parameters.asked) + events * change


METHOD = Procedure(
    name="acceptance",
    title="Acceptance",
    doc="Whether table, adjacencies, pings and command line survive the load, and how fast routes converge.",
    standard="",
    like="the convergence times of RFC 6413 and RFC 7747, beside a load",
    parameters=AcceptanceParameters,
    start=acceptance,
    traffic_seconds=_seconds,
    fits=_fits,
    further_loads=_find_further_loads,
    further_needs=frozenset({Offer.EVENTS}),
    values=(FAILED, WITHDRAWAL, ANNOUNCEMENT, CUT, *OF_LOADS),
    needs_even=True,
)
