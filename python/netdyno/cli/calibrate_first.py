"""`netdyno run` measures the tester first where that was never done and needs nobody's cable."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.cli.calibrate import take_signals
from netdyno.cli.codes import INTERRUPTED

if TYPE_CHECKING:
    from netdyno.calibration import Calibration
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


def calibrate_first(out: Path, plan: Plan, chosen: Sequence[Case]) -> None:
    """Calibrates the tester for the traffic of these cases, and keeps what it finds beside the runs.

    Does nothing of loads other than frames, in virtual time, of ports that only the user can join, on several
    hosts, and where a calibration still holds.
    What stops it is said and costs the run nothing. Interrupted, it ends the program.
    """
    from netdyno.calibration.effort import FIRST_S
    from netdyno.calibration.ports import by_ports
    from netdyno.calibration.suite import NothingMeasuredError
    from netdyno.errors import NetdynoError
    from netdyno.methods import METHODS
    from netdyno.values.load import FRAMES

    kind = plan.kind
    if METHODS[plan.method].load_class is not FRAMES:
        return
    if kind.emulated or plan.lab.hosts is not None or not kind.joins_itself(plan.lab.links):
        return
    before = take_signals()
    try:
        apart = by_ports(plan, chosen)
        spent_s = 0.0
        for names, found in apart.items():
            with kind.loopback(plan.lab.links, plan.lab.threads, names) as wiring:
                spent_s += _calibrate(plan, found, wiring, out, FIRST_S / len(apart), FIRST_S - spent_s)
    except NetdynoError as error:
        click.echo(f"not calibrated: {error.message}; no limit of the device is named", err=True)
    except (NothingMeasuredError, KeyboardInterrupt):
        click.echo("interrupted while the tester was calibrated: nothing was run", err=True)
        sys.exit(INTERRUPTED)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _calibrate(
    plan: Plan, chosen: Sequence[Case], wiring: Wiring, out: Path, most_s: float, left_s: float
) -> float:
    """About how long it took, s. most_s: how long it should take; left_s: how long a run waits at most for
    what is not the first."""
    from netdyno.calibration import inventory, shelf, suite, traffic
    from netdyno.calibration.bench import load_tester
    from netdyno.calibration.effort import FIRST_S, before_a_run, seconds
    from netdyno.campaign.versions import versions
    from netdyno.errors import counted
    from netdyno.testers import TESTERS

    entry = TESTERS[plan.tester]
    said = versions(entry)
    verify = plan.trial.verify
    ports, basis = inventory.ports(wiring), inventory.basis(wiring, said)
    calibrations, _ = shelf.load(out)

    wanted, is_again = [], False
    for case in traffic.pick_distinct(chosen, wiring, verify=verify):
        key = traffic.key(case, wiring, verify=verify)
        proven = shelf.find_proven(calibrations, ports, key, basis)
        holds = proven is not None and proven.expired is None
        if proven is not None and holds and not shelf.is_disturbed(calibrations, proven.id, key):
            continue
        is_again = is_again or holds
        wanted.append(case)
    if not wanted:
        return 0.0
    tester = load_tester(entry)
    shelf.prepare(out)
    extent = suite.extent(wanted, wiring)
    effort = before_a_run(*extent, most_s)
    about = seconds(effort, *extent)
    own = wiring.own.ports
    if about > left_s and left_s < FIRST_S:
        names = ", ".join(f"`{port.name}`" for port in own)
        why = f"not calibrated for the ports {names}: with them it would take more than {FIRST_S} s"
        click.echo(f"{why}; `netdyno calibrate {plan.words} --quick` measures all", err=True)
        return 0.0
    which = f" for {len(own)} ports" if len(own) > 2 else ""
    again = ", again, as others had its core the last time" if is_again else ", once"
    click.echo(
        f"calibrating the tester first{which}{again}: {counted(len(wanted), 'kind')} of traffic, about"
        f" {about:.0f} s (`--no-calibrate` leaves it out)",
        err=True,
    )
    found = suite.calibrate(tester, plan, wanted, wiring, effort, said, lambda line: None)
    if not found.complete:
        raise KeyboardInterrupt
    shelf.save(out, found)
    click.echo(_describe(found), err=True)
    return about


def _describe(found: Calibration) -> str:
    """What it proved, or why it proves nothing."""
    from netdyno.calibration import shelf
    from netdyno.values.number import searched

    failed = dict.fromkeys(why for one in found.traffic if (why := shelf.find_failed_check(found, one)))
    if failed:
        return f"calibration {found.id} does not hold: {'; '.join(failed)}. The next run tries again"
    rates = [one.max_fps for one in found.traffic if one.max_fps is not None]
    most = f": the tester alone loses nothing up to {searched(min(rates))}" if rates else ""
    busy = any(shelf.is_disturbed([found], found.id, one.key) for one in found.traffic)
    more = ". Others had its core meanwhile, so the next run calibrates again" if busy else ""
    return f"calibrated, {found.id}{most}{more}"
