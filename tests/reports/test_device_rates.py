"""Rates of the device's counters in reports: over the hold, with bounds, or the reason why there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from device_sample import DRAIN_S, TRAFFIC_S, S, with_device
from netdyno.reports.model.device_rates import CounterRate, device_rates
from netdyno.reports.model.from_store import view
from netdyno.reports.model.rates_tables import counter_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.series import Series
from pages import report_text
from report_sample import SMALL, write

HOLD_S = (15, 18)
"""Of the sample: from 15 s to 18 s, after a ramp that began at 3 s."""
RAMP_PPS, HOLD_PPS = 5_000_000, 14_660_000
EACH_SECOND = tuple(range(-1, TRAFFIC_S + DRAIN_S + 1))
MS = 1_000_000


TITLE = "Rates of the device's counters"


def counted(second: float) -> int:
    """Frames by then: 5 Mpps before the hold, 14.66 Mpps in it."""
    before, within = min(max(second, 0), HOLD_S[0]), min(max(second - HOLD_S[0], 0), HOLD_S[1] - HOLD_S[0])
    return round(before * RAMP_PPS + within * HOLD_PPS)


def counter(subject: str, name: str, every_s: int = 1, size: int = 1, **more: Any) -> Series:
    """Read each second, each reading took 20 ms; updated every so often."""
    at_ns = tuple(second * S for second in EACH_SECOND)
    values = tuple(7 + size * counted(second // every_s * every_s) for second in EACH_SECOND)
    fields = {"is_counter": True, "bits": 64, "took_ns": (20 * MS,) * len(at_ns), **more}
    return Series("fake", subject, name, "packets", at_ns, values, **fields)


def lossy(run: RunView) -> CaseView:
    return next(case for case in run.cases if (case.profile, case.direction) == ("64b-multi", "uni"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    with write(tmp_path_factory.mktemp("bare"), SMALL) as run:
        return view(run)


def rates(bare: RunView, *series: Series) -> tuple[CounterRate, ...]:
    found = device_rates(lossy(with_device(bare, lambda _: series)))
    return () if found is None else found.rates


def test_rates_over_the_hold_are_of_the_hold_alone(bare: RunView) -> None:
    """1,466,000 frames of 64 bytes each 100 ms are 7.50592 Gbit/s; readings of 20 ms bound them."""
    taken, octets = rates(bare, counter("Te0", "rx_packets"), counter("Te0", "rx_bytes", size=64))
    assert (taken.port, taken.way, taken.counter, taken.unit) == ("Te0", "in", "rx_packets", "pps")
    # Readings at 15 s and 18 s took 20 ms each: they may be of times outside of the hold.
    assert (taken.found.begin_ns, taken.found.end_ns) == (16 * S, 17 * S)
    assert taken.found.rate == 14_660_000
    assert taken.found.low is not None
    assert taken.found.high is not None
    assert (round(taken.found.low), round(taken.found.high)) == (14_372_549, 14_959_184)
    assert (octets.unit, octets.found.rate) == ("bit/s", 7_505_920_000)


def test_device_updated_every_3_s_has_no_rate_over_a_hold_of_3_s(bare: RunView) -> None:
    (found,) = rates(bare, counter("Te0", "rx_packets", every_s=3))
    assert found.found.rate is None
    assert found.found.reason is not None
    assert found.found.reason.code == "counter-changes-too-few"


def test_restart_of_the_device_leaves_no_rate(bare: RunView) -> None:
    at_ns = tuple(second * S for second in EACH_SECOND)
    ticks = tuple(90_000 + 100 * second if second < 17 else 100 * (second - 16) for second in EACH_SECOND)
    up = Series("snmp", "device", "sysUpTime", "s", at_ns, ticks, 2)
    (found,) = rates(bare, counter("Te0", "rx_packets"), up)
    assert found.found.reason is not None
    assert found.found.reason.code == "counter-reset"


def test_counter_that_stands_still_under_the_hold_has_no_rate(bare: RunView) -> None:
    stuck = counter("Te0", "rx_packets")
    values = tuple(min(one, stuck.values[EACH_SECOND.index(15)]) for one in stuck.values)
    (found,) = rates(bare, replace(stuck, values=values))
    assert found.found.reason is not None
    assert found.found.reason.code == "counter-stuck"


def test_rate_that_the_device_prints_is_no_rate_of_the_trial(bare: RunView) -> None:
    """A "5 minute input rate" is a gauge with a window, also where a record claims that it counts."""
    printed = counter("Te0", "rx_packets", is_counter=False, window_ns=300 * S)
    assert rates(bare, printed) == ()
    assert rates(bare, replace(printed, is_counter=True)) == ()


def test_counters_of_if_mib_have_rates_and_idle_ones_none(bare: RunView) -> None:
    idle = replace(counter("Te0", "ifHCInBroadcastPkts"), values=(7,) * len(EACH_SECOND))
    found = rates(bare, counter("Te0", "ifHCInUcastPkts"), counter("Te1", "ifHCOutOctets"), idle)
    assert [(one.port, one.way, one.counter, one.unit) for one in found] == [
        ("Te0", "in", "ifHCInUcastPkts", "pps"),
        ("Te1", "out", "ifHCOutOctets", "bit/s"),
    ]
    assert [one.found.rate for one in found] == [14_660_000, 117_280_000]


def test_counter_that_no_traffic_of_the_test_moves_has_no_row(bare: RunView) -> None:
    """It counted two frames before the hold."""
    other = counter("Te1", "rx_packets")
    few = tuple(7 + 2 * (second > 3) for second in EACH_SECOND)
    assert rates(bare, counter("Te0", "rx_packets"), replace(other, values=few))[1:] == ()


def test_member_of_a_lag_that_stood_still_has_no_rate(bare: RunView) -> None:
    """Whether it carried any of the LAG's traffic is unknown."""
    still = tuple(7 + 2 * (second > 3) for second in EACH_SECOND)
    series = (counter("Te0", "rx_packets"), replace(counter("Te1", "rx_packets"), values=still))
    case = replace(lossy(with_device(bare, lambda _: series)), device_ports=("Te0+Te1", "Te2"))
    found = device_rates(case)
    assert found is not None
    moved, stood = found.rates
    assert moved.found.rate == 14_660_000
    assert stood.found.reason is not None
    assert (stood.port, stood.found.reason.code) == ("Te1", "counter-changes-too-few")


