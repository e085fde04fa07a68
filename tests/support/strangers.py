"""Methods against devices and testers that are not as they should be: how each is run.

The device is emulated and runs in virtual time; what a tester does wrong is done to its counts afterwards,
for in virtual time it does nothing wrong itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from methodlab import follow, text
from netdyno.devices import KINDS
from netdyno.methods import METHODS
from netdyno.methods.wrap.late import without_late_values
from netdyno.plan import parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno.spec import session_spec
from netdyno.values.finding import Result
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.situation import Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict import Evidence, judge
from proofs import PROOFS
from words import as_text

Change = Callable[[dict[str, Any]], None]
Spoil = Callable[[int, Trial, Outcome, Situation], Outcome]


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    result: Result
    verdicts: Mapping[str, Mapping[str, Verdict]]
    trials: tuple[Trial, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def texts(self) -> list[str]:
        """All that a reader gets."""
        told = [str(one.reason) for each in self.verdicts.values() for one in each.values()]
        return [
            *told,
            *(str(value.note or "") for value in self.result.values),
            *as_text(self.result.notes),
        ]


def measure_stranger(
    name: str,
    change: Change = lambda device: None,
    spoil: Spoil = lambda number, trial, outcome, known: outcome,
    drain: str = "20ms",
) -> Outcome:
    """A method on a device that is changed, with counts that are spoiled."""
    asked = PROOFS[name].strange
    plan = parse(
        text(
            f"{name}: {{{asked.parameters}}}",
            **{
                "rate": "100Mbps",
                "trial": f"sample: 1ms, settle: 1ms, drain: {drain}",
                "profile": "size: 64B, flows: 10",
                **asked.more,
            },
        )
    )
    (case,) = cases(plan)
    wiring = KINDS[plan.lab.kind].wire(plan.lab.links, case.settings)
    spec = session_spec(wiring, case)
    change(spec["devices"][0])
    known = situation(case, wiring)
    trials: list[Trial] = []
    outcomes: list[Outcome] = []

    def record_trial(trial: Trial, outcome: Outcome) -> Outcome:
        trials.append(trial)
        assert len(trials) <= asked.most, f"more than {asked.most} trials: {[one.name for one in trials]}"
        outcomes.append(spoil(len(outcomes), trial, outcome, known))
        return outcomes[-1]

    method = without_late_values(METHODS[plan.method].start(plan.parameters, known))
    result = follow(method, plan, case, wiring, spec, record_trial)

    def evidence(headline: str) -> Evidence:
        resting = result.resting(headline)
        return Evidence(
            known,
            "virtual",
            True,
            tuple(outcomes[number] for number in resting),
            tuple(trials[number].duration_ns for number in resting),
        )

    verdicts = {name: judge(result, evidence(name), name) for name in result.headlines}
    return Outcome(result, verdicts, tuple(trials), tuple(outcomes))


def every(fault: Any, every: int = 1, first: int = 0) -> Change:
    """A fault at frames `first`, `first + every`, ... of each port."""
    when = {"every": {"every": every, "first": first}}
    return lambda device: device.update(impairments=[{"port": None, "fault": fault, "when": when}])


def starves_from(first: int) -> Spoil:
    """From that trial on the tester sends half of what it is to, and all of that comes back."""

    def spoil(number: int, trial: Trial, outcome: Outcome, known: Situation) -> Outcome:
        if number < first:
            return outcome
        streams = tuple(_halved(one) for one in outcome.streams)
        unsent = sum(one.intended - one.offered for one in streams)
        ports = tuple(
            replace(one, rx=tuple(count // 2 for count in one.rx), rx_frames=one.rx_frames // 2)
            for one in outcome.ports
        )
        return replace(
            outcome.with_counts(streams=streams, ports=ports), health=replace(outcome.health, unsent=unsent)
        )

    return spoil


def _halved(one: StreamResult) -> StreamResult:
    tx, rx, arrived = (tuple(count // 2 for count in series) for series in (one.tx, one.rx, one.arrived))
    sent = sum(tx)
    received = min(sum(arrived), sent)
    return replace(
        one,
        offered=sent,
        received=received,
        lost=sent - received - one.corrupted,
        tx=tx,
        rx=rx,
        arrived=arrived,
    )


def loses_between(low: float, high: float) -> Spoil:
    """A tenth of each stream is lost if its port's highest load is between these shares of the line."""

    def spoil(number: int, trial: Trial, outcome: Outcome, known: Situation) -> Outcome:
        loads = [one for segments in (trial.segments, *trial.frames.loads.values()) for one in segments]
        most = max(known.fps(rate) for one in loads for rate in (one.from_rate, one.to_rate))
        if not low <= most / known.line_fps <= high:
            return outcome
        streams = tuple(
            replace(
                one,
                received=one.received - one.received // 10,
                lost=one.lost + one.received // 10,
                rx=tuple(count - count // 10 for count in one.rx),
                arrived=tuple(count - count // 10 for count in one.arrived),
            )
            for one in outcome.streams
        )
        return outcome.with_counts(streams=streams)

    return spoil
