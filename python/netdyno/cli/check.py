"""`netdyno check`: a plan is read and checked, nothing is started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.baselines import refuse_missing
from netdyno.cli.codes import PASSED, USAGE, code_of
from netdyno.cli.console import format_option
from netdyno.cli.plan_argument import load_plan, set_option
from netdyno.cli.rehearse import HELP as REHEARSE
from netdyno.cli.run import about
from netdyno.errors import NetdynoError, PlanError, PlanErrors, counted

if TYPE_CHECKING:
    from netdyno.cli.outline import Lacking
    from netdyno.devices.drivers.driver import Facts
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

MOST_COMPARED = 12
"""Configurations that are compared with the device, which prints its own for each."""


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@format_option("text", "json")
@set_option
@click.option("--device", is_flag=True, help="Log in to the device and look; change nothing there.")
@click.option("--rehearse", is_flag=True, help=REHEARSE)
@click.option(
    "--frames",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.pcap",
    help="Write the first frames of each stream to this capture file, as they would be sent; of further cases"
    " to FILE-2.pcap and so on.",
)
@click.option(
    "-n",
    "--count",
    default=100,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="How many frames of each stream --frames writes.",
)
@click.pass_context
def check(
    context: click.Context,
    plan: Path,
    form: str,
    overrides: tuple[str, ...],
    device: bool,
    rehearse: bool,
    frames: Path | None,
    count: int,
) -> None:
    """Check a PLAN completely and start nothing.

    As JSON each mistake, and what fails at the device, has its code, file, line, column, path, message and
    hint, each warning its code and message.
    """
    from netdyno.campaign import memory
    from netdyno.campaign.selection import Selection, missing_extra
    from netdyno.cli import outline
    from netdyno.cli.rehearse import rehearsal
    from netdyno.values.printable import printable

    try:
        loaded = load_plan(plan, overrides)
        refuse_missing(loaded)
        loaded = context.with_resource(rehearsal(loaded)) if rehearse else loaded
        found = Selection().cases(loaded)
        memory.refuse(loaded, found)
    except PlanErrors as error:
        if form == "text":
            raise
        _print_json(plan, {"errors": [_plain(one) for one in error.errors], "warnings": []})
        context.exit(USAGE)
    number = len(found)
    warnings = (
        *outline.list_missing(loaded, os.sched_getaffinity(0)),
        *outline.list_missing_programs(loaded),
        *outline.list_missing_passwords(loaded),
        *outline.list_interface_warnings(loaded),
        *outline.list_subnet_warnings(loaded),
        *outline.list_packet_warnings(loaded),
        *outline.list_load_warnings(loaded),
        *outline.list_failure_warnings(loaded),
        *outline.list_secrets(loaded),
    )
    facts: Facts | None = None
    changes: dict[str, str] = {}
    failed: NetdynoError | None = missing_extra(loaded)
    if device and failed is None:
        from netdyno.devices.drivers.driver import NO_VERSION, missing_ports
        from netdyno.devices.reasons import VersionUnknown

        try:
            facts = _look(loaded)
            if (left := facts.pending) is not None:
                warnings = (*warnings, outline.Lacking(left.code, str(left)))
            if facts.version == NO_VERSION:
                unknown = VersionUnknown(loaded.lab.driver)
                warnings = (*warnings, outline.Lacking(unknown.code, str(unknown)))
            failed = missing_ports(facts.ports)
            # What an earlier run left there is undone before a case is entered.
            if failed is None and left is None:
                changes, seen_there = _list_changes(loaded, found)
                known = {one.code for one in warnings}
                warnings = (*warnings, *(one for one in seen_there if one.code not in known))
        except NetdynoError as error:
            failed = error
    written = [] if frames is None else list(_write_frames(loaded, found, frames, count))
    if form == "json":
        warned = [{"code": one.code, "message": one.message} for one in warnings]
        seen = {}
        if facts is not None:
            of_device = {"driver": loaded.lab.driver, "version": facts.version, "ports": dict(facts.ports)}
            seen = {"device": of_device, **({"changes": changes} if changes else {})}
        errors = [] if failed is None else [_plain_failure(failed, loaded)]
        _print_json(
            plan, {"title": loaded.title, "cases": number, "errors": errors, "warnings": warned, **seen}
        )
        context.exit(PASSED if failed is None else code_of(failed))
    click.echo(f"{plan}: {printable(loaded.title)}: {counted(number, 'case')}, {about(loaded, found)}")
    for line in outline.lines(loaded):
        click.echo(printable(line))
    if facts is not None:
        click.echo(f"device: {loaded.lab.driver}, version {printable(facts.version)}")
        for port, state in facts.ports.items():
            click.echo(f"  {port}: {printable(state)}")
        for case, diff in changes.items():
            click.echo(
                f"  {printable(case)}: {'changes' if diff else 'the device has all of its configuration'}"
            )
            for line in diff.splitlines():
                click.echo(f"    {printable(line)}")
        if changes and len(_list_settings(found)) > MOST_COMPARED:
            click.echo(f"  only the first {MOST_COMPARED} configurations are compared with the device")
    for line in written:
        click.echo(printable(line))
    for one in warnings:
        click.echo(f"warning: {printable(one.message)}", err=True)
    if failed is not None:
        raise failed


def _write_frames(plan: Plan, cases: Sequence[Case], path: Path, count: int) -> Iterator[str]:
    """Writes a capture file of each case, and says which. Raises TesterError, OSError."""
    from netdyno.testers.netdyno.frames import first_frames, write_capture

    for number, case in enumerate(cases, 1):
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        sent = list(first_frames(plan, case, count))
        write_capture(file, sent)
        streams = counted(len({frame.stream for frame in sent}), "stream")
        yield f"{case.name}: {counted(len(sent), 'frame')} of {streams} written to {file}"


def _list_changes(plan: Plan, cases: Sequence[Case]) -> tuple[dict[str, str], Iterable[Lacking]]:
    """What the configuration of each case would change on the device, and warnings, each once.

    Raises NetdynoError.
    """
    from netdyno.cli.outline import Lacking

    found: dict[str, str] = {}
    warned: dict[Lacking, None] = {}
    for case in _list_settings(cases)[:MOST_COMPARED] if plan.lab.configuration else ():
        dry = plan.kind.driver.dry_run(plan.kind.reached, case.settings)
        warned |= dict.fromkeys(Lacking(one.code, str(one)) for one in dry.warnings)
        if not dry.diff or dry.diff not in found.values():
            found[case.name] = dry.diff
    return found, warned


def _list_settings(cases: Sequence[Case]) -> list[Case]:
    """The first case of each combination of settings."""
    firsts: dict[tuple[tuple[str, str], ...], Case] = {}
    for case in cases:
        firsts.setdefault(tuple(case.settings.items()), case)
    return list(firsts.values())


def _look(plan: Plan) -> Facts:
    """What the device of a plan says of itself. Raises NetdynoError."""
    looked = plan.kind.driver.look(plan.kind.reached)
    if looked is None:
        raise NetdynoError(
            "--device: nothing reaches the device of this plan",
            "name its `driver`: `netdyno drivers` lists them",
            code="unsupported",
        )
    return looked


def _print_json(plan: Path, found: Mapping[str, Any]) -> None:
    import json

    click.echo(json.dumps({"plan": str(plan), **found}, indent=2))


def _plain_failure(error: NetdynoError, plan: Plan) -> dict[str, Any]:
    """What failed at the device, for programs; its place is the device in the plan."""
    from netdyno.plan.overrides import locate
    from netdyno.plan.source import dotted

    path: tuple[str | int, ...] = ("lab", "nodes", plan.lab.device)
    file, line, column = locate(plan, path, key=True)
    return _plain(PlanError(line, column, dotted(path), error.message, error.hint, file, code=error.code))


def _plain(error: PlanError) -> dict[str, Any]:
    """A mistake for programs. line and column: None where the file as a whole is wrong."""
    return {
        "code": error.code,
        "file": error.file,
        "line": error.line or None,
        "column": error.column or None,
        "path": error.path,
        "message": error.message,
        "hint": error.hint,
    }
