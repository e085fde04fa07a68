"""The reports: one fixed run rendered and compared, and what each number must carry.

Golden files are in tests/golden. After a change that is meant, write them again with
`NETDYNO_GOLDEN=write` in the environment and read the difference.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from kinds import kind
from netdyno.ports.reasons import SharedMemoryPort
from netdyno.reports import FORMATS
from netdyno.reports.figures import series
from netdyno.reports.formats import markdown
from netdyno.reports.formats.terminal import text as render_terminal
from netdyno.reports.model import grid, reasons
from netdyno.reports.model import table as shown_table
from netdyno.reports.model.answer import is_full
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.reports.model.loss import loss
from netdyno.reports.model.tested import describe_medium
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Column, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.outcome import Gap, Gaps, Reordering, Silence, Variation
from netdyno.values.series import Missed, Series, Steps
from netdyno.values.verdict import Verdict
from pages import OF_RUNS, report_text
from report_sample import PLAN, SMALL, Asked, Sample, article, axes, write
from words import said, said_each

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunView]:
    folder = tmp_path_factory.mktemp("small") / "2026-11-21T1912Z-asr9006-ab12"
    folder.mkdir()
    with write(folder, SMALL) as run:
        yield view(run)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunView]:
    folder = tmp_path_factory.mktemp("whole") / "2026-11-21T1912Z-asr9006-ab12"
    folder.mkdir()
    with write(folder, article((30, 120, 30))) as run:
        yield view(run)


@pytest.mark.parametrize("name", ["terminal", "markdown", "csv", "json"])
def test_a_fixed_run_renders_as_it_did(small: RunView, name: str) -> None:
    report = FORMATS[name]
    text = report_text(report.name, small)
    file = GOLDEN / f"small{report.suffix}"
    if os.environ.get("NETDYNO_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def judged(case: CaseView, **limits: tuple[str, str]) -> CaseView:
    """The case with these verdicts, by stream."""
    verdicts = {scope.replace("_", "-"): Verdict(one[0], said(one[1])) for scope, one in limits.items()}  # type: ignore[arg-type]
    return replace(case, verdicts=verdicts, streams=tuple(name for name in verdicts if name != "sum"))


def test_why_is_said_once_and_not_where_the_table_says_it(small: RunView) -> None:
    case = next(case for case in small.cases if case.headline is not None)
    alike = ("tester", "it was late")
    assert reasons.of_case(judged(case, a_b=alike, b_a=alike, sum=alike)) == (
        "tester",
        "each direction: it was late",
    )
    other = ("tester", "it was away")
    assert reasons.of_case(judged(case, a_b=alike, b_a=other, sum=alike)) == (
        "tester",
        "a-b: it was late; b-a: it was away",
    )
    # The least certain of the two is the sum's, and speaks.
    assert reasons.of_case(judged(case, a_b=("line", "full"), b_a=other, sum=other)) == (
        "tester",
        "b-a: it was away; a-b: full",
    )
    assert reasons.of_case(replace(case, verdicts={})) is None
    for run in (small, replace(small, cases=(*small.cases, *small.cases))):
        told = reasons.of_run(run)
        assert len({(one.limit, one.sentence) for one in told}) == len(told)
        full = [
            one for one in run.cases if (share := grid.cell(one).share_of_line) is not None and share >= 1
        ]
        assert full
        assert not {one.number for one in full} & {one.number for reason in told for one in reason.cases}


def test_every_report_of_the_table_renders_from_the_store(tmp_path: Path) -> None:
    with write(tmp_path, SMALL) as run:
        for name in OF_RUNS:
            report = FORMATS[name]
            assert ("ASR9006" in report_text(name, view(run))) != ("device" in report.omits), name
            assert report.name == name
            assert report.suffix.startswith(".")
            assert report.help


@pytest.mark.parametrize("name", ["terminal", "markdown", "html"])
def test_a_report_on_an_emulated_device_says_so_in_its_title(small: RunView, name: str) -> None:
    title = "ASR9006 / RSP440-SE (emulated Cisco ASR9006)"
    text = report_text(name, small)
    assert title in text
    assert title in text[: text.index("8 load tests")], "before anything else"


def test_a_report_on_a_real_device_does_not_say_emulated(tmp_path: Path) -> None:
    real = Sample(
        cases=SMALL.cases[:1], title="My router", device="Linux router", emulated=False, notes=(), plan=""
    )
    with write(tmp_path, real) as run:
        assert "emulated" not in report_text("markdown", view(run))
        assert 'class="badge"' not in report_text("html", view(run))


def test_markdown_has_the_tables_of_the_article(whole: RunView) -> None:
    text = report_text("markdown", whole)
    for combination in ("l2-xconnect / plain", "bridge-domain / lacp", "ipv4 / plain"):
        assert f"\n| {combination} " in text
    header = next(line for line in text.splitlines() if line.startswith("| Settings"))
    columns = [cell.strip() for cell in header.strip("|").split("|")]
    assert [c for c in columns if c not in ("% of line", "Limit")] == [
        "Settings",
        "Loadtest",
        "Unidirectional (pps)",
        "L1 Unidirectional (bps)",
        "Bidirectional (pps)",
        "L1 Bidirectional (bps)",
    ]
    tables = text[text.index("## Results") :]
    profiles = re.compile(r"\| ([a-z0-9-]+ / [a-z]+ +\| )?(1514b|imix|64b-)")
    rows = [line for line in tables.splitlines() if profiles.match(line)]
    assert len(rows) == 6 * 4 + 4, "four rows for each of six configurations, and the traffic"
    row = next(line for line in rows if "l2-xconnect / plain " in line and "64b-multi" in line)
    # What the article prints for this row: 14.66 Mpps and 20.3 Mpps, 13.64 Gbps.
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2] == "14.66 Mpps"
    assert cells[6:8] == ["20.30 Mpps", "13.64 Gbit/s"]
    assert cells[8:] == ["68.2 %", "device"]


def test_markdown_of_48_cases_is_short(whole: RunView) -> None:
    """Tables of many rows have their first ones; which are left out is said, and others have all."""
    lines = report_text("markdown", whole).splitlines()
    assert len(lines) <= 150
    statistics = shown_table.Table(
        "Members", (), columns("case | carried: frames"), (("a", Fraction(1)),) * 72
    )
    short = list(markdown.shortened(statistics))
    assert sum(line.startswith("| a") for line in short) == markdown.FIRST_ROWS
    assert "62 rows more" in short[-1]


@pytest.mark.parametrize("name", ["markdown", "html", "summary"])
def test_first_screen_of_each_report_has_the_answer(small: RunView, name: str) -> None:
    """One model: the numbers, line rate, limits and caveats are the same wherever they are read."""
    shown = headline(small)
    text = html.unescape(report_text(name, small)).replace("\\", "")
    plain = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    assert shown.tested in plain
    assert shown.line_rate[0] in plain
    for word in (*(one.limit for one in shown.limits), *(row[1] for row in shown.grid.rows)):
        assert word in plain
    if name != "summary":
        for number in shown.numbers:
            assert number.text in plain
            assert number.beside in plain


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
def test_the_terminal_table_keeps_its_numbers_at_any_width(small: RunView, width: int) -> None:
    text = render_terminal(small, width=width)
    assert all(len(line) <= max(width, 60) for line in text.splitlines()), text
    assert "\x1b" not in text
    assert "…" not in text
    for case in small.cases:
        cell = grid.cell(case)
        for word in (cell.number, cell.share, cell.limit):
            assert re.search(rf"(?<!\S){re.escape(word)}(?!\S)", text), f"{word} at {width} columns"


def test_a_narrow_terminal_loses_l1_first_and_then_stacks_the_directions(small: RunView) -> None:
    assert "L1 bps" in render_terminal(small, width=100)
    narrow = render_terminal(small, width=80)
    assert "L1 bps" not in narrow
    assert "bidir pps" in narrow
    narrowest = render_terminal(small, width=60)
    assert re.search(r"bidir +20\.30 Mpps", narrowest)


def test_nothing_of_a_plan_steers_the_terminal(tmp_path: Path) -> None:
    evil = "a\x1b[2J\x9b31m\rb\u202e"
    asked = Asked({"vlan": evil, "profile": evil, "direction": "uni"}, 20_000_000)
    named = replace(SMALL, cases=(asked,), title=evil, device=evil, notes=said_each((evil,)))
    with write(
        tmp_path, replace(named, cases=(replace(asked, axes=asked.axes | {"profile": "imix"}),))
    ) as run:
        for name in ("terminal", "markdown", "csv", "html"):
            text = report_text(name, view(run))
            # The bundle of figures is code of others: its bytes are fixed by the page's policy.
            text = re.sub(r"(?s)<script>.*?</script>", "", text)
            assert not set(text) & {"\x1b", "\x9b", "\r", "\u202e"}, name


def test_csv_is_numbers_and_empty_where_nothing_was_measured(small: RunView) -> None:
    rows = list(csv.DictReader(io.StringIO(report_text("csv", small))))
    best = [row for row in rows if row["value"] == "ramp max Rx" and row["scope"] == "sum"]
    assert len(best) == 7
    assert best[2]["pps"] == "14660000"
    assert best[2]["l1_bps"] == "9851520000", "14,660,000 x 84 B x 8"
    assert best[2]["line_pps"] == "14880952.380952", "RFC 5180, appendix A.1, with its decimals"
    assert all(row["limit"] for row in rows)
    failed = next(row for row in rows if row["state"] == "failed")
    assert failed["pps"] == failed["lost_frames"] == failed["ns"] == ""
    assert failed["error"].startswith("port Te0/2/0/0")
    knees = [row for row in rows if row["value"] == "knee" and not row["pps"]]
    assert knees
    assert all("no loss" in row["note"] for row in knees)


def test_json_keeps_counts_exact_and_leaves_out_what_was_not_measured(small: RunView) -> None:
    document = json.loads(report_text("json", small))
    assert document["emulated"] is True
    assert document["plan"] == PLAN
    case = document["cases"][3]
    assert case["line_pps_exact"] == "312500000/21"
    for stream in case["trials"][0]["streams"]:
        assert stream["offered_frames"] - stream["received_frames"] == stream["lost_frames"]
        assert stream["latency"]["p99_ns"] == 1000
        assert "p99_9_ns" not in stream["latency"], "a thousand samples cannot say"
    assert "values" not in document["cases"][5]
    error = document["cases"][5]["error"]
    assert (error["code"], error["hint"]) == ("device-silent", "add the route")
    assert "core_share_ppm" not in case["trials"][0]["health"]


def test_json_gives_no_percentile_above_the_maximum(small: RunView) -> None:
    """The bucket of a value ends above it: said is the greatest value there was."""
    case = small.cases[3]
    (trial,) = case.trials[:1]
    streams = tuple(
        replace(s, latency=replace(s.latency, max_ns=997)) for s in trial.result.streams if s.latency
    )
    changed = replace(case, trials=(replace(trial, result=trial.result.with_counts(streams=streams)),))
    document = json.loads(report_text("json", replace(small, cases=(changed,))))
    for stream in document["cases"][0]["trials"][0]["streams"]:
        assert [stream["latency"][name] for name in ("p50_ns", "p90_ns", "p99_ns", "max_ns")] == [997] * 4


def test_json_has_what_was_observed_and_only_that(small: RunView) -> None:
    case = small.cases[3]
    (trial,) = case.trials[:1]
    first, *others = trial.result.streams
    assert first.latency is not None
    observed = replace(
        first,
        received=900,
        out_of_order=3,
        gaps=Gaps((Gap(4, 5, 2, 40, 50),), 1, 7),
        silence=Silence(30, 60),
        order=Reordering(2, 10, 6, first.latency.histogram, 1, (2, 1)),
        variation=Variation(1000, 1000, 50_000, 1_058_000, 0, first.latency.histogram, None),
    )
    changed = replace(
        case, trials=(replace(trial, result=trial.result.with_counts(streams=(observed, *others))),)
    )
    document = json.loads(report_text("json", replace(small, cases=(changed,))))
    found, *rest = document["cases"][0]["trials"][0]["streams"]
    assert found["gaps"]["missing_frames"] == 9
    assert found["gaps"]["gaps"][0]["last_departure_ns"] == 50
    assert found["longest_silence"] == {"from_ns": 30, "until_ns": 60}
    assert (found["reordering"]["ratio_exact"], found["reordering"]["extent_mean_frames"]) == ("1/300", 5)
    assert found["reordering"]["n_reordered_frames"] == [2, 1]
    # 990 of the 1,000 values are 1,000 ns, the least.
    assert found["delay_variation"]["ipdv_median_ns"] == 1000
    assert "pdv_p99_9_ns" not in found["delay_variation"], "a thousand samples cannot say"
    assert not {"gaps", "longest_silence", "reordering", "delay_variation"} & set().union(*rest)


def test_details_of_a_series_are_in_json(small: RunView) -> None:
    case = small.cases[3]
    (trial,) = case.trials[:1]
    missed = (Missed(12, said("no answer")),)
    read = (
        Series("snmp", "xe0", "ifInOctets", "B", (5, 90), (1, 2), 0, (3, 4), None, True, 32, missed),
        Series("snmp", "cpu0", "hrProcessorLoad", "%", (5, 90), (1, 2), window_ns=60),
    )
    changed = replace(case, trials=(replace(trial, result=replace(trial.result, series=read)),))
    document = json.loads(report_text("json", replace(small, cases=(changed,))))
    counter, load = document["cases"][0]["trials"][0]["series"]
    assert (counter["took_ns"], counter["is_counter"], counter["bits"]) == ([3, 4], True, 32)
    assert [(one["at_ns"], one["reason"]["code"]) for one in counter["missed"]] == [(12, "engine said")]
    assert (load["window_ns"], "took_ns" in load, "missed" in load) == (60, False, False)


def test_series_of_an_instrument_are_in_json_and_csv(small: RunView) -> None:
    case = small.cases[3]
    (trial,) = case.trials[:1]
    read = (
        Series("device", "west", "rx_dropped", "frames", Steps(-10, 50), (0, 7)),
        Series("device", "chassis", "inlet", "C", (5, 90), (234, 240), scale=1),
    )
    changed = replace(case, trials=(replace(trial, result=replace(trial.result, series=read)),))
    run = replace(small, cases=(changed,))
    counter, heat = json.loads(report_text("json", run))["cases"][0]["trials"][0]["series"]
    assert (counter["first_ns"], counter["every_ns"], counter["values"]) == (-10, 50, [0, 7])
    assert (heat["at_ns"], heat["values"], heat["values_exact"]) == ([5, 90], [23.4, 24], ["117/5", "24"])
    rows = list(csv.DictReader(io.StringIO(report_text("series", run, run))))
    assert [(row["series"], row["at_ns"], row["value"], row["unit"]) for row in rows[:4]] == [
        ("rx_dropped", "-10", "0", "frames"),
        ("rx_dropped", "40", "7", "frames"),
        ("inlet", "5", "23.4", "C"),
        ("inlet", "90", "24", "C"),
    ]
    assert rows[4:] == rows[:4], "the second run"


def test_files_do_not_follow_the_locale(small: RunView) -> None:
    import locale

    usual = locale.setlocale(locale.LC_ALL)
    before = report_text("csv", small)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        assert report_text("csv", small) == before
    locale.setlocale(locale.LC_ALL, usual)


def test_any_directions_stand_beside_each_other(tmp_path: Path) -> None:
    names = ("bidir", "uni-reverse", "uni", "north-south")
    odd = Sample(
        cases=tuple(
            Asked({"vlan": "10", "profile": profile, "direction": name}, 20_000_000)
            for profile in ("imix", "1514b")
            for name in names
        )
    )
    with write(tmp_path, odd) as run:
        found = view(run)
        (table,) = grid.tables(found)
        assert table.directions == ("uni", "uni-reverse", "bidir", "north-south")
        assert [row.profile for row in table.rows] == ["imix", "1514b"]
        text = report_text("markdown", view(run))
        header = next(line for line in text.splitlines() if line.startswith("| Loadtest"))
        assert header.count("(pps)") == 4
        assert "Reverse (pps)" in header
        assert "north-south (pps)" in header
        assert "north-south pps" in render_terminal(found, width=200)
        assert "10 / imix / north-south" in report_text("html", view(run))


def test_report_of_a_kind_that_no_method_knows_has_its_stored_words(tmp_path: Path) -> None:
    """The store has all that reports need to know of a value."""
    pace = ValueKind(
        "pace", "fps", "how fast the tester was", about="tester", role="schedule", label="tester's pace"
    )
    best = ValueKind("light", "fps", "how much light came", role="best rate")

    def found(asked: Asked, ramp: Result) -> Result:
        values = (Value(best, "sum", Fraction(1000)), Value(pace, "sum", Fraction(2000)))
        return replace(ramp, method="lamp", values=values, headlines=("light",))

    with write(tmp_path, replace(SMALL, cases=SMALL.cases[:1], found=found)) as run:
        shown = view(run)
    assert "Light: how much light came." in grid.caption(shown)
    (case,) = json.loads(report_text("json", shown))["cases"]
    light, tester = case["values"]
    assert (light["value"], light["meaning"]) == ("light", "how much light came")
    assert light["limit"] == shown.cases[0].limit()
    assert tester["value"] == "tester's pace"
    assert "limit" not in tester
    assert 'title="how much light came"' in report_text("html", shown)


def test_what_is_about_the_tester_has_no_limit_and_is_no_result(small: RunView) -> None:
    case = small.cases[2]
    assert case.result is not None
    kept = Value(kind("kept up to"), "sum", Fraction(1_000_000), note=said("to the end of the ramp"))
    known = replace(case, result=replace(case.result, values=(*case.result.values, kept)))
    run = replace(small, cases=(known,))
    for name in ("terminal", "markdown"):
        assert "kept its schedule" not in report_text(name, run)
        assert "kept up to" not in report_text(name, run)
    (row,) = [
        row
        for row in csv.DictReader(io.StringIO(report_text("csv", run)))
        if row["value"] == "tester kept its schedule to"
    ]
    assert (row["pps"], row["limit"], row["reason"]) == ("1000000", "", "")
    values = json.loads(report_text("json", run))["cases"][0]["values"]
    assert {"limit", "reason"}.isdisjoint(
        next(v for v in values if v["value"] == "tester kept its schedule to")
    )
    alone = replace(known, result=replace(case.result, values=(kept,), headlines=()))
    assert alone.headline is None


def test_a_line_that_nothing_enforces_is_no_measure(small: RunView) -> None:
    run = replace(small, cases=tuple(replace(case, line_enforced=False) for case in small.cases))
    for name in ("terminal", "markdown"):
        text = report_text(name, run)
        assert "14.66 Mpps" in text
        assert "of line" not in text
        assert "98.5 %" not in text
    rows = list(csv.DictReader(io.StringIO(report_text("csv", run))))
    assert {row["share_of_line_percent"] for row in rows} == {""}


def test_of_an_unfinished_run_not_every_case_is_said_to_fill_the_line(whole: RunView) -> None:
    full = next(case for case in whole.cases if is_full(case))
    waiting = replace(full, state="pending", result=None, verdicts={}, clock="")
    unrated = replace(full, result=replace(full.result, headlines=()))
    said = [headline(replace(whole, cases=(full, other))).line_rate for other in (full, waiting, unrated)]
    assert {yes for yes, _ in said} == {"yes"}
    every, *some = [where for _, where in said]
    assert every == "in every case"
    assert some == ["in every case with a rate"] * 2


def test_a_case_that_was_never_wired_says_nothing_of_its_line(small: RunView) -> None:
    measured, *_ = small.cases
    failed = replace(measured, state="failed", result=None, verdicts={}, clock="", line_enforced=True)
    run = replace(small, cases=(replace(measured, clock="real", line_enforced=False), failed))
    assert not run.line_enforced
    assert headline(run).line_rate[0] in ("unknown", "not enforced")


def test_deviations_that_share_a_field_are_separable(small: RunView) -> None:
    case = small.cases[0]
    assert case.result is not None
    bent = replace(case, result=replace(case.result, compliance=said_each(("a trial of 1 s", "three sizes"))))
    (row, *_) = csv.DictReader(io.StringIO(report_text("csv", replace(small, cases=(bent,)))))
    assert row["deviations"] == "a trial of 1 s; three sizes"


def test_a_run_with_no_result_is_still_reported(tmp_path: Path) -> None:
    with write(tmp_path, Sample(cases=(Asked(axes("ipv4", "plain", "imix", "uni"), None),))) as run:
        assert "no method of this run made a table" in report_text("tables", view(run))
        for name in OF_RUNS:
            report, text = FORMATS[name], report_text(name, view(run))
            shown = "failed" in text and "no route to 48.0.0.0/8" in text
            assert shown != ("failures" in report.omits), name


def test_medium_of_ports_without_interface_is_that_of_their_note(small: RunView) -> None:
    case = replace(small.cases[0], clock="real", notes=(SharedMemoryPort("west", 0, "@vpp"),))
    assert describe_medium(replace(case, backends=("memif",))) == SharedMemoryPort.medium
    for several in (replace(case, backends=("af_packet", "memif")), replace(case, notes=())):
        assert "Ethernet" in describe_medium(several)


def test_loss_and_rates_of_a_phase_come_from_its_own_samples(small: RunView) -> None:
    trial = small.cases[6].trials[0]
    hold = series.stretch(trial, "hold")
    assert hold is not None
    assert hold.rx_mean_fps == hold.rx_min_fps == hold.rx_max_fps == 5_140_000
    assert hold.offered == 44_642_857, "three seconds of 14,880,952.38 a second, ending on a whole frame"
    assert hold.lost == 44_642_857 - 3 * 5_140_000
    assert series.stretch(trial, "no such phase") is None


def test_a_dropout_shorter_than_a_bucket_stays_visible(small: RunView) -> None:
    trial = small.cases[6].trials[0]
    stream = trial.result.streams[0]
    from dataclasses import replace

    dip = list(stream.rx)
    dip[10] = 0
    found = replace(trial, result=trial.result.with_counts(streams=(replace(stream, rx=tuple(dip)),)))
    points = series.points(found, None, 2)
    assert len(points) == 2
    assert min(point.rx_min_fps for point in points) == 0


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (810_000, "pps", "810 kpps"),
        (1_610_000, "pps", "1.61 Mpps"),
        (14_660_000, "pps", "14.66 Mpps"),
        (9_940_000_000, "bps", "9.94 Gbps"),
        (39_640_000_000, "bps", "39.64 Gbps"),
        (Fraction(312_500_000, 21), "pps", "14.88 Mpps"),
        (12, "pps", "12 pps"),
        (1_000, "pps", "1.00 kpps"),
        (0, "pps", "0 pps"),
    ],
)
def test_rates_print_as_the_article_prints_them(number: int | Fraction, unit: str, text: str) -> None:
    assert printed.rate(number, unit) == text


def test_no_other_rate_takes_the_place_of_a_headline_without_a_number(small: RunView) -> None:
    case = next(case for case in small.cases if case.headline is not None)
    assert case.result is not None
    values = [replace(v, number=None) if v.name == "ramp max Rx" else v for v in case.result.values]
    kept = Value(kind("kept up to"), "sum", Fraction(1_000_000))
    bare = replace(case, result=replace(case.result, values=(kept, *values)))
    assert bare.headline is None
    assert grid.cell(bare).number == "n/a"


@pytest.mark.parametrize("name", ["terminal", "markdown", "html", "json"])
def test_what_a_method_remarks_is_in_every_report_that_people_read(small: RunView, name: str) -> None:
    """Said of several cases it is said once in text; a terminal has the first of many."""
    with_one = tuple(
        replace(
            case,
            result=replace(case.result, notes=said_each(("the load was another one", f"of {case.number}"))),
        )
        if case.result
        else case
        for case in small.cases
    )
    run = replace(small, cases=with_one)
    page = report_text(name, run)
    results = [case for case in with_one if case.result]
    # The first screen has it, too; JSON as a sentence and as a field.
    often = {"terminal": 1, "markdown": 2, "html": len(results) + 1, "json": 2 * len(results)}
    assert page.count("the load was another one") == often[name]
    if name == "markdown":
        assert f"{results[-1].name}: of {results[-1].number}" in page
    many = replace(
        results[0],
        result=replace(results[0].result, notes=said_each(f"number {i}" for i in range(20))),
    )  # type: ignore[arg-type]
    told = report_text("terminal", replace(small, cases=(many,)))
    assert "number 15" in told
    assert "number 16" not in told
    assert "and 4 notes more: `netdyno report --as html` has all of them" in told


@pytest.mark.parametrize("name", ["terminal", "markdown", "html"])
def test_a_table_without_rows_says_that_there_are_none(small: RunView, name: str) -> None:
    """A soak without a loss has no loss events; headings with nothing below them leave a reader in doubt."""
    events = Table("Loss events", (Column("first lost"),), (), "By when it was due.")
    case = next(case for case in small.cases if case.result is not None)
    assert case.result is not None
    run = replace(small, cases=(replace(case, result=replace(case.result, tables=(events,))),))
    page = report_text(name, run)
    assert "Loss events" in page
    assert "None." in page
    assert "first lost" not in page


def test_rounding_never_makes_a_claim() -> None:
    assert printed.percent(Fraction(99_999, 100_000)) == "99.9 %"
    assert printed.percent(Fraction(1)) == "100.0 %"
    assert printed.percent(Fraction(1, 10**9), 3) == "< 0.001 %"
    assert printed.percent(Fraction(0)) == "0.0 %"


def test_no_loss_is_printed_as_a_bound() -> None:
    # 60 s at 14.88 Mpps: 3.4e-9 (rule of three).
    assert loss(0, 14_880_952 * 60) == "0 (≤ 3.4e-9 at 95 %)"
    assert loss(0, 0) == "n/a"
    assert loss(-2, 100) == "-2 frames (more received than sent)"
    assert loss(1, 3) == "33.333 %"
