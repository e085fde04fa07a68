"""Emulated devices made after published tests, against the numbers that were published."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from emulated import MS, average_us, plan, trials
from netdyno.devices.emulated import s5860
from netdyno.errors import PlanErrors
from netdyno.values.load import Event, Happened
from netdyno.values.outcome import Outcome

DATA = Path(__file__).parents[1] / "data"


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


def llq(qos: str) -> Outcome:
    """Default traffic that fills a narrow port twice over, and a hundredth of that with DSCP 46."""

    def with_priority(spec: dict[str, Any]) -> None:
        (stream,) = spec["streams"]
        headers = [dict(header) for header in stream["headers"]]
        headers[1]["dscp"] = 46
        schedule = [
            {**one, **{end: one[end] // 100 for end in ("from_bps", "to_bps")}} for one in stream["schedule"]
        ]
        spec["streams"].append({**stream, "name": "priority", "headers": headers, "schedule": schedule})

    narrow = plan(
        "emulated/asr1000-esp20",
        "size: 256B, flows: 100",
        direction="uni",
        settings={"qos": qos},
        last_rate="1Gbps",
    )
    (result,) = trials(narrow, [[(2 * line_fps(256, 1_000_000_000), 50 * MS)]], change=with_priority)
    return result


def test_asr1000_priority_traffic_does_not_wait_for_a_congested_class() -> None:
    default, priority = llq("llq").streams
    assert (priority.lost, default.lost > 0) == (0, True)
    assert priority.latency is not None
    assert default.latency is not None
    # The flat latency and one frame on the line of 1 Gbit/s; published are 30 to 50 us.
    assert priority.latency.sum_ns / priority.latency.count < 65_000
    assert priority.latency.max_ns < 70_000
    assert default.latency.max_ns > 2_000_000
    unprotected = llq("none").streams[1]
    assert unprotected.lost > 0
    assert unprotected.latency is not None
    assert unprotected.latency.max_ns > 2_000_000


@pytest.mark.parametrize("size", [64, 256, 512])
def test_asr1000_services_take_the_time_that_the_article_names(size: int) -> None:
    """At the throughput: 20 to 30 us, 10 more with all services, 200 more shaped; of 10GE ports 100 more."""

    def latency_us(service: str, rate: str) -> float:
        asr = plan(
            "emulated/asr1000-esp20", f"size: {size}B, flows: 9", rate=rate, settings={"service": service}
        )
        (result,) = trials(asr, [[(line_fps(size, 10**9) / 2, 10 * MS)]])
        assert result.lost == 0
        return average_us(result)

    none, every, shaped = (latency_us(one, "1Gbps") for one in ("none", "all", "all-shaped"))
    assert 20 <= none <= 30
    assert (every - none, shaped - every) == pytest.approx((10, 200), abs=0.01)
    lines_us = 2 * (size + 8) * 8 / 1000
    faster = latency_us("none", "10Gbps") + lines_us * 9 / 10
    assert faster - none == pytest.approx(100, abs=0.02)


@pytest.mark.parametrize("tags", ["", ", vlan: [{vid: 20, tpid: 0x9100}, 1000]"], ids=["untagged", "0x9100"])
@pytest.mark.parametrize(("vlans", "published"), [("plain", 0.0), ("qinq", 0.010367)])
def test_the_s5860_pair_loses_what_its_tags_take(vlans: str, published: float, tags: str) -> None:
    """Four ports of 10 Gbit/s a switch, at line rate: 1 - 381.833 / 385.833 of its imix's mean.

    Of frames of one size, whatever tags they come with.
    """
    pair = plan("emulated/s5860", f"size: 362B, flows: 1000{tags}", links=8, settings={"vlans": vlans})
    (result,) = trials(pair, [[(line_fps(362), 40 * MS)]])
    offered = sum(stream.offered for stream in result.streams)
    # Each trunk holds up to 1024 frames at the end that are not lost.
    held = 2 * 1025 / offered
    lost = result.lost / offered
    assert published - held - 0.0001 <= lost <= published + 0.0001, f"{lost:.4%} of {published:.4%}"
    assert (lost == 0) == (published == 0)


def trunk_mix(duration_ns: int) -> tuple[int, int, int]:
    """Frames sent, frames lost and bytes lost, FCS counted, of T-Rex's mix through the pair with QinQ."""
    pair = plan("emulated/s5860", "size: imix/trex, flows: 1000", links=8, settings={"vlans": "qinq"})
    (result,) = trials(pair, [[(Fraction(10**10) / ((Fraction(17_368, 48) + 20) * 8), duration_ns)]])
    sent = sum(stream.offered for stream in result.streams)
    lost = [stream.offered_bytes - stream.received_bytes for stream in result.streams]
    return sent, result.lost, sum(lost)


