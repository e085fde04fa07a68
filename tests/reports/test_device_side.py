"""Balance, power and the device's figure in reports, of series made by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import altair
import pytest
from device_sample import HOSTILE, Change, S, with_device
from netdyno.devices.telemetry.reasons import (
    AnswerLate,
    CommandRefused,
    SensorsLeftOut,
    TextUnknown,
    WideCounterStill,
)
from netdyno.reports.figures import device as device_figure
from netdyno.reports.figures import vega
from netdyno.reports.formats import html_pack
from netdyno.reports.model import balance_table, device, gauges_table
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView, RunView, TrialView
from netdyno.values.series import Missed, Series
from pages import report_text
from report_sample import SMALL, article, write


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    with write(tmp_path_factory.mktemp("bare"), SMALL) as run:
        return view(run)


@pytest.fixture(scope="module")
def whole(bare: RunView) -> RunView:
    return with_device(bare)


def lossy(run: RunView) -> CaseView:
    """Frames of 64 bytes one way, of which the device forwards 14.66 Mpps."""
    return next(case for case in run.cases if (case.profile, case.direction) == ("64b-multi", "uni"))


def test_case_whose_drops_explain_its_loss_is_whole(whole: RunView) -> None:
    case = lossy(whole)
    found = device.balance(case)
    assert found.answer is not None
    assert found.answer.code == "every-frame-accounted"
    (stream,) = case.trials[0].result.streams
    assert (found.answer.fields()["dropped"], found.answer.fields()["sent"]) == (stream.lost, stream.offered)
    ((*_, before, within, behind),) = balance_table.table(case).rows
    assert (before, within, behind) == ("0", "0", "0")


def test_power_under_load_is_of_the_hold_and_idle_of_before(whole: RunView) -> None:
    """Two supplies of 20 W; 14.66 Mpps are received in the hold: 14.66 / 40 Mpps per watt."""
    found = device.power(lossy(whole))
    assert found is not None
    assert (found.hold_watts, found.idle_watts) == (40, 18)
    assert found.rx_fps == 14_660_000
    assert found.mpps_per_watt == Fraction(1466, 4000)


def test_power_of_no_watts_has_no_ratio(bare: RunView) -> None:
    def none(series: tuple[Series, ...]) -> tuple[Series, ...]:
        return tuple(
            replace(one, values=(0,) * len(one.values)) if one.unit == "W" else one for one in series
        )

    run = with_device(bare, none)
    found = device.power(lossy(run))
    assert found is not None
    assert found.mpps_per_watt is None
    for form in ("html", "markdown", "json", "summary", "terminal"):
        assert report_text(form, run)


def test_cpu_of_a_minute_is_not_of_a_hold_of_three_seconds(whole: RunView) -> None:
    figure = device_figure.figure(lossy(whole))
    assert figure is not None
    titles = [view["layer"][0]["encoding"]["y"]["axis"]["title"] for view in figure.live["vconcat"]]
    assert ["control-plane CPU", "% (1 min average)"] in titles
    assert [title[0] for title in titles] == ["traffic", "control-plane CPU", "power", "drops"]


def test_device_figure_is_vega_lite_with_gaps_where_readings_were_missed(whole: RunView) -> None:
    figure = device_figure.figure(lossy(whole))
    assert figure is not None
    for spec in (figure.live, vega.still(figure.live)):
        altair.VConcatChart.validate(spec)
    rows = figure.live["datasets"]["p2"]
    missing = [row["x"] for row in rows if row["y"] is None]
    assert missing == [5, 5]
    assert {view["layer"][0]["data"]["name"] for view in figure.live["vconcat"]} == set(
        figure.live["datasets"]
    )


def test_drops_are_a_rate_between_readings(whole: RunView) -> None:
    figure = device_figure.figure(lossy(whole))
    (stream,) = lossy(whole).trials[0].result.streams
    assert figure is not None
    first, second = figure.live["datasets"]["p3"]
    half = stream.lost // 2
    scale = 10**3 if half / 10 < 10**6 else 10**6
    assert first["y"] == pytest.approx(half / 10 / scale, rel=1e-3)
    assert second["y"] == pytest.approx((stream.lost - half) / 11 / scale, rel=1e-3)


@pytest.mark.parametrize("is_known", [True, False])
def test_drops_across_a_wrap_of_32_bits_are_drawn_on_a_known_line(bare: RunView, is_known: bool) -> None:
    """1,000,000 frames in 10 s, and as many in 11 s."""

    def wrapped(series: tuple[Series, ...]) -> tuple[Series, ...]:
        values = (2**32 - 500_000, 500_000, 1_500_000)
        return tuple(
            replace(one, values=values, bits=32) if one.name == "in_drops" else one for one in series
        )

    case = lossy(with_device(bare, wrapped))
    lines = (case.line_fps, case.line_fps) if is_known else ()
    found = device_figure.figure(replace(case, port_lines=lines))
    assert found is not None
    panels = [rows for name, rows in found.live["datasets"].items() if name == "p3"]
    drawn = [row["y"] for rows in panels for row in rows]
    assert drawn == ([100, pytest.approx(90.91)] if is_known else [None, None])


def test_run_without_drivers_has_no_word_of_balance(bare: RunView) -> None:
    for form in ("html", "markdown", "json", "summary", "terminal"):
        text = report_text(form, bare)
        assert "Balance" not in text
        assert "accounted" not in text
    assert balance_table.summary(bare) == ""


def test_page_has_a_balance_and_a_figure_in_each_case(whole: RunView) -> None:
    text = report_text("html", whole)
    done = [case for case in whole.cases if case.result is not None]
    assert text.count("<h3>Balance</h3>") == len(done)
    specs = re.findall(r'<script type="application/json" id="(device-\d+)">(.*?)</script>', text)
    assert [key for key, _ in specs] == [f"device-{case.number}" for case in done]
    # Cases alike but for their numbers share the spec of the first one.
    shared = [json.loads(spec).get("like") for _, spec in specs]
    assert shared[0] is None
    assert "device-0" in shared
    assert HOSTILE not in text


def test_packed_page_has_the_figure_apart_from_its_case(
    whole: RunView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_pack, "PACKED_FROM", 1)
    text = report_text("html", whole)
    assert 'id="device-0"' not in text
    assert '<figure data-spec="device-0"' not in text
    assert 'id="packed"' in text


def test_page_of_48_cases_grows_by_less_than_250_kilobytes(tmp_path: Any) -> None:
    with write(tmp_path, article((30, 120, 30))) as run:
        plain = view(run)
    before = len(report_text("html", plain))
    after = len(report_text("html", with_device(plain)))
    assert after - before < 250_000, (before, after)


def test_markdown_has_each_answer_once_and_one_table(whole: RunView) -> None:
    text = report_text("markdown", whole)
    section = text.partition("## Balance")[2].partition("\n## ")[0]
    answers = {balance_table.table(case).caption for case in whole.cases if case.result is not None}
    assert sum(line.startswith("- ") for line in section.splitlines()) == len(answers)
    assert section.count("| Case ") == 1


def test_json_has_paths_with_codes_and_exact_power(whole: RunView) -> None:
    document = json.loads(report_text("json", whole))
    case = document["cases"][lossy(whole).number]
    (stream,) = lossy(whole).trials[0].result.streams
    (path,) = case["balance"]["paths"]
    assert case["balance"]["code"] == "every-frame-accounted"
    assert (path["device_in_frames"], path["dropped_by_device_frames"]) == (stream.offered, stream.lost)
    assert path["missing_in_device_frames"] == 0
    assert case["power"]["mpps_per_w_exact"] == "733/2000"


@pytest.mark.parametrize("form", ["summary", "terminal"])
def test_terminal_has_one_line_of_the_device(whole: RunView, form: str) -> None:
    lines = [line for line in report_text(form, whole).splitlines() if "accounted for" in line]
    assert len(lines) == 1
    assert "Mpps per W" in lines[0]


def reset(series: tuple[Series, ...]) -> tuple[Series, ...]:
    return tuple(
        replace(one, values=(*one.values[:-1], 0)) if one.name == "rx_packets" else one for one in series
    )


def hostile(series: tuple[Series, ...]) -> tuple[Series, ...]:
    """Names and values that no driver gives: a record may come from a stranger."""
    most = 2**63 - 1
    return (
        *series,
        Series("fake", HOSTILE, "x_drops", "packets", (-S, 20 * S), (-most, most), is_counter=True),
        Series("fake", HOSTILE, "power", "W", (), ()),
        Series("fake", "Te0", "in_drops", "packets", (S,), (most,), 18, is_counter=True),
        Series("fake", HOSTILE, "temperature", "C", (0, S), (-most, most), 18),
        Series("fake", HOSTILE, "CPU", "%", (-(2**62),), (most,), window_ns=most),
    )


@pytest.mark.parametrize(("change", "code"), [(reset, "balance-unknown"), (hostile, "every-frame-accounted")])
def test_counters_that_cannot_be_give_no_wrong_number(bare: RunView, change: Change, code: str) -> None:
    run = with_device(bare, change)
    found = device.balance(lossy(run)).answer
    assert found is not None
    assert found.code == code
    for form in ("html", "markdown", "json", "summary", "terminal"):
        # Markdown shows `<` behind a backslash as it is.
        text = report_text(form, run).replace("\\<", "")
        assert "<img src=x" not in text or form in ("json", "terminal", "summary")


def averaged(window_s: int) -> Change:
    """A device that prints 1 bit/s of each port."""

    def change(series: tuple[Series, ...]) -> tuple[Series, ...]:
        at_ns = tuple(second * S for second in range(0, 20))
        rate = Series("fake", "Te0", "rx_bit_rate", "bit/s", at_ns, (1,) * 20, window_ns=window_s * S)
        return (*series, rate)

    return change


def with_samples(run: RunView) -> RunView:
    """The run with what its ports sent in each sample."""

    def sampled(trial: TrialView) -> TrialView:
        sent = trial.result.streams[0].tx
        west, *others = trial.result.ports
        west = replace(west, tx=sent, tx_bytes_series=tuple(64 * frames for frames in sent))
        return replace(trial, result=trial.result.with_counts(ports=(west, *others)))

    cases = (replace(case, trials=tuple(map(sampled, case.trials))) for case in run.cases)
    return replace(run, cases=tuple(cases))


@pytest.mark.parametrize(("window_s", "code"), [(2, "rate-off"), (300, "window-longer-than-load")])
def test_printed_rates_are_in_every_report_with_their_answer(bare: RunView, window_s: int, code: str) -> None:
    run = with_samples(with_device(bare, averaged(window_s)))
    rates = json.loads(report_text("json", run))["cases"][lossy(run).number]["printed_rates"]
    assert {(one["port"], one["way"], one["code"]) for one in rates} == {("Te0", "in", code)}
    assert ("predicted_bps" in rates[0]) == (code == "rate-off")
    for form in ("html", "markdown"):
        assert "Rates the device printed" in report_text(form, run)


def test_device_without_printed_rates_has_no_table_of_them(whole: RunView) -> None:
    for form in ("html", "markdown"):
        assert "Rates the device printed" not in report_text(form, whole)
    assert "printed_rates" not in json.loads(report_text("json", whole))["cases"][0]


def test_table_of_the_device_is_of_the_hold_alone(whole: RunView) -> None:
    """Each supply draws 20 W in the hold, from 15 to 18 s; it drew 9 to 15 W before."""
    rows = {(row[0], row[1]): row[2:] for row in gauges_table.table(lossy(whole)).rows}
    assert rows["PS0", "power"] == ("W", "20", "20", "20", "4", "fake")
    # A mean over a minute reaches back before a hold of 3 s.
    assert (HOSTILE, "control-plane CPU (60 s average)") not in rows
    assert "3 s of load for 1 quantity" in gauges_table.table(lossy(whole)).caption


def test_table_without_a_reading_in_the_hold_is_of_the_whole_trial(bare: RunView) -> None:
    """The load is held from 15 to 18 s."""

    def early(series: tuple[Series, ...]) -> tuple[Series, ...]:
        at_ns = (0, 3 * S, 6 * S)
        memory = Series("fake", "R0", "memory", "B", at_ns, (752_700_000, 752_710_000, 752_800_000))
        return (Series("fake", "PS0", "power", "W", at_ns, (9, 12, 15)), memory)

    run = with_device(bare, early)
    assert [row[:7] for row in gauges_table.table(lossy(run)).rows] == [
        ("PS0", "power", "W", "9", "12", "15", "3"),
        ("R0", "memory", "MB", "752.7", "752.7", "752.8", "3"),
    ]
    caption = gauges_table.table(lossy(run)).caption
    assert "over all of it" in caption
    assert "3 s of load for any quantity" in caption


def test_table_of_the_device_names_the_command_and_what_was_refused(bare: RunView) -> None:
    def asked(series: tuple[Series, ...]) -> tuple[Series, ...]:
        unread = Missed(S, CommandRefused("show memory summary"))
        memory = Series(
            "fake", "device", "memory", "n/a", (), (), missed=(unread,), command="show memory summary"
        )
        return (*(replace(one, command="show power") for one in series), memory)

    run = with_device(bare, asked)
    assert {row[-1] for row in gauges_table.table(lossy(run)).rows} == {"show power"}
    assert "The device refused: `show memory summary`." in gauges_table.table(lossy(run)).caption
    for form in ("html", "markdown"):
        page = report_text(form, run)
        assert "Device during the load" in page
        assert "--as transcript" in page


def test_page_says_which_line_and_what_of_an_agent_was_not_read(bare: RunView) -> None:
    def asked(series: tuple[Series, ...]) -> tuple[Series, ...]:
        reasons = (
            TextUnknown("show asp drop", 7, "Some `other` line"),
            AnswerLate("show memory"),
            SensorsLeftOut(6),
            WideCounterStill("ifHCInUcastPkts"),
        )
        unread = (
            Series("fake", "device", f"reading {number}", "n/a", (), (), missed=(Missed(S, reason),))
            for number, reason in enumerate(reasons)
        )
        return (*series, *unread)

    run = with_device(bare, asked)
    caption = gauges_table.table(lossy(run)).caption
    assert "`show asp drop` (line 7: `Some 'other' line`)" in caption
    assert "`show memory`" in caption
    assert str(SensorsLeftOut(6)) in caption
    assert "`ifHCInUcastPkts`" in caption


def test_power_that_two_instruments_read_is_counted_once(bare: RunView) -> None:
    def twice(series: tuple[Series, ...]) -> tuple[Series, ...]:
        return (*series, *(replace(one, source="snmp") for one in series if one.unit == "W"))

    once, both = device.power(lossy(with_device(bare))), device.power(lossy(with_device(bare, twice)))
    assert once is not None
    assert both == once


def test_cpu_of_a_linux_device_stands_beside_the_traffic(bare: RunView) -> None:
    """As its driver reads it: the mean between two texts, a second each."""

    def cores(series: tuple[Series, ...]) -> tuple[Series, ...]:
        at_ns = tuple(second * S for second in range(20))
        percent = tuple(8734 if 15 <= second <= 18 else 150 for second in range(20))
        cpu = Series("linux", "cpu0", "CPU", "%", at_ns, percent, 2, window_ns=S, command="cat /proc/stat")
        return (*series, cpu)

    run = with_device(bare, cores)
    rows = gauges_table.table(lossy(run)).rows
    assert ("cpu0", "87.34", "cat /proc/stat") in {(row[0], row[5], row[-1]) for row in rows}
    drawn = device_figure.figure(lossy(run))
    assert drawn is not None
    titles = [one["layer"][0]["encoding"]["y"]["axis"]["title"] for one in drawn.live["vconcat"]]
    assert ["CPU", "% (1 s average)"] in titles
    for form in ("html", "markdown"):
        assert "87.34" in report_text(form, run)
