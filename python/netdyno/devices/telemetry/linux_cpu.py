"""Reads this machine's cores and memory while a test runs on it: the device's work and the tester's in one.

Of a device that netdyno builds here they say how much is left; no share of it is the device's alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.live import Channel, InSeries
from netdyno.values.sample import Sample

SOURCE = "this machine, the tester in it"
MOST_CORES = 32
"""Cores that are read, those of the lowest numbers: a trial has room for so many series only."""
_BUSY = ("user", "nice", "system", "irq", "softirq", "steal")
_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Columns of /proc/stat (proc_stat(5)); the time of guests is in that of users already."""
_SOFTNET = ("softnet_processed", "softnet_dropped", "softnet_time_squeeze")
"""First columns of /proc/net/softnet_stat (net/core/net-procfs.c), 32 bits each."""
_SOFTNET_CORE = 12
"""Its column with the core's number, since Linux 5.10: cores that are off have no line."""


@dataclass(frozen=True)
class MachineCores(InSeries):
    """Of each core: time busy, in soft interrupts and stolen by a hypervisor, s; frames that its soft
    interrupts took, dropped and left for later. Of memory: what is not available, B.

    Times are counters: their rate is a share of the core. What cannot be read is not there.
    """

    name: str = SOURCE
    period_s: float = 1.0
    proc: Path = Path("/proc")
    ticks_per_s: int = os.sysconf("SC_CLK_TCK")

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The values now. Never raises: a container may hide a file."""
        found: dict[Channel, Sample] = {}
        for file, parse in (("stat", self._times), ("net/softnet_stat", _softnet), ("meminfo", _memory)):
            asked_ns = now()
            try:
                said = self.proc.joinpath(file).read_text()
            except OSError:
                continue
            answered_ns = now()
            try:
                found |= {channel: Sample(asked_ns, answered_ns, value) for channel, value in parse(said)}
            except (ValueError, LookupError):
                # Another kernel writes it otherwise.
                continue
        return found

    def _times(self, said: str) -> Iterator[tuple[Channel, int]]:
        for line in said.splitlines()[1:]:
            core, *columns = line.split()
            if not core.startswith("cpu"):
                return
            if int(core[3:]) >= MOST_CORES:
                continue
            ticks = dict(zip(_TIMES, map(int, columns), strict=False))
            times = {"busy": sum(ticks[one] for one in _BUSY), "softirq": ticks["softirq"]}
            for name, number in (times | {"steal": ticks["steal"]}).items():
                yield Channel(core, name, "s", 3, is_counter=True), number * 1000 // self.ticks_per_s


def _softnet(said: str) -> Iterator[tuple[Channel, int]]:
    for number, line in enumerate(said.splitlines()):
        columns = [int(one, 16) for one in line.split()]
        core = columns[_SOFTNET_CORE] if len(columns) > _SOFTNET_CORE else number
        if core < MOST_CORES:
            for name, count in zip(_SOFTNET, columns, strict=False):
                unit = "times" if name.endswith("squeeze") else "packets"
                yield Channel(f"cpu{core}", name, unit, is_counter=True, bits=32), count


def _memory(said: str) -> Iterator[tuple[Channel, int]]:
    kib = {name: int(rest.split()[0]) for name, _, rest in (one.partition(":") for one in said.splitlines())}
    yield Channel("memory", "used", "B"), (kib["MemTotal"] - kib["MemAvailable"]) * 1024
