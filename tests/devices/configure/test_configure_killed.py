"""A run that is killed at any moment leaves a device that the next start restores byte for byte."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from configured import CASES, configurer, device_in, journal_in
from faketree import FakeCli, FakeDevice
from killing import Moments, run_in_child
from netdyno.devices.configure.replay import replay

MOMENTS = 100
"""Of each system."""


def run_case(device: FakeDevice, system: str, confirm_s: int | None, moments: Moments) -> None:
    cli = FakeCli(device, moments.step)
    with journal_in(device.path.parent) as journal:
        subject = configurer(cli, journal, system)
        subject.apply(CASES[system], confirm_s)
        subject.undo()


def start_again(device: FakeDevice, moments: Moments) -> None:
    with journal_in(device.path.parent) as journal:
        replay(FakeCli(device, moments.step), journal)
        assert journal.pending is None


@pytest.mark.parametrize("system", ["xr", "ios"])
def test_kill_at_any_moment_is_undone_by_the_next_start(system: str, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    _, most = run_in_child(lambda moments: run_case(device, system, 60, moments))
    assert most > 100
    assert device.text() == before
    chance = random.Random(f"kill {system}")
    changed = twice = 0
    for number in range(MOMENTS):
        at, confirm_s = chance.randint(1, most), chance.choice((None, 60))
        was_killed, _ = run_in_child(lambda moments, s=confirm_s: run_case(device, system, s, moments), at)
        changed += device.text() != before
        if chance.random() < 0.3:
            device.pass_time(100)
        if chance.random() < 0.5:
            again = chance.randint(1, 60)
            twice += run_in_child(lambda moments: start_again(device, moments), again)[0]
        run_in_child(lambda moments: start_again(device, moments))
        assert device.text() == before, f"moment {at} of {most}, the {number + 1}th"
        assert was_killed or confirm_s is None
    assert changed > MOMENTS // 4
    assert twice > MOMENTS // 8
