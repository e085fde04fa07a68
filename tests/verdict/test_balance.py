"""Frames at four points: which link, or the device, lost them, by counts made by hand and by emulation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import PLACES, PORTS, S, balance, by_hand, counter, path_of, trial
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.situation import Place
from netdyno.verdict.balance import balance_trial, sum_paths
from netdyno.verdict.balance_reasons import explain_frames
from netdyno.verdict.device_counts import Counters, count_ports
from netdyno.verdict.device_trial import count_trial

IN, OUT = ("Te0/1", "rx_packets"), ("Te0/2", "tx_packets")
MS = 1_000_000


def steps(outcome: Outcome) -> tuple[int | None, ...]:
    """Missing on the link in, in the device beyond its drops, on the link out."""
    path = path_of(outcome)
    return path.link_in, path.rest, path.link_out


def answer(outcome: Outcome) -> Reason:
    found = explain_frames([path_of(outcome)])
    assert found is not None
    assert str(found)
    return found


def test_balance_without_loss_accounts_for_every_frame() -> None:
    outcome = by_hand({IN: 1000, OUT: 1000}, sent=1000, received=1000)
    assert steps(outcome) == (0, 0, 0)
    fields = answer(outcome).fields()
    assert answer(outcome).code == "every-frame-accounted"
    assert [fields[name] for name in ("sent", "taken", "dropped", "given", "received", "kept")] == [
        1000,
        1000,
        0,
        1000,
        1000,
        0,
    ]


@pytest.mark.parametrize(
    ("taken", "given", "received", "expected"),
    [
        (990, 990, 990, (10, 0, 0)),
        (1000, 990, 990, (0, 10, 0)),
        (1000, 1000, 990, (0, 0, 10)),
        (999, 996, 991, (1, 3, 5)),
        (1003, 1000, 1000, (-3, 3, 0)),
        (1000, 1002, 1002, (0, -2, 0)),
        (1000, 1000, 1004, (0, 0, -4)),
    ],
)
def test_balance_puts_missing_frames_where_they_went(
    taken: int, given: int, received: int, expected: tuple[int, int, int]
) -> None:
    outcome = by_hand({IN: taken, OUT: given}, sent=1000, received=received)
    assert steps(outcome) == expected
    fields = answer(outcome).fields()
    assert answer(outcome).code == "frames-unaccounted"
    missing = tuple(fields[f"missing_{place}"] - fields[f"more_{place}"] for place in ("in", "device", "out"))
    assert missing == expected


@pytest.mark.parametrize(
    "drops",
    [
        {("Te0/1", "in_drops"): 100},
        {("Te0/2", "out_drops"): 60, ("Te0/1", "in_errors"): 40},
        {("device", "box_drops"): 100},
        {("ip", "InDiscards"): 70, ("ip", "OutNoRoutes"): 30},
        {("Te0/1", "in_queue_drops"): 100},
        # A part of a total is not counted a second time.
        {("Te0/1", "in_drops"): 100, ("Te0/1", "in_buffer_drops"): 80},
    ],
)
def test_balance_with_named_drops_has_no_rest(drops: dict[tuple[str, str], int]) -> None:
    outcome = by_hand({IN: 1000, OUT: 900, **drops}, sent=1000, received=900)
    assert steps(outcome) == (0, 0, 0)
    assert path_of(outcome).dropped == 100


def test_drops_on_the_other_way_of_a_port_explain_nothing() -> None:
    other = {("Te0/1", "out_drops"): 100, ("Te0/2", "in_drops"): 100}
    assert steps(by_hand({IN: 1000, OUT: 900, **other}, sent=1000, received=900)) == (0, 100, 0)


@pytest.mark.parametrize("name", ["in_drops", "rx_miss_drops"])
def test_drops_counted_before_the_frames_taken_in_are_the_devices(name: str) -> None:
    """A network card drops what it never counts as received."""
    outcome = by_hand({IN: 930, OUT: 930, ("Te0/1", name): 70}, sent=1000, received=930)
    assert steps(outcome) == (0, 0, 0)
    # Fewer drops than missing frames: which were lost on the line is unknown, and no drop is moved.
    less = by_hand({IN: 930, OUT: 930, ("Te0/1", "in_drops"): 50}, sent=1000, received=930)
    assert steps(less) == (70, -50, 0)


def test_frames_of_the_tester_and_of_the_device_itself_are_no_loss() -> None:
    """Two ARP requests in, one reply out that the tester counts as foreign."""
    outcome = by_hand({IN: 1002, OUT: 1001}, sent=1002, received=1001, own_frames=2, foreign=1)
    assert steps(outcome) == (0, 0, 0)
    assert answer(outcome).fields()["kept"] == 1


def test_duplicates_and_stale_frames_are_no_loss_and_hide_none() -> None:
    outcome = by_hand({IN: 1000, OUT: 1005}, sent=1000, received=1005, stale=2)
    doubled = outcome.with_counts(streams=(replace(outcome.streams[0], duplicates=4),))
    # 1,005 - 4 - 2 = 999 of 1,000 were given out once.
    assert steps(doubled) == (0, 1, 0)


def test_counter_of_no_reading_makes_its_balance_unknown() -> None:
    outcome = by_hand({IN: 1000}, sent=1000, received=1000)
    assert steps(outcome) == (0, None, None)
    found = answer(outcome)
    assert found.code == "balance-unknown"
    assert found.fields()["reason"]["code"] == "counter-not-read"


@pytest.mark.parametrize("place", [0, 1])
def test_counter_that_was_reset_makes_its_balance_unknown(place: int) -> None:
    outcome = by_hand({IN: 1000, OUT: 1000}, sent=1000, received=1000)
    series = list(outcome.series)
    series[place] = replace(series[place], values=(5000, 900))
    found = answer(replace(outcome, series=tuple(series)))
    assert (found.code, found.fields()["reason"]["code"]) == ("balance-unknown", "counter-reset")


def test_drop_counter_that_was_reset_makes_its_balance_unknown() -> None:
    outcome = by_hand({IN: 1000, OUT: 900, ("Te0/1", "in_drops"): 100}, sent=1000, received=900)
    broken = replace(outcome.series[-1], values=(500, 1))
    assert steps(replace(outcome, series=(*outcome.series[:2], broken))) == (0, None, 0)


def test_counter_read_before_the_drain_ended_is_not_used() -> None:
    outcome = by_hand({OUT: 1000}, sent=1000, received=1000)
    early = counter("Te0/1", "rx_packets", 1000, last_ns=11 * S)
    found = answer(replace(outcome, series=(early, *outcome.series)))
    assert found.fields()["reason"]["code"] == "counter-read-early"


@pytest.mark.parametrize(("last_s", "is_known"), [(12, False), (14, True)])
def test_counters_updated_every_4_s_want_a_reading_so_much_later(last_s: int, is_known: bool) -> None:
    """Frames came until 10 s."""
    outcome = by_hand({IN: 1000, OUT: 1000}, sent=1000, received=1000)
    at = (-1, *range(0, 11), last_s)
    counts = (0, *(100 * (second // 4 * 4) for second in range(0, 11)), 1000)
    old = Series("fake", *IN, "packets", tuple(second * S for second in at), counts, is_counter=True, bits=64)
    series = (old, counter(*OUT, 1000, last_ns=last_s * S))
    counters = Counters(replace(outcome, series=series), 10 * S, {"Te0/1": [100] * 10})
    found = counters.growth(*IN)
    assert found == 1000 if is_known else isinstance(found, Reason) and found.code == "counter-read-early"


def test_lag_is_the_sum_of_its_members() -> None:
    members = {("Te0/1", "rx_packets"): 600, ("Te0/2", "rx_packets"): 400, ("BE2", "tx_packets"): 1000}
    outcome = by_hand(members, sent=1000, received=1000)
    path = path_of(outcome, ("Te0/1+Te0/2", "BE2"))
    assert (path.taken, path.is_whole) == (1000, True)
    without = by_hand(dict(list(members.items())[1:]), sent=1000, received=1000)
    assert isinstance(path_of(without, ("Te0/1+Te0/2", "BE2")).taken, Reason)


def test_sum_over_trials_is_unknown_where_one_is() -> None:
    known = path_of(by_hand({IN: 1000, OUT: 990}, sent=1000, received=990))
    other = path_of(by_hand({IN: 500, OUT: 500}, sent=500, received=500))
    unknown = path_of(by_hand({OUT: 500}, sent=500, received=500))
    (path,) = sum_paths([(known,), (other,)])
    assert (path.sent, path.taken, path.given, path.received, path.rest) == (1500, 1500, 1490, 1490, 10)
    (path,) = sum_paths([(known,), (unknown,)])
    assert path.rest is None


def test_missing_of_one_path_is_not_made_up_for_by_another() -> None:
    less = path_of(by_hand({IN: 999, OUT: 999}, sent=1000, received=999))
    more = path_of(by_hand({IN: 1001, OUT: 1001}, sent=1000, received=1001))
    found = explain_frames([less, more])
    assert found is not None
    assert (found.fields()["missing_in"], found.fields()["more_in"]) == (1, 1)


@pytest.mark.parametrize("device_ports", [(), ("Te0/1",)])
def test_balance_of_unknown_ports_is_none(device_ports: tuple[str, ...]) -> None:
    outcome = by_hand({IN: 1000, OUT: 1000}, sent=1000, received=1000)
    ports = count_ports(outcome, device_ports, Counters(outcome, 1), ())
    assert balance_trial(outcome, PLACES, ports, ()) == ()
    assert balance_trial(outcome, {}, count_ports(outcome, PORTS, Counters(outcome, 1), ()), ()) == ()


@pytest.mark.parametrize(
    ("kind", "fps", "settings"),
    [
        ("emulated/router", 14_000_000, {"capacity": "10Mpps"}),
        ("emulated/router", 1_000_000, {}),
        ("emulated/bridge", 14_000_000, {"capacity": "5Mpps", "shared": "box"}),
        ("emulated/asr9006", 14_000_000, {"forwarding": "ipv4"}),
        ("emulated/asr9006", 14_000_000, {"forwarding": "l2-xconnect"}),
    ],
)
def test_balance_of_an_emulated_device_is_exact(kind: str, fps: int, settings: dict[str, str]) -> None:
    known, one, outcome = trial(kind, "size: 64B, flows: 9", Fraction(fps), 20 * MS, **settings)
    paths = balance(known, one, outcome)
    assert paths
    assert all(path.is_whole for path in paths)
    assert sum(path.dropped or 0 for path in paths) == outcome.lost


def test_balance_of_an_emulated_bridge_with_a_fault_finds_the_rest() -> None:
    """It loses one frame in 100 by a fault, and no counter of drops says so."""
    fault = {"loses": "1/100"}
    known, one, outcome = trial("emulated/bridge", "size: 64B, flows: 9", Fraction(10**6), 20 * MS, **fault)
    paths = balance(known, one, outcome)
    assert outcome.lost > 0
    assert sum(path.rest or 0 for path in paths) == outcome.lost
    assert {path.link_in for path in paths} == {path.link_out for path in paths} == {0}


@pytest.mark.parametrize("receivers", [(1,), (1, 2)])
def test_frames_by_any_port_of_a_bundle_are_in_the_balance(receivers: tuple[int, ...]) -> None:
    """A hash puts 550 of 1,000 frames on one port of a LAG or ECMP group, whichever they were for."""
    names = (*PORTS, "Te0/3")
    outcome = by_hand({IN: 1000, OUT: 550, ("Te0/3", "tx_packets"): 450}, sent=1000, received=550)
    second = replace(outcome.ports[1], name="east.2", rx_frames=450)
    outcome = outcome.with_counts(ports=(*outcome.ports, second))
    places = {f"to-{rx}": Place(0, rx, bundle=(1, 2)) for rx in receivers}
    ports = count_ports(outcome, names, count_trial(outcome, 10 * S, places, names), ())
    (path,) = balance_trial(outcome, places, ports, ())
    assert (path.receivers, path.given, path.received) == (("east", "east.2"), 1000, 1000)
    assert path.is_whole
