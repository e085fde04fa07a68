"""TCP: payload and what was sent again, of counts made by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from netdyno.errors import Problem
from netdyno.methods import METHODS
from netdyno.methods.reasons.connections import NoConnection
from netdyno.methods.tcp import PAYLOAD, RETRANSMITTED, TcpParameters, tcp
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.values.finding import Result
from netdyno.values.health import Health
from netdyno.values.kind import ValueKind
from netdyno.values.load import FRAMES, Connections
from netdyno.values.outcome import Carried, ConnectionCounts, FrameCounts, Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import (
    NotAskable,
    NotConnected,
    NotMeasuredError,
    ProgramHung,
    TrialInvalid,
)
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict import Evidence, judge_connections, judge_goal
from netdyno.verdict.reasons import NoValue

S = 10**9
BOTH = Situation(("west-east", "east-west"), Fraction(1_000_000), Fraction(1518))


def _carried(name: str, received: int, retransmitted: int | None) -> Carried:
    return Carried(name, 5, received + 1000, 2 * S, received, 2 * S, retransmitted, 1448, 2000, "cubic")


def _measured(*streams: Carried) -> Result:
    method = tcp(TcpParameters.model_validate({"duration": "2s"}), BOTH)
    assert next(method).load.load_class is FRAMES
    assert method.throw(NotMeasuredError(NotAskable(()))).load == Connections(2 * S, "cubic")
    outcome = Outcome(ConnectionCounts(streams, S), Health(0, 0, 0, 0, 0, None), ())
    with pytest.raises(StopIteration) as ended:
        method.send(outcome)
    found: Result = ended.value.value
    return found


def _found(*streams: Carried) -> dict[tuple[str, str], Fraction | None]:
    return {(value.name, value.scope): value.number for value in _measured(*streams).values}


def test_payload_arrived_a_second_of_each_stream_and_their_sum() -> None:
    found = _found(_carried("west-east", 25_000_000, 3), _carried("east-west", 12_500_000, 4))
    assert found == {
        (PAYLOAD.name, "west-east"): 100_000_000,
        (PAYLOAD.name, "east-west"): 50_000_000,
        (PAYLOAD.name, "sum"): 150_000_000,
        (RETRANSMITTED.name, "west-east"): 3,
        (RETRANSMITTED.name, "east-west"): 4,
        (RETRANSMITTED.name, "sum"): 7,
    }


def test_retransmissions_of_one_stream_unknown_have_no_sum() -> None:
    found = _found(_carried("west-east", 1, 3), _carried("east-west", 1, None))
    assert found[RETRANSMITTED.name, "east-west"] is None
    assert found[RETRANSMITTED.name, "sum"] is None


def _unmeasured(came: int, *causes: Reason) -> NotMeasuredError:
    """Of a trial of connections with these causes, where so many of 100 own frames came."""
    method = tcp(TcpParameters(), BOTH)
    next(method)
    counts = {"intended": 100, "offered": 100, "received": came, "lost": 100 - came}
    rest = ("offered_bytes", "received_bytes", "duplicates", "elsewhere", "out_of_order", "corrupted")
    more: Any = dict.fromkeys((*rest, "beyond_window", "flows_received"), 0)
    series: Any = dict.fromkeys(("tx", "rx", "arrived"), ())
    streams = tuple(
        StreamResult(name, latency=None, first_loss_ns=None, **counts, **more, **series)
        for name in BOTH.streams
    )
    method.send(Outcome(FrameCounts(streams, (), S), Health(0, 0, 0, 0, 0, None), ()))
    with pytest.raises(NotMeasuredError) as refused:
        method.throw(NotMeasuredError(TrialInvalid("tcp", 1, causes)))
    return refused.value


CLOSED = tuple(NotConnected("iperf3", name, "10.0.0.1:5201", "Connection timed out") for name in BOTH.streams)


@pytest.mark.parametrize(("came", "lost"), [(100, 0), (0, 100)])
def test_connections_that_do_not_open_are_named_beside_own_frames(came: int, lost: int) -> None:
    found = _unmeasured(came, *CLOSED)
    assert found.reason == NoConnection(BOTH.streams, "Connection timed out", came, lost)
    assert found.hint is not None


@pytest.mark.parametrize(("came", "code"), [(0, "no-full-frames"), (100, "trial-invalid")])
def test_connections_that_hang_where_no_full_frame_passes_name_the_size(came: int, code: str) -> None:
    assert _unmeasured(came, ProgramHung("iperf3", "west-east", 12 * S)).code == code


@pytest.mark.parametrize(
    ("goal", "passed"),
    [
        ("tcp >= 50Mbps", True),
        ("tcp >= 50.000001Mbps", None),
        ("tcp > 50Mbps", None),
        ("tcp >= 0.1Gbit/s", None),
        ("tcp <= 100Mbps", None),
    ],
)
def test_goal_of_tcp_is_met_by_every_direction_and_never_missed(goal: str, passed: bool | None) -> None:
    """The limit is not judged, so what was carried is a lower bound."""
    result = _measured(_carried("west-east", 25_000_000, 3), _carried("east-west", 12_500_000, 4))
    verdicts = judge_connections(result, PAYLOAD.name, {}, BOTH, is_line_enforced=True)
    asked = parse_goal(goal, goal_kinds(METHODS))
    assert judge_goal(asked, result, verdicts, Evidence(BOTH, "real", False, ())).passed is passed


LIMITS: tuple[tuple[Limit, bool | None], ...] = (
    ("line", False),
    ("shaper", False),
    ("loss", False),
    ("tester", None),
    ("receive-window", None),
    ("send-buffer", None),
)


@pytest.mark.parametrize(("limit", "passed"), LIMITS)
def test_goal_is_missed_only_behind_what_is_not_the_testers_own(limit: Limit, passed: bool | None) -> None:
    result = _measured(_carried("west-east", 10_000_000, 0), _carried("east-west", 10_000_000, 0))
    verdicts = dict.fromkeys(BOTH.streams, Verdict(limit, NoValue()))
    asked = parse_goal("tcp >= 90Mbps", goal_kinds(METHODS))
    assert judge_goal(asked, result, verdicts, Evidence(BOTH, "real", False, ())).passed is passed


@pytest.mark.parametrize("bound", ["50", "50%", "50Mpps", "50Mbps L1", "50MBps"])
def test_goal_of_tcp_in_another_unit_is_refused(bound: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_goal(f"tcp >= {bound}", goal_kinds(METHODS))
    assert refused.value.code == "wrong-unit"


def test_goal_of_connections_a_second_is_read_exactly() -> None:
    kind = ValueKind("opened", "conn/s", "connections opened a second", goal="opened >= 10kconn/s")
    asked = parse_goal("opened >= 12.5kconn/s", {"opened": (kind,)})
    assert (asked.bound.amount, str(asked)) == (12500, "opened >= 12.5kconn/s")  # type: ignore[union-attr]
