"""Completion in a shell, by the line of the reference: bash completes commands, options and choices."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("netdyno calib", {"calibrate"}),
        ("netdyno run --re", {"--resume", "--report", "--rehearse"}),
        ("netdyno check --format ", {"text", "json"}),
        ("netdyno new --router ios-", {"ios-xe", "ios-xr"}),
        ("netdyno dut se", {"serve"}),
        ("netdyno check pla", {"plan.yaml"}),
    ],
)
def test_bash_completes_by_the_line_of_the_reference(words: str, completed: set[str], tmp_path: Path) -> None:
    (line,) = re.findall(r"^eval .*bash_source.*?\)\"", REFERENCE.read_text(), re.MULTILINE)
    # As pip installs it.
    (tmp_path / "netdyno").write_text(f"#!{sys.executable}\nfrom netdyno.cli import main\nmain()\n")
    (tmp_path / "netdyno").chmod(0o755)
    (tmp_path / "plan.yaml").touch()
    asked = words.split(" ")
    # As bash does when Tab is pressed; files are its own, by `compopt`, which is for a real Tab alone.
    script = f"""\
        PATH="$PWD:$PATH"
        {line}
        compopt() {{ [ "$2" = default ] && COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}")); }}
        COMP_WORDS=({" ".join(f"'{word}'" for word in asked)}); COMP_CWORD={len(asked) - 1}
        _netdyno_completion netdyno "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert (set(done.stdout.split()), done.stderr) == (completed, "")
