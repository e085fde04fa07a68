"""Who limits TCP: each cause by hand-made counts, and none of the tester's own is called the device's."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from netdyno.methods.tcp import PAYLOAD, as_result
from netdyno.stats.path import FULL, HALF
from netdyno.values.health import Health
from netdyno.values.load import Connections, Frames, Trial
from netdyno.values.outcome import Carried, ConnectionCounts, Outcome, ProgramTime
from netdyno.values.series import Series, Steps
from netdyno.values.situation import Situation
from netdyno.values.units import Percent
from netdyno.values.unmeasured import FarServer
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict import judge_connections
from netdyno.verdict.connection_reasons import TesterBusy
from tcp_outcomes import MS, NAME, S, connection, own_frames

LINE = Fraction(100 * 10**6, 8 * 1538)
"""Frames of 1518 B on 100BASE-TX a second: 8127.4."""
SHAPED = Fraction(100 * 10**6, 8 * 1514)
"""Through a tbf of 100 Mbit/s, which counts no FCS: 8256.3."""
ODD = Fraction(7777)
"""At no round figure of any layer."""
IDLE = ProgramTime(10 * S, S // 10, S // 100)


def _limit(bps: float, **measured: Any) -> tuple[Limit, str]:
    found = _judge(bps, **measured)
    return found.limit, found.reason.code


def _judge(
    bps: float,
    *,
    passed: Fraction = 100 * LINE,
    queue_ns: int = 50 * MS,
    lost: int = 0,
    again: int = 0,
    sender: ProgramTime = IDLE,
    receiver: ProgramTime = IDLE,
    line: Fraction = 100 * LINE,
    is_enforced: bool = True,
    series: tuple[Series, ...] = (),
    with_path: bool = True,
    licence_bps: int | None = None,
    server: str | None = None,
    **of_connection: int,
) -> Verdict:
    carried = Carried(
        name=NAME,
        connections=1,
        sent_bytes=int(bps / 8 * 10),
        sent_ns=10 * S,
        received_bytes=int(bps / 8 * 10),
        received_ns=10 * S,
        retransmitted_segments=again,
        mss_bytes=1448,
        mean_rtt_ns=20 * MS,
        congestion="cubic",
        each=(connection(**of_connection),),
        sender=sender,
        receiver=receiver,
    )
    tcp = Outcome(ConnectionCounts((carried,), S), Health(0, 0, 0, 0, 0, None), (), series=series)
    half = passed / 2
    trials = {
        0: (
            Trial(FULL, Frames.steady(Percent(Fraction(1)), 2 * S)),
            own_frames(line, passed, 10 * MS + queue_ns),
        ),
        1: (Trial(HALF, Frames.steady(Percent(Fraction(1)), 2 * S)), own_frames(half, half, 10 * MS, lost)),
        2: (Trial("tcp", Connections(10 * S, "cubic")), tcp),
    }
    situation = Situation((NAME,), line, Fraction(1518), licence_bps=licence_bps)
    notes = () if server is None else (FarServer((server,)),)
    found = judge_connections(
        replace(as_result((carried,), (2,)), notes=notes),
        PAYLOAD.name,
        trials if with_path else {2: trials[2]},
        situation,
        is_line_enforced=is_enforced,
    )
    return found[NAME]


DROPS = Series("dut", "Gi0/1", "out_queue_drops", "packets", Steps(0, S), (5, 45), is_counter=True)
"""The device's own counter."""
CPU = Series(
    "cisco-ios", "all cores", "CPU", "%", Steps(0, S), (40, 99, 99, 99, 99, 99, 99, 99, 99, 99), window_ns=S
)
"""As the 881 of the article said with process switching."""

BOX = Fraction(12_428)
"""Of an 881 with process switching, both ways together; its lines carry 19,968 frames of 606 B."""


def _counted(data: Fraction, acks: Fraction) -> tuple[Series, ...]:
    """What came to the device's ports in ten seconds."""
    return tuple(
        Series("dut", port, "rx_packets", "packets", Steps(0, S), counts, is_counter=True)
        for port, fps in (("d0", data), ("d1", acks))
        for counts in (tuple(int(fps * second) for second in range(11)),)
    )


