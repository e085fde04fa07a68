"""Calibrations of three ports and more: veth pairs, memifs, and cables of the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from netdyno.calibration import CalibrationError, shelf
from netdyno.campaign.reasons import REASONS
from netdyno.cli.app import cli
from netdyno.devices.linux import namespaces
from netdyno.store import open_run
from netdyno.values.records import StoredCase
from test_calibration import LITTLE, calibrated, needs_root, no_contradiction

pytest.importorskip("netdyno._engine", reason="the engine is not built")


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdyno.calibration.effort.QUICK", LITTLE)


def plan_of(
    folder: Path, count: int, kind: str = "linux/bridge", link: str = "", pattern: str = "pairs"
) -> Path:
    """A plan of so many links. link: more settings of each, `N` for its number."""
    links = "\n".join(
        f'    - {{endpoints: ["tester:t{n}", "dut:d{n}"], rate: 1Gbps{link.replace("N", str(n))}}}'
        for n in range(count)
    )
    file = folder / "plan.yaml"
    file.write_text(f"""
title: {count} ports
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
{links}
traffic: {{64b: {{size: 64B, flows: 64}}}}
matrix: {{profile: [64b], direction: [bidir], pattern: [{pattern}]}}
method: {{sweep: {{loads: [0.1%], duration: 200ms}}}}
trial: {{settle: 50ms, drain: 200ms, sample: 20ms}}
""")
    return file


def run_case(plan: Path, out: Path, *options: str) -> tuple[StoredCase, str]:
    """The only case of a plan, and what the command printed of the calibration before it."""
    done = CliRunner().invoke(cli, ["run", str(plan), "--out", str(out), *options])
    assert done.exit_code in (0, 1, 3, 4), done.output + str(done.exception)
    folder = max(
        (one for one in out.iterdir() if one.name != shelf.FOLDER), key=lambda one: one.stat().st_mtime
    )
    with open_run(folder, REASONS) as stored:
        (case,) = stored.cases
    assert case.error is None
    return case, done.stderr


@needs_root
@pytest.mark.parametrize(("kind", "pattern"), [("linux/bridge", "pairs"), ("linux/router", "full-mesh")])
def test_first_run_of_a_lab_with_four_links_calibrates_and_rests_on_it(
    kind: str, pattern: str, tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, 4, kind, pattern=pattern)
    case, said = run_case(plan, tmp_path / "runs")
    ((kept,), wrong) = shelf.load(tmp_path / "runs")
    assert not wrong
    no_contradiction(kept)
    assert len(kept.ports) == 4
    assert kept.how == "2 veth pairs, each from tester port to tester port."
    assert {f"p{n}: driver" for n in range(4)} <= set(kept.basis)
    assert "calibrating the tester first for 4 ports" in said
    proven = case.wiring.proven
    assert proven is not None
    assert proven.id == kept.id
    # Nothing it rests on changed from the loopback to the lab; on a busy machine a check may have failed.
    assert proven.expired is None or proven.expired == shelf.find_failed_check(kept, kept.traffic[0])
    # A calibration of two of these ports is none of four.
    shelf.save(tmp_path / "pair", replace(kept, ports=kept.ports[:2]))
    four, _ = run_case(plan_of(tmp_path, 4, kind, pattern=pattern), tmp_path / "pair", "--no-calibrate")
    assert four.wiring.proven is None
    assert "ports-not-calibrated" in {note.code for note in four.wiring.notes}


@needs_root
def test_odd_port_of_a_lab_is_calibrated_with_one_of_the_testers(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 3)
    _, found = calibrated(str(plan), "--out", str(tmp_path / "runs"))
    no_contradiction(found)
    assert len(found.ports) == 3
    assert not any(what.startswith("far") for what in found.basis)
    case, _ = run_case(plan, tmp_path / "runs", "--no-calibrate")
    assert case.wiring.proven is not None
    assert case.wiring.proven.id == found.id


@pytest.mark.parametrize("count", [3, 4])
def test_memifs_are_calibrated_in_pairs(count: int, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, count, "external", ", backend: memif, socket: /nowhere/dut.sock, id: N")
    _, found = calibrated(str(plan), "--out", str(tmp_path))
    no_contradiction(found)
    assert len(found.ports) == count
    assert found.how == "2 memifs, both ends of each opened by netdyno."


@contextmanager
def cables(pairs: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Interfaces in a namespace of its own, with a cable between two each."""
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: E731
    with namespaces.tester_namespace():
        try:
            for near, far in pairs:
                run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
                for end in (near, far):
                    run("ip", "link", "set", end, "arp", "off", "up")
            yield
        finally:
            for near, _ in pairs:
                subprocess.run(("ip", "link", "delete", near), check=False, capture_output=True)


@needs_root
def test_interfaces_cabled_in_pairs_are_calibrated_at_once(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 4, "external", ", interface: eN")
    with cables((("e0", "e1"), ("e2", "e3"))):
        _, found = calibrated(str(plan), "--out", str(tmp_path))
    no_contradiction(found)
    assert len(found.ports) == 4
    assert found.how == "The user's cable between `e0` and `e1`, cable between `e2` and `e3`."
    with cables((("e0", "e2"), ("e1", "e3"))):
        done = CliRunner().invoke(cli, ["calibrate", "--quick", str(plan), "--out", str(tmp_path)])
    assert isinstance(done.exception, CalibrationError), done.output
    assert done.exception.code == "no-cable"
    assert (done.exception.hint or "").startswith("cable `t0` with `t1`, `t2` with `t3`")
