"""One screen for every method: at most 40 lines of 100 columns, with the method's own headline numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.lab_reasons import PortsNotCalibrated
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.run import Selection
from netdyno.cli.live import watcher
from netdyno.devices.reasons import EmulatedDevice
from netdyno.methods.reasons.loss import StillLosing
from netdyno.methods.reasons.ramps import ShortRamp
from netdyno.methods.reasons.searches import FailedAt
from netdyno.methods.reasons.services import StepNotRun
from netdyno.plan import load, parse
from netdyno.reports.figures.figures import figures
from netdyno.reports.figures.hero import LOST, hero
from netdyno.reports.formats import terminal
from netdyno.reports.formats.terminal_tables import grid_lines
from netdyno.reports.model import answer, grid
from netdyno.reports.model.answer import is_full
from netdyno.reports.model.families.y1564 import _why
from netdyno.reports.model.from_store import view
from netdyno.reports.model.grid import is_bound
from netdyno.reports.model.headline import EMULATED, Limit, headline
from netdyno.reports.model.table import CONTRADICTED, small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values import number as printed
from netdyno.values.breaks import ADJACENCY, PING
from netdyno.values.finding import Column, Table, Value
from netdyno.values.kind import ValueKind
from netdyno.values.printable import wrap
from netdyno.values.reason import About, Reason
from netdyno.values.series import Series
from netdyno.values.verdict import Verdict
from netdyno.verdict.doubt_reasons import LateBurst, LostWhileHeld
from netdyno.verdict.neighbours import Incident
from netdyno.verdict.proof_reasons import NearProof
from netdyno.verdict.reasons import LineFull, MemberFull, MtuTooSmall, NothingMeasured
from netdyno.verdict.watched import with_watches
from pages import report_text
from report_sample import SMALL, article, write

pytest.importorskip("netdyno._engine", reason="the engine is not built")

EXAMPLES = Path(__file__).parents[2] / "examples"
SCALES = {
    "activation": "1/40",
    "asr1000-latency": "1/2000",
    "asr9006": "1/4000",
    "asr9006-at-once": "1/1000",
    "bursts": "1/40",
    "modifiers": "1/20",
    "ndr": "1/40",
    "priority": "1/20",
    "rfc2544": "1/1000",
    "rfc2544-suite": "1/2000",
    "soak": "1/3000",
}
"""Of the plans whose devices are emulated: the others need real time or a device."""
ONLY = {
    "asr9006": {"forwarding": "ipv4"},
    "rfc2544": {"profile": "64b"},
    "rfc2544-suite": {"profile": "1518b"},
}
"""A part of the largest matrices; all 48 cases of one are those of `article`."""


_RAN: dict[tuple[str, str], RunView] = {}


def ran(name: str, folder: Path, scale: str = "") -> RunView:
    """A run of an example plan, at a small part of its times; made once."""
    if (name, scale) in _RAN:
        return _RAN[name, scale]
    plan = load(EXAMPLES / f"{name}.yaml")
    part = Selection(Fraction(scale or SCALES[name]), ONLY.get(name, {}))
    outcome = runner.run(plan, folder, watcher(), part)
    with open_run(outcome.folder, REASONS) as stored:
        return _RAN.setdefault((name, scale), view(stored))


@pytest.fixture(scope="module", params=sorted(SCALES))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunView:
    return ran(request.param, tmp_path_factory.mktemp(request.param))


def test_summary_of_an_example_fits_one_screen(run: RunView) -> None:
    paths = (("report", "file:///x/report.html"), ("details", "netdyno report x"))
    lines = terminal.first_screen(headline(run), paths=paths)
    assert len(lines) <= terminal.LINES
    assert max(map(len, lines)) <= terminal.WIDTH


def test_no_line_breaks_a_command_or_a_path() -> None:
    command, path = "`netdyno calibrate /srv/lab/own-router.yaml`", "/var/lib/netdyno/runs/2026-11-29T0210Z-x"
    lines = wrap(f"Of no calibration: {command} makes one, kept in {path} until the cabling changes.", 40)
    assert any(command in line for line in lines)
    assert any(path in line for line in lines)
    assert all(len(line) <= 40 for line in lines if command not in line and path not in line)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_latencies_of_a_sweep_are_the_last_columns_to_be_left_out(width: int, tmp_path: Path) -> None:
    lines = terminal.first_screen(headline(ran("asr1000-latency", tmp_path)), width)
    text = "\n".join(lines)
    assert text.count(" us at 90 %") == 2
    assert text.count(" at 100 %") >= 2


def test_watches_and_their_breaks_are_on_the_first_screen(run: RunView) -> None:
    """A neighbour that was lost in two trials of the first case, and a ping that held."""
    case = run.cases[0]
    assert case.result is not None
    polls, pings = (
        Series(kind, of, "state", "up", tuple(n * 10**9 for n in range(4)), (1, *states, 1))
        for kind, of, states in ((ADJACENCY, "OSPF neighbour 192.0.2.1", (0, 0)), (PING, "192.0.2.9", (1, 1)))
    )
    outcome = replace(case.trials[0].result, series=(polls, pings))
    result = with_watches(case.result, {0: outcome, 1: outcome}, None)
    found = headline(replace(run, cases=(replace(case, result=result), *run.cases[1:]))).watches
    assert len(found) == 2
    assert found[0].endswith("OSPF neighbour 192.0.2.1: broke 2 times, first by 1 s")
    assert found[1] == "held: ping to 192.0.2.9"


def test_summary_of_48_cases_fits_one_screen(tmp_path: Path) -> None:
    with write(tmp_path, article((30, 120, 30))) as stored:
        shown = headline(view(stored))
    lines = terminal.first_screen(shown)
    assert len(lines) <= terminal.LINES
    assert max(map(len, lines)) <= terminal.WIDTH
    assert len(shown.grid.rows) == 8, "four profiles in two directions"
    assert len(shown.grid.headings) == 8, "two names and six combinations"


def test_headline_of_an_example_has_numbers_and_limits(run: RunView) -> None:
    shown = headline(run)
    assert 1 <= len(shown.numbers) <= 4
    assert all(one.text and one.text != "n/a" for one in shown.numbers)
    assert shown.grid.rows
    assert shown.limits
    assert len({one.limit for one in shown.limits}) == len(shown.limits)
    assert shown.calibrated == ("not needed", "virtual time")
    assert "EMULATED" in shown.badge


def test_a_limit_that_its_reason_names_is_printed_once() -> None:
    assert Limit("device", "", "Device limit: 1.00 Mpps").sentence == "Device limit: 1.00 Mpps"
    assert Limit("tester", "", "the card dropped frames").sentence == "tester: the card dropped frames"
    several = Limit("device", "device in 3 of 4: 1 to 2 Mpps", "Device limit: 1 Mpps")
    assert several.sentence == "device in 3 of 4: 1 to 2 Mpps: Device limit: 1 Mpps"


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize(
    "reason",
    [
        LateBurst(16_040, 3_348_290, 9_324_000),
        LostWhileHeld(16_040, 3_348_290, 9_324_000, 20_000, by_kernel=True),
        MtuTooSmall(16_040, 3_348_290, "enp1s0f0np0", 1500, 2000, 1982),
    ],
    ids=lambda one: one.code,
)
def test_first_screen_has_cause_and_next_step_of_a_limit(reason: Reason, width: int, tmp_path: Path) -> None:
    shown = replace(headline(small(tmp_path)), limits=(Limit("tester", "", str(reason)),))
    lines = " ".join(line.strip() for line in terminal.first_screen(shown, width))
    assert str(reason) in lines


def test_overlong_note_keeps_its_first_and_its_last_clause(tmp_path: Path) -> None:
    note = "First clause. " + "A clause between. " * 30 + "Run `netdyno ports`."
    lines = terminal.first_screen(
        replace(headline(small(tmp_path)), caveats=(note, "x" * 9 + " y" * 999)), 80
    )
    assert any("First clause." in line for line in lines)
    assert any(line.endswith("Run `netdyno ports`.") for line in lines)
    assert sum("y y" in line for line in lines) == terminal.MOST_LINES


def test_unequal_rates_never_print_the_same(tmp_path: Path) -> None:
    """NDR and PDR of a device that forwards 1 Mpps; no number lies below the lower bound beside it."""
    numbers = {name: found for name, found, *_ in headline(ran("ndr", tmp_path)).grid.rows}
    assert numbers["NDR"] != numbers["PDR"]
    assert all(len(found.split()[0]) == 5 for found in numbers.values()), numbers


def test_rate_of_a_search_has_the_digits_of_its_table_in_every_reason() -> None:
    """9,999,900 pps is cut to a fourth digit wherever it stands; what was measured is rounded."""
    rate, most = Fraction(9_999_900), Fraction(10_000_000)
    for of, share in (
        (LineFull, (most, False, None)),
        (MemberFull, (most,)),
        (NearProof, (most,)),
    ):
        assert printed.searched(rate) in str(of(rate, *share, True)), of
        assert printed.rate(rate, "pps") in str(of(rate, *share)), of
    assert printed.searched(rate) != printed.rate(rate, "pps")


@pytest.mark.parametrize(
    ("name", "tiles"),
    [
        ("modifiers", {"filters-25": ""}),
        ("asr9006-at-once", {"Together, 64b": "99.9 %", "Together, 256b": "100.0 %"}),
        ("activation", {"Acceptance": "FAIL", "Voice": "FAIL", "Data": "FAIL"}),
    ],
)
def test_tiles_of_a_page_are_what_its_title_would_say(
    name: str, tiles: dict[str, str], tmp_path: Path
) -> None:
    run = ran(name, tmp_path)
    numbers = headline(run).numbers
    for of, text in tiles.items():
        (tile,) = [one for one in numbers if of in one.name]
        assert tile.text.startswith(text or "-"), tile
    goal = ("throughput >= 1Mpps", False, NothingMeasured())
    missed = replace(run, cases=(replace(run.cases[0], goals=(goal,)), *run.cases[1:]))
    assert [one.is_missed for one in headline(missed).numbers] == [True, *(False for _ in numbers)]


def test_loads_of_a_sweep_have_one_meaning(tmp_path: Path) -> None:
    """Several ports send to one: half of the line of each fills that of the receiver."""
    run = ran("priority", tmp_path)
    grid_ = headline(run).grid
    shares = [row[grid_.headings.index("of line")] for row in grid_.rows]
    assert all(one == "50 %" for one in shares), shares
    assert all(case.share_of_line(case.headline) > Fraction(9, 10) for case in run.cases if case.headline)


def test_outage_in_a_soak_of_one_part_is_drawn_where_it_was(tmp_path: Path) -> None:
    text = (EXAMPLES / "soak.yaml").read_text().replace("part: 10min", "part: 0s")
    text = text.replace(
        "{kind: emulated/bridge}", '{kind: emulated/bridge, settings: {incidents: "2 shut at 6h for 1h"}}'
    )
    outcome = runner.run(parse(text), tmp_path, watcher(), Selection(Fraction(1, 3600)))
    with open_run(outcome.folder, REASONS) as stored:
        drawn = hero(view(stored))
    assert drawn is not None
    rows = drawn.live["datasets"]["parts"]
    lossy = [row["at"] for row in rows if row["loss"]]
    assert 5.9 < min(lossy) < max(lossy) < 7.1
    assert len(lossy) < len(rows) / 10


def test_standing_queue_is_said_of_the_cases_that_have_one(tmp_path: Path) -> None:
    run = small(tmp_path)
    full = next(one for one in run.cases if one.headline is not None and is_full(one))
    queued = LineFull(Fraction(1), Fraction(1), False, 10_000_000)
    cases = tuple(
        replace(full, number=number, verdicts={name: Verdict("line", reason) for name in full.verdicts})
        for number, reason in enumerate((queued, replace_queue(queued), replace_queue(queued)))
    )
    assert " 1 of 3 (10 ms)" in headline(replace(run, cases=cases)).line_rate[1]


def replace_queue(reason: LineFull) -> LineFull:
    return LineFull(reason.rate_pps, reason.line_pps, False)


def test_cost_of_a_modifier_stands_beside_its_rate(tmp_path: Path) -> None:
    """25 rules at 1 us each take a tenth and more of a router that forwards 10 kpps."""
    shown = headline(ran("modifiers", tmp_path)).grid
    place = shown.headings.index("change")
    changes = {row[0]: row[place] for row in shown.rows}
    assert changes.pop("modifier none") == "", "without what all cases have in common"
    assert all(re.fullmatch(r"-\d+\.\d %|0\.0 %", one) for one in changes.values())
    assert "-0.0 %" not in changes.values()
    assert min(changes, key=lambda name: float(changes[name].removesuffix(" %"))) == "filters-25"


def changes_of(run: RunView) -> tuple[str, ...]:
    shown = headline(run).grid
    place = shown.headings.index("change")
    return tuple(row[place] for row in shown.rows)


def test_cost_against_a_lower_bound_is_at_least_so_much(tmp_path: Path) -> None:
    """10,000 pps without a modifier and 7,777 with it: 22.23 % less, or more where 10,000 is a bound."""
    run = ran("modifiers", tmp_path)
    first, second = (one for one in run.cases if one.name in (run.cases[0].name, run.cases[1].name))

    def rated(case: CaseView, number: int, limit: str) -> CaseView:
        assert case.headline is not None
        assert case.result is not None
        value = replace(case.headline, number=Fraction(number), low=None, high=None)
        result = replace(case.result, values=(value,))
        verdicts = {scope: Verdict(limit, "") for scope in case.verdicts}  # type: ignore[arg-type]
        return replace(case, result=result, verdicts=verdicts)

    def pair(before: str, after: str) -> RunView:
        return replace(run, cases=(rated(first, 10_000, before), rated(second, 7_777, after)))

    assert changes_of(pair("device", "device")) == ("", "-22.2 %")
    assert changes_of(pair("none", "device")) == ("", "<= -22.2 %")
    assert changes_of(pair("device", "tester")) == ("", ">= -22.3 %")
    assert "change" not in headline(pair("none", "tester")).grid.headings
    tiles = [headline(pair(before, "device")).numbers[-1].text for before in ("device", "none")]
    assert tiles == ["-22.2 %", "<= -22.2 %"]
    assert not any("cost" in one.name for one in headline(pair("none", "tester")).numbers)


def test_cables_that_a_calibration_needs_are_said_once(tmp_path: Path) -> None:
    run = small(tmp_path)
    assert "netdyno calibrate" in headline(replace(run, cases=real(run, ()))).calibrated[1]
    cables = (("west", "east"), ("north",))
    found = headline(replace(run, cases=real(run, (PortsNotCalibrated("netdyno calibrate x.yaml", cables),))))
    assert found.calibrated[0] == "no"
    assert "cable `west` with `east`, put a loopback plug into `north`" in found.calibrated[1]
    assert "`netdyno calibrate x.yaml --quick`" in found.calibrated[1]
    assert not any("calibrate" in one for one in found.caveats), "said once"


def real(run: RunView, notes: tuple[Reason, ...]) -> tuple[CaseView, ...]:
    return tuple(replace(case, clock="real", notes=notes) for case in run.cases)


def test_one_kind_of_silent_next_hop_is_one_caveat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overloaded router answers no ARP either, in every case of a plan."""
    run = small(tmp_path)
    incident = Incident("next-hop-fell-silent", "next hop 192.0.2.1 of `west` did not answer")
    monkeypatch.setattr(CaseView, "neighbours", property(lambda case: (incident,) * (case.number < 2)))
    found = [one for one in headline(run).caveats if "next hop" in one]
    assert len(found) == 1
    assert found[0].startswith(f"In 2 of {len(run.cases)} cases, first {run.name_apart(run.cases[0])}: ")


