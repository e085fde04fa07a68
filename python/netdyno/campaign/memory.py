"""How much memory a case takes: a plan that this machine cannot hold is refused before anything runs."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from netdyno.errors import PlanError, PlanErrors, counted
from netdyno.methods import METHODS
from netdyno.plan import Plan
from netdyno.plan.matrix import Case, constant_streams, streams, total_flows, wire, wire_groups
from netdyno.values import number as printed

FLOW_BYTES = 16
"""Of a flow, at each worker that receives; where that were more than 2 GiB they share one table (the engine's
`Flows`), with a byte more of each."""
MOST_OWN_FLOWS = 2**27
STREAM_BYTES = 100_000
"""Of a stream: its counters, histograms and values, in the process that measures and in the one that stores.
Measured: 87 kB of 992 streams, 59 kB of 4,032; 4 kB more for each further trial."""
SAMPLE_BYTES, PORT_SAMPLE_BYTES = 240, 320
"""Of a sample of a stream, which is three numbers, and of a port, which is four; in the process that measures
and in the one that stores. Measured: 50 to 79 bytes a number, of 1 and 2 streams with 20,000 samples."""
LATENESS_BYTES = 170
"""More of a sample of a stream in real time: how late its frames left."""
PART_BYTES = 4_000
"""Of a stream in each further part of a soak, packed: at most; equal parts in virtual time take 700 bytes."""


@dataclass(frozen=True)
class Need:
    """What a case takes, bytes, and of how much."""

    case: str
    flows: int
    flow_bytes: int
    streams: int
    stream_bytes: int
    sample_bytes: int
    """Of those of the streams, what their samples and the ports' take."""
    has_classes: bool

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.flow_bytes + self.stream_bytes


def most_needed(plan: Plan, cases: Sequence[Case]) -> Need:
    """Of the case of `cases` that takes the most."""
    return max(_needs(plan, cases), key=lambda need: need.bytes)


def _needs(plan: Plan, cases: Sequence[Case]) -> Iterator[Need]:
    workers = max(plan.lab.threads.count, len(plan.lab.threads.cores), 1)
    # Of all trials together: a case keeps what each of them found until it is judged.
    method = METHODS[plan.method]
    counted_loads = set()
    for case in cases:
        alike = (case.profile_name, case.pattern, case.direction, case.groups, plan.chosen_of(case))
        if alike in counted_loads:
            continue
        counted_loads.add(alike)
        parameters = plan.parameters_of(case)
        traffic = method.traffic_seconds(parameters)
        parts = (method.trials(parameters) if method.is_in_parts and method.trials else None) or 1
        wiring = wire_groups(case, wire(plan, case))
        sent = len(streams(case, wiring)) + len(constant_streams(case, wiring))
        flows = total_flows(case, wiring)
        at_once = workers if wiring.clock == "real" else 1
        own = flows * at_once <= MOST_OWN_FLOWS
        # In virtual time nothing is counted behind the last frame.
        counted_seconds = traffic + (plan.trial.drain.amount if wiring.clock == "real" else 0)
        samples = int(counted_seconds / parts / plan.trial.sample.amount) + 1
        of_stream = SAMPLE_BYTES + (LATENESS_BYTES if wiring.clock == "real" else 0)
        sample_bytes = samples * (sent * of_stream + len(wiring.ports) * PORT_SAMPLE_BYTES)
        yield Need(
            case.name,
            flows,
            flows * (FLOW_BYTES * at_once if own else FLOW_BYTES + 1),
            sent,
            sent * (STREAM_BYTES + (parts - 1) * PART_BYTES) + sample_bytes,
            sample_bytes,
            bool(case.profile.classes),
        )


def refuse(plan: Plan, cases: Sequence[Case], available: int | None = None) -> None:
    """Raises PlanErrors, `no-memory`, if a case takes more than `available` bytes; None: this machine's."""
    available = find_available() if available is None else available
    need = most_needed(plan, cases)
    if available is None or need.bytes <= available:
        return
    flows = f"{counted(need.flows, 'flow')}: {printed.memory(need.flow_bytes)}"
    sent = f"{counted(need.streams, 'stream')}: {printed.memory(need.stream_bytes)}"
    message = f"case `{need.case}` takes about {printed.memory(need.bytes)} of memory ({flows}; {sent})"
    message += f", and {printed.memory(available)} are free"
    few = "fewer `classes` or ports" if need.has_classes else "fewer ports"
    hint = "fewer `flows`" if need.flow_bytes > need.stream_bytes else few
    if need.sample_bytes > need.stream_bytes / 2:
        hint += ", or a longer `sample`"
    raise PlanErrors(plan.file, [PlanError(0, 0, "", message, hint, plan.file, code="no-memory")])


def find_available() -> int | None:
    """Bytes that this process may still take; None: the system does not say."""
    found = [*_of_machine(), *_of_cgroup()]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        found.append(soft)
    return min(found, default=None)


def _of_machine() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024 * int(line.split()[1])


def _of_cgroup(root: Path = Path("/")) -> Iterator[int]:
    """What is left of each limit of a cgroup (v2) that this process is in. Files that are only kept near in
    case somebody reads them again count as free, as they do for the machine."""
    with suppress(OSError, ValueError):
        lines = (root / "proc/self/cgroup").read_text().splitlines()
        (own,) = (line for line in lines if line.startswith("0::"))
        top = root / "sys/fs/cgroup"
        place = top / own.removeprefix("0::").lstrip("/")
        for folder in (place, *place.parents):
            with suppress(OSError, ValueError):
                most, used = (int((folder / f"memory.{name}").read_text()) for name in ("max", "current"))
                statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                files = int(statistics["active_file"]) + int(statistics["inactive_file"])
                yield max(most - used + files, 0)
            if folder == top:
                return
