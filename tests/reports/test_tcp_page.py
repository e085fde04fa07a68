"""What reports say of connections: a row each, the programs at both ends, and series of no device."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from commands import said
from netdyno.campaign.reasons import REASONS
from netdyno.methods.rfc6349 import METHOD, PATH, WINDOWS
from netdyno.reports.figures import connections as figure
from netdyno.reports.model import connection_tables, gauges_table
from netdyno.reports.model.answer import extremes
from netdyno.reports.model.families import of_run
from netdyno.reports.model.from_store import view
from netdyno.reports.model.table import text
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values.finding import Table
from netdyno.values.health import HostHealth
from netdyno.values.outcome import SENDERS_KERNEL, ConnectionCounts, ProgramTime
from netdyno.values.series import Series, Steps
from tcp_outcomes import S, connection

REPORT = Path(__file__).parent.parent / "data" / "iperf3" / "3.12-one.json"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    """One connection of a captured report, with what its sender's kernel could have said of it."""
    place = tmp_path_factory.mktemp("runs")
    assert said("import", "iperf3", REPORT, "--out", place).returncode == 0
    (folder,) = place.iterdir()
    with open_run(folder, REASONS) as stored:
        found = view(stored)
    return replace(found, cases=(_with_kernel(found.cases[0]),))


def _with_kernel(case: CaseView) -> CaseView:
    (trial,) = case.trials
    (carried,) = trial.result.carried
    one = connection(busy_ns=carried.sent_ns, window_ns=carried.sent_ns // 4, retransmitted_segments=7)
    carried = replace(
        carried, each=(one,), sender=ProgramTime(10 * S, S, S // 2), receiver=ProgramTime(10 * S, 9 * S, 0)
    )
    gauges = (
        Series(SENDERS_KERNEL, carried.name, "delivery rate", "bit/s", Steps(0, S), (95_000_000,) * 3),
        Series("cisco-ios", "cpu", "CPU", "%", Steps(0, S), (47,) * 3),
    )
    counts = ConnectionCounts((carried,), S)
    return replace(case, trials=(replace(trial, result=replace(trial.result, counts=counts, series=gauges)),))


def test_each_connection_is_a_row_with_what_held_it(run: RunView) -> None:
    (row,) = connection_tables.each(run.cases[0]).rows
    assert row[2] == "7 segments"
    assert row[6:] == ("100 %", "25 %", "0 %")


def test_programs_at_both_ends_have_their_share_of_a_core(run: RunView) -> None:
    sends, receives = connection_tables.programs(run.cases[0]).rows
    assert (sends[1:3], receives[1:3]) == (("10 %", "5 %"), ("90 %", "0 %"))


def test_host_whose_programs_were_not_seen_has_its_payload(run: RunView) -> None:
    (case,) = run.cases
    (trial,) = case.trials
    (carried,) = trial.result.carried
    host = HostHealth("west", 0, 0, None, None, None, None, None, 10 * S, (carried.name,))
    counts = ConnectionCounts((replace(carried, sender=None, receiver=None),), S)
    hosts = (host, replace(host, name="east", streams=()))
    spread = replace(
        case,
        trials=(replace(trial, result=replace(trial.result, counts=counts, hosts=hosts)),),
    )
    sends, receives = connection_tables.by_host(spread).rows
    assert sends[1] != receives[1] == "0 bit/s"
    assert sends[2] == receives[2] == "n/a"
    assert sends[3:5] == receives[3:5] == ("n/a", "n/a")


def test_what_the_senders_kernel_says_is_none_of_the_device(run: RunView) -> None:
    (case,) = run.cases
    (of_kernel,), (of_device,) = gauges_table.kernel_table(case).rows, gauges_table.table(case).rows
    assert of_kernel[1:5] == ("delivery rate", "Mbit/s", "95", "95")
    assert of_device[:2] == ("cpu", "CPU")
    assert not gauges_table.served_table(case).rows


def test_payload_has_its_printed_name_and_is_drawn_from_its_begin(run: RunView) -> None:
    (number,) = extremes(run)
    assert number.name.endswith("TCP payload")
    drawn = figure.spec(run, 800, 300)
    assert drawn is not None
    payload = [row["s"] for row in drawn["data"]["values"] if "mbps" in row]
    (carried,) = run.cases[0].trials[0].result.carried
    assert payload[0] == 0
    assert len(payload) == len(carried.samples) + 1


def test_payload_after_omitted_time_is_drawn_from_its_end(run: RunView) -> None:
    (case,) = run.cases
    (trial,) = case.trials
    # A client on a busy machine ends seconds late.
    late = replace(
        trial.result, phases=tuple(replace(one, duration_ns=60 * S) for one in trial.result.phases)
    )
    omitted = replace(trial, result=late, omitted_ns=S)
    drawn = figure.spec(replace(run, cases=(replace(case, trials=(omitted,)),)), 800, 300)
    assert drawn is not None
    assert next(row["s"] for row in drawn["data"]["values"] if "mbps" in row) == 1


def test_rfc6349_of_one_case_shows_its_best_window(run: RunView) -> None:
    (case,) = run.cases
    (name,) = (one.name for one in case.trials[0].result.carried)
    windows = [
        (name, share, None, None, payload, ratio, Fraction(1), None, None, delay)
        for share, payload, ratio, delay in (
            (Fraction(1, 4), Fraction(10**7), Fraction(4), Fraction(1, 10)),
            (Fraction(3, 4), Fraction(3 * 10**7), Fraction(2), Fraction(3, 10)),
            (Fraction(1, 2), Fraction(2 * 10**7), Fraction(3), Fraction(2, 10)),
        )
    ]
    path = (name, Fraction(1500), Fraction(20 * 10**6), Fraction(8000), None, None, None)
    assert case.result is not None
    tables = (Table("Path", PATH, (path,)), Table("Payload against the window", WINDOWS, tuple(windows)))
    case = replace(case, result=replace(case.result, method=METHOD.name, tables=tables))
    shown = of_run(replace(run, cases=(case,))).grid.texts
    assert [row[1] for row in shown[1:-1]] == ["75 %", "2", "100 %", "30 %", "20 ms"]


def test_one_segment_is_singular() -> None:
    assert [text(Fraction(count), "segments") for count in (0, 1, 2)] == [
        "0 segments",
        "1 segment",
        "2 segments",
    ]
