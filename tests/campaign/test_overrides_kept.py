"""What `--set` put into a plan is stored with the run: reports say it, and resuming runs the same plan."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import fake_engine
from campaigns import ONE, essence, write_plan
from commands import said
from netdyno.campaign import run as runner
from netdyno.campaign.interrupts import Interrupts
from netdyno.campaign.reasons import REASONS
from netdyno.cli import live
from netdyno.plan import load
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run

SET = ("traffic.64b.size=128B", "method.throughput.width=2%")


def run(plan: Path, out: Path, overrides: tuple[str, ...], interrupts: Interrupts | None = None) -> Path:
    asked = load(plan, overrides=overrides)
    found = runner.run(asked, out, live.watcher(), runner.Selection(), fake_engine.ENTRY, interrupts)
    return found.folder


def test_resumed_run_has_the_plan_as_it_was_set(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ONE)
    by_hand = tmp_path / "by-hand.yaml"
    by_hand.write_text(ONE.replace("64b: {size: 64B,", "64b: {size: 128B,").replace("width: 1%", "width: 2%"))
    interrupts = Interrupts()
    interrupts.seen.append(signal.SIGINT)
    folder = run(plan, tmp_path / "runs", SET, interrupts)
    interrupts.restore()
    with open_run(folder, REASONS) as stored:
        assert (stored.state, stored.head.plan, stored.head.overrides) == ("interrupted", ONE, SET)
    assert runner.resume(folder, live.watcher(), fake_engine.ENTRY).exit_code == 0
    assert essence(folder) == essence(run(by_hand, tmp_path / "others", ()))


def test_reports_say_what_was_set(tmp_path: Path) -> None:
    folder = run(write_plan(tmp_path, ONE), tmp_path / "runs", SET)
    assert json.loads(said("report", folder, "--as", "json").stdout)["set"] == list(SET)
    assert "--set traffic.64b.size=128B --set method.throughput.width=2%" in report(folder, "html")
    assert "traffic.64b.size=128B and method.throughput.width=2% set" in report(folder, "markdown")
    with open_run(folder, REASONS) as stored:
        assert "2 values set in the plan" in headline(view(stored)).badge
    assert said("verify", folder).returncode == 0


def report(folder: Path, name: str) -> str:
    return said("report", folder, "--as", name).stdout
