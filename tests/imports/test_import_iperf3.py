"""`netdyno import iperf3`: reports of iperf3 become a run. Captured of iperf 3.12, over loopback; their
addresses are RFC 2544's. Copies that were changed say how."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from alarm import at_most
from commands import said
from mutating import mutated
from netdyno.campaign.reasons import REASONS
from netdyno.imports.formats.iperf3 import IMPORTER
from netdyno.imports.imported import Imported, ImportFileError, Known, read_files
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values.finding import Value
from pages import OF_RUNS, report_text
from sampling import examples

REPORTS = Path(__file__).parent.parent / "data" / "iperf3"
TCP = ("one", "five", "bidir", "reverse")


def file(name: str) -> Path:
    return REPORTS / f"3.12-{name}.json"


def document(name: str) -> Any:
    return json.loads(file(name).read_text())


def changed(change: Callable[[Any], object], name: str = "one") -> str:
    report = document(name)
    change(report)
    return json.dumps(report)


def goodput(report: Any, key: str = "sum_received") -> Fraction:
    """What reached the other end, bits a second: by the numbers of the report."""
    found = report["end"][key]
    return Fraction(8 * found["bytes"] * 10**9, round(found["seconds"] * 1e9))


def values(case: CaseView, scope: str = "sum") -> dict[str, Value]:
    return {one.name: one for one in case.values if one.scope == scope}


def read(*paths: Path) -> tuple[Imported, ...]:
    return read_files(IMPORTER, paths, Known())


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RunView]]:
    place = tmp_path_factory.mktemp("runs")
    files = [file(name) for name in (*TCP, "udp-bidir")]
    done = said("import", "iperf3", *files, "--out", place, "--device", "office router")
    assert done.returncode == 0, done.stderr
    (folder,) = place.iterdir()
    with open_run(folder, REASONS) as stored:
        yield folder, view(stored)


def test_tcp_has_goodput_of_each_direction_and_together(imported: tuple[Path, RunView]) -> None:
    one, five, bidir, reverse, _ = imported[1].cases
    for case, name in ((one, "one"), (five, "five"), (reverse, "reverse")):
        assert case.streams == ("server-client" if name == "reverse" else "client-server",)
        assert values(case)["tcp"].number == goodput(document(name))
        again = document(name)["end"]["sum_sent"]["retransmits"]
        assert values(case)["retransmitted"].number == again
    report = document("bidir")
    there, back = goodput(report), goodput(report, "sum_received_bidir_reverse")
    assert values(bidir, "client-server")["tcp"].number == there
    assert values(bidir, "server-client")["tcp"].number == back
    assert values(bidir)["tcp"].number == there + back
    assert [case.axes for case in (one, five, bidir, reverse)] == [
        {"profile": "1-connection", "direction": "uni"},
        {"profile": "5-connections", "direction": "uni"},
        {"profile": "2-connections", "direction": "bidir"},
        {"profile": "1-connection", "direction": "uni-reverse"},
    ]


def test_intervals_are_series_of_the_sender(imported: tuple[Path, RunView]) -> None:
    case = imported[1].cases[1]
    (trial,) = case.trials
    intervals = document("five")["intervals"]
    assert [sent for sent, _ in trial.result.carried[0].samples] == [one["sum"]["bytes"] for one in intervals]
    series = {one.name: one for one in trial.result.series}
    assert {(one.source, one.subject) for one in series.values()} == {("iperf3", "client-server")}
    windows = [sum(each["snd_cwnd"] for each in one["streams"]) for one in intervals]
    assert [*series["congestion window"].values] == windows
    rtts_us = [sum(each["rtt"] for each in one["streams"]) // 5 for one in intervals]
    assert [*series["RTT"].numbers] == [Fraction(rtt, 1000) for rtt in rtts_us]
    assert series["retransmitted"].values[-1] == document("five")["end"]["sum_sent"]["retransmits"]
    assert not imported[1].cases[3].trials[0].result.series, "the sender of `-R` is the other end"


def test_udp_is_what_iperf3_counted(tmp_path: Path) -> None:
    def lose(report: Any) -> None:
        report["end"]["sum_received"].update(lost_packets=30, bytes=123 * 32768, packets=153)
        report["end"]["streams"][0]["udp"]["out_of_order"] = 2

    (tmp_path / "udp.json").write_text(changed(lose, "udp"))
    (found,) = read(tmp_path / "udp.json")
    numbers = {one.name: one.number for one in found.result.values if one.scope == "client-server"}
    assert numbers["datagrams lost"] == Fraction(30, 153)
    assert numbers["UDP jitter"] == 8835
    assert numbers["UDP payload received"] == Fraction(8 * 123 * 32768 * 10**9, 2_000_249_000)
    assert found.reason.code == "imported-datagrams"


def test_no_limit_is_judged_and_nothing_is_made_up(imported: tuple[Path, RunView]) -> None:
    found = json.loads(report_text("json", imported[1]))
    for case in found["cases"]:
        assert not {"line_pps", "line_l1_bps", "mean_frame_size_bytes", "frame_sizes"} & set(case)
        assert "health" not in case["trials"][0]
        code = "imported-datagrams" if case["method"] == "udp" else "imported-connections"
        assert {one["reason"]["code"] for one in case["values"]} == {code}
        assert {one["limit"] for one in case["values"]} == {"inconclusive"}
    held = [case["values"][0]["reason"]["fields"].get("held_bps") for case in found["cases"][:4]]
    assert held == [None, 100_000_000, 200_000_000, 500_000_000]
    assert found["versions"]["imported from"] == "iperf3"
    assert found["versions"]["iperf3"] == "3.12"


def test_every_report_and_command_takes_it(imported: tuple[Path, RunView]) -> None:
    folder, run = imported
    for name in OF_RUNS:
        assert report_text(name, run), name
    page = report_text("html", run)
    assert "Measured by iperf3, stored by netdyno" in page
    assert "Payload alone" in page
    listed = json.loads(said("list", folder.parent, "--format", "json").stdout)
    assert [(one["cases"], one["done"], one["limits"]) for one in listed] == [(5, 5, {"inconclusive": 5})]
    for command in (("verify", folder), ("run", "--resume", folder)):
        assert said(*command).returncode == 0, command
    trend = said("trend", "5-connections / uni", folder.parent, "--format", "json")
    assert trend.returncode == 0
    assert imported[1].started == "2026-11-30T01:43:30Z"


def test_two_imports_are_compared_case_by_case(imported: tuple[Path, RunView], tmp_path: Path) -> None:
    def halve(report: Any) -> None:
        report["end"]["sum_received"]["seconds"] *= 2

    (tmp_path / "newer.json").write_text(changed(halve))
    runs = tmp_path / "runs"
    assert said("import", "iperf3", tmp_path / "newer.json", "--out", runs).returncode == 0
    (folder,) = runs.iterdir()
    done = said("compare", imported[0], folder, "--as", "json")
    rows = [row for row in json.loads(done.stdout)["values"] if row["value"] == "tcp"]
    (row,) = [row for row in rows if len(row["sides"]) == 2 and row["changes"]]
    assert row["changes"][0]["share"] == pytest.approx(-0.5, abs=1e-6)


def test_equal_reports_of_a_file_are_repeats(tmp_path: Path) -> None:
    (tmp_path / "night.json").write_text(file("one").read_text() * 3 + file("bidir").read_text())
    found = read(tmp_path / "night.json")
    assert [one.repeat for one in found] == [1, 2, 3, 1]
    assert len({tuple(one.axes.items()) for one in found}) == 2


def test_options_are_axes_where_they_alone_differ(tmp_path: Path) -> None:
    found = read(file("one"), file("asked"), file("bidir"))
    assert [one.axes for one in found] == [
        {"duration": "2s", "congestion": "bbr", "profile": "1-connection", "direction": "uni"},
        {
            "bytes": "5242880B",
            "bitrate": "100Mbps",
            "congestion": "reno",
            "window": "65536B",
            "mss": "1000",
            "profile": "1-connection",
            "direction": "uni",
        },
        {
            "duration": "2s",
            "bitrate": "200Mbps",
            "congestion": "bbr",
            "profile": "2-connections",
            "direction": "bidir",
        },
    ]
    # Equal tests of two files are told apart by these, and by the axes in their names.
    for name in ("a.json", "b.json", "nat=on,repeat=2.json"):
        (tmp_path / name).write_text(file("one").read_text())
    assert [one.axes.get("file") for one in read(tmp_path / "a.json", tmp_path / "b.json")] == ["a", "b"]
    (named,) = read(tmp_path / "nat=on,repeat=2.json")
    assert (named.axes["nat"], named.repeat) == ("on", 2)


def test_report_of_powershell_is_read(tmp_path: Path) -> None:
    # Its `>` writes UTF-16 with a mark of the byte order.
    (tmp_path / "windows.json").write_bytes(file("one").read_text().encode("utf-16"))
    assert read(tmp_path / "windows.json")[0].result == read(file("one"))[0].result


TEXT = (REPORTS / "3.12.txt").read_bytes()
WHOLE = file("one").read_bytes()
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "text": (TEXT, "wrong-format"),
    "cut": (WHOLE[: len(WHOLE) // 2], "wrong-format"),
    "second-is-cut": (WHOLE + WHOLE[:1000], "wrong-format"),
    "server": (file("server").read_bytes(), "unsupported"),
    "server-ended": (file("server-ended").read_bytes(), "trial-invalid"),
    "refused": (file("refused").read_bytes(), "trial-invalid"),
    "of-ipng": (b'{"vars": {}, "stats": {}}', "wrong-format"),
    "list": (b"[1, 2]", "wrong-format"),
    "deep": (b"[" * 200_000, "wrong-format"),
    "latin-1": (WHOLE.replace(b"bbr", b"\xe9\xe9"), "not-utf8"),
    "sctp": (WHOLE.replace(b'"TCP"', b'"SCTP"'), "unsupported"),
    "no-time": (changed(lambda one: one["end"]["sum_received"].update(seconds=0)).encode(), "wrong-format"),
    "no-streams": (changed(lambda one: one["end"].update(streams=7)).encode(), "wrong-format"),
    "negative": (changed(lambda one: one["end"]["sum_sent"].update(bytes=-5)).encode(), "wrong-format"),
    "huge": (changed(lambda one: one["end"]["sum_sent"].update(bytes=10**30)).encode(), "wrong-format"),
    "long": (WHOLE.replace(b"3348889600", b"7" * 9999), "wrong-format"),
    "steering": (
        changed(lambda one: one.update(error="\x1b[31mred")).encode(),
        "trial-invalid",
    ),
}
"""Files that are no test, or have none that can be read, and the error."""


@pytest.mark.parametrize("name", HOSTILE)
def test_file_that_is_refused_is_one_line_and_writes_nothing(name: str, tmp_path: Path) -> None:
    content, code = HOSTILE[name]
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    with at_most(10):
        done = said("import", "iperf3", file("one"), bad, "--out", tmp_path / "runs")
    assert (done.returncode, done.stdout) == (2, "")
    errors = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(errors) == 1, done.stderr
    assert errors[0].startswith(f"error: {bad}: ")
    assert len(errors[0]) < 300 + len(str(bad))
    assert "\x1b" not in done.stderr
    assert not (tmp_path / "runs").exists()
    with pytest.raises(ImportFileError) as caught:
        read(bad)
    assert caught.value.code == code


def test_text_and_server_reports_name_the_next_step() -> None:
    for content in (TEXT, file("server").read_bytes()):
        with pytest.raises(ImportFileError) as caught:
            IMPORTER.read(Path("x"), content, Known())
        assert caught.value.hint is not None
        assert "`iperf3 -c HOST -J > FILE`" in caught.value.hint


def test_bytes_changed_at_random_are_read_or_refused(tmp_path: Path) -> None:
    chance = random.Random(14)
    refused = 0
    for number in range(examples(300)):
        plain = file(chance.choice((*TCP, "udp", "omit"))).read_bytes()
        try:
            with at_most(10):
                IMPORTER.read(Path("x.json"), mutated(plain, chance), Known())
        except ImportFileError:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"change {number}") from error
    assert refused
