"""Trials on an emulated device that instruments read, and trials made by hand, for balances of frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest
from device_side import FakeLive
from driving import shoot
from emulated import plan, wire_case
from netdyno.campaign import inside
from netdyno.campaign.instants import with_instants, with_readings_asked
from netdyno.devices.wiring import Trait
from netdyno.plan.matrix import situation
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.health import Health
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import FrameCounts, Outcome, Phase, PortResult, StreamResult
from netdyno.values.rates import wire_bits
from netdyno.values.series import Series
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict.balance import Path, balance_trial
from netdyno.verdict.device_counts import Counters, Line, PortCounts, count_ports

S = 10**9
SCALE = Fraction(1, 1000)
PORTS = ("Te0/1", "Te0/2")
PLACES = {"west-east": Place(0, 1)}
KNOWN = Situation(
    ("west-east",),
    Fraction(1_000_000),
    Fraction(64),
    places=tuple(PLACES.values()),
    lines=(Fraction(1_000_000),) * 2,
    device_ports=PORTS,
)
"""What is known of trials made by hand: one direction, a line of 1 Mpps."""


def trial(
    kind: str, profile: str, fps: Fraction, ns: int, *, links: int = 2, **settings: str
) -> tuple[Situation, Trial, Outcome]:
    """One constant load on an emulated kind, its counters read by instruments in virtual time."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = plan(kind, profile, links=links, settings=settings)
    case, wiring = wire_case(asked)
    wiring = with_readings_asked(replace(wiring, traits=wiring.traits | {Trait.IS_READ}), SCALE)
    known = replace(
        situation(case, wiring),
        device_ports=inside.device_ports(asked.lab.links, wiring),
        trunk=inside.trunk(wiring),
    )
    one = Trial("trial", Frames.steady(FrameRate(fps), ns, "hold"))
    with Opened(session_spec(wiring, case)) as session:
        outcome = shoot(session, wiring, one, trial_spec(asked, case, wiring, one))
    return known, one, with_instants(FakeLive(wiring), outcome, SCALE)


def balance(known: Situation, one: Trial, outcome: Outcome) -> tuple[Path, ...]:
    """The balance of such a trial."""
    counters = Counters(outcome, one.duration_ns)
    places = dict(zip(known.streams, known.places, strict=True))
    lines = [Line.of(fps * wire_bits(known.mean_size)) for fps in known.lines]
    ports = count_ports(outcome, known.device_ports, counters, lines)
    return balance_trial(outcome, places, ports, tuple(counters.shared(known.device_ports)))


def counter(subject: str, name: str, count: int, first_ns: int = -S, last_ns: int = 12 * S) -> Series:
    """A counter of 64 bits that grew by so much from before 10 s of traffic to after 2 s of drain."""
    at_ns = (first_ns, last_ns)
    return Series("fake", subject, name, "packets", at_ns, (5, 5 + count), is_counter=True, bits=64)


def by_hand(counted: Mapping[tuple[str, str], int], *, sent: int, received: int, **ports: int) -> Outcome:
    """A trial of 10 s from west to east, and what the device counted, by subject and name.

    ports: further counts of both of the tester's ports.
    """
    stream = StreamResult(
        name="west-east",
        intended=sent,
        offered=sent,
        offered_bytes=64 * sent,
        received=received,
        received_bytes=64 * received,
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=sent - received,
        beyond_window=0,
        flows_received=1,
        latency=None,
        tx=(sent // 10,) * 10,
        rx=(received // 10,) * 10,
        arrived=(received // 10,) * 10,
        first_loss_ns=None,
    )
    common = {"foreign": 0, "tx": (), "tx_bytes_series": (), "rx": (), "rx_bytes_series": (), **ports}
    west = PortResult("west", sent, 64 * sent, 0, 0, **common)  # type: ignore[arg-type]
    east = PortResult("east", 0, 0, received, 64 * received, **common)  # type: ignore[arg-type]
    return Outcome(
        FrameCounts((stream,), (west, east), S),
        Health(0, 0, 0, 0, 0, None),
        (Phase("settle", 0, S), Phase("hold", S, 10 * S), Phase("drain", 11 * S, 2 * S)),
        series=tuple(counter(*key, count) for key, count in counted.items()),
    )


def ports_of(outcome: Outcome, device_ports: tuple[str, ...] = PORTS) -> Mapping[int, PortCounts]:
    """Both links of a trial made by hand."""
    return count_ports(outcome, device_ports, Counters(outcome, 10 * S), ())


def path_of(outcome: Outcome, device_ports: tuple[str, ...] = PORTS) -> Path:
    """The only path of a trial made by hand."""
    counters = Counters(outcome, 10 * S)
    ports = count_ports(outcome, device_ports, counters, ())
    (path,) = balance_trial(outcome, PLACES, ports, tuple(counters.shared(device_ports)))
    return path
