"""Rates that devices print, with figures of published outputs, against what a tester sent meanwhile."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import by_hand
from netdyno.values.outcome import Outcome
from netdyno.values.series import Series
from netdyno.verdict.printed_rates import PrintedRate, reconcile_rates

S = 10**9
LINE_256 = 4_528_985
"""Frames of 256 bytes a second on 10 Gbit/s."""
PORTS = ("Te0/1", "Te0/2")


def full_line(seconds: int = 60, fps: int = LINE_256, frame: int = 256) -> Outcome:
    """One load from west to east, a sample a second, of which all arrives."""
    each, size = (fps,) * seconds, (fps * frame,) * seconds
    outcome = by_hand({}, sent=fps * seconds, received=fps * seconds)
    west, east = outcome.ports
    ports = (replace(west, tx=each, tx_bytes_series=size), replace(east, rx=each, rx_bytes_series=size))
    return outcome.with_counts(ports=ports)


def answer(
    outcome: Outcome, name: str, number: int, window_s: int = 10, seconds: int = 60, tags: int = 0
) -> PrintedRate:
    """Of a reading each 5 s, all of one number."""
    at_ns = tuple(second * S for second in range(0, seconds + 1, 5))
    port = PORTS[0] if name.startswith("rx") else PORTS[1]
    series = Series("fake", port, name, "x", at_ns, (number,) * len(at_ns), window_ns=window_s * S)
    (found,) = reconcile_rates(replace(outcome, series=(series,)), PORTS, (0, seconds * S), tags)
    return found


@pytest.mark.parametrize(
    ("name", "number", "conventions"),
    [
        # IOS XR, `show interfaces` of a full port: 9275361280 bit/s are 4528985 frames of 256 bytes.
        ("rx_bit_rate", 9_278_278_000, ["with FCS"]),
        ("rx_packet_rate", 4_547_012, []),
        ("tx_bit_rate", 9_242_023_000, ["with FCS"]),
        ("tx_packet_rate", 4_528_937, []),
        ("rx_bit_rate", 9_130_433_760, ["without FCS"]),
        ("rx_bit_rate", 9_999_998_880, ["L1, with preamble and gap"]),
        ("rx_bit_rate", 8_623_187_440, ["L3, without Ethernet header and FCS"]),
        ("rx_byte_rate", 1_159_420_160, ["with FCS"]),
    ],
)
def test_printed_rate_of_a_known_layer_is_explained(name: str, number: int, conventions: list[str]) -> None:
    found = answer(full_line(), name, number)
    assert found.answer.code == "rate-explained"
    assert found.answer.fields().get("conventions", []) == conventions
    assert found.way == ("in" if name.startswith("rx") else "out")


def test_rate_of_packets_without_their_tag_is_explained() -> None:
    """68 bytes are an IP packet of 46 and a header, a tag and an FCS of 22."""
    found = answer(full_line(fps=1_000_000, frame=68), "rx_bit_rate", 1_000_000 * 8 * 46, tags=1)
    assert found.answer.fields()["conventions"] == [
        "L3, without Ethernet header and FCS, without the VLAN tag"
    ]


def test_printed_rate_of_no_layer_says_how_far_off_it_is() -> None:
    found = answer(full_line(), "rx_packet_rate", 4_076_086)
    assert found.answer.code == "rate-off"
    assert found.predicted == LINE_256
    assert float(Fraction(found.answer.fields()["off_share"])) == pytest.approx(-0.1, abs=1e-4)
    assert Fraction(found.answer.fields()["windows"]) == 6


def test_window_longer_than_the_load_is_not_compared() -> None:
    found = answer(full_line(), "rx_bit_rate", 9_278_278_000, window_s=300)
    assert (found.answer.code, found.rate, found.predicted) == ("window-longer-than-load", None, None)
    assert found.answer.fields() == {"window_ns": 300 * S, "held_ns": 60 * S}


def test_trial_without_a_held_load_is_not_compared() -> None:
    series = Series("fake", "Te0/1", "rx_bit_rate", "bit/s", (5 * S,), (7,), window_ns=S)
    (found,) = reconcile_rates(replace(full_line(), series=(series,)), PORTS, None)
    assert found.answer.code == "load-not-held"


def test_reading_whose_window_begins_before_the_load_is_left_out() -> None:
    """The reading at 9 s is of a second before the load; only that at 10 s is of it alone."""
    outcome = full_line(10)
    series = Series("fake", "Te0/1", "rx_packet_rate", "x", (9 * S, 10 * S, 11 * S), (1, LINE_256, 2))
    series = replace(series, window_ns=10 * S)
    (found,) = reconcile_rates(replace(outcome, series=(series,)), PORTS, (0, 10 * S))
    assert (found.answer.code, found.rate) == ("rate-explained", LINE_256)


def test_members_of_a_lag_are_summed_and_one_missing_leaves_none() -> None:
    half = LINE_256 // 2
    series = [
        Series("fake", name, "rx_packet_rate", "x", (20 * S,), (half,), window_ns=10 * S) for name in "ab"
    ]
    outcome = replace(full_line(), series=tuple(series))
    (found,) = reconcile_rates(outcome, ("a+b", "Te0/2"), (0, 60 * S))
    assert (found.answer.code, found.rate) == ("rate-explained", 2 * half)
    assert reconcile_rates(outcome, ("a+c", "Te0/2"), (0, 60 * S)) == ()


def test_rate_without_a_window_or_of_hostile_numbers_is_no_rate() -> None:
    bare = Series("fake", "Te0/1", "rx_packet_rate", "x", (20 * S,), (7,))
    wild = replace(bare, name="rx_bit_rate", values=(2**63 - 1,), window_ns=2**62)
    outcome = replace(full_line(), series=(bare, wild))
    (found,) = reconcile_rates(outcome, PORTS, (0, 60 * S))
    assert found.answer.code == "window-longer-than-load"
    negative = replace(wild, values=(-5,), window_ns=S)
    (found,) = reconcile_rates(replace(outcome, series=(negative,)), PORTS, (0, 60 * S))
    assert found.answer.code == "rate-off"
    assert str(found.answer)
