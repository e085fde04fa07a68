"""Flows chosen for members of a LAG. Truth: a hash that the method never sees, a port for each flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from netdyno.methods.parts.procedure import constant
from netdyno.methods.wrap.members import Wanted, with_members
from netdyno.values.finding import Result
from netdyno.values.health import Health
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import FlowCounts, FrameCounts, Outcome, Phase, PortResult, StreamResult
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate

PORTS = ("west", "east.a", "east.b", "east.c", "north.a", "north.b")
LAG = (1, 2, 3)
TO_LAG = Place(0, 1, bundle=LAG)

Hash: TypeAlias = Callable[[int], int]
"""The port of a flow; -1: its frames are lost, -2: they come to all members in turn."""


def outcome_of(trial: Trial, hashes: Mapping[str, Hash], usual: int) -> Outcome:
    """What a device with these hashes, by stream, does to frames. usual: flows of a stream."""
    arrived: Counter[int] = Counter()
    streams = []
    for name, port_of in hashes.items():
        flows = trial.frames.picked.get(name) or range(trial.frames.flows or usual)
        ports = [port_of(flow) for flow in flows]
        each = 100
        arrived.update({port: each * number for port, number in Counter(ports).items()})
        received = sum(each for port in ports if port != -1)
        by_flow = FlowCounts(
            sent=(each,) * len(ports),
            received=tuple(each * (port != -1) for port in ports),
            elsewhere=(0,) * len(ports),
            last_ns=(1,) * len(ports),
            port=tuple(1 if port == -2 else port for port in ports),
            moved=tuple(each * (port == -2) for port in ports),
        )
        sent = each * len(ports)
        streams.append(
            StreamResult(
                name, sent, sent, sent, received, received, 0, 0, 0, 0, sent - received, 0, 0, None,
                (), (), (), None, by_flow=by_flow if trial.observe.by_flow else None,
            )
        )  # fmt: skip
    counts = [PortResult(name, 0, 0, arrived[n], 0, 0, (), (), (), ()) for n, name in enumerate(PORTS)]
    phases = (Phase("traffic", 0, trial.duration_ns), Phase("drain", trial.duration_ns, 5))
    return Outcome(FrameCounts(tuple(streams), tuple(counts), 10**9), Health(0, 0, 0, 0, 0, None), phases)


def two_trials() -> Method:
    """One with the profile's flows, and one with flows of its own."""
    first = constant("soak", FrameRate(1000), 10**9)
    yield first
    yield replace(first, name="own", load=replace(first.frames, flows=7))
    return Result("soak", (), trials=(0, 1))


def drive(
    hashes: Mapping[str, Hash], wanted: Wanted, *places: Place, later: Mapping[str, Hash] | None = None
) -> tuple[list[Trial], Result]:
    """The trials and the result. later: hashes from the second trial on."""
    known = Situation(tuple(hashes), Fraction(10**6), Fraction(512), places=places, device_ports=tuple(PORTS))
    method, asked = with_members(two_trials(), known, wanted), []
    usual = max(wanted.flows.values())
    try:
        asked.append(next(method))
        while True:
            of = hashes if len(asked) == 1 or later is None else later
            asked.append(method.send(outcome_of(asked[-1], of, usual)))
    except StopIteration as stop:
        return asked, stop.value


def wanted(flows: int, shares: tuple[int, ...] = (), candidates: int = 256, streams: int = 1) -> Wanted:
    names = [f"s{number}" for number in range(streams)]
    return Wanted(candidates * streams, dict.fromkeys(names, candidates), dict.fromkeys(names, flows), shares)


def fields(result: Result) -> dict[str, Any]:
    return {one.code: one.fields() for one in result.notes}


@given(
    ports=st.lists(st.sampled_from(LAG), min_size=256, max_size=256),
    shares=st.sampled_from([(), (1, 1, 1), (3, 1, 0), (1, 2, 5), (0, 0, 1)]),
    flows=st.integers(1, 64),
)
def test_each_member_gets_its_share_where_it_has_candidates(
    ports: list[int], shares: tuple[int, ...], flows: int
) -> None:
    (learn, first, own), result = drive({"s0": ports.__getitem__}, wanted(flows, shares), TO_LAG)
    picks = first.frames.picked["s0"]
    assert (learn.frames.flows, learn.observe.by_flow, own.frames.picked) == (256, True, {})
    assert len(picks) == len(set(picks)) == flows
    assert result.trials == (1, 2)
    weights = shares or (1, 1, 1)
    have, chosen = Counter(ports), Counter(ports[flow] for flow in picks)
    ideal = [Fraction(flows * weight, sum(weights)) for weight in weights]
    is_enough = all(have[port] > share for port, share in zip(LAG, ideal, strict=True))
    assert fields(result)["flows-chosen"]["found"] == [have[port] for port in LAG]
    if is_enough:
        assert all(abs(chosen[port] - share) < 1 for port, share in zip(LAG, ideal, strict=True))
        assert fields(result)["flows-chosen"]["chosen"] == [chosen[port] for port in LAG]
        # A member that is to carry some, and of so few flows has none, is not there.
        carry = all(chosen[port] for port, weight in zip(LAG, weights, strict=True) if weight)
        assert ("shares-not-reached" in fields(result)) != carry
        # No stretch of the flows is far from the shares.
        for end in range(1, flows + 1):
            part = Counter(ports[flow] for flow in picks[:end])
            assert all(
                abs(part[port] - Fraction(end * weight, sum(weights))) <= 1
                for port, weight in zip(LAG, weights, strict=True)
            )


