"""`emulated/path` in virtual time, against closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from emulated import MS, plan, trials
from netdyno.devices import KINDS, LabLink
from netdyno.values.outcome import Outcome

LINE_BPS = 1_000_000_000
SIZE = 1518


def path(settings: dict[str, str], fps: int, duration_ms: int, direction: str = "uni") -> Outcome:
    """Frames of 1518 bytes at an even rate over a path of these settings, between lines of 1 Gbit/s."""
    asked = plan(
        "emulated/path",
        f"size: {SIZE}B, flows: 1",
        direction=direction,
        settings=settings,
        rate="1Gbps",
    )
    (found,) = trials(asked, [[(Fraction(fps), duration_ms * MS)]])
    return found


def lost(found: Outcome) -> list[int]:
    return [stream.lost for stream in found.streams]


@pytest.mark.parametrize(("setting", "rate_bps"), [({}, LINE_BPS), ({"rate": "100Mbps"}, 100_000_000)])
def test_path_delay_adds_to_both_lines_each_way(setting: dict[str, str], rate_bps: int) -> None:
    found = path({"delay": "10ms", **setting}, 1000, 50, "bidir")
    assert lost(found) == [0, 0]
    # The frame and its preamble on each line (RFC 1242 section 3.8: first bit out to last bit in).
    exact = 10 * MS + 2 * (SIZE + 8) * 8 * 10**9 // rate_bps
    for stream in found.streams:
        assert stream.latency is not None
        assert (stream.latency.min_ns, stream.latency.max_ns) == (exact, exact)


def test_path_loses_every_nth_frame_of_the_first_way_alone() -> None:
    assert lost(path({"loses": "1/1000"}, 10_000, 1000, "bidir")) == [10, 0]
    assert lost(path({"loses": "1/1000", "impairs": "both"}, 10_000, 1000, "bidir")) == [10, 10]


def test_path_with_a_seed_draws_its_losses() -> None:
    drawn = path({"loses": "1/100", "seed": "7"}, 10_000, 1000)
    again = path({"loses": "1/100", "seed": "7"}, 10_000, 1000)
    other = path({"loses": "1/100", "seed": "8"}, 10_000, 1000)
    assert lost(drawn) == lost(again)
    assert drawn.streams[0].lost != other.streams[0].lost
    # 100 on average; 4.5 standard deviations of a binomial count.
    assert all(55 <= found.streams[0].lost <= 145 for found in (drawn, other))


def test_path_polices_by_a_bucket_of_frame_bits() -> None:
    # A frame each 250 us, and 242.88 us of a bucket of 50 Mbit/s: it passes all. Of 8,000 a second half do.
    assert lost(path({"police": "50Mbps"}, 4000, 100)) == [0]
    # Frame k comes at k / 8000 s; tokens in frames: 10 at first, and 50 Mbit/s / 12144 bits a second.
    tokens, passed, each = Fraction(10), 0, Fraction(50_000_000, SIZE * 8 * 8000)
    for _ in range(8000):
        if tokens >= 1:
            tokens, passed = tokens - 1, passed + 1
        tokens = min(Fraction(10), tokens + each)
    found = path({"police": "50Mbps", "burst": str(10 * SIZE)}, 8000, 1000)
    assert found.streams[0].received == passed
    assert found.devices[0]["ports"][0]["policed"] == 8000 - passed


def test_path_shaper_holds_as_many_as_wait_in_its_queue() -> None:
    found = path({"shape": "50Mbps", "queue": "100"}, 8000, 1000)
    # The bucket holds 4 ms of 50 Mbit/s, 25,000 bytes. Frame k may begin at (k + 1) T - D, 100 more wait.
    taken_ps, bucket_ps = SIZE * 8 * 10**12 // 50_000_000, 25_000 * 8 * 10**12 // 50_000_000
    last_ps = 7999 * 10**12 // 8000
    assert abs(found.streams[0].received - ((last_ps + bucket_ps) // taken_ps + 100)) <= 1
    assert found.devices[0]["ports"][1]["out_drops"] == found.streams[0].lost


def test_path_takes_no_frame_longer_than_largest() -> None:
    assert path({"largest": "1500B"}, 1000, 50).streams[0].received == 0
    assert path({"largest": "1518B"}, 1000, 50).streams[0].lost == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"delay": "soon"},
        {"loses": "0"},
        {"loses": "2/3"},
        {"loses": "1/0"},
        {"seed": "1"},
        {"burst": "9"},
        {"police": "0bps"},
        {"queue": "0"},
        {"largest": "9B"},
        {"rate": "fast"},
        {"impairs": "none"},
    ],
)
def test_path_setting_that_means_nothing_is_refused(settings: dict[str, Any]) -> None:
    links = (LabLink("west", "d0", LINE_BPS), LabLink("east", "d1", LINE_BPS))
    (name,) = settings
    with pytest.raises(ValueError, match=name):
        KINDS["emulated/path"].wire(links, settings)
