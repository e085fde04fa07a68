"""Flow export by softflowd, which captures what comes in at the first port: a program beside the router.

What its own capture lost is read, too: flows that it did not see are missing from its records.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.kind import Program
from netdyno.devices.linux.features.feature import INSIDE, Feature, Packet, Step, do
from netdyno.devices.linux.programs import tool
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.live import Channel, InSeries, Instrument
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Sample

WHAT_FOR = "a Linux router exports flows by it"
SOFTFLOWD = Program("softflowd", "softflowd", WHAT_FOR)
SOFTFLOWCTL = Program("softflowctl", "softflowd", WHAT_FOR)
TASKSET = Program("taskset", "util-linux", WHAT_FOR)

COLLECTOR = "127.0.0.1:9995"
"""In the device's own namespace, where nobody listens: what a collector takes is not the router's."""
SEEN, LOST = "packets received by libpcap", "packets dropped by libpcap"
READY_S = 10.0
READY_TIMES = 250


def _ask(control: Path, command: str) -> str:
    """What softflowd answers. Raises LabError."""
    asked = [tool(SOFTFLOWCTL), "-c", str(control), command]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=READY_S, check=False)
    except subprocess.TimeoutExpired:
        raise LabError("the device's `softflowd` does not answer", code="device-silent") from None
    if done.returncode != 0:
        raise LabError(f"the device's `softflowd` said: {done.stderr.strip()}", code="device-silent")
    return done.stdout


def _counts(said: str) -> dict[str, int]:
    """`Packets received by libpcap: 12` and its like."""
    return {name.lower(): int(number) for name, number in re.findall(r"^(\w[\w ]*): (\d+)", said, re.M)}


@dataclass(frozen=True)
class Capture(InSeries):
    """Reads what softflowd captured and what its capture lost."""

    control: Path
    name: str = "softflowd"
    period_s: float = 1.0

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """Packets seen and lost; nothing while it is taken away. Raises LabError."""
        if not self.control.exists():
            return {}
        asked_ns = now()
        counts = _counts(_ask(self.control, "statistics"))
        answered_ns = now()
        found = {
            Channel("flow export", name, "packets", is_counter=True): counts[of]
            for name, of in (("seen by its capture", SEEN), ("lost by its capture", LOST))
            if of in counts
        }
        if counts.get(SEEN) and LOST in counts:
            # Those are not in its records: a gauge, which every report has.
            share = 10_000 * counts[LOST] // counts[SEEN]
            found[Channel("flow export", "lost by its capture, of what it saw", "%", scale=2)] = share
        return {channel: Sample(asked_ns, answered_ns, value) for channel, value in found.items()}


@dataclass(frozen=True)
class FlowExport(Feature):
    """Counts the flows of what comes in, and sends records of them (NetFlow version 5)."""

    works_apart = True

    def _control(self, lab: Lab) -> Path:
        return lab.folder / "softflowd.ctl"

    def _start(self, lab: Lab) -> str:
        """The command that starts it and waits until it answers. On the device's core: it is a part of the
        router, and may take none of the tester's."""
        path = shlex.quote(str(self._control(lab)))
        kept = f"{tool(TASKSET)} -c {lab.core} {tool('setpriv')} --pdeathsig KILL {tool(SOFTFLOWD)}"
        options = f"-d -i {INSIDE} -n {COLLECTOR} -v 5 -c {path}"
        wait = f"n=0; until [ -S {path} ] || [ $n = {READY_TIMES} ]; do n=$((n+1)); sleep 0.02; done"
        return f"{{ {kept} {options} >/dev/null 2>&1 & echo $! >{path}.pid; }}; {wait}; [ -S {path} ]"

    def _end(self, lab: Lab) -> str:
        """The command that ends it, in whatever state it is."""
        path = shlex.quote(str(self._control(lab)))
        return f"kill -KILL $(cat {path}.pid); rm -f {path} {path}.pid"

    def install(self, lab: Lab) -> None:
        do(lab, "ip link set lo up", self.name)
        if lab.device.ask(self._start(lab))[0] != 0:
            raise LabError(
                f"the service `{self.name}` could not be set up: `softflowd` does not come up",
                "try `softflowd -d -i lo -n 127.0.0.1:9995` by hand",
                code="service-unavailable",
            )

    def remove(self, lab: Lab) -> None:
        do(lab, self._end(lab), self.name)

    def restore(self, lab: Lab) -> str:
        # Since its port was down it captures nothing and does not answer, and lives on.
        path = shlex.quote(f"{self._control(lab)}.pid")
        return f"if [ -e {path} ]; then {self._end(lab)}; {self._start(lab)}; fi"

    def proof(self, lab: Lab) -> Sequence[Step]:
        return (Step(Packet(), "it lets no packet pass"),)

    def count(self, lab: Lab) -> int | None:
        # What its capture lost is in this (packet(7), PACKET_STATISTICS).
        return _counts(_ask(self._control(lab), "statistics"))[SEEN]

    def instruments(self, lab: Lab) -> tuple[Instrument, ...]:
        return (Capture(self._control(lab)),)


FEATURES = (
    FlowExport("flow-export", "records of flows (NetFlow 5) by softflowd", (SOFTFLOWD, SOFTFLOWCTL, TASKSET)),
)
