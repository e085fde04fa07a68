"""iperf3's JSON as typed values. Reports are captured of iperf 3.12, over loopback; their addresses are RFC
2544's. Those of newer versions are copies, changed as the source of that version prints them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from netdyno.values.iperf3 import Report, ReportError, Span, as_carried, read_reports

REPORTS = Path(__file__).parent.parent / "data" / "iperf3"


def text(name: str) -> str:
    return (REPORTS / f"3.12-{name}.json").read_text()


def read(name: str) -> Report:
    (report,) = read_reports(text(name))
    return report


def as_events(document: dict[str, Any]) -> str:
    """The same report as `--json-stream` prints it: an object a line, the error before the end (3.17)."""
    events = [("start", document["start"]), *(("interval", one) for one in document["intervals"])]
    if "error" in document:
        events.append(("error", document["error"]))
    events.append(("end", document["end"]))
    return "".join(json.dumps({"event": name, "data": data}) + "\n" for name, data in events)


def test_report_of_one_stream_has_all_that_its_file_says() -> None:
    report = read("one")
    assert (report.version, report.protocol, report.streams, report.is_of_server) == ("3.12", "TCP", 1, False)
    assert (report.duration_ns, report.omit_ns, report.target_bps) == (2 * 10**9, 0, 0)
    assert (report.mss_bytes, report.asked_mss_bytes, report.asked_socket_bytes) == (32768, None, None)
    assert (report.host, report.local_address, report.remote_address) == (
        "198.18.1.2",
        "198.18.0.2",
        "198.18.1.2",
    )
    assert report.started == datetime(2026, 11, 30, 1, 43, 30, tzinfo=UTC)
    (direction,) = report.directions
    assert not direction.is_by_server
    end = json.loads(text("one"))["end"]
    assert direction.sent.payload_bytes == end["sum_sent"]["bytes"]
    assert direction.received.payload_bytes == end["sum_received"]["bytes"]
    first = json.loads(text("one"))["intervals"][0]["streams"][0]
    assert direction.intervals[0].streams[0] == Span(
        start_ns=0,
        ns=round(first["seconds"] * 1e9),
        payload_bytes=first["bytes"],
        is_omitted=False,
        retransmitted_segments=first["retransmits"],
        cwnd_bytes=first["snd_cwnd"],
        rtt_us=first["rtt"],
        rttvar_us=first["rttvar"],
        pmtu_bytes=65535,
        packets=None,
        lost_packets=None,
        jitter_ns=None,
    )


def test_options_asked_for_are_read() -> None:
    report = read("asked")
    assert (report.asked_mss_bytes, report.mss_bytes) == (1000, None)
    assert report.asked_socket_bytes == 65536
    assert (report.send_buffer_bytes, report.receive_buffer_bytes) == (131072, 131072)
    assert (report.sender_congestion, report.receiver_congestion) == ("reno", "reno")
    assert (report.duration_ns, report.target_bps) == (0, 100_000_000)


@pytest.mark.parametrize(("name", "senders"), [("five", [5]), ("reverse", [1]), ("bidir", [2, 2])])
def test_streams_belong_to_the_direction_of_their_sender(name: str, senders: list[int]) -> None:
    report = read(name)
    assert [len(one.streams) for one in report.directions] == senders
    assert [one.is_by_server for one in report.directions] == [name == "reverse", True][: len(senders)]
    for one in report.directions:
        assert sum(each.sent.payload_bytes for each in one.streams) == one.sent.payload_bytes
        for interval in one.intervals:
            assert sum(each.payload_bytes for each in interval.streams) == interval.sum.payload_bytes


def test_rtt_is_known_of_streams_that_this_end_sent() -> None:
    forward, backward = read("bidir").directions
    assert [one.mean_rtt_us is None for one in (*forward.streams, *backward.streams)] == [False] * 2 + [
        True
    ] * 2
    (direction,) = read("reverse").directions
    assert as_carried("x", read("reverse"), direction).mean_rtt_ns is None


def test_omitted_interval_is_marked_and_in_no_sum() -> None:
    (direction,) = read("omit").directions
    assert [one.sum.is_omitted for one in direction.intervals] == [True, False, False]
    counted = [one.sum.payload_bytes for one in direction.intervals if not one.sum.is_omitted]
    assert sum(counted) == direction.sent.payload_bytes


def test_udp_has_its_datagrams() -> None:
    forward, backward = read("udp-bidir").directions
    for one in (forward, backward):
        assert (one.sent.packets, one.received.packets, one.received.lost_packets) == (153, 153, 0)
        assert one.streams[0].received is None
    assert backward.received.jitter_ns == 17390


def test_report_of_a_server_says_so() -> None:
    report = read("server")
    assert (report.is_of_server, report.host) == (True, "")
    (direction,) = report.directions
    assert (direction.is_by_server, len(direction.streams)) == (False, 1)


@pytest.mark.parametrize("name", ["one", "bidir", "udp", "omit"])
def test_stream_of_events_is_the_same_report(name: str) -> None:
    document = json.loads(text(name))
    whole = read_reports(text(name))
    assert read_reports(as_events(document)) == whole
    # `--json-stream-full` (3.20) prints the whole report as well.
    assert read_reports(as_events(document) + text(name)) == whole


def test_reports_one_behind_another_are_each_read() -> None:
    both = read_reports(text("one") + text("bidir"))
    assert both == (read("one"), read("bidir"))
    assert read_reports(as_events(json.loads(text("one"))) * 2) == (read("one"),) * 2


@pytest.mark.parametrize("name", ["server-ended", "refused"])
def test_error_is_read_before_the_end(name: str) -> None:
    document = json.loads(text(name))
    for printed in (text(name), as_events(document)):
        with pytest.raises(ReportError) as caught:
            read_reports(printed)
        assert (caught.value.kind, caught.value.said) == ("failed", document["error"])


@pytest.mark.parametrize(
    ("printed", "kind"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ((REPORTS / "3.12.txt").read_text(), "text"),
        (text("one")[:1500], "damaged"),
        (text("one") + text("one")[:1500], "damaged"),
        (as_events(json.loads(text("one"))).rpartition('{"event": "end"')[0], "damaged"),
        ("[" * 200_000, "damaged"),
        ("[]", "foreign"),
        ('{"vars": {}, "stats": {}}', "foreign"),
        (text("one").replace("3348889600", "9" * 5000), "foreign"),
        (text("one").replace("3348889600", "NaN"), "foreign"),
        (text("one").replace("3348889600", "1e999"), "foreign"),
        (text("one").replace("3348889600", "true"), "foreign"),
        (text("one").replace("3348889600", "0.5"), "foreign"),
    ],
)
def test_text_without_a_whole_report_is_refused(printed: str, kind: str) -> None:
    with pytest.raises(ReportError) as caught:
        read_reports(printed)
    assert caught.value.kind == kind
