"""Acceptance against a device of a few lines, whose prefixes converge at times that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from kinds import assert_declared
from methodlab import measure_plan, run_here, table, text, value
from netdyno.campaign.reasons import REASONS
from netdyno.methods import METHODS
from netdyno.methods.parts.convergence import TableTime, find_table_time
from netdyno.methods.reasons.convergence import (
    LostBeforeEvent,
    PartLeftOut,
    PlanesAgree,
    PlanesDiffer,
    PrefixesLate,
    PrefixesLeftOut,
)
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run
from netdyno.values.breaks import ADJACENCY, ANSWERS, PING
from netdyno.values.finding import Result
from netdyno.values.load import Happened, Trial
from netdyno.values.outcome import FlowCounts, FrameCounts, Outcome
from netdyno.values.series import Missed, Series
from netdyno.values.situation import Behind, Place, Situation
from netdyno.values.unmeasured import NotAskable, NotMeasuredError
from pages import OF_RUNS, report_text
from tendevices import measure, wall
from words import within

MS, SECOND = 10**6, 10**9
ROUTES = {4: 900, 6: 100}
PREFIXES = 10
TABLES = (
    Behind("west", PREFIXES),
    Behind("east", PREFIXES, ("third",), announced=ROUTES, withdrawn=500),
    Behind("third", PREFIXES, ("east",), announced=ROUTES, withdrawn=500),
)
KNOWN = Situation(
    ("west-east",),
    Fraction(100_000),
    Fraction(64),
    places=(Place(0, 1),),
    lines=(Fraction(100_000),) * 3,
    behind=TABLES,
    prefixes=(PREFIXES,),
    watched=(ADJACENCY, PING, ANSWERS),
    answer_ns=5 * SECOND,
)
LOADS = {"loads": ["10%", "90%"], "hold": "1s", "watch": "4s"}
RATE = 100
PERIOD = 10 * MS
EVENT = 2 * SECOND


def series(source: str, values: Sequence[int], subject: str = "it", name: str = "it", **more: Any) -> Series:
    """A reading every 500 ms from the begin of traffic on, without a time of its own."""
    times = more.pop("times", tuple(500 * MS * place for place in range(len(values))))
    return Series(source, subject, name, "ns", times, tuple(values), **more)


def routes(values: Sequence[int], version: int = 4) -> Series:
    return series("routes", values, "table", f"ipv{version} routes")


WATCHES = (
    series(ADJACENCY, [1] * 12, "OSPF neighbour 192.0.2.1"),
    series(PING, [MS] * 12, "192.0.2.1"),
    series(ANSWERS, [300 * MS] * 12, "iosxr"),
)
TABLE = (routes([900] * 12), routes([100] * 12, 6))


@dataclass(frozen=True)
class Router:
    """A device of a few lines. capacity: frames a second.

    after: by event, how long after it each prefix changes; None: not in this trial. series: by the name of a
    trial; `""`: of the others.
    """

    capacity: int = 100_000
    after: Mapping[str, Sequence[int | None]] = field(default_factory=dict)
    series: Mapping[str, Sequence[Series]] = field(default_factory=lambda: {"": (*TABLE, *WATCHES)})
    asked_ns: int = EVENT

    def __call__(self, trial: Trial, known: Situation) -> Outcome:
        outcome = measure(trial, wall(self.capacity), known)
        if trial.events:
            outcome = self.changes(trial, outcome)
        return replace(outcome, series=tuple(self.series.get(trial.name, self.series[""])))

    def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
        """Each frame of each flow by itself: frame n of flow k departs with number n * flows + k."""
        event, (stream,) = trial.events[0], outcome.streams
        every = range(0, trial.duration_ns, PERIOD // PREFIXES)
        flows: list[list[tuple[int, str]]] = [[] for _ in range(PREFIXES)]
        for number, at_ns in enumerate(every):
            after_ns = self.after[event.kind][number % PREFIXES]
            is_changed = after_ns is not None and at_ns >= self.asked_ns + after_ns
            before, later, meanwhile = {
                "withdraw": ("here", "lost", "here"),
                "announce": ("lost", "here", "lost"),
                "link-down": ("here", "there", "lost"),
            }[event.kind]
            where = before if at_ns < self.asked_ns else later if is_changed else meanwhile
            flows[number % PREFIXES].append((at_ns, where))
        counts = FlowCounts(
            tuple(len(flow) for flow in flows),
            tuple(sum(where == "here" for _, where in flow) for flow in flows),
            tuple(sum(where == "there" for _, where in flow) for flow in flows),
            tuple(max((at for at, where in flow if where != "lost"), default=-1) for flow in flows),
        )
        came = sum(counts.received)
        departed = [[0] * -(-trial.duration_ns // outcome.sample_ns) for _ in range(2)]
        for at, where in (one for flow in flows for one in flow):
            departed[0][at // outcome.sample_ns] += 1
            departed[1][at // outcome.sample_ns] += where == "here"
        stream = replace(
            stream,
            tx=tuple(departed[0]),
            arrived=tuple(departed[1]),
            intended=len(every),
            offered=len(every),
            received=came,
            lost=len(every) - came - sum(counts.elsewhere),
            elsewhere=sum(counts.elsewhere),
            by_flow=counts if trial.observe.by_flow else None,
        )
        happened = (Happened(event, self.asked_ns, self.asked_ns + MS),)
        return replace(
            outcome, happened=happened, counts=FrameCounts((stream,), outcome.ports, outcome.sample_ns)
        )


def accept(
    router: Callable[[Trial, Situation], Outcome],
    known: Situation = KNOWN,
    fails: str = "",
    **parameters: Any,
) -> tuple[Result, list[Trial]]:
    """What the method finds. fails: the name of a trial that cannot be measured."""
    method = METHODS["acceptance"]
    given = method.parameters.model_validate({**LOADS, **parameters})
    assert method.fits is not None
    assert method.fits(given, known) is None
    running, trials = method.start(given, known), []
    try:
        trial = next(running)
        while True:
            trials.append(trial)
            if trial.name == fails:
                trial = running.throw(NotMeasuredError(NotAskable(("withdraw",))))
            else:
                trial = running.send(router(trial, known))
    except StopIteration as stop:
        assert_declared(stop.value)
        return stop.value, trials


def verdicts(result: Result) -> dict[str, str]:
    return {str(row["criterion"]): str(row["result"]) for row in table(result, "Acceptance")}


# Of ten prefixes: from 100 ms to 1 s. Frames of a flow are 10 ms apart, flow k's first one at k ms.
STEADILY = [100 * MS * (flow + 1) for flow in range(PREFIXES)]
AFTER = {"withdraw": STEADILY, "announce": STEADILY, "link-down": STEADILY}
CHANGING = {
    "": (*TABLE, *WATCHES),
    # The event is at 2 s; the count changes until the reading at 3 s.
    "withdrawal": (routes([900] * 5 + [700] + [500] * 8), *WATCHES),
    "announcement": (routes([500] * 5 + [700] + [900] * 8), *WATCHES),
}
GOOD = Router(after=AFTER, series=CHANGING)


def test_router_that_keeps_all_and_converges_passes_every_criterion() -> None:
    result, trials = accept(GOOD, cut="east")
    assert verdicts(result) == dict.fromkeys(
        [
            "IPv4 table",
            "IPv6 table",
            "adjacencies",
            "pings",
            "CLI answers",
            "loss-free load",
            "withdrawal",
            "announcement",
            "cut",
        ],
        "pass",
    )
    assert value(result, "criteria failed").number == 0
    assert value(result, "loss-free load").number == 90_000
    assert [trial.name for trial in trials] == ["10%", "90%", "withdrawal", "announcement", "cut"]


@pytest.mark.parametrize("event", ["withdrawal", "announcement", "cut"])
def test_convergence_times_are_those_of_the_flows_to_a_frame(event: str) -> None:
    """A prefix that changes t after the event loses, or has, t * 100 frames: t is a multiple of 10 ms."""
    result, _ = accept(GOOD, cut="east")
    (row,) = (one for one in table(result, "Convergence") if one["event"] == event)
    assert (row["prefixes"], row["not converged"], row["resolution"]) == (10, 0, PERIOD)
    # Flow k departs k ms after each 10 ms, so what it withdraws between two frames shows up to 10 ms later.
    found = [row["first"], row["median"], row["last"]]
    exact = [100 * MS, 550 * MS, 1000 * MS]
    if event == "withdrawal":
        exact = [100 * MS, (504 + 605) * MS // 2, 1009 * MS]
    assert found == exact
    one = value(result, f"convergence after {event}")
    assert (one.number, one.low, one.high) == (exact[2], exact[2] - PERIOD, exact[2] + PERIOD)


def test_trials_send_to_each_prefix_alone_and_ask_for_the_event() -> None:
    _, trials = accept(GOOD, cut="east")
    withdrawal, cut = trials[2], trials[4]
    assert withdrawal.frames.flows == PREFIXES
    (load,) = withdrawal.frames.loads.values()
    assert load[0].from_rate.amount == RATE * PREFIXES
    assert withdrawal.observe.by_flow
    assert [(event.at_ns, event.kind, event.port) for event in withdrawal.events] == [
        (EVENT, "withdraw", "east")
    ]
    assert [(event.at_ns, event.kind) for event in cut.events] == [
        (EVENT, "link-down"),
        (6 * SECOND, "link-up"),
    ]


def test_time_begins_when_the_event_was_carried_out() -> None:
    result, _ = accept(replace(GOOD, asked_ns=EVENT + 300 * MS))
    assert value(result, "convergence after announcement").number == 1000 * MS


def test_prefixes_that_do_not_converge_fail_and_give_a_lower_bound() -> None:
    after = {**AFTER, "announce": [100 * MS] * 9 + [None]}
    result, _ = accept(replace(GOOD, after=after))
    assert verdicts(result)["announcement"] == "fail"
    found = value(result, "convergence after announcement")
    assert (found.number, found.low, found.high) == (None, 4 * SECOND, None)
    assert value(result, "criteria failed").number == 1


def test_prefixes_that_do_not_converge_are_named() -> None:
    """Flow k goes to prefix k: the first three that are late, and the one that was there before."""

    class There(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            (stream,) = found.streams
            flows = stream.by_flow
            if trial.events[0].kind != "announce" or flows is None:
                return found
            flows = replace(flows, received=(flows.sent[0], *flows.received[1:]))
            changed = replace(stream, by_flow=flows)
            return replace(found, counts=replace(found.counts, streams=(changed,)))

    names = tuple(f"192.0.2.{flow}/32" for flow in range(PREFIXES))
    after = {**AFTER, "withdraw": [*STEADILY[:5], *[None] * 5]}
    result, _ = accept(There(after=after), replace(KNOWN, destinations=(names,)))
    (late,) = {one.note for one in result.values if isinstance(one.note, PrefixesLate)}
    assert (late.late, late.named) == (5, names[5:8])
    assert [one.named for one in within(PrefixesLeftOut, result.notes)] == [names[:1]]


@pytest.mark.parametrize(
    ("rate", "above"), [(100, ""), (800, ""), (9_000, ""), (9_001, "largest"), (10_000, "largest")]
)
def test_load_of_the_changes_is_known_before_a_run(rate: int, above: str) -> None:
    """Ten prefixes; the loads are 10 and 90 % of 100,000 frames a second."""
    method = METHODS["acceptance"]
    given = method.parameters.model_validate({**LOADS, "rate": rate, "cut": "east"})
    assert method.further_loads is not None
    (load,) = method.further_loads(given, KNOWN)
    assert load.fps == 10 * rate
    assert above in load.above
    assert bool(load.above) == bool(above)
    given = method.parameters.model_validate({**LOADS, "rate": rate, "loss_free": "10%"})
    (load,) = method.further_loads(given, KNOWN)
    assert bool(load.above) == (10 * rate > 10_000)


def test_prefix_that_a_cut_left_unreached_is_late_even_with_losses_before() -> None:
    """Some of its frames before the cut were lost, too: it has not converged for all that."""

    class Lossy(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            (stream,) = found.streams
            flows = stream.by_flow
            assert flows is not None
            flows = replace(flows, received=(*flows.received[:-1], max(flows.received[-1] - 17, 0)))
            lossy = replace(stream, by_flow=flows)
            return replace(found, counts=replace(found.counts, streams=(lossy,)))

    after = {**AFTER, "link-down": [100 * MS] * 9 + [None]}
    result, _ = accept(Lossy(after=after), cut="east")
    (row,) = (one for one in table(result, "Convergence") if one["event"] == "cut")
    assert (row["prefixes"], row["not converged"]) == (10, 1)
    assert verdicts(result)["cut"] == "fail"


@pytest.mark.parametrize(("limit", "verdict"), [("1.02s", "pass"), ("1s", "not known"), ("980ms", "fail")])
def test_limit_of_convergence_within_its_resolution_is_unknown(limit: str, verdict: str) -> None:
    result, _ = accept(GOOD, convergence=limit)
    assert verdicts(result)["announcement"] == verdict
    if verdict == "not known":
        assert value(result, "criteria failed").number is None


def test_loss_before_a_cut_is_no_convergence_time() -> None:
    """It looks like it in the counts, so the time is only known to be no longer."""

    class Lossy(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            (stream,) = found.streams
            arrived = (stream.arrived[0] - 100, *stream.arrived[1:])
            return replace(found, counts=replace(found.counts, streams=(replace(stream, arrived=arrived),)))

    result, _ = accept(Lossy(after=AFTER), cut="east", convergence="500ms")
    found = value(result, "convergence after cut")
    assert (found.number, found.high) == (None, 1000 * MS + PERIOD)
    assert isinstance(found.note, LostBeforeEvent)
    assert verdicts(result)["cut"] == "not known"


def test_withdrawn_prefix_that_came_until_near_the_end_has_converged() -> None:
    late = 3800 * MS
    result, _ = accept(replace(GOOD, after={**AFTER, "withdraw": [*STEADILY[:-1], late]}))
    found = value(result, "convergence after withdrawal").number
    assert found is not None
    assert late <= found <= late + PERIOD


def test_prefix_that_another_port_takes_over_is_withdrawn_by_then() -> None:
    """With a second port that has the routes nothing is lost."""

    class Rerouted(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            if trial.events[0].kind != "withdraw":
                return found
            (stream,) = found.streams
            flows = stream.by_flow
            assert flows is not None
            moved = tuple(sent - here for sent, here in zip(flows.sent, flows.received, strict=True))
            last = tuple(6 * SECOND - PERIOD + flow * MS for flow in range(PREFIXES))
            flows = replace(flows, elsewhere=moved, last_ns=last)
            return replace(
                found,
                counts=FrameCounts(
                    (replace(stream, by_flow=flows, lost=0, elsewhere=sum(moved)),),
                    found.ports,
                    found.sample_ns,
                ),
            )

    result, _ = accept(Rerouted(after=AFTER))
    assert value(result, "convergence after withdrawal").number == 1000 * MS


FAULTS: Mapping[str, tuple[Mapping[str, Any], str, int]] = {
    "a route too few": (
        {"series": {"": (routes([900, 900, 899, 900]), routes([100] * 4, 6), *WATCHES)}},
        "IPv4 table",
        SECOND,
    ),
    "an adjacency down": (
        {"series": {"": (*TABLE, series(ADJACENCY, [1, 1, 0, 1], "OSPF neighbour 192.0.2.1"), *WATCHES[1:])}},
        "adjacencies",
        SECOND,
    ),
    "no answer to pings": (
        {
            "series": {
                "": (
                    *TABLE,
                    WATCHES[0],
                    series(PING, [MS, MS], missed=(Missed(SECOND, NotAskable(())),)),
                    WATCHES[2],
                )
            }
        },
        "pings",
        # What was lost may have been on its way for as long as the ping before it took.
        SECOND,
    ),
    "a slow command line": (
        {"series": {"": (*TABLE, *WATCHES[:2], series(ANSWERS, [MS, 6 * SECOND]))}},
        "CLI answers",
        500 * MS,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_router_does_not_keep_fails_with_its_instant(fault: str) -> None:
    change, criterion, at_ns = FAULTS[fault]
    result, _ = accept(Router(**{"after": AFTER, **change}), withdraw=False)
    (row,) = (one for one in table(result, "Acceptance") if one["criterion"] == criterion)
    assert (row["result"], row["trial"], row["at"]) == ("fail", "10%", at_ns)
    assert [name for name, verdict in verdicts(result).items() if verdict == "fail"] == [criterion]


@pytest.mark.parametrize("starves", [True, False])
def test_ping_lost_while_the_tester_fell_behind_is_unknown(starves: bool) -> None:
    class Starved(Router):
        def __call__(self, trial: Trial, known: Situation) -> Outcome:
            found = super().__call__(trial, known)
            (stream,) = found.streams
            one = replace(stream, intended=2 * stream.offered) if starves else stream
            return replace(found, counts=replace(found.counts, streams=(one,)))

    change, criterion, _ = FAULTS["no answer to pings"]
    result, _ = accept(Starved(**{"after": AFTER, **change}), withdraw=False)
    assert verdicts(result)[criterion] == ("not known" if starves else "fail")


def test_loss_below_the_load_asked_for_fails_and_above_it_does_not() -> None:
    result, _ = accept(replace(GOOD, capacity=50_000), withdraw=False)
    assert verdicts(result)["loss-free load"] == "fail"
    result, _ = accept(replace(GOOD, capacity=50_000), withdraw=False, loss_free="10%")
    assert verdicts(result)["loss-free load"] == "pass"
    result, _ = accept(replace(GOOD, capacity=50_000), withdraw=False, loss_free="40%")
    assert verdicts(result)["loss-free load"] == "not known"


def test_table_is_unknown_uncounted_and_no_criterion_without_speakers() -> None:
    result, _ = accept(replace(GOOD, series={"": WATCHES}), withdraw=False)
    assert verdicts(result)["IPv4 table"] == "not known"
    count = value(result, "criteria failed")
    assert (count.number, count.low) == (None, 0)
    silent = replace(KNOWN, behind=tuple(Behind(one.port, PREFIXES, one.like) for one in TABLES), watched=())
    result, trials = accept(GOOD, silent)
    assert verdicts(result) == {"loss-free load": "pass"}
    assert [(one.part, one.missing) for one in within(PartLeftOut, result.notes)] == [("withdraw", "speaker")]
    assert len(trials) == 2


def test_neighbour_that_the_cut_took_down_is_not_counted_as_kept() -> None:
    """Of two the one behind the link that is down from 2 s on."""
    down = series(ADJACENCY, [1] * 5 + [0] * 7, "OSPF neighbour 192.0.2.5")
    up = series(ADJACENCY, [1] * 12, "OSPF neighbour 192.0.2.5")
    seen = {**CHANGING, "": (*TABLE, *WATCHES, up), "cut": (*TABLE, *WATCHES, down)}
    result, _ = accept(replace(GOOD, series=seen), cut="east")
    (row,) = (one for one in table(result, "Acceptance") if one["criterion"] == "adjacencies")
    assert row["result"] == "pass"
    assert str(row["found"]).startswith("1 kept, 1 down")


def test_watch_of_the_plan_without_a_reading_is_unknown() -> None:
    result, _ = accept(replace(GOOD, series={"": TABLE}), withdraw=False)
    watches = ("adjacencies", "pings", "CLI answers")
    assert [verdicts(result)[name] for name in watches] == ["not known"] * 3


def test_forwarding_and_table_agree_within_resolutions_or_differ() -> None:
    """The table's final count is read at 3 s, 1 s after the event; the reading before it at 2.5 s."""
    result, _ = accept(GOOD, cut="east")
    agree = within(PlanesAgree, result.notes)
    assert {(one.apart_ns, one.within_ns) for one in agree} == {(9 * MS, 510 * MS), (0, 510 * MS)}
    rows = {str(one["event"]): one for one in table(result, "Convergence")}
    assert rows["withdrawal"]["table by"] == SECOND
    assert rows["withdrawal"]["table resolution"] == 500 * MS
    assert str(rows["cut"]["forwarding and table"]).startswith("table: still ")
    late = {**CHANGING, "withdrawal": (routes([900] * 9 + [500] * 5), *WATCHES)}
    result, _ = accept(replace(GOOD, series=late))
    (differ,) = within(PlanesDiffer, result.notes)
    assert (differ.is_table_later, differ.apart_ns) == (True, 2500 * MS - 1009 * MS)
    assert not differ.has_other_way


