"""Every method on devices and testers that are not as they should be: it ends within its trials, in a number
that is true, in a bound, or in words that say why there is none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from netdyno.methods.reasons.bursts import BurstsUnsent, SearchesEnded
from netdyno.methods.reasons.outages import NoOverload
from proofs import PROOFS
from strangers import Outcome, every, loses_between, measure_stranger, starves_from
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")

LINE = Fraction(10**8, 672)
OF_NOTHING = {name: number for one in PROOFS.values() for name, number in one.of_nothing.items()}
RATES = {name for one in PROOFS.values() for name in one.rates}


def numbers(outcome: Outcome) -> dict[str, set[Fraction | None]]:
    """What was found of each value that stands for the case, whatever its scope."""
    return {
        name: {value.number for value in outcome.result.values if value.name == name}
        for name in outcome.result.headlines
    }


def limits(outcome: Outcome, name: str) -> set[str]:
    return {verdict.limit for verdict in outcome.verdicts[name].values()}


def assert_reasons(outcome: Outcome, name: str) -> None:
    """What has no number has a sentence in its place, in the value and in its verdict."""
    for value in outcome.result.values:
        if value.name == name and value.number is None:
            assert value.note
            assert all(len(str(verdict.reason)) > 10 for verdict in outcome.verdicts[name].values())
            assert limits(outcome, name) <= {"inconclusive", "tester", "invalid"}, (name, str(value.note))


@pytest.mark.parametrize("method", PROOFS)
def test_a_device_that_passes_nothing(method: str) -> None:
    outcome = measure_stranger(method, every("lose"))
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        if name in RATES:
            assert found == {0}, "it has none of that rate, and is below the lowest load that was tried"
            assert limits(outcome, name) == {"device"}
            highs = {value.high for value in outcome.result.values if value.name == name}
            assert method == "max-forwarding-rate" or None not in highs
        else:
            assert found == {OF_NOTHING.get(name)}, name
    assert not any("round figure" in text for text in outcome.texts), "of no rate no figure is round"


@pytest.mark.parametrize("method", PROOFS)
def test_a_device_that_passes_everything(method: str) -> None:
    """The bridge of the lab: as fast as its lines, and no limit of it is found but those it has."""
    outcome = measure_stranger(method)
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        match name:
            case "maximum forwarding rate":
                # Counted while traffic lasted: what is still in the device is not of it, three frames of 64.
                assert all(LINE - 400 < number <= LINE for number in found if number is not None)
                assert limits(outcome, name) == {"line"}
            case "loss-free load" | "throughput" | "NDR" | "PDR" | "ramp max Rx" | "broadcast throughput":
                assert found == {LINE}
                assert limits(outcome, name) == {"line"}
            case "frame loss rate" | "loss ratio" | "reordered" | "loss at the uncongested port":
                assert found == {0}
            case "back-to-back frames" | "recovery time":
                assert found == {None}
                assert any("not applicable" in text for text in outcome.texts)
                assert limits(outcome, name) == {"inconclusive"}
            case "address caching capacity" | "address learning rate":
                assert limits(outcome, name) == {"inconclusive"}
                assert any("maximum" in text for text in outcome.texts)


def test_a_device_that_passes_everything_has_a_queue_all_the_same() -> None:
    """Two ports at line rate meet at one: the 1024 frames of its queue, and the one on its line."""
    assert numbers(measure_stranger("microburst")) == {"burst held": {1025}}


@pytest.mark.parametrize("method", PROOFS)
@pytest.mark.parametrize("each", [1, 100])
def test_a_device_that_sends_frames_twice(method: str, each: int) -> None:
    """No load at which copies come is without fault, no buffer is known by them, and they hide no loss."""
    outcome = measure_stranger(method, every("duplicate", each, each // 2))
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        if name in ("throughput", "NDR", "PDR", "broadcast throughput"):
            # Of 149 frames at a tenth of the line the fiftieth is doubled, of 75 at a twentieth it is, too.
            assert all(number is not None and number <= LINE / 20 for number in found)
            assert limits(outcome, name) == {"device"}
            assert any("came more than once" in text for text in outcome.texts)
        elif name in ("back-to-back frames", "burst held", "recovery time"):
            assert found == {None}
        elif name in ("frame loss rate", "loss ratio", "reordered", "loss at the uncongested port"):
            assert found == {0}
            assert any("copies" in verdict.reason.fields() for verdict in outcome.verdicts[name].values())


@pytest.mark.parametrize("method", PROOFS)
def test_a_device_that_answers_after_the_drain(method: str) -> None:
    """Each frame takes 40 ms, and a trial ends 20 ms after its last one: what came is not what was lost."""
    outcome = measure_stranger(method, lambda device: device.update(delay_ns=40_000_000))
    if len(outcome.trials) == 1 and method != "ramp":
        # Nothing came in the only trial, and nothing can come after it.
        assert any("none of" in text.lower() and "came back" in text for text in outcome.texts)
        return
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        if method == "microburst":
            assert found == {1025}, "its bursts are waited for as long"
            continue
        assert found == {None}, name
        assert limits(outcome, name) == {"inconclusive"}
        assert any("a longer `drain`" in str(verdict.reason) for verdict in outcome.verdicts[name].values())


@pytest.mark.parametrize(
    ("method", "late_ms"), [("throughput", 150), ("frame-loss", 150), ("frame-loss", 260)]
)
def test_a_device_that_answers_several_trials_later(method: str, late_ms: int) -> None:
    """A trial with its drain takes 120 ms, and every tenth frame comes so late: as those 3 s late do when a
    plan is rehearsed at `--scale 1/60`."""
    outcome = measure_stranger(method, every({"hold": {"for_ns": late_ms * 10**6}}, 10, 5))
    assert sum(port.stale for one in outcome.outcomes for port in one.ports) > 0
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        assert found == {None}, name
        assert limits(outcome, name) == {"inconclusive"}
        assert any("a longer `drain`" in str(verdict.reason) for verdict in outcome.verdicts[name].values())


def test_frames_of_an_earlier_trial_that_change_no_result_are_noted() -> None:
    """One frame in 5,000 is 150 ms late, and every second one is lost: no hundredth of the loss."""
    lose = {"port": None, "fault": "lose", "when": {"every": {"every": 2, "first": 0}}}
    hold = {
        "port": None,
        "fault": {"hold": {"for_ns": 150_000_000}},
        "when": {"every": {"every": 5000, "first": 1001}},
    }
    outcome = measure_stranger("frame-loss", lambda device: device.update(impairments=[lose, hold]))
    came = sum(port.stale for one in outcome.outcomes for port in one.ports)
    assert came
    assert None not in numbers(outcome)["frame loss rate"]
    assert any(f"{came} frame" in text and "of earlier trials came in" in text for text in outcome.texts)


@pytest.mark.parametrize("method", ["throughput", "ndr", "frame-loss", "soak", "order", "y1564", "latency"])
def test_the_same_device_with_a_longer_drain(method: str) -> None:
    """It delays and loses nothing: with a drain that is long enough it passes the line."""
    outcome = measure_stranger(method, lambda device: device.update(delay_ns=40_000_000), drain="50ms")
    for name, found in numbers(outcome).items():
        assert None not in found, name
        if name in ("throughput", "NDR", "PDR"):
            assert found == {LINE}
        if name == "latency":
            # 64 bytes and the 8 before them take 5.76 us at 100 Mbit/s, at both ends of the 40 ms.
            assert found == {40_000_000 + 2 * 5_760}


BELOW = (0.2, 0.6)
"""The loads, shares of the line, between which a tenth is lost."""


@pytest.mark.parametrize("method", ["throughput", "ndr", "bisection", "broadcast", "ramp"])
def test_a_device_that_loses_at_low_loads_and_not_at_high_ones(method: str) -> None:
    """The maximum passes, and that is where a search begins: the line, and no search below it."""
    outcome = measure_stranger(method, spoil=loses_between(*BELOW))
    # A broadcast that passes is timed by one frame of its own.
    assert len(outcome.trials) == 1 + (method == "broadcast")
    for found in numbers(outcome).values():
        assert found == {LINE}


def test_loads_below_a_passing_one_are_tested_where_all_are_asked_for() -> None:
    outcome = measure_stranger("sweep", spoil=loses_between(*BELOW))
    assert numbers(outcome) == {"loss-free load": {LINE / 10}}


@pytest.mark.parametrize("method", PROOFS)
def test_a_device_that_falls_asleep_between_frames(method: str) -> None:
    """Below 100 kpps every frame comes after a rest of 10 us, and is lost; above it only the first one is."""
    when = {"after_idle": {"idle_ns": 10_000, "frames": 1}}
    outcome = measure_stranger(
        method, lambda device: device.update(impairments=[{"port": None, "fault": "lose", "when": when}])
    )
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        if name in ("throughput", "NDR", "PDR", "broadcast throughput"):
            assert found == {0}, "no load passed: the first frame of each trial is lost"
        elif name in ("address caching capacity", "address learning rate"):
            assert found == {None}, "what was lost and not flooded says nothing of addresses"
            assert any("none was flooded" in text for text in outcome.texts)
        elif name == "frame loss rate":
            # One of 1489 frames in 10 ms.
            assert found == {Fraction(1, 1489)}


def held(device: dict[str, Any]) -> None:
    """Each port takes in 50 kpps, and four frames wait."""
    for port in device["ports"]:
        port.update(in_fps=[50_000, 1], in_queue=4)


@pytest.mark.parametrize("method", PROOFS)
@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("device", ["fast", "slow"])
def test_a_tester_that_starves(method: str, first: int, device: str) -> None:
    """From the first trial on, or from the third: half of the frames are not sent, and nothing is the
    device's fault from then on. A rate that stands is one the device has."""
    outcome = measure_stranger(method, held if device == "slow" else lambda device: None, starves_from(first))
    starved = len(outcome.trials) > first
    true = {"fast": LINE, "slow": Fraction(50_000 + 500)}[device]
    for name, found in numbers(outcome).items():
        assert_reasons(outcome, name)
        resting = outcome.result.resting(name)
        short = [number for number in resting if number >= first]
        if short:
            # A ramp's knee is the device's, if the tester fell behind for good only far above it.
            expected = {"device"} if (method, device) == ("ramp", "slow") else {"tester"}
            assert limits(outcome, name) == expected, name
        for number in found - {None}:
            if name in RATES:
                assert number is not None
                assert number <= true
    assert not starved or any("the tester" in text for text in outcome.texts)


