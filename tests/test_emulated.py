"""Emulated devices made after published tests, against the numbers that were published."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest
from emulated import MS, average_us, plan, trials
from netdyno.trial import Event, Happened

DATA = Path(__file__).parent / "data"


def line_fps(size: int, rate_bps: int = 10_000_000_000) -> Fraction:
    """The most frames a second on a line, by the rule every RFC's table follows (RFC 2544 appendix B)."""
    return Fraction(rate_bps, (size + 20) * 8)


def table_11() -> list[dict[str, str]]:
    with (DATA / "article-asr1000-table11.csv").open() as file:
        return list(csv.DictReader(file))


def asr1000(size: int, share: Fraction, duration_ns: int) -> tuple[float, int]:
    """Average latency in us at this share of the line, both ways, and frames lost."""
    (result,) = trials(
        plan("emulated/asr1000-esp20", f"size: {size}B, flows: 1000"),
        [[(line_fps(size) * share, duration_ns)]],
    )
    return average_us(result), result.lost


# What the article's rows ran at, not what they were called: its load column is up to 8 points off.
@pytest.mark.parametrize("row", table_11(), ids=lambda row: f"{row['frame_size_b']}-{row['load_pct']}")
def test_the_asr1000_has_the_latency_of_the_article(row: dict[str, str]) -> None:
    size, published = int(row["frame_size_b"]), float(row["latency_avg_us"])
    share = min(Fraction(row["tx_fps"]) / (2 * line_fps(size)), Fraction(1))
    saturated = share > Fraction(999, 1000) and size == 256
    # The queue that stands at 100 % takes an eighth of a second to fill: the article's trials took 300.
    found, lost = asr1000(size, share, 1000 * MS if saturated else 20 * MS)
    assert lost == int(row["tx_frames"]) - int(row["rx_frames"]) == 0
    # Within 22 % of each row: the article's own averages spread so far around the line drawn through them.
    assert found == pytest.approx(published, rel=0.22), f"{found:.1f} us against {published}"


def test_the_asr1000_is_flat_to_99_percent_and_rises_at_100() -> None:
    at = {
        percent: asr1000(256, Fraction(percent, 100), 500 * MS if percent == 100 else 20 * MS)[0]
        for percent in (50, 90, 99, 100)
    }
    assert max(at[50], at[90], at[99]) < 1.02 * min(at[50], at[90], at[99])
    assert at[100] > 10 * at[99]


def test_the_asr1000_forwards_small_frames_at_its_own_rate_and_no_faster() -> None:
    """11.36 Mpps in all, which is what 200 bytes take of two lines; 64 bytes are 29.76."""
    (result,) = trials(plan("emulated/asr1000-esp20", "size: 64B, flows: 1000"), [[(line_fps(64), 100 * MS)]])
    received = sum(stream.received for stream in result.streams)
    # A tenth of a second, and what its queue holds at the end.
    assert 1_136_363 - 1000 <= received <= 1_136_363 + 31_600 + 1000


def test_a_reset_in_a_trial_is_as_long_as_the_device_takes() -> None:
    """RFC 2544 section 26.6, by loss: what was lost over the rate is the time without forwarding."""
    event = Event(10 * MS, "reset")
    (result,) = trials(
        plan("emulated/cross-connect", "size: 64B, flows: 1", direction="uni"),
        [[(Fraction(100_000), 200 * MS)]],
        (event,),
    )
    assert result.happened == (Happened(event, 10 * MS, 10 * MS),)
    # 100 ms at 100,000 a second, and what the device held (a frame every 10 us, 5 us in the device).
    assert abs(result.streams[0].lost - 10_000) <= 1
    assert result.streams[0].first_loss_ns in (9_990_000, 10_000_000)


def test_a_link_that_is_down_carries_nothing_either_way() -> None:
    events = (Event(10 * MS, "link-down", "east"), Event(30 * MS, "link-up", "east"))
    (result,) = trials(
        plan("emulated/cross-connect", "size: 64B, flows: 1"), [[(Fraction(100_000), 50 * MS)]], events
    )
    # 20 ms at 100,000 a second.
    assert all(abs(stream.lost - 2000) <= 1 for stream in result.streams)
    assert [one.event for one in result.happened] == list(events)
