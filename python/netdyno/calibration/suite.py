"""The order of a calibration, from bare ports to the document. Interrupted, what was measured is kept."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno.calibration import clocks, faults, inventory, receiving, traffic_checks
from netdyno.calibration.bench import Bench
from netdyno.calibration.document import MARKS, Calibration, CalibrationError, Check, Traffic
from netdyno.calibration.effort import Effort
from netdyno.errors import as_cabling
from netdyno.ports.threads import workers_of
from netdyno.values.printable import printable

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case
    from netdyno.testers.tester import Calibratable

SHORT = 60
"""Characters of a check's result that are printed while it runs."""
FACING_FRAMES = 100
FACING_FPS = 10_000
FACING_ATTEMPTS = 10
"""Of a tester that is preempted, which may be for longer than all these frames take."""

RESERVED_MAC = "01:80:c2:00:00:0e"
"""IEEE 802.1Q table 8-1: no bridge forwards it, so what arrives came by a cable (or a very dumb box)."""


@dataclass
class _Found:
    """What has been measured so far."""

    basis: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[str, ...] = ()
    how: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    traffic: list[Traffic] = field(default_factory=list)
    complete: bool = False

    def add(self, say: Callable[[str], None], *checks: Check) -> None:
        """Keeps checks as they end, and tells who watches how."""
        self.checks += checks
        for check in checks:
            found = f": {check.value}" if check.value and len(check.value) <= SHORT else ""
            say(f"  {MARKS[check.mark]}  {printable(check.label + found)}")


def calibrate(
    tester: Calibratable,
    plan: Plan,
    cases: Sequence[Case],
    wiring: Wiring,
    effort: Effort,
    versions: Mapping[str, str],
    say: Callable[[str], None],
    measured: Callable[[], None] = lambda: None,
) -> Calibration:
    """Measures a tester on looped ports, with the traffic of `cases`.

    measured: called as soon as all is measured; an interrupt after it would lose the calibration.

    Interrupted (Ctrl-C), it says what it has and what is missing; `complete` is then False. Raises
    `NothingMeasuredError` if it has nothing yet, CalibrationError if the ports do not face each other, and
    what the tester raises if they cannot be opened.
    """
    found = _Found(
        basis=inventory.basis(wiring, versions), ports=inventory.ports(wiring), how=str(wiring.notes[0])
    )
    now = datetime.now(UTC)
    with _interruptible(found, cases, say):
        _measure(found, tester, plan, cases, wiring, effort, say)
        found.complete = True
        measured()
    found.checks.sort(key=lambda check: int(check.name[1:]))
    workers = workers_of(wiring.session)
    return Calibration(
        id=f"{now.strftime('%Y-%m-%dT%H%MZ')}-{secrets.token_hex(2)}",
        made_at=now.replace(microsecond=0),
        effort=effort.name,
        how=found.how,
        ports=found.ports,
        basis=found.basis,
        machine=found.machine,
        checks=tuple(_count_asked_workers(check, workers) for check in found.checks),
        traffic=tuple(found.traffic),
        complete=found.complete,
    )


def extent(cases: Sequence[Case], wiring: Wiring) -> tuple[int, int, int]:
    """What the time depends on: kinds of traffic, frame sizes in each direction, watched cores."""
    sizes = {
        (size, case.direction)
        for case in cases
        for part in case.profile.parts
        for size, _ in part.mix.weights
    }
    cores = clocks.list_watched_cores(clocks.cores_of(wiring.session), wiring.session)
    return len(cases), len(sizes), len(cores)


class NothingMeasuredError(Exception):
    """Interrupted before anything was measured."""


def _count_asked_workers(check: Check, workers: int) -> Check:
    """With how many workers it was made: all of the plan's, unless it says otherwise."""
    of_machine = check.name in ("C7", "C9") or check.title == "inventory"
    return check if check.workers is not None or of_machine else replace(check, workers=workers)


