"""`make fuzz` runs every target, whatever becomes of those before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("failing", "code"), [("cargo", 2), ("pytest", 2), ("none", 0)])
def test_fuzz_target_with_a_failure_runs_all_and_fails(failing: str, code: int, tmp_path: Path) -> None:
    """Stand-ins for cargo and pytest note what they were asked to run."""
    for name in ("cargo", "pytest"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/ran\ntest {name} != {failing}\n')
        program.chmod(0o755)
    built = ["-o", ".venv/.dev", "-o", ".venv/.engine-any", "ENGINE_PROFILE=any"]
    done = subprocess.run(
        ["make", "fuzz", *built, f"CARGO={tmp_path}/cargo", f"BIN={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    ran = (tmp_path / "ran").read_text().splitlines()
    assert [line.split()[0] for line in ran] == ["cargo", "cargo", "pytest"]
    assert "netdyno-io" in ran[1]  # memif