def test_member_without_candidates_is_named() -> None:
    (_, first, _), result = drive({"s0": lambda flow: LAG[flow % 2]}, wanted(64), TO_LAG)
    assert len(first.frames.picked["s0"]) == 64
    noted = fields(result)["shares-not-reached"]
    assert (noted["flows"], noted["members"], noted["chosen"]) == (64, 2, [32, 32, 0])


def test_flows_of_several_senders_make_the_shares_together() -> None:
    """Three members of a LAG send 8 flows each to one of two members."""
    lag = (4, 5)
    hashes = {f"s{sender}": lambda flow, sender=sender: lag[(flow + sender) % 2] for sender in range(3)}
    places = [Place(sender, 4, bundle=lag) for sender in range(3)]
    (_, first, _), result = drive(hashes, wanted(7, (2, 1), streams=3), *places)
    chosen = Counter(hashes[name](flow) for name, flows in first.frames.picked.items() for flow in flows)
    assert (chosen[4], chosen[5]) == (14, 7)
    assert fields(result)["flows-chosen"]["flows"] == 21


def test_flows_that_come_to_several_members_or_are_lost_are_not_chosen() -> None:
    """Of nine flows three come to a member each."""
    hashes = {"s0": lambda flow: (-1, -2, 1, -1, -2, 2, -1, -2, 3)[flow % 9]}
    (_, first, _), result = drive(hashes, wanted(24, candidates=99), TO_LAG)
    assert {flow % 3 for flow in first.frames.picked["s0"]} == {2}
    assert fields(result)["flows-wander"] == {"stream": "s0", "flows": 33, "candidates": 99}
    assert "shares-not-reached" not in fields(result)


def test_device_that_moves_flows_afterwards_is_named() -> None:
    before, after = {"s0": lambda flow: LAG[flow % 3]}, {"s0": lambda flow: LAG[flow // 3 % 2]}
    _, result = drive(before, wanted(63), TO_LAG, later=after)
    noted = fields(result)["shares-changed"]
    assert (noted["trial"], noted["chosen"]) == ("soak", ["1/3"] * 3)
    assert noted["carried"][2] == "0"
    _, result = drive(before, wanted(63), TO_LAG)
    assert "shares-changed" not in fields(result)


def test_streams_to_other_ports_keep_their_flows() -> None:
    hashes = {"s0": lambda flow: LAG[flow % 3], "s1": lambda flow: 0}
    (learn, first, _), _ = drive(hashes, wanted(63), TO_LAG, Place(1, 0))
    assert (learn.frames.loads["s1"], set(first.frames.picked)) == ((), {"s0"})


def one_by_one(count: Callable[[int], tuple[int, ...] | None], flows: int) -> tuple[list[Trial], Result]:
    """The same where the device counts members. count: frames of each in a trial of a flow."""
    inside = replace(
        wanted(flows),
        inside={"s0": 3},
        count=lambda trial, outcome, port: count(trial.frames.picked["s0"][0]) if port == 1 else None,
    )
    return drive({"s0": lambda flow: 1}, inside, Place(0, 1))


def test_flows_are_tried_one_by_one_until_members_have_enough() -> None:
    """Beside each flow a member has some frames of a protocol; every fourth flow comes to all members."""
    of = (0, 1, 2, None)

    def count(flow: int) -> tuple[int, ...]:
        member = of[flow % 4]
        return (333, 333, 334) if member is None else tuple(3 + 997 * (member == one) for one in range(3))

    (*learn, first, _), result = one_by_one(count, 12)
    assert [one.frames.picked["s0"] for one in learn] == [(flow,) for flow in range(15)]
    assert {one.frames.flows for one in learn} == {1}
    assert Counter(of[flow % 4] for flow in first.frames.picked["s0"]) == {0: 4, 1: 4, 2: 4}
    assert fields(result)["flows-wander"]["flows"] == 3
    assert result.trials == (15, 16)


def test_member_that_no_flow_reaches_ends_the_trials() -> None:
    """Sixteen candidates for each of three members, and none of 48 came to the third."""
    (*learn, first, _), result = one_by_one(lambda flow: (1000, 0, 0) if flow % 2 else (0, 1000, 0), 12)
    assert (len(learn), len(first.frames.picked["s0"])) == (48, 12)
    noted = fields(result)["shares-not-reached"]
    assert (noted["flows"], noted["members"], noted["chosen"]) == (12, 2, [6, 6, 0])


def test_counters_that_are_not_read_leave_flows_as_they_are() -> None:
    (_, first, _), result = one_by_one(lambda flow: None, 12)
    assert first.frames.picked == {}
    assert [one.code for one in result.notes] == ["members-unread"]