BUSY = ProgramTime(10 * S, 9 * S, S // 2)
WAITING_LITTLE = ProgramTime(10 * S, S // 20, 6 * S // 10)
WAITING = ProgramTime(10 * S, S // 20, 37 * S // 10)
"""As measured: iperf3 said 0.3 % of a core, and its process had waited for 3.70 s."""


@pytest.mark.parametrize(
    ("measured", "limit"),
    [
        # The closed forms: 94.15 of 100BASE-TX, 95.64 of a tbf.
        ({"bps": 94.1e6, "line": LINE, "passed": LINE}, "line"),
        ({"bps": 95.6e6, "passed": SHAPED}, "shaper"),
        ({"bps": 90.0e6, "passed": ODD}, "device"),
        # Without a queue, at no figure that anybody would set.
        ({"bps": 90.0e6, "passed": ODD, "queue_ns": 0, "again": 40}, "device"),
        ({"bps": 50e6, "sender": BUSY}, "tester"),
        ({"bps": 50e6, "receiver": BUSY}, "tester"),
        ({"bps": 57.8e6, "passed": SHAPED, "sender": WAITING}, "tester"),
        ({"bps": 26e6, "passed": SHAPED, "window_ns": 9 * S}, "receive-window"),
        ({"bps": 26e6, "passed": SHAPED, "buffer_ns": 9 * S}, "send-buffer"),
        ({"bps": 26e6, "passed": SHAPED, "lost": 8, "again": 40}, "loss"),
        # A program that waited a little did not cost three quarters of the rate.
        ({"bps": 26e6, "passed": SHAPED, "lost": 8, "again": 40, "sender": WAITING_LITTLE}, "loss"),
        # The line's own queue dropped what slow start sent too much of.
        ({"bps": 80e6, "line": LINE, "passed": LINE, "again": 40, "series": (DROPS,)}, "line"),
        ({"bps": 60e6, "passed": SHAPED, "queue_ns": 0, "again": 40}, "policer"),
        # A burst behind a pause of the tester was too much for it, too.
        ({"bps": 40e6, "passed": SHAPED / 2, "queue_ns": 0, "lost": 114, "again": 40}, "policer"),
        # Its bucket was full when TCP began.
        ({"bps": 49.2e6, "passed": SHAPED / 2, "queue_ns": 0, "again": 40}, "policer"),
        # As many are lost of half the load.
        ({"bps": 30e6, "passed": 98 * LINE, "queue_ns": 0, "lost": 16_000, "again": 40}, "loss"),
        ({"bps": 60e6, "again": 40, "series": (DROPS,)}, "device"),
        ({"bps": 60e6, "series": (CPU,)}, "device"),
        ({"bps": 88e6, "passed": SHAPED, "again": 40}, "shaper"),
        # An acknowledgement for two segments: two thirds of the frames are data.
        (
            {
                "bps": float(BOX * 2 / 3 * 1448 * 8),
                "passed": BOX,
                "again": 40,
                "series": _counted(BOX * 2 / 3, BOX / 3),
                "queue_ns": 0,
            },
            "device",
        ),
        ({"bps": 60e6}, "inconclusive"),
        # What the device did is too little for what TCP lost, or none of the frames' way.
        ({"bps": 60e6, "again": 400, "series": (DROPS,)}, "inconclusive"),
        ({"bps": 60e6, "again": 40, "series": (replace(DROPS, name="in_errors"),)}, "inconclusive"),
        ({"bps": 60e6, "series": (replace(CPU, name="control-plane CPU"),)}, "inconclusive"),
        # TCP that loses at the path's limit alone fills half of it, or more; one probe is no loss.
        ({"bps": 26e6, "passed": ODD, "again": 40}, "inconclusive"),
        ({"bps": 80e6, "passed": ODD, "again": 1}, "inconclusive"),
        ({"bps": 60e6, "with_path": False}, "inconclusive"),
        # Who holds the line is this machine alone.
        ({"bps": 94.1e6, "line": LINE, "passed": LINE, "is_enforced": False}, "inconclusive"),
        # Connections open, and neither their full segments nor own frames arrive, not one.
        ({"bps": 0, "passed": Fraction(0), "again": 3}, "loss"),
        ({"bps": 0, "passed": Fraction(0)}, "inconclusive"),
        ({"bps": 1e6, "passed": Fraction(0), "again": 3}, "inconclusive"),
        # TCP passed more than own frames did: these were held up, and show no limit of the path.
        ({"bps": 94.1e6, "passed": SHAPED * Fraction(8, 10)}, "inconclusive"),
    ],
)
def test_limit_is_the_cause_that_the_counts_show(measured: dict[str, Any], limit: Limit) -> None:
    assert _limit(**measured)[0] == limit


@pytest.mark.parametrize(
    ("measured", "limit", "code"),
    [
        ({}, "inconclusive", "tcp-path-of-server"),
        ({"again": 40}, "inconclusive", "tcp-path-of-server"),
        ({"sender": BUSY}, "tester", "tcp-tester-busy"),
        ({"window_ns": 9 * S}, "receive-window", "tcp-receive-window"),
        ({"buffer_ns": 9 * S}, "send-buffer", "tcp-send-buffer"),
    ],
)
def test_limit_towards_a_server_is_the_testers_own_or_unknown(
    measured: dict[str, Any], limit: Limit, code: str
) -> None:
    assert _limit(60e6, with_path=False, server="192.0.2.20:5201", **measured) == (limit, code)


@pytest.mark.parametrize(
    "cause", [{"sender": BUSY}, {"receiver": WAITING}, {"window_ns": 9 * S}, {"buffer_ns": 9 * S}]
)
@pytest.mark.parametrize("path", [{"passed": ODD}, {"passed": SHAPED}, {}])
def test_own_cause_is_never_called_the_devices(cause: dict[str, Any], path: dict[str, Any]) -> None:
    found = _limit(50e6, again=40, series=(DROPS,), **cause, **path)[0]
    assert found in ("tester", "receive-window", "send-buffer")


@pytest.mark.parametrize(("end", "other"), [("sender", "receiver"), ("receiver", "sender")])
def test_tester_limit_names_the_host_whose_cpu_it_was(end: str, other: str) -> None:
    found = _judge(50e6, **{end: replace(BUSY, host="gen2"), other: replace(IDLE, host="gen1")})
    assert isinstance(found.reason, TesterBusy)
    assert (found.limit, found.reason.host) == ("tester", "gen2")


def test_licence_is_named_where_own_frames_stop_at_it() -> None:
    passed = Fraction(50 * 10**6, 8 * 1518)
    assert _limit(47e6, passed=passed, licence_bps=50 * 10**6)[0] == "licence"
    assert _limit(47e6, passed=passed)[0] == "shaper"
    # So it is where the licence drops without waiting, as a policer does.
    assert _limit(47e6, passed=passed, again=40, queue_ns=0, licence_bps=50 * 10**6)[0] == "licence"


@pytest.mark.parametrize("kept", [{}, {"sender": WAITING}, {"with_path": False}])
def test_full_line_or_licence_is_named_though_tester_waited(kept: dict[str, Any]) -> None:
    """By closed forms: 94.15 Mbit/s on 100BASE-TX, and 46.6 where a box has 50 Mbit/s of frames both ways."""
    assert _limit(94.0e6, line=LINE, passed=LINE * Fraction(9, 10), **kept)[0] == "line"
    data = Fraction(50 * 10**6, 8 * (1518 + 35))
    found = {"licence_bps": 50 * 10**6, "series": _counted(data, data / 2), "passed": Fraction(3900), **kept}
    assert _limit(float(data * 1448 * 8), **found)[0] == "licence"
    # More than a line carries is no full line, but an error of the tester.
    assert _limit(109e6, line=LINE, passed=LINE * Fraction(9, 10), **kept)[0] not in ("line", "licence")


def test_licence_is_named_where_its_queue_makes_tcp_lose() -> None:
    passed = Fraction(50 * 10**6, 8 * 1518)
    dropped = {"passed": passed, "again": 40, "series": (DROPS,), "licence_bps": 50 * 10**6}
    assert _limit(45e6, **dropped)[0] == "licence"
    assert _limit(30e6, **dropped)[0] == "device"
