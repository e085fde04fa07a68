"""Whether other processes load the tester's cores: read from /proc before a run in real time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from netdyno.values.printable import printable
from netdyno.values.reason import Codes, Reason, declared

WINDOW_S = 0.5
"""Over how long the load is taken."""

MOST = Fraction(1, 5)
"""Cores that other processes may use together without a word."""


class BusyMachine(Reason, code="busy-machine"):
    """Other processes use the tester's cores. percent: of one core, all together.

    process, pid, process_percent: the one that uses most; an empty name and pid 0: none stands out.
    """

    percent: int
    process: str
    pid: int
    process_percent: int

    def __str__(self) -> str:
        most, it = "", "them"
        if self.process:
            most = f", most of it `{printable(self.process)}` (pid {self.pid}, {self.process_percent} %)"
            it = "it"
        return (
            f"busy machine: other processes use {self.percent} % of a core{most}."
            f" Stop {it}, or reserve cores for netdyno: `isolcpus` and `taskset`"
        )


@dataclass(frozen=True)
class Process:
    """CPU time of a process since its start, in ticks of the kernel's clock."""

    name: str
    parent: int
    ticks: int
    core: int
    """The core it ran on last."""


@dataclass(frozen=True)
class Usage:
    """CPU time since boot: of the cores by number, and of processes by pid."""

    cores: Mapping[int, int]
    processes: Mapping[int, Process]


def read_usage(proc: Path = Path("/proc")) -> Usage:
    """CPU time used so far, in ticks. OSError if the kernel does not say."""
    cores = {}
    for line in (proc / "stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            # user nice system idle iowait irq softirq; stolen time is no process of this machine.
            user, nice, system, _, _, irq, softirq = map(int, fields[:7])
            cores[int(name[3:])] = user + nice + system + irq + softirq
    return Usage(cores, dict(_processes(proc)))


def _processes(proc: Path) -> Iterator[tuple[int, Process]]:
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_bytes().decode(errors="replace")
        except OSError:
            # It has ended since the folder was listed.
            continue
        # A name may hold spaces and brackets: it ends at the last bracket.
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        yield (
            int(folder.name),
            Process(name, int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[36])),
        )


def find_busy_machine(
    read: Callable[[], Usage] = read_usage,
    sleep: Callable[[float], object] = time.sleep,
    *,
    cores: frozenset[int] | None = None,
    own: int | None = None,
    ticks_per_s: int | None = None,
) -> BusyMachine | None:
    """The load of other processes on the tester's cores if it is above `MOST`; takes `WINDOW_S` seconds.

    None if it is less, or if the kernel does not say. cores: those the tester may run on. own: its pid.
    """
    cores = frozenset(os.sched_getaffinity(0)) if cores is None else cores
    own = os.getpid() if own is None else own
    try:
        before = read()
        sleep(WINDOW_S)
        after = read()
    except OSError:
        # A container may hide /proc/stat: what others use is then unknown, and the verdicts still see pauses.
        return None
    window = Fraction(WINDOW_S) * (os.sysconf("SC_CLK_TCK") if ticks_per_s is None else ticks_per_s)
    used = sum(
        after.cores[core] - before.cores[core] for core in cores & after.cores.keys() & before.cores.keys()
    )
    spent = {pid: one.ticks - _before(before, pid, one) for pid, one in after.processes.items()}
    family = _family(after.processes, own)
    others = used - sum(spent[pid] for pid in family)
    if others <= MOST * window:
        return None
    candidates = [pid for pid in spent if pid not in family and after.processes[pid].core in cores]
    most = max(candidates, key=lambda pid: spent[pid], default=0)
    percent = round(100 * others / window)
    if not most or not spent[most]:
        return BusyMachine(percent, "", 0, 0)
    return BusyMachine(percent, after.processes[most].name, most, round(100 * spent[most] / window))


def _before(usage: Usage, pid: int, now: Process) -> int:
    """Ticks a process had used before; 0 if it is a new one, also under the number of one that ended."""
    then = usage.processes.get(pid)
    return 0 if then is None or then.ticks > now.ticks else then.ticks


def _family(processes: Mapping[int, Process], own: int) -> set[int]:
    """A process and those it started, by pid."""
    found = {own} & processes.keys()
    while more := {pid for pid, one in processes.items() if one.parent in found} - found:
        found |= more
    return found


REASONS: Codes = declared(globals())