def test_32_bit_counter_on_an_unknown_line_has_no_rate(bare: RunView) -> None:
    series = counter("Te0", "rx_packets", bits=32)
    case = lossy(with_device(bare, lambda _: (series,)))
    known, unknown = (
        device_rates(replace(case, port_lines=lines)) for lines in ((case.line_fps, case.line_fps), ())
    )
    assert known is not None
    assert unknown is not None
    assert known.rates[0].found.rate == 14_660_000
    assert unknown.rates[0].found.reason is not None
    assert unknown.rates[0].found.reason.code == "counter-may-wrap"


@pytest.mark.parametrize(("enforced", "expected"), [(True, "counter-implausible"), (False, None)])
def test_counter_above_its_line_has_a_rate_where_nothing_enforces_the_line(
    bare: RunView, enforced: bool, expected: str | None
) -> None:
    """Twice 14.66 Mpps on a line of 10 Gbit/s, which carries 14.88 Mpps of the smallest frames."""
    series = counter("Te1", "tx_packets", size=2)
    case = lossy(with_device(bare, lambda _: (series,)))
    lines = (case.line_fps, case.line_fps)
    found = device_rates(replace(case, port_lines=lines, line_enforced=enforced))
    assert found is not None
    (one,) = found.rates
    assert (None if one.found.reason is None else one.found.reason.code) == expected


def test_every_format_has_the_table_of_rates(bare: RunView) -> None:
    series = (counter("Te0", "rx_packets"), counter("Te1", "tx_packets", every_s=3))
    run = with_device(bare, lambda _: series)
    for row in counter_table(lossy(run)).rows:
        for cell in row:
            assert cell in report_text("html", run).replace("&#39;", "'")
            assert cell in report_text("markdown", run).replace("\\", "")
    assert TITLE in report_text("markdown", run)
    document = json.loads(report_text("json", run))
    case = next(one for one in document["cases"] if one["name"] == lossy(run).name)
    taken, given = case["device_rates"]["counters"]
    assert (case["device_rates"]["begin_ns"], case["device_rates"]["end_ns"]) == (15 * S, 18 * S)
    assert (taken["rate_pps"], taken["rate_pps_exact"]) == (14_660_000, "14660000")
    assert taken["low_pps"] < taken["rate_pps"] < taken["high_pps"]
    assert given["reason"]["code"] == "counter-changes-too-few"
    assert "rate_pps" not in given


def test_run_without_counters_has_no_table_of_rates(bare: RunView) -> None:
    for form in ("html", "markdown"):
        assert TITLE not in report_text(form, bare).replace("&#39;", "'")
    assert not counter_table(lossy(bare)).rows
