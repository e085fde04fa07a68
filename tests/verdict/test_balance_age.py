"""Counters that a device updates now and then, or that a restart set: no balance is closed by an old count.

A device is acted out in virtual time: it counts each frame at once, and shows what it had counted at its last
update.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from balanced import PLACES, PORTS, S, by_hand
from hypothesis import example, given
from hypothesis import strategies as st
from netdyno.values.outcome import Outcome, Phase
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.verdict.balance import balance_trial
from netdyno.verdict.balance_reasons import explain_frames
from netdyno.verdict.device_counts import Counters, count_ports

MS = 1_000_000
TRAFFIC_S, SENT = 10, 1000
"""100 frames a second."""
IN, OUT = ("Te0/1", "rx_packets"), ("Te0/2", "tx_packets")
FLOWS = ({"Te0/1": [100] * TRAFFIC_S}, {"Te0/2": [100] * TRAFFIC_S})


def counted_at(at_ns: int) -> int:
    """Frames that the device has taken by then."""
    return min(max(at_ns, 0) // (10 * MS), SENT)


def shown(
    key: tuple[str, str], readings_s: Iterable[float], every_ms: int = 1, first_ms: int = 0, most: int = SENT
) -> Series:
    """A counter that the device updates at `first_ms` and every so often, before that too."""
    at = [round(second * S) for second in readings_s]
    updates = [first_ms * MS + (one - first_ms * MS) // (every_ms * MS) * every_ms * MS for one in at]
    values = tuple(5 + min(counted_at(one), most) for one in updates)
    return Series("fake", *key, "packets", tuple(at), values, is_counter=True, bits=64)


def trial(*series: Series, drain_s: int = 2, received: int = SENT) -> Outcome:
    found = by_hand({}, sent=SENT, received=received)
    phases = (Phase("hold", 0, TRAFFIC_S * S), Phase("drain", TRAFFIC_S * S, drain_s * S))
    return replace(found, series=series, phases=phases)


def growth(outcome: Outcome, key: tuple[str, str] = IN) -> int | Reason:
    return Counters(outcome, TRAFFIC_S * S, *FLOWS).growth(*key)


def code(found: int | Reason) -> str:
    assert isinstance(found, Reason), found
    assert str(found)
    return found.code


def answer(outcome: Outcome) -> Reason:
    counters = Counters(outcome, TRAFFIC_S * S, *FLOWS)
    found = explain_frames(balance_trial(outcome, PLACES, count_ports(outcome, PORTS, counters, ()), ()))
    assert found is not None
    return found


EACH_SECOND: Sequence[float] = (-0.5, *range(1, 13))


def test_counter_updated_once_in_the_trial_has_no_count() -> None:
    """Updated every 8 s, at 5 s and then at 13 s: the reading at 12 s lacks half of the frames."""
    old = shown(IN, EACH_SECOND, 8000, 5000)
    assert old.values[-1] - old.values[0] == SENT // 2
    found = growth(trial(old))
    assert code(found) == "counter-age-unknown"
    assert isinstance(found, Reason)
    assert {name: found.fields()[name] for name in ("changes", "flowed_ns", "more_ns")} == {
        "changes": 1,
        "flowed_ns": 10 * S,
        "more_ns": 8 * S,
    }


def test_counter_that_never_changed_under_traffic_has_no_count() -> None:
    found = growth(trial(shown(IN, EACH_SECOND, 60_000, -1000)))
    assert code(found) == "counter-age-unknown"
    assert isinstance(found, Reason)
    assert found.fields()["changes"] == 0


@pytest.mark.parametrize(("key", "other"), [(IN, OUT), (OUT, IN)])
def test_counter_of_unknown_age_closes_no_balance(key: tuple[str, str], other: tuple[str, str]) -> None:
    found = answer(trial(shown(key, EACH_SECOND, 8000, 5000), shown(other, EACH_SECOND)))
    assert found.code == "balance-unknown"
    assert found.fields()["reason"]["code"] == "counter-age-unknown"


def test_update_seen_behind_the_traffic_settles_a_counter() -> None:
    """Updated every 12 s: before traffic, and at 11.5 s behind it."""
    late = shown(IN, EACH_SECOND, 12_000, 11_500)
    assert growth(trial(late)) == SENT


def test_counter_that_stands_behind_the_traffic_as_long_is_settled() -> None:
    """The device took in nothing: at 20 s an update was due, and it still shows nothing."""
    readings = (-0.5, *range(1, 21))
    silent = shown(IN, readings, most=0)
    assert growth(trial(silent)) == 0
    assert code(growth(trial(replace(silent, at_ns=silent.times_ns[:-1], values=silent.values[:-1])))) == (
        "counter-age-unknown"
    )


def test_counter_with_too_few_readings_behind_traffic_is_not_settled() -> None:
    silent = shown(IN, (*EACH_SECOND[:11], 25), most=0)
    assert code(growth(trial(silent))) == "counter-age-unknown"


@pytest.mark.parametrize("readings", [(-0.5, 10.5, 12), (-0.5, 12)])
def test_counter_that_was_not_read_under_traffic_is_current(readings: Sequence[float]) -> None:
    """Nothing shows that it stood still."""
    assert growth(trial(shown(IN, readings))) == SENT


def test_counter_of_a_short_burst_is_current() -> None:
    """Frames in the first second alone; it stands still because there are none."""
    burst = [100, *[0] * 9]
    outcome = trial(shown(IN, EACH_SECOND, most=100), received=100)
    assert Counters(outcome, TRAFFIC_S * S, {"Te0/1": burst}).growth(*IN) == 100


def test_counter_without_known_traffic_is_current() -> None:
    assert growth(trial(shown(("Te0/9", "rx_packets"), EACH_SECOND, most=0)), ("Te0/9", "rx_packets")) == 0


# Two updates seen 7 s apart that are 7.451 s apart: the third one comes at 17.285 s.
@example(7451, 2383, 17, 1000)
@given(st.integers(1, 10_000), st.integers(0, 9_999), st.integers(12, 40), st.sampled_from((250, 1000, 1700)))
def test_count_of_any_update_period_is_exact_or_unknown(
    every_ms: int, first_ms: int, until_s: int, asked_ms: int
) -> None:
    """Of updates that are no further apart than the traffic is long."""
    readings = (-0.5, *(at_ms / 1000 for at_ms in range(asked_ms, until_s * 1000 + asked_ms, asked_ms)))
    found = growth(trial(shown(IN, readings, every_ms, first_ms)))
    assert found == SENT or code(found) in ("counter-age-unknown", "counter-read-early")


def uptime(*ticks: int, at_s: Sequence[float]) -> Series:
    at_ns = tuple(round(second * S) for second in at_s)
    return Series("snmp", "device", "sysUpTime", "s", at_ns, ticks, 2)


def test_device_that_restarted_in_the_trial_closes_no_balance() -> None:
    """Its counter grew past the old value, so that the counts add up."""
    up = uptime(100_000, 100_550, 200, 750, at_s=(-0.5, 5, 8, 13.5))
    series = (shown(IN, EACH_SECOND), shown(OUT, EACH_SECOND))
    assert answer(trial(*series)).code == "every-frame-accounted"
    found = answer(trial(*series, up))
    assert (found.code, found.fields()["reason"]["code"]) == ("balance-unknown", "counter-reset")


def test_device_whose_uptime_went_on_closes_its_balance() -> None:
    up = uptime(2**32 - 500, 50, 350, 900, at_s=(-0.5, 5, 8, 13.5))
    series = (shown(IN, EACH_SECOND), shown(OUT, EACH_SECOND))
    assert answer(trial(*series, up)).code == "every-frame-accounted"


def test_discontinuity_of_one_port_is_no_reset_of_another() -> None:
    mark = Series("snmp", "Te0/2", "ifCounterDiscontinuityTime", "s", (-S, 6 * S, 12 * S), (0, 0, 777), 2)
    outcome = trial(shown(IN, EACH_SECOND), shown(OUT, EACH_SECOND), mark)
    assert growth(outcome) == SENT
    assert code(growth(outcome, OUT)) == "counter-reset"


def test_counter_faster_than_its_line_has_no_count() -> None:
    counters = Counters(trial(shown(IN, EACH_SECOND)), TRAFFIC_S * S, *FLOWS)
    # 1,000 frames in 12.5 s are 80 a second.
    assert code(counters.growth(*IN, 79)) == "counter-implausible"  # type: ignore[arg-type]
    assert counters.growth(*IN, 80) == SENT  # type: ignore[arg-type]