def test_table_with_a_second_way_counts_before_frames_take_the_first() -> None:
    class ByBackup(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            (stream,) = found.streams
            flows = stream.by_flow
            assert flows is not None
            if trial.events[0].kind != "announce":
                return found
            other = tuple(sent - here - 200 for sent, here in zip(flows.sent, flows.received, strict=True))
            one = replace(stream, by_flow=replace(flows, elsewhere=other))
            return replace(found, counts=replace(found.counts, streams=(one,)))

    slow = {**AFTER, "announce": [3 * one for one in STEADILY]}
    soon = {**CHANGING, "announcement": (routes([500] * 5 + [900] * 9), *WATCHES)}
    result, _ = accept(ByBackup(after=slow, series=soon))
    (differ,) = within(PlanesDiffer, result.notes)
    assert (differ.is_table_later, differ.apart_ns, differ.has_other_way) == (False, 2500 * MS, True)


def test_withdrawal_that_cannot_be_measured_leaves_the_rest() -> None:
    result, trials = accept(GOOD, fails="withdrawal", cut="east")
    assert [trial.name for trial in trials][2:] == ["withdrawal", "announcement", "cut"]
    assert "withdrawal" not in verdicts(result)
    assert result.resting("convergence after cut") == (4,)


@pytest.mark.parametrize(
    ("parameters", "change", "code"),
    [
        ({"cut": "south"}, {}, "unknown-name"),
        ({"cut": "east"}, {"asked": False}, "not-askable"),
        ({"cut": "west"}, {}, "unsupported"),
        ({"withdraw": "west"}, {}, "unsupported"),
        ({"rate": 10_001}, {}, "load-above-line"),
        ({"loss_free": "95%"}, {}, "out-of-range"),
    ],
)
def test_case_that_cannot_have_a_part_is_refused(
    parameters: Mapping[str, Any], change: Mapping[str, Any], code: str
) -> None:
    method = METHODS["acceptance"]
    given = method.parameters.model_validate({**LOADS, **parameters})
    assert method.fits is not None
    problem = method.fits(given, replace(KNOWN, **change))
    assert problem is not None
    assert problem.code == code


def test_cut_without_another_way_is_refused_unless_the_link_comes_back() -> None:
    method, alone = METHODS["acceptance"], replace(KNOWN, behind=(*TABLES[:1], replace(TABLES[1], like=())))
    assert method.fits is not None
    for parameters, code in (({"cut": "east"}, "conflict"), ({"cut": "east", "down": "1s"}, None)):
        problem = method.fits(method.parameters.model_validate({**LOADS, **parameters}), alone)
        assert (None if problem is None else problem.code) == code


def test_emulated_router_converges_when_it_asks_again_for_its_neighbour() -> None:
    """A link that goes down takes its neighbour along. The router asks for it with the next frame, while the
    link is down, and again a second later (RFC 1122 section 2.3.2.1): a thousand frames of each prefix."""
    plan = text(
        "acceptance: {loads: [90%], hold: 10ms, before: 10ms, watch: 2s, rate: 1000, cut: east, down: 13ms,"
        " withdraw: false}",
        kind="emulated/router",
        matrix="direction: [uni], routes: [100]",
    )
    result, _, _ = measure_plan(plan)
    assert verdicts(result) == {"loss-free load": "pass", "cut": "pass"}
    (row,) = table(result, "Convergence")
    assert (row["prefixes"], row["first"], row["last"]) == (100, 999 * MS, 1000 * MS)
    # Frame 1000 n + k of a hundred prefixes: the last one that is lost is 99,995th from the event on.
    share = next(one for one in table(result, "Convergence of the prefixes") if one["time"] == 999 * MS)
    assert share["converged"] == Fraction(5, 100)


def test_tester_that_sends_late_widens_the_resolution() -> None:
    class Late(Router):
        def changes(self, trial: Trial, outcome: Outcome) -> Outcome:
            found = super().changes(trial, outcome)
            return replace(found, health=replace(found.health, latest_departure_ns=40 * MS))

    result, _ = accept(Late(after=AFTER))
    found = value(result, "convergence after announcement")
    assert (found.number, found.low, found.high) == (1000 * MS, 960 * MS, 1040 * MS)


def test_first_screen_names_the_first_failed_criterion(tmp_path: Path) -> None:
    """The neighbour comes back a second after the cut, and traffic ends before."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = parse(
        text(
            "acceptance: {loads: [90%], hold: 10ms, before: 10ms, watch: 40ms, rate: 1000, cut: east,"
            " down: 13ms}",
            kind="emulated/router",
            matrix="direction: [uni], routes: [100]",
        )
    )
    run = view(open_run(run_here(plan, tmp_path).folder, REASONS))
    shown = headline(run)
    assert shown.passed is False
    assert (shown.numbers[0].text, shown.numbers[0].beside) == (
        "FAIL",
        "cut: 0 of 100 prefixes, asked converged in 40 ms",
    )
    assert [row[:2] for row in shown.grid.texts] == [("loss-free load", "PASS"), ("cut", "FAIL")]
    for name in OF_RUNS:
        assert report_text(name, run)


def test_reading_after_a_cut_link_came_up_again_says_nothing_of_the_table() -> None:
    """The count is 890 from 2.5 s on, until the link is up at 6 s."""
    found = find_table_time((routes([900] * 5 + [890] * 7 + [900] * 2),), EVENT, 6 * SECOND - 1)
    assert found == TableTime(0, 500 * MS)