@contextmanager
def _interruptible(found: _Found, cases: Sequence[Case], say: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if not found.traffic:
            raise NothingMeasuredError from None
        say("interrupted: what was measured is kept to be read; no verdict rests on it")
        say(f"measured: {', '.join(one.name for one in found.traffic)}")
        left = [case.name for case in cases[len(found.traffic) :]]
        unchecked = [what for check, what in _LAST.items() if check not in {one.name for one in found.checks}]
        say(f"missing: {', '.join([*left, *unchecked]) or 'the machine after the traffic'}")


_LAST = {"C4": "a second sender (C4)", "C7": "the clocks (C7)", "C10": "faults of known number (C10)"}
"""Checks that come after all traffic."""


def _measure(
    found: _Found,
    tester: Calibratable,
    plan: Plan,
    cases: Sequence[Case],
    wiring: Wiring,
    effort: Effort,
    say: Callable[[str], None],
) -> None:
    found.add(say, _inventory())
    cores = clocks.cores_of(wiring.session)
    say("the machine: clocks, pauses, the way between two cores")
    watched = clocks.list_watched_cores(cores, wiring.session)
    before = clocks.look(tester, watched, effort.watch_s)
    found.machine["before"] = before
    drift = max((float(one["drift_ppm"]) for one in before["watch"]), key=abs)
    with Bench(tester, plan, wiring, effort.drain_ns) as bench:
        found.basis = {**found.basis, **inventory.describe_open_ports(wiring, bench.opened)}
        say("whether the ports face each other")
        found.add(say, check_facing(bench, cases[0]))
        counted: set[tuple[int, str]] = set()
        say(f"{traffic_checks.ACCOUNTED} frames of each size, one by one")
        for case in cases:
            found.add(say, *traffic_checks.check_accounting(bench, case, counted))
        for number, case in enumerate(cases):
            one, checks = traffic_checks.measure(bench, case, effort, drift_ppm=drift, say=say)
            found.traffic.append(one)
            found.add(say, *checks)
            if effort.soak_all or number == 0:
                found.add(say, traffic_checks.check_soak(bench, case, effort, one.max_fps, say))
            else:
                only = f"a {effort.name} calibration soaks the first traffic"
                found.add(say, Check("C5", "soak", one.name, "", "", "n/a", only))
    most = max((one.max_fps for one in found.traffic if one.max_fps is not None), default=None)
    say("a sender and a receiver in threads of their own")
    found.add(say, receiving.check(tester, plan, cases[0], wiring, effort, cores, most))
    nothing = "the lab names no switch between tester and device to be measured without the device"
    found.add(say, Check("C9", "fixture", "", "", "no frame lost", "n/a", nothing))
    say("faults of which the number is known")
    found.add(say, faults.check(tester, cores))
    say("the machine again")
    found.machine["after"] = clocks.look(tester, watched, effort.watch_s)
    found.add(say, *clocks.checks(before, found.machine["after"]))


def _inventory() -> Check:
    facts = inventory.machine()
    value = "; ".join(f"{what}: {value}" for what, value in facts.items())
    warnings = []
    if facts.get("frequency governor", "performance") != "performance":
        warnings.append(
            f"the frequency governor is `{facts['frequency governor']}`: `performance` keeps the clock up"
        )
    if facts.get("clocksource", "tsc") != "tsc":
        warnings.append(
            "the kernel does not keep time by the TSC, so each reading of the clock asks the kernel"
        )
    mark = "warn" if warnings else "pass"
    return Check("C0", "inventory", "", value, "recorded", mark, "; ".join(warnings))  # type: ignore[arg-type]


def check_facing(bench: Bench, case: Case) -> Check:
    """Check whether frames of one port reach the other, and whether by a cable or through a switch."""
    names = " and ".join(f"`{port.name}`" for port in bench.wiring.ports)
    alone = len(bench.wiring.ports) == 1
    pairs = " in pairs" if len(bench.wiring.ports) > 2 else ""
    silent, were_sent = _find_unheard_streams(bench, case)
    if not were_sent:
        raise CalibrationError(
            f"the tester was preempted for so long that nothing is known of the ports {names}: of"
            f" {FACING_FRAMES} frames {' and '.join(silent)} none were sent, {FACING_ATTEMPTS} times",
            "stop other work on this machine and calibrate again",
            code="tester-preempted",
        )
    if silent and alone:
        raise CalibrationError(
            f"the port {names} does not receive what it sends: of {FACING_FRAMES} frames none came back",
            "put a loopback plug into it (or what sends each frame back), calibrate, then plug the device in"
            " again",
            code="no-loopback",
        )
    if silent:
        raise CalibrationError(
            f"the ports {names} do not face each other{pairs}: of {FACING_FRAMES} frames"
            f" {' and '.join(silent)} none arrived",
            f"{_advise_on_cables(bench)}, calibrate, then plug the device in again",
            code="no-cable",
        )

    def reserved(spec: dict[str, Any]) -> None:
        for stream in spec["streams"]:
            stream["destination"] = "written"
            stream["headers"][0]["dst"] = RESERVED_MAC

    silent, were_sent = _find_unheard_streams(bench, case, reserved)
    value = f"{names} receives what it sends" if alone else f"{names} face each other{pairs}"
    rule = "frames arrive, those to an address that no bridge forwards too"
    if not silent:
        return Check("C0", "loopback", "", value, rule, "pass", "")
    if not were_sent:
        away = f"the tester was preempted, so frames to {RESERVED_MAC} say nothing"
        return Check("C0", "loopback", "", value, rule, "n/a", away)
    reason = (
        f"frames to {RESERVED_MAC} do not arrive: there is a switch between them, and all figures are of both"
    )
    return Check("C0", "loopback", "", value, rule, "warn", reason)


def _advise_on_cables(bench: Bench) -> str:
    """What to do about ports that do not face each other."""
    names = [port.name for port in bench.wiring.ports]
    if len(names) <= 2:
        return "plug a cable between them"
    return as_cabling([names[first : first + 2] for first in range(0, len(names), 2)])


def _find_unheard_streams(
    bench: Bench, case: Case, change: Callable[[dict[str, Any]], None] | None = None
) -> tuple[list[str], bool]:
    """Streams of which nothing came when a few frames were sent each way, and whether any of these were sent.

    Again while nothing came and the tester was preempted: it may have sent or heard nothing.
    """
    duration_ns = FACING_FRAMES * 10**9 // FACING_FPS
    sent: set[str] = set()
    for _ in range(FACING_ATTEMPTS):
        shot = bench.shoot(case, Fraction(FACING_FPS), duration_ns, change)
        sent.update(stream.name for stream in shot.result.streams if stream.offered)
        silent = [stream.name for stream in shot.result.streams if not stream.received]
        if not (silent and shot.disturbed):
            break
    return silent, sent.issuperset(silent)
