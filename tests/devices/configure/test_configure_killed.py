"""A run that is killed at any moment leaves a device that the next start restores byte for byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from configured import Device, Step, any_device_in, case_of, configurer, journal_in
from killing import Moments, run_in_child
from netdyno.devices.configure.apply import replay
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.shell import Cli
from netdyno.devices.stand_ins.sections import Sections
from sampling import examples

WHOLE = {"xr": 100, "ios": 100, "router": 30, "asa": 30, "routeros": 30, "linux": 30}
"""Moments of each system."""
MOMENTS = {system: examples(count) for system, count in WHOLE.items()}


@dataclass(frozen=True)
class Killing:
    """A device of a system, and what is killed while it is configured."""

    system: str
    folder: Path
    device: Device
    cli: Callable[[Step], Cli]

    def run_case(self, confirm_s: int | None, moments: Moments) -> None:
        """Applies a case and undoes it."""
        with journal_in(self.folder) as journal:
            subject = configurer(self.cli(moments.step), journal, self.system)
            subject.apply(case_of(self.system), confirm_s)
            subject.undo()

    def enter_half(self) -> None:
        """What an administrator has entered of the case before: all of the first half of its lines."""
        session = self.cli(lambda _what: None)
        commands = find_undoing(session.shell).commands(case_of(self.system)).splitlines(keepends=True)
        session.configure("".join(commands[: len(commands) // 2]))

    def start_again(self, moments: Moments) -> None:
        """Undoes what is left."""
        with journal_in(self.folder) as journal:
            replay(self.cli(moments.step), journal)
            assert journal.pending is None


@pytest.mark.parametrize("is_half_there", [False, True])
@pytest.mark.parametrize("system", MOMENTS)
def test_kill_at_any_moment_is_undone_by_the_next_start(
    system: str, is_half_there: bool, tmp_path: Path
) -> None:
    with any_device_in(tmp_path, system) as (device, cli):
        subject = Killing(system, tmp_path, device, cli)
        if is_half_there:
            subject.enter_half()
        before = device.text()
        _, most = run_in_child(lambda moments: subject.run_case(60, moments))
        assert most > 40
        assert device.text() == before
        chance = random.Random(f"kill {system}{is_half_there or ''}")
        changed = twice = 0
        for number in range(MOMENTS[system]):
            at, confirm_s = chance.randint(1, most), chance.choice((None, 60))
            was_killed, _ = run_in_child(lambda moments, s=confirm_s: subject.run_case(s, moments), at)
            changed += device.text() != before
            if chance.random() < 0.3 and isinstance(device, Sections):
                device.pass_time(100)
            if chance.random() < 0.5:
                again = chance.randint(1, 30)
                twice += run_in_child(subject.start_again, again)[0]
            run_in_child(subject.start_again)
            assert device.text() == before, f"moment {at} of {most}, the {number + 1}th"
            assert was_killed or confirm_s is None
        # Where half is there already, a kill more often comes before or behind what is entered.
        assert changed > (0 if is_half_there else MOMENTS[system] // 4)
        assert is_half_there or twice > (MOMENTS[system] - 1) // 8
