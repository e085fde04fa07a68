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

    Does nothing in virtual time, of ports that only the user can join, and where a calibration still holds.
    What stops it is said and costs the run nothing. Interrupted, it ends the program.
    """
    from netdyno.calibration.suite import NothingMeasuredError
    from netdyno.devices import Loopback
    from netdyno.errors import NetdynoError

    kind = plan.kind
    if kind.emulated or not isinstance(kind, Loopback) or not kind.joins_itself(plan.lab.links):
        return
    before = take_signals()
    try:
        with kind.loopback(plan.lab.links, plan.lab.threads) as wiring:
            _calibrate(plan, chosen, wiring, out)
    except NetdynoError as error:
        click.echo(f"not calibrated: {error.message}; no limit of the device is named", err=True)
    except (NothingMeasuredError, KeyboardInterrupt):
        click.echo("interrupted while the tester was calibrated: nothing was run", err=True)
        sys.exit(INTERRUPTED)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _calibrate(plan: Plan, chosen: Sequence[Case], wiring: Wiring, out: Path) -> None:
    from netdyno.calibration import inventory, shelf, suite, traffic
    from netdyno.calibration.bench import load_tester
    from netdyno.calibration.effort import before_a_run, seconds
    from netdyno.campaign.run import versions
    from netdyno.errors import counted
    from netdyno.testers import TESTERS

    entry = TESTERS[plan.tester]
    said = versions(entry)
    verify = plan.trial.verify
    ports, basis = inventory.ports(wiring), inventory.basis(wiring, said)
    kept, _ = shelf.load(out)

    def holds(case: Case) -> bool:
        proven = shelf.find_proven(kept, ports, traffic.key(case, verify=verify), basis)
        return proven is not None and proven.expired is None

    wanted = [case for case in traffic.pick_distinct(chosen, verify=verify) if not holds(case)]
    if not wanted:
        return
    tester = load_tester(entry)
    shelf.prepare(out)
    extent = suite.extent(wanted, wiring)
    effort = before_a_run(*extent)
    about = seconds(effort, *extent)
    click.echo(
        f"calibrating the tester first, once: {counted(len(wanted), 'kind')} of traffic, about {about:.0f} s"
        " (`--no-calibrate` leaves it out)",
        err=True,
    )
    found = suite.calibrate(tester, plan, wanted, wiring, effort, said, lambda line: None)
    if not found.complete:
        raise KeyboardInterrupt
    shelf.save(out, found)
    click.echo(_describe(found), err=True)


def _describe(found: Calibration) -> str:
    """What it proved, or why it proves nothing."""
    from netdyno.calibration import shelf
    from netdyno.values.number import rate

    failed = dict.fromkeys(why for one in found.traffic if (why := shelf.find_failed_check(found, one)))
    if failed:
        return f"calibration {found.id} does not hold: {'; '.join(failed)}. The next run tries again"
    rates = [one.max_fps for one in found.traffic if one.max_fps is not None]
    most = f": the tester alone loses nothing up to {rate(min(rates), 'pps', 'at least')}" if rates else ""
    return f"calibrated, {found.id}{most}"
