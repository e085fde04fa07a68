"""A tester without ports, for tests of what is around one: a wall that passes so many frames a second.

It is in no table: a test hands it in as `TesterEntry("fake", ..., "netdyno.testers.fake")`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.plan.matrix import situation
from netdyno.testers.tester import OneLab, PortInfo, Progress, Stop, Watcher
from netdyno.values.health import Health
from netdyno.values.load import Segment, Trial
from netdyno.values.offer import Offer
from netdyno.values.outcome import FrameCounts, Outcome, Phase, PortResult, StreamResult

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

CAPACITY_FPS = 5_000_000
"""Of each stream."""


class Fake:
    """The tester; at once done with every trial."""

    offers = frozenset((Offer.FRAMES, Offer.FLOW_LOSS, Offer.VIRTUAL_TIME))

    def versions(self) -> dict[str, str]:
        """Its name."""
        return {"fake": "1"}

    @contextmanager
    def open(self, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> Iterator[FakeSession]:
        """Opens nothing."""
        yield FakeSession(wiring, plan.trial.drain.ns)


class FakeSession(OneLab):
    """Counts what a wall would pass."""

    def __init__(self, wiring: Wiring, drain_ns: int) -> None:
        self._wiring = wiring
        self._drain_ns = drain_ns
        self.ports = tuple(PortInfo(port.name) for port in wiring.ports)

    def measure(self, case: Case, trial: Trial, watch: Watcher, stop: Stop) -> Outcome:
        """What a wall passes of each load."""
        watch.begin()
        watch.end(lambda: Progress("done", trial.duration_ns, trial.duration_ns))
        size, known = int(case.profile.mean), situation(case, self._wiring)
        segments = known.in_frames(trial.segments)
        found = tuple(_stream(name, segments, size) for name in known.streams)
        ports = tuple(PortResult(one.name, 1, 64, 1, 64, 0, (), (), (), ()) for one in self.ports)
        sent_ns, drain_ns = trial.duration_ns, self._drain_ns
        phases = (Phase("traffic", 0, sent_ns), Phase("drain", sent_ns, drain_ns))
        counts = FrameCounts(found, ports, max(trial.duration_ns, 1))
        return Outcome(counts, Health(0, 0, 0, 0, 0, None), phases)


def _stream(name: str, segments: Sequence[Segment], size: int) -> StreamResult:
    loads = [((one.from_rate.amount + one.to_rate.amount) / 2, one.duration_ns) for one in segments]
    sent = sum(int(fps * ns / 10**9) for fps, ns in loads)
    came = sum(int(min(fps, Fraction(CAPACITY_FPS)) * ns / 10**9) for fps, ns in loads)
    return StreamResult(
        name, sent, sent, sent * size, came, came * size, 0, 0, 0, 0, sent - came, 0, 1, None, (sent,),
        (came,), (came,), None,
    )  # fmt: skip


TESTER = Fake()
