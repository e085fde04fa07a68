"""One trial on an emulated device of some kind, from a plan, with the real engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from driving import shoot
from netdyno.devices import KINDS
from netdyno.devices.wiring import Wiring
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.load import Event, Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate

PORTS = ("west", "east", "south", "north", "p4", "p5", "p6", "p7")
MS = 1_000_000


def plan(
    kind: str,
    profile: str,
    *,
    links: int = 2,
    rate: str = "10Gbps",
    direction: str = "bidir",
    settings: Mapping[str, str] | None = None,
    last_rate: str | None = None,
) -> Plan:
    """A plan of one case; profile: as plans write it, `size: 64B, flows: 9`; last_rate: of the last link."""
    rates = [rate] * (links - 1) + [last_rate or rate]
    cables = "\n".join(
        f'    - {{endpoints: ["tester:{PORTS[n]}", "dut:d{n}"], rate: {rates[n]}}}' for n in range(links)
    )
    chosen = "".join(f", {name}: {value}" for name, value in (settings or {}).items())
    way = f"  direction: [{direction}]\n" if links == 2 else ""
    return parse(f"""\
title: Emulated
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: {kind}{f", settings: {{{chosen[2:]}}}" if chosen else ""}}}
  links:
{cables}
traffic:
  it: {{{profile}}}
matrix:
  profile: [it]
{way}method: {{throughput: {{duration: 20ms, width: 1%}}}}
trial: {{sample: 1ms, settle: 0s, drain: 100ms}}
""")


def wire_case(plan: Plan) -> tuple[Case, Wiring]:
    (case,) = cases(plan)
    return case, KINDS[plan.lab.kind].wire(plan.lab.links, case.settings)


def trials(
    plan: Plan,
    loads: Sequence[Sequence[tuple[Fraction, int]]],
    events: tuple[Event, ...] = (),
    change: Callable[[dict[str, Any]], None] = lambda spec: None,
) -> list[Outcome]:
    """Trials one after another on one device; each a row of (frames per second of each stream, ns).

    change: what else differs in the engine's spec.
    """
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    case, wiring = wire_case(plan)
    results = []
    with Opened(session_spec(wiring, case)) as session:
        for load in loads:
            rates = [(FrameRate(fps), ns) for fps, ns in load]
            segments = tuple(Segment(f"part {at}", ns, rate, rate) for at, (rate, ns) in enumerate(rates))
            trial = Trial("trial", Frames(segments), events=events)
            spec = trial_spec(plan, case, wiring, trial)
            change(spec)
            result = shoot(session, wiring, trial, spec)
            assert result.invalid == ()
            assert (result.health.unsent, result.health.rx_dropped) == (0, 0)
            results.append(result)
    return results


def average_us(result: Outcome) -> float:
    """Latency of all streams together, microseconds."""
    latencies = [stream.latency for stream in result.streams if stream.latency is not None]
    return sum(one.sum_ns for one in latencies) / sum(one.count for one in latencies) / 1000
