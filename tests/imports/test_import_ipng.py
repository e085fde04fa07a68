"""`netdyno import ipng`: a ramp of T-Rex becomes a run, with what its file says and nothing else."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from alarm import at_most
from commands import said
from ipng_reader import read
from mutating import mutated
from netdyno.campaign.reasons import REASONS
from netdyno.imports.formats.ipng import IMPORTER
from netdyno.imports.imported import Imported, ImportFileError, Known, read_files
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values.finding import Value
from netdyno.values.mixes import MIXES, fixed
from netdyno.values.units import L1Rate
from pages import OF_RUNS, report_text
from report_sample import SECOND, SMALL, Asked, write
from sampling import examples

LINE = {"udp_1pkt_simple_bdir.py": 14_880_952, "imix.py": 3_273_680}
"""Frames a second of 10 Gbit/s."""
KEYS = ("tx_pps", "rx_pps", "tx_util", "rx_util")


def ramp(
    west_pps: int, east_pps: int, profile: str = "udp_1pkt_simple_bdir.py", util: float = 1.0
) -> dict[str, Any]:
    """A file of T-Rex: 2 s of warm-up, 10 s of ramp-up, 3 s of hold; each direction passes so much."""
    line = LINE[profile]
    loads = [1000, 1000, *(line * (2 * second + 1) // 20 for second in range(10)), line, line, line]
    stats = {}
    for second, load in enumerate(loads):
        came = {"0": min(load, east_pps), "1": min(load, west_pps)}
        ports: dict[str, Any] = {}
        for port, back in came.items():
            used = [rate / line * 100 * util for rate in (load, back)]
            ports[port] = dict(zip(KEYS, (float(load), back, *used), strict=True))
        ports["global"] = {"cpu_util": 12.5}
        stats[f"{1_623_412_345 + second}.25"] = ports
    asked = {
        "warmup_mult": "1kpps",
        "warmup_duration": 2,
        "rampup_target": "100%",
        "rampup_duration": 10,
        "hold_duration": 3,
        "profile_file": profile,
        "unidirectional": False,
    }
    return {"vars": asked, "stats": stats}


def parsed(document: object, known: Known | None = None, name: str = "x.json") -> Imported:
    (found,) = IMPORTER.read(Path(name), json.dumps(document).encode(), known or Known())
    return found


def values(case: CaseView, scope: str) -> dict[str, Value]:
    return {one.name: one for one in case.values if one.scope == scope}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RunView]]:
    """64 B, of which one direction loses from 9 Mpps on, and a mix that loses nothing."""
    place = tmp_path_factory.mktemp("files")
    (place / "small.json").write_text(json.dumps(ramp(9_000_000, LINE["udp_1pkt_simple_bdir.py"])))
    (place / "mix.json").write_text(json.dumps(ramp(4_000_000, 4_000_000, "imix.py")))
    done = said("import", "ipng", place / "small.json", place / "mix.json", "--out", place / "runs")
    assert done.returncode == 0, done.stderr
    (folder,) = (place / "runs").iterdir()
    with open_run(folder, REASONS) as stored:
        yield folder, view(stored)


def test_values_are_those_of_the_rates(imported: tuple[Path, RunView]) -> None:
    """By hand: of loads at 5, 15, ... 95 % of 14,880,952 pps the last below 9 Mpps is 55 %."""
    small, mix = imported[1].cases
    west, east = values(small, "0-1"), values(small, "1-0")
    assert west["ramp max Rx"].number == 9_000_000
    knee = west["knee"]
    assert (knee.number, knee.low, knee.high) == (8_184_523, 8_184_523, 9_672_618)
    assert west["loss at the end"].number == 1 - Fraction(9_000_000, 14_880_952)
    assert west["hold rate"].number == 9_000_000
    assert east["knee"].number is None
    assert east["knee"].low == 14_880_952 * 19 // 20
    assert east["loss at the end"].number == 0
    assert values(small, "sum")["ramp max Rx"].number == 9_000_000 + 14_880_952
    assert values(small, "sum")["loss at the end"].number == 1 - Fraction(23_880_952, 2 * 14_880_952)
    assert mix.sizes == MIXES["imix/trex"].weights
    assert values(mix, "0-1")["line utilisation"].number == 1
    assert "line utilisation" not in west
    assert {one.of_frames for one in small.values} == {None}, "rates have no interval of frames"


def test_line_is_the_ethernet_rate_near_its_utilisation(imported: tuple[Path, RunView]) -> None:
    assert {case.line_bps for case in imported[1].cases} == {10**10}
    without_fcs = parsed(ramp(9_000_000, 9_000_000, util=80 / 84))
    assert without_fcs.situation.line_fps == Fraction(10**10, 84 * 8)
    given = parsed(ramp(9_000_000, 9_000_000), Known(line=L1Rate(Fraction(2 * 10**10))))
    assert given.situation.line_fps == Fraction(2 * 10**10, 84 * 8)
    lag = ramp(9_000_000, 9_000_000, util=0.5)
    assert parsed(lag).situation.line_fps == Fraction(2 * 10**10, 84 * 8)


def test_what_the_tool_does_not_know_is_missing(imported: tuple[Path, RunView]) -> None:
    _, run = imported
    found = json.loads(report_text("json", run))
    for case in found["cases"]:
        assert "flows" not in case
        (trial,) = case["trials"]
        assert "health" not in trial
        for stream in trial["streams"]:
            absent = {"latency", "lag", "duplicates_frames", "out_of_order_frames", "flows_received"}
            assert not absent & set(stream)
        assert {one["reason"]["code"] for one in case["values"]} == {"imported-rates"}
        assert {one["limit"] for one in case["values"]} == {"inconclusive"}
    assert found["versions"]["imported from"] == "T-Rex"
    assert "netdyno calibrate" not in report_text("summary", run)


def test_time_of_the_run_is_that_of_its_samples(imported: tuple[Path, RunView]) -> None:
    assert imported[1].started == "2021-06-11T11:52:25Z"
    assert imported[1].ended == "2021-06-11T11:52:39Z"
    assert imported[0].name.startswith("2021-06-11T1152Z-load-tests-of-t-rex-")
    document = ramp(9_000_000, 9_000_000)
    document["stats"] = {str(place): one for place, one in enumerate(document["stats"].values())}
    assert parsed(document).started is None
    document["stats"] = {f"sample {place}": one for place, one in enumerate(document["stats"].values())}
    assert parsed(document).started is None


def test_every_report_and_command_takes_it(imported: tuple[Path, RunView], tmp_path: Path) -> None:
    folder, run = imported
    for name in OF_RUNS:
        assert report_text(name, run), name
    page = report_text("html", run)
    assert "Measured by T-Rex, stored by netdyno" in page
    assert "run it again" not in page
    listed = json.loads(said("list", folder.parent, "--format", "json").stdout)
    assert [(one["cases"], one["done"], one["limits"]) for one in listed] == [(2, 2, {"inconclusive": 2})]
    assert said("verify", folder).returncode == 0
    assert said("run", "--resume", folder).returncode == 0
    assert said("report", folder, "--as", "ipng", "-o", tmp_path / "again").returncode == 0
    drawn = {one.profile: one for one in map(read, (tmp_path / "again").iterdir())}
    assert set(drawn) == {"64B", "imix"}
    assert drawn["64B"].channels["0->1"].most_pps == 9_000_000.0


def test_export_of_what_was_imported_is_the_same(tmp_path: Path) -> None:
    run, first, second = (tmp_path / name for name in ("run", "first", "second"))
    run.mkdir()
    write(run, replace(SMALL, sample_ns=SECOND // 10, ramp=(30, 120, 30))).close()
    assert said("report", run, "--as", "ipng", "-o", first).returncode == 0
    assert said("import", "ipng", *sorted(first.iterdir()), "--out", tmp_path / "runs").returncode == 0
    (stored,) = (tmp_path / "runs").iterdir()
    assert said("report", stored, "--as", "ipng", "-o", second).returncode == 0
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert len(names) == 7
    for name in names:
        assert json.loads((first / name).read_text()) == json.loads((second / name).read_text())


def test_run_of_netdyno_is_compared_with_one_of_t_rex(tmp_path: Path) -> None:
    """Their cases meet by profile and direction; a limit that is not judged leaves the difference open."""
    own = tmp_path / "own"
    own.mkdir()
    same = Asked({"profile": "64b", "direction": "bidir"}, 8_000_000, size=64)
    write(own, replace(SMALL, cases=(same,))).close()
    (tmp_path / "x.json").write_text(json.dumps(ramp(9_000_000, 9_000_000)))
    assert said("import", "ipng", tmp_path / "x.json", "--out", tmp_path / "runs").returncode == 0
    (folder,) = (tmp_path / "runs").iterdir()
    done = said("compare", own, folder, "--as", "json", "--worse-than", "2%")
    assert done.returncode == 3
    (row,) = json.loads(done.stdout)["values"]
    assert [one["mean"] for one in row["sides"]] == [16_000_000, 18_000_000]
    assert row["changes"][0]["share"] == 0.125
    assert row["changes"][0]["outcome"] == "not compared"


def test_axes_come_of_the_name_of_the_file_or_of_its_contents() -> None:
    document = ramp(9_000_000, 9_000_000)
    for name, axes, repeat in (
        ("anything.json", {"profile": "64b", "direction": "bidir"}, 1),
        ("a=b,odd.json", {"profile": "64b", "direction": "bidir"}, 1),
        ("lag=2%2F4,profile=x.json", {"lag": "2/4", "profile": "x", "direction": "bidir"}, 1),
        ("profile=x,repeat=3.json", {"profile": "x", "direction": "bidir"}, 3),
        ("=x,y=.json", {"profile": "64b", "direction": "bidir"}, 1),
        ("a=%1b[31m.json", {"a": "�[31m", "profile": "64b", "direction": "bidir"}, 1),
    ):
        found = parsed(document, name=name)
        assert (found.axes, found.repeat) == (axes, repeat)
    assert parsed(document, Known(mix=fixed(128))).axes["profile"] == "64b", "the file says it"
    document["vars"]["profile_file"] = "bench.py"
    assert parsed(document, Known(mix=fixed(128))).axes["profile"] == "128b"
    document["vars"]["profile_file"] = "stl/imix.py"
    assert parsed(document).axes["profile"] == "imix-trex"
    document["vars"]["unidirectional"] = True
    assert parsed(document).situation.streams == ("0-1",)
    assert parsed(document).axes["direction"] == "uni"


def test_files_of_one_kind_get_an_axis_of_their_names(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path in paths:
        path.write_text(json.dumps(ramp(9_000_000, 9_000_000)))
    found = read_files(IMPORTER, paths, Known())
    assert [one.axes["file"] for one in found] == ["a", "b"]
    with pytest.raises(ImportFileError) as error:
        read_files(IMPORTER, [*paths, paths[0]], Known())
    assert error.value.code == "given-twice"


def test_port_that_sends_nothing_is_no_direction() -> None:
    document = ramp(9_000_000, 9_000_000)
    for sample in document["stats"].values():
        sample["1"]["tx_pps"] = 0.0
        sample["0"]["rx_pps"] = 0.0
    assert parsed(document).situation.streams == ("0-1",)


def test_loads_are_read_as_t_rex_has_them() -> None:
    document = ramp(9_000_000, 9_000_000)
    layers = {"10gbps": "L2Rate", "10gbpsl1": "L1Rate", "14.8mpps": "FrameRate", "90%": "Percent"}
    for text, layer in layers.items():
        document["vars"]["rampup_target"] = text
        assert type(parsed(document).segments[-1].to_rate).__name__ == layer


def test_truncated_ramp_has_what_it_has() -> None:
    document = ramp(9_000_000, 9_000_000)
    document["stats"] = dict(list(document["stats"].items())[:5])
    found = parsed(document).result
    assert [one.number for one in found.values if one.name == "hold rate"] == [None] * 3
    document["stats"] = dict(list(document["stats"].items())[:1])
    assert [one.number for one in parsed(document).result.values] == [None] * 3


def spoil(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = ramp(9_000_000, 9_000_000)
    change(document)
    return json.dumps(document).encode()


def sample(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(document["stats"].values()))
    return found


def everywhere(document: dict[str, Any], **rates: float) -> None:
    for one in document["stats"].values():
        for port in one.values():
            port.update(rates)


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "truncated": spoil(lambda one: None)[:2000],
    "text": b"hello",
    "list": b"[]",
    "foreign": b'{"a": 1}',
    "latin-1": spoil(lambda one: one["vars"].update(profile_file="?")).replace(b"?", b"\xe9"),
    "deep": b"[" * 200_000,
    "deep-sample": b'{"vars": {}, "stats": ' + b'{"a":' * 100_000,
    "nan": spoil(lambda one: sample(one)["0"].update(tx_pps=float("nan"))),
    "infinite": spoil(lambda one: sample(one)["1"].update(rx_util=float("inf"))),
    "1e999": spoil(lambda one: sample(one)["0"].update(tx_pps=7)).replace(b": 7,", b": 1e999,"),
    "long-number": spoil(lambda one: sample(one)["0"].update(tx_pps=7)).replace(
        b": 7,", b": %s," % (b"7" * 9999)
    ),
    "negative": spoil(lambda one: sample(one)["0"].update(tx_pps=-1.0)),
    "text-rate": spoil(lambda one: sample(one)["0"].update(tx_pps="1000")),
    "bool-rate": spoil(lambda one: sample(one)["0"].update(tx_pps=True)),
    "null-rate": spoil(lambda one: sample(one)["0"].update(tx_pps=None)),
    "no-rate": spoil(lambda one: sample(one)["0"].pop("rx_util")),
    "no-port": spoil(lambda one: sample(one).pop("1")),
    "third-port": spoil(lambda one: sample(one).update({"2": sample(one)["0"]})),
    "no-samples": spoil(lambda one: one.update(stats={})),
    "samples-listed": spoil(lambda one: one.update(stats=[1, 2])),
    "no-vars": spoil(lambda one: one.pop("vars")),
    "no-duration": spoil(lambda one: one["vars"].pop("hold_duration")),
    "negative-duration": spoil(lambda one: one["vars"].update(hold_duration=-3)),
    "endless-duration": spoil(lambda one: one["vars"].update(hold_duration=1e12)),
    "no-time-at-all": spoil(
        lambda one: one["vars"].update(warmup_duration=0, rampup_duration=0, hold_duration=0)
    ),
    "factor": spoil(lambda one: one["vars"].update(rampup_target="2")),
    "load-listed": spoil(lambda one: one["vars"].update(rampup_target=[1])),
    "long-profile": spoil(lambda one: one["vars"].update(profile_file="x" * 10_000)),
    "unknown-profile": spoil(lambda one: one["vars"].update(profile_file="bench.py")),
    "one-way-text": spoil(lambda one: one["vars"].update(unidirectional="yes")),
    "silent": spoil(lambda one: everywhere(one, tx_pps=0.0)),
    "no-line": spoil(lambda one: everywhere(one, tx_util=0.0)),
    "every-tenth-second": spoil(
        lambda one: one.update(stats={str(10 * at): each for at, each in enumerate(one["stats"].values())})
    ),
    "steering": spoil(lambda one: sample(one).update({"\x1b[31m": 1})),
}
"""Files that are no load test, or have no room in a run."""


@pytest.mark.parametrize("name", HOSTILE)
def test_file_that_is_refused_is_one_line_and_writes_nothing(name: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(spoil(lambda one: None))
    bad.write_bytes(HOSTILE[name])
    with at_most(10):
        done = said("import", "ipng", good, bad, "--out", tmp_path / "runs")
    assert (done.returncode, done.stdout) == (2, "")
    errors = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(errors) == 1, done.stderr
    assert errors[0].startswith(f"error: {bad}: ")
    assert len(errors[0]) < 300 + len(str(bad))
    assert "\x1b" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_what_is_no_regular_or_small_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate((64 << 20) + 1)
    for what in (tmp_path / "fifo", tmp_path / "huge", tmp_path, tmp_path / "missing", Path("/dev/zero")):
        with at_most(10):
            done = said("import", "ipng", what, "--out", tmp_path / "runs")
        assert (done.returncode, done.stdout) == (2, ""), what
    options = ("--size", "5B"), ("--line", "9 apples"), ("--line", "0bps"), ("--line", "9Gbps L2")
    for wrong in (("pcap", "x"), ("ipng",), *(("ipng", "x", *option) for option in options)):
        assert said("import", *wrong).returncode == 2
    assert not (tmp_path / "runs").exists()


def test_bytes_changed_at_random_are_read_or_refused() -> None:
    chance = random.Random(14)
    plain = spoil(lambda one: None)
    refused = 0
    for number in range(examples(300)):
        try:
            with at_most(10):
                IMPORTER.read(Path("x.json"), mutated(plain, chance), Known())
        except ImportFileError:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"change {number}") from error
    assert refused


def test_run_that_cannot_be_stored_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netdyno.imports import imported as module

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "x.json").write_bytes(spoil(lambda one: None))
    monkeypatch.setattr(module, "_write_case", full)
    assert said("import", "ipng", tmp_path / "x.json", "--out", tmp_path / "runs").returncode == 3
    assert [*(tmp_path / "runs").iterdir()] == []