def test_s5860_pair_loses_of_a_mix_what_the_article_lost() -> None:
    """Eight ports full of 28:16:4 of 64, 594 and 1518 bytes. Received of sent, each printed to 10 kpps:
    3.24 + 3.24 + 3.23 + 3.24 of 3.28 + 3.27 + 3.27 + 3.28 Mpps.

    What is lost in the long run is what tags take of 20 bytes more than the mean, 4 of 385.833, if frames of
    all sizes are lost alike: the frames' share then is that of their bytes.
    """
    short, long = trunk_mix(40 * MS), trunk_mix(240 * MS)
    # The queue was full in both: what 200 ms more add is of the long run.
    sent, lost, size = (more - less for more, less in zip(long, short, strict=True))
    share = lost / sent
    assert share == pytest.approx(4 / (17_368 / 48 + 24), rel=0.06), f"{share:.4%}"
    # A trunk that is full carries its rate, whatever is lost: 24 bytes each beside the frame.
    assert (size + 24 * lost) / sent == pytest.approx(4, rel=0.01)
    least, most = 1 - 12.97 / 13.08, 1 - 12.93 / 13.12
    assert least < share < most


@pytest.mark.parametrize("resume", [0, 512, 960])
def test_s5860_loss_does_not_depend_on_where_its_queue_resumes(
    resume: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s5860, "RESUME", resume)
    short, long = trunk_mix(40 * MS), trunk_mix(240 * MS)
    sent, lost, _ = (more - less for more, less in zip(long, short, strict=True))
    assert lost / sent == pytest.approx(4 / (17_368 / 48 + 24), rel=0.1)


def test_the_ccr1072_routes_just_under_80_gigabit_of_long_frames() -> None:
    """Eight ports, MTU 9000: TCP's 79.17 Gbit/s are 8948 of 9042 bytes; of UDP's frames 9018 of 9038."""
    (result,) = trials(
        plan("emulated/ccr1072", "size: 9018B, flows: 100", links=8), [[(line_fps(9018), 20 * MS)]]
    )
    assert result.lost == 0
    received = sum(stream.received_bytes for stream in result.streams) * 8 / 0.020
    assert 79e9 < received < 80e9


@pytest.mark.parametrize(
    ("licence", "direction", "expected"),
    [("performance", "uni", 98.7e6), ("performance", "bidir", 100e6), ("base", "uni", 50e6)],
)
def test_the_isr_4321_passes_what_its_licence_allows(licence: str, direction: str, expected: float) -> None:
    """On the article's FastEthernet the performance licence is never reached one way: 1518 of 1538 bytes."""
    isr = plan(
        "emulated/isr-4321",
        "size: 1518B, flows: 10",
        rate="100Mbps",
        direction=direction,
        settings={"licence": licence},
    )
    (result,) = trials(isr, [[(line_fps(1518, 100_000_000), 2000 * MS)]])
    received = sum(stream.received_bytes for stream in result.streams) * 8 / 2
    # In two seconds 64 frames that wait at the end are 0.4 Mbit/s.
    assert received == pytest.approx(expected, rel=0.009)
    assert (result.lost > 0) == (expected != 98.7e6)


