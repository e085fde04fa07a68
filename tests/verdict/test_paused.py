"""Pause frames that the tester received, and the frames that it could not send: whose limit that is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from kinds import kind
from netdyno.ports.nic.counters import by_kind
from netdyno.values.finding import Result, Value
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import InterfaceResult, Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge
from tendevices import measure, passes_everything
from test_hostile_machine import proven

SECOND = 10**9
LOAD = 1_000_000
# 10 Gbit/s: a pause lasts 65,535 x 51.2 ns, 3.3554 ms, which are 3,356 frames of this load.
UNI = Situation(("west-east",), Fraction(10**10, 8 * 84), Fraction(64))


def paused(unsent: int, driver: dict[str, int], **health: Any) -> Outcome:
    """A second of a load of which so many frames were not sent."""
    found = measure(Trial("t", Frames.steady(FrameRate(LOAD), SECOND)), passes_everything(), UNI)
    (stream,) = found.streams
    sent = stream.offered - unsent
    left = replace(stream, offered=sent, received=sent, lost=0)
    card = InterfaceResult(found.ports[0].name, "eth0", driver=driver, kinds=by_kind(driver))
    found = replace(found.with_counts(streams=(left,)), interfaces=(card,))
    return replace(found, health=replace(found.health, **({"core_share_ppm": 999_000} | health)))


def judged(
    found: Outcome, most: int = 1_100_000, name: str = "throughput", unit: str = "fps", enforced: bool = True
) -> Verdict:
    value = Value(kind(name, unit), "west-east", Fraction(500_000), searched=unit == "fps")
    value = value if unit == "fps" else replace(value, number=Fraction(0), of_frames=LOAD)
    evidence = Evidence(UNI, "real", enforced, (found,), (SECOND,), proven(most), is_constant=True)
    return judge(Result("m", (value,), (0,)), evidence, name)["west-east"]


@pytest.mark.parametrize(
    ("unsent", "driver", "limit", "code"),
    [
        (33_554, {"rx_pause": 10}, "device", "device-paused"),
        (33_560, {"rx_pause": 10}, "tester", "tester-short"),
        # Of one class (PFC): of which the test is, is unknown. What ends a pause (XON) holds nothing back.
        (6_700, {"rx_prio3_pause": 2}, "inconclusive", "pauses-received"),
        (6_700, {"rx_flow_control_xoff": 2, "rx_flow_control_xon": 9}, "device", "device-paused"),
        (6_800, {"rx_flow_control_xoff": 2, "rx_flow_control_xon": 9}, "tester", "tester-short"),
        # A card that counts how long it was paused, us, leaves no more than that.
        (3_000, {"rx_global_pause": 10, "rx_global_pause_duration": 3_000}, "device", "device-paused"),
        (3_100, {"rx_global_pause": 10, "rx_global_pause_duration": 3_000}, "tester", "tester-short"),
        (3_000, {"tx_packets": 10}, "tester", "tester-short"),
    ],
)
def test_device_is_named_for_what_its_pauses_account_for(
    unsent: int, driver: dict[str, int], limit: str, code: str
) -> None:
    verdict = judged(paused(unsent, driver))
    assert (verdict.limit, verdict.reason.code) == (limit, code)
    assert str(verdict.reason)
    found = judged(paused(unsent, driver), name="frame loss rate", unit="ratio")
    assert (found.limit, found.reason.code) == (limit, "other-load" if code == "tester-short" else code)


@pytest.mark.parametrize(
    ("health", "more", "most", "missing"),
    [
        ({"core_share_ppm": 980_000}, {}, 1_100_000, "core-shared"),
        ({"core_share_ppm": None}, {}, 1_100_000, "core-shared"),
        ({"rx_full": 1}, {}, 1_100_000, "receive-ring-full"),
        # The tester's card paused the device, which may have paused it for that.
        ({}, {"tx_pause": 1}, 1_100_000, "receive-ring-full"),
        ({}, {}, 1_099_999, "refused-load-unproven"),
        # A tenth of the 30,000 was due in 3 ms of its own.
        ({"longest_gap_ns": 3_000_001}, {}, 1_100_000, "own-gap"),
    ],
)
def test_device_is_not_named_where_the_tester_may_have_had_a_part(
    health: dict[str, Any], more: dict[str, int], most: int, missing: str
) -> None:
    verdict = judged(paused(30_000, {"rx_pause": 10} | more, **health), most)
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "pauses-received")
    assert verdict.reason.missing.code == missing  # type: ignore[attr-defined]
    assert str(verdict.reason.missing) in str(verdict.reason)  # type: ignore[attr-defined]


def test_times_of_a_paused_load_are_inconclusive() -> None:
    found = paused(30_000, {"rx_pause": 10})
    value = Value(kind("latency p50", "ns"), "west-east", Fraction(50_000))
    evidence = Evidence(UNI, "real", True, (found,), (SECOND,), proven(2 * LOAD), is_constant=True)
    verdict = judge(Result("m", (value,), (0,)), evidence, "latency p50")["west-east"]
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", "pauses-received")
    assert verdict.reason.missing.code == "taken-late"  # type: ignore[attr-defined]


def test_pause_is_not_as_long_as_a_declared_rate_says() -> None:
    """A plan may declare 1 Gbit/s for a card of 10: there a pause lasts a tenth."""
    found = judged(paused(30_000, {"rx_pause": 10}), enforced=False)
    assert (found.limit, found.reason.code) == ("inconclusive", "pauses-received")
    assert found.reason.missing.code == "line-not-enforced"  # type: ignore[attr-defined]