def test_bars_show_small_shares_and_what_passed_no_load(tmp_path: Path) -> None:
    drawn = hero(ran("bursts", tmp_path, "1"))
    assert drawn is not None
    rows = {row["who"]: row for row in drawn.live["data"]["values"]}
    assert rows["4k-at-once"]["label"].count("<") == 2, "neither its rate nor its share is known"
    domain = drawn.live["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert max(row["share"] for row in rows.values()) < domain[1] < 100


def test_bursts_resets_and_overloads_are_not_drawn_over_the_load(tmp_path: Path) -> None:
    run = ran("rfc2544", tmp_path)
    drawn = [trial for case in run.cases for trial in case.trials if not trial.is_load]
    left_out = {trial.name.split()[0] for trial in drawn}
    assert left_out == {"search", "recovery", "reset"}
    assert {case.burst for case in run.cases} == {1}


def test_soak_shows_its_load_and_bursts_their_frame_size(tmp_path: Path) -> None:
    """The soak sends 1,000 frames of 512 B a second on each of four lines of 1 Gbit/s."""
    run = ran("soak", tmp_path)
    assert "4.00 kpps" in headline(run).grid.caption
    assert list(figures(run)) == [], "one load has no figure over the load"
    drawn = hero(run)
    assert drawn is not None
    assert any(row["loss"] is None and row["shown"] == 0 for row in drawn.live["datasets"]["parts"])
    assert LOST not in json.dumps(drawn.live), "nothing is red where nothing was lost"
    (tmp_path / "bursts").mkdir()
    assert ", 64 B, " in headline(ran("bursts", tmp_path / "bursts")).tested


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    return ran("activation", tmp_path_factory.mktemp("services"))


def test_services_without_policing_fail_with_their_rates(services: RunView) -> None:
    """The bridge polices nothing, so what is sent above CIR + EIR comes back whole."""
    shown = headline(services)
    assert shown.passed is False
    assert [row[:2] for row in shown.grid.rows] == [("voice", "FAIL"), ("data", "FAIL")]
    assert [one.limit for one in shown.limits] == ["FAIL"]
    assert "25.00 Mbit/s, allowed 20.20 Mbit/s" in shown.limits[0].reason


def with_result(run: RunView, **changes: object) -> RunView:
    (case,) = run.cases
    assert case.result is not None
    return replace(run, cases=(replace(case, result=replace(case.result, **changes)),))  # type: ignore[arg-type]


def test_service_with_a_step_that_was_not_run_is_unknown(services: RunView) -> None:
    """Its own steps all passed; the one above the line says nothing."""
    (case,) = services.cases
    assert case.result is not None
    tables = tuple(
        replace(
            table,
            rows=tuple(tuple("pass" if cell == "fail" else cell for cell in row) for row in table.rows),
        )
        for table in case.result.tables
    )
    assert headline(with_result(services, tables=tables)).passed is True
    note = StepNotRun("voice", "policing", Fraction(112, 100))
    shown = headline(with_result(services, tables=tables, notes=(note,)))
    assert shown.passed is None
    assert [row[:2] for row in shown.grid.rows] == [("voice", "UNKNOWN"), ("data", "PASS")]


def test_services_of_which_a_case_failed_are_not_passed(services: RunView) -> None:
    (case,) = services.cases
    failed = replace(case, number=1, profile="other", result=None, error="no", state="failed")
    assert headline(replace(services, cases=(failed,))).passed is None
    assert [one.limit for one in headline(replace(services, cases=(case, failed))).limits] == [
        "FAIL",
        "UNKNOWN",
    ]


def test_rows_of_a_strangers_table_without_its_columns_are_shown(services: RunView) -> None:
    (case,) = services.cases
    assert case.result is not None
    odd = tuple(
        Table(table.name, (Column("service"), Column("result")), (("voice", "perhaps"),))
        for table in case.result.tables
    )
    run = with_result(services, tables=odd)
    assert [row[0] for row in headline(run).grid.rows] == ["voice"]
    for name in ("html", "markdown", "summary"):
        assert "voice" in report_text(name, run)


def test_change_of_a_modifier_is_left_out_of_repeats(tmp_path: Path) -> None:
    run = ran("modifiers", tmp_path)
    twice = tuple(replace(case, repeat=number) for case in run.cases for number in (1, 2))
    assert "change" not in headline(replace(run, cases=twice)).grid.headings


def small(folder: Path) -> RunView:
    with write(folder, SMALL) as stored:
        return view(stored)


def test_rate_that_the_tester_ended_is_a_lower_bound(tmp_path: Path) -> None:
    run = small(tmp_path)
    case = next(one for one in run.cases if one.headline is not None)
    assert case.headline is not None
    ended = {scope: Verdict("tester", "it was too slow") for scope in case.verdicts}
    by_tester = replace(case, verdicts=ended)
    by_device = replace(case, verdicts={scope: Verdict("device", "") for scope in case.verdicts})
    assert is_bound(by_tester, case.headline)
    assert not is_bound(by_device, case.headline)
    (limit,) = headline(replace(run, cases=(by_tester,))).limits
    assert limit.limit == "tester"


def test_lower_bound_has_its_sign_in_every_part_of_the_page(tmp_path: Path) -> None:
    run = small(tmp_path)
    ended = {scope: Verdict("tester", "it was too slow") for scope in run.cases[0].verdicts}
    bounds = replace(run, cases=tuple(replace(case, verdicts=ended) for case in run.cases))
    first = bounds.cases[0]
    told = answer.text(first, first.headline)
    assert told.startswith(">= ")
    assert grid.cell(first).number == told
    assert all(one.text.startswith(">= ") for one in headline(bounds).numbers)
    page = report_text("html", bounds)
    parts = re.findall(
        r'id="(summary|reasoning|tables|figures|cases)"(.*?)(?=<details class="fold"|$)', page, re.S
    )
    assert len(parts) == 5
    shown = told.replace(">", "&gt;")
    for part, text in parts:
        every = re.findall(r"(?:&gt;= )?" + re.escape(shown.removeprefix("&gt;= ")), text)
        assert every or part in ("summary", "reasoning"), part
        assert set(every) <= {shown}, part


def test_share_in_large_type_has_the_mark_of_its_rate(tmp_path: Path) -> None:
    run = small(tmp_path)
    doubted = []
    for case in run.cases:
        if case.result is None:
            continue
        values = tuple(replace(value, contradicted=StillLosing()) for value in case.result.values)
        doubted.append(replace(case, result=replace(case.result, values=values)))
    numbers = headline(replace(run, cases=tuple(doubted))).numbers
    assert numbers
    assert all(one.text.endswith(CONTRADICTED) for one in numbers)


def test_time_that_did_not_end_is_a_lower_bound(tmp_path: Path) -> None:
    case = small(tmp_path).cases[0]
    kind = ValueKind("reset time", "ns", "how long frames were lost")
    still = Value(kind, "sum", None, Fraction(1_500_000), None, StillLosing())
    assert answer.text(case, still) == grid.number(still) == ">= 1.5 ms"
    no_more = replace(still, low=None, high=Fraction(1_500_000))
    assert grid.number(replace(still, high=Fraction(2_500_000))) == "1.5 to 2.5 ms"
    assert grid.number(no_more) == "<= 1.5 ms"
    assert grid.number(replace(still, low=None)) == "n/a"


def test_missed_goal_stands_before_other_caveats(tmp_path: Path) -> None:
    run = small(tmp_path)
    first = replace(run.cases[0], goals=(("throughput >= 1Mpps", False, "it is less"),), error="")
    caveats = headline(replace(run, cases=(first,), state="done")).caveats
    assert caveats[0].startswith("Goal missed: `throughput >= 1Mpps`")


def test_hostile_title_and_long_names_keep_to_the_width(tmp_path: Path) -> None:
    run = small(tmp_path)
    run = replace(run, head=replace(run.head, title="\x1b[31m" + "x" * 300))
    case = replace(run.cases[0], settings={"forwarding": "y" * 200})
    lines = terminal.first_screen(headline(replace(run, cases=(case, *run.cases[1:]))))
    assert max(map(len, lines)) <= terminal.WIDTH
    assert "\x1b" not in "".join(lines)


def caveats_with(folder: Path, *notes: tuple[Reason, ...]) -> tuple[str, ...]:
    """What a run is to be read with whose cases have these notes and no others."""
    folder.mkdir(exist_ok=True)
    run = small(folder)
    case = next(one for one in run.cases if one.result is not None)
    cases = tuple(
        replace(case, number=number, profile=f"size {number}", result=replace(case.result, notes=own))  # type: ignore[type-var]
        for number, own in enumerate(notes)
    )
    return headline(replace(run, cases=cases)).caveats


def test_notes_of_one_code_in_several_cases_are_one_line(tmp_path: Path) -> None:
    short, shorter = ShortRamp(1000, Fraction(2)), ShortRamp(2000, Fraction(2))
    assert short.code == shorter.code
    found = caveats_with(tmp_path, (short,), (shorter,), ())
    assert len([one for one in found if "ramp" in one]) == 1
    assert any(one.startswith("In 2 of 3 cases, first ") and "size 0" in one.split(": ")[0] for one in found)


def test_note_of_one_case_of_several_names_the_case(tmp_path: Path) -> None:
    found = caveats_with(tmp_path, (), (About("latency", StillLosing()),))
    assert any("size 1" in one.split(": ")[0] and ": latency: " in one for one in found)


def test_evidence_behind_a_number_is_no_caveat(tmp_path: Path) -> None:
    assert FailedAt.is_detail
    assert caveats_with(tmp_path, (FailedAt(Fraction(10), ()),)) == caveats_with(tmp_path / "bare", ())


def test_headline_note_code_of_an_emulated_device_is_its_reason() -> None:
    assert EmulatedDevice.code == EMULATED


def test_a_service_that_passes_a_little_too_much_shows_two_numbers() -> None:
    step = {
        "step": "policing",
        "result": "fail",
        "IR, L2": Fraction(20_204_999),
        "IR at most, L2": Fraction(20_200_001),
    }
    assert _why(step) == ("no policing", " passes 20.205 Mbit/s, allowed 20.200 Mbit/s")


def with_nothing_received(case: CaseView) -> CaseView:
    none = {"received": 0, "duplicates": 0, "elsewhere": 0, "corrupted": 0}
    trials = []
    for trial in case.trials:
        streams = tuple(replace(stream, **none) for stream in trial.result.streams)
        trials.append(replace(trial, result=trial.result.with_counts(streams=streams)))
    return replace(case, trials=tuple(trials))


def test_a_case_of_which_nothing_came_back_says_so_first(tmp_path: Path) -> None:
    run = small(tmp_path)
    case = next(one for one in run.cases if one.result is not None)
    assert not any("nothing came back" in one for one in headline(run).caveats)
    silent = replace(run, cases=(with_nothing_received(case),))
    assert "othing came back" in headline(silent).caveats[0]


def test_a_line_that_longer_trials_do_not_pass_is_not_counted_as_full(tmp_path: Path) -> None:
    run = small(tmp_path)
    case = next(one for one in run.cases if one.headline is not None and is_full(one))
    assert case.result is not None
    values = tuple(replace(one, contradicted=StillLosing()) for one in case.result.values)
    assert not is_full(replace(case, result=replace(case.result, values=values)))


def test_caption_of_the_numbers_is_wrapped() -> None:
    rates = small_table(("case", "rate"), (("a", "1 kpps"),), "; ".join(["a caption of several clauses"] * 5))
    assert max(map(len, grid_lines(rates, 60, 20))) <= 60


def test_long_text_gives_way_before_the_name_of_its_row() -> None:
    found = "17 kept, all up to 90%; first lost: OSPF neighbour 100.80.3.33 (VLAN 300)"
    rows = [("qos none: adjacencies", "FAIL", "205 kept", found, "95%, 615.3 ms")]
    lines = list(
        grid_lines(small_table(("criterion", "result", "asked", "found", "at"), rows, left=4), 100, 9)
    )
    assert lines[1].split()[:5] == ["qos", "none:", "adjacencies", "FAIL", "205"]
    assert max(map(len, lines)) <= 100


def test_advice_of_several_streams_is_given_once() -> None:
    each = [
        f"{name}: the tester left 16,736 of 165,050 frames unsent. Give it more cores" for name in "abcdefgh"
    ]
    assert " ".join(terminal._shortened("; ".join(each), 60, 5)).count("Give it more cores") == 1


@pytest.mark.parametrize("width", [60, 80])
def test_first_screen_of_a_narrow_terminal_is_as_narrow(width: int, tmp_path: Path) -> None:
    assert max(map(len, terminal.first_screen(headline(small(tmp_path)), width))) <= width


ERRORED = """\
title: Too long frames
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/bridge}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps}
traffic: {long: {size: 1519B}}
matrix: {direction: [uni]}
method: {errored-frames: {duration: 10ms}}
trial: {settle: 20ms, drain: 50ms}
"""


def test_a_device_that_filters_all_errored_frames_is_not_called_silent(tmp_path: Path) -> None:
    plan = parse(ERRORED)
    outcome = runner.run(plan, tmp_path, watcher(), Selection())
    with open_run(outcome.folder, REASONS) as stored:
        run = view(stored)
    filtered = replace(run, cases=(with_nothing_received(run.cases[0]),))
    assert not any("othing came back" in one for one in headline(filtered).caveats)