@pytest.mark.parametrize(
    ("kind", "service", "capacity"),
    [
        ("isr-871", "none", 12_301),
        ("isr-881", "none", 26_178),
        ("isr-881", "process-switching", 12_428),
        ("isr-881", "acl-log", 12_428),
        ("asa-5505", "none", 39_562),
        ("asa-5505", "firewall-nat", 39_562),
    ],
)
def test_capacity_of_a_router_follows_from_its_published_load(kind: str, service: str, capacity: int) -> None:
    """95e6 / (8 * 1448) segments and half as many acknowledgements, over the share of the core they took."""
    settings = {"service": service}
    small = plan(
        f"emulated/{kind}", "size: 64B, flows: 9", rate="100Mbps", direction="uni", settings=settings
    )
    (result,) = trials(small, [[(Fraction(60_000), 1000 * MS)]])
    # 75 frames wait at the end.
    assert 0 <= sum(stream.received for stream in result.streams) - capacity <= 76
    long = plan(
        f"emulated/{kind}", "size: 1518B, flows: 9", rate="100Mbps", direction="uni", settings=settings
    )
    (result,) = trials(long, [[(line_fps(1518, 100_000_000), 500 * MS)]])
    assert result.lost == 0


@pytest.mark.parametrize(
    ("behaviour", "fps", "loses"),
    [
        ("steady", 800_000, False),
        ("noisy", 800_000, True),
        ("stalls", 800_000, False),
        ("sleepy", 9_000, True),
        ("sleepy", 11_000, False),
        ("late", 800_000, True),
    ],
)
def test_devices_with_each_setting_behave_as_configured(behaviour: str, fps: int, loses: bool) -> None:
    settings = {"behaviour": behaviour, "capacity": "1Mpps"}
    kind = "emulated/cross-connect" if behaviour == "sleepy" else "emulated/router"
    told = plan(kind, "size: 64B, flows: 1", direction="uni", settings=settings)
    # More than 3 s in all: what is held for so long comes into a later trial.
    count = 6
    found = trials(told, [[(Fraction(fps), 500 * MS)]] * count)
    # A sleeping port loses the frame that wakes it, once a trial.
    least = count if behaviour == "sleepy" else 0
    assert (sum(result.lost for result in found) > least) == loses
    if behaviour == "late":
        assert found[0].streams[0].lost == 400
        assert sum(port.stale for result in found for port in result.ports) > 0


@pytest.mark.parametrize(("late_by", "late_ms"), [("30ms", 30), ("100ms", 100), ("300ms", 300)])
def test_late_frame_is_late_by_the_configured_time(late_by: str, late_ms: int) -> None:
    """One of 1,000: the 502nd, after 62.6 ms of a second."""
    settings = {"behaviour": "late", "late_by": late_by}
    told = plan("emulated/bridge", "size: 64B, flows: 1", direction="uni", settings=settings)
    (result,) = trials(told, [[(Fraction(8_000), 1000 * MS)]])
    (stream,) = result.streams
    assert stream.latency is not None
    assert late_ms * MS <= stream.latency.max_ns <= (late_ms + 1) * MS
    with pytest.raises(PlanErrors, match="`late_by` is of a device with `behaviour: late`"):
        plan("emulated/bridge", "size: 64B, flows: 1", settings={"late_by": "1s"})


def test_bridge_that_blocks_at_its_inputs_refuses_conflicting_settings() -> None:
    settings = {"blocking": "head-of-line"}
    (result,) = trials(
        plan("emulated/bridge", "size: 64B, flows: 1", settings=settings), [[(line_fps(64), 2 * MS)]]
    )
    assert result.lost == 0
    with pytest.raises(PlanErrors, match="`queueing: fifo`"):
        plan("emulated/bridge", "size: 64B, flows: 1", settings={**settings, "queueing": "priority"})
    with pytest.raises(PlanErrors, match="`capacity` of their own"):
        plan("emulated/bridge", "size: 64B, flows: 1", settings={"behaviour": "weary"})


def test_ports_of_one_card_or_one_device_differ_when_run_together() -> None:
    """Four ports, 2 Mpps each, of a card of two, of the box: alone each port has it all."""

    def received(shared: str) -> int:
        settings = {"capacity": "2Mpps", "shared": shared}
        four = plan("emulated/router", "size: 64B, flows: 100", links=4, settings=settings)
        (result,) = trials(four, [[(Fraction(2_500_000), 20 * MS)]])
        return sum(stream.received for stream in result.streams)

    # 20 ms of 2 Mpps are 40,000 frames; a queue of 1024 is emptied behind the end.
    for shared, times in (("port", 4), ("card", 2), ("box", 1)):
        assert times * 40_000 <= received(shared) <= times * (40_000 + 1030), shared
