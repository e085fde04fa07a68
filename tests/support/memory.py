"""How much memory a program takes with all its processes: what is shared is counted once."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

LOOK_S = 0.2


def peak_of(command: Sequence[str], seconds: float) -> tuple[subprocess.CompletedProcess[str], int]:
    """Runs a command, output merged; the greatest sum of its processes' proportional set sizes, bytes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak, end, out = 0, time.monotonic() + seconds, None
    try:
        while out is None:
            peak = max(peak, sum(map(_proportional, _family(process.pid))))
            try:
                out, _ = process.communicate(timeout=LOOK_S)
            except subprocess.TimeoutExpired:
                assert time.monotonic() < end, f"{command[0]} takes longer than {seconds} s"
    finally:
        process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out), peak


def _family(first: int) -> list[int]:
    """A process and all that descend from it."""
    found, parents = [first], {first}
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # proc(5): the parent is the second field behind the command's name in brackets.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    while parents:
        parents = {child for parent in parents for child in children.get(parent, ())}
        found += parents
    return found


def _proportional(process: int) -> int:
    """proc_pid_smaps(5): what is shared by n processes counts 1/n for each."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