def test_steps_of_a_service_that_the_tester_did_not_offer_are_not_failed() -> None:
    """Two of eight steps were offered, and passed."""
    outcome = measure_stranger("y1564", spoil=starves_from(2))
    (value,) = {
        (value.number, value.low, value.high)
        for value in outcome.result.values
        if value.name == "steps passed"
    }
    assert value == (None, Fraction(1, 4), 1)


def test_what_was_no_overload_is_not_recovered_from() -> None:
    """The throughput is found in steps of 5 % of the line, and a tenth more is still below the capacity."""
    outcome = measure_stranger("recovery", held)
    assert numbers(outcome)["recovery time"] == {None}
    found = {(int(one.rate_pps), one.share) for one in within(NoOverload, outcome.result.notes)}
    assert found == {(49_107, Fraction(11, 10))}
    assert limits(outcome, "recovery time") == {"inconclusive"}


def test_burst_search_starved_halfway_reports_how_many_bursts_it_found() -> None:
    """The first search takes three trials: 1024 frames pass, 1025 do not."""
    outcome = measure_stranger("microburst", spoil=starves_from(2))
    notes = tuple(value.note for value in outcome.result.values)
    ended = within(SearchesEnded, notes)
    assert {(one.done, one.searches) for one in ended} == {(1, 2)}
    assert all(within(BurstsUnsent, one.cause) for one in ended)
