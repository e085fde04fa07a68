"""`netdyno compare`: what differs between runs, and how sure that is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.cli.baselines import CODES
from netdyno.cli.codes import MISSED, PASSED
from netdyno.cli.quick import wrong_value
from netdyno.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netdyno.plan.inventory import Box
    from netdyno.reports.model.compared import Comparison

BETWEEN = "--"
"""What stands between the runs of two sides."""
_SIDE = "\0side"


class _Sides(click.Command):
    """Keeps `--` between runs, which click would take for the end of the options."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(context, [_SIDE if one == BETWEEN else one for one in args])


def _format(context: click.Context, option: click.Parameter, given: str) -> str:
    from netdyno.reports.comparisons import COMPARISONS

    if given not in COMPARISONS and not context.resilient_parsing:
        raise click.UsageError(
            f"there is no comparison `{given}`; {suggestion(given, COMPARISONS, 'formats')}"
        )
    return given


def _limit(context: click.Context, option: click.Parameter, given: str | None) -> Fraction | None:
    from netdyno.values.quantities import UnitError
    from netdyno.values.units import Percent

    if given is None:
        return None
    try:
        return Percent.parse(given).amount
    except UnitError as error:
        raise wrong_value("--worse-than", error) from error


@click.command(cls=_Sides)
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN... [-- RUN...]")
@click.option(
    "--name", "names", multiple=True, metavar="NAME", help="Of each side, in order; else what differs."
)
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="NAME",
    help="A value to compare, `throughput`; may be repeated. Else those that stand for the cases.",
)
@click.option(
    "--worse-than",
    "limit",
    metavar="PERCENT",
    callback=_limit,
    help="Exit with 1 where a side is surely worse than the first by more than that, with 3 where it may be.",
)
@click.option(
    "--inventory",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What devices cost, draw and take up: rates for each watt, for money, and a unit of the rack.",
)
@click.option("--strict", is_flag=True, help="With --worse-than: exit with 1 also where it may be worse.")
@click.option(
    "--as",
    "form",
    default="terminal",
    show_default=True,
    metavar="NAME",
    callback=_format,
    help="terminal, html, markdown or json.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file; stdout unless given.")
def compare(
    runs: tuple[str, ...],
    names: tuple[str, ...],
    values: tuple[str, ...],
    limit: Fraction | None,
    inventory: Path | None,
    strict: bool,
    form: str,
    output: Path | None,
) -> int:
    """Compare runs with the first one, or the runs before `--` with those behind it.

    Cases are the same test where the values of their axes are. A difference is shown where its 95 % interval
    has no 0 in it, corrected over all cases (Holm). Of single searches their brackets are compared. Give
    several runs a side to see the scatter between runs. A folder of runs stands for all in it, oldest first:

    \b
      netdyno compare runs/7.14 runs/7.16
      netdyno compare runs/7.14-1 runs/7.14-2 -- runs/7.16-1 runs/7.16-2 --worse-than 2%
    """
    if strict and limit is None:
        raise click.UsageError("--strict needs --worse-than, as in `--worse-than 2%`")
    paths, sides = _sides(runs)
    from netdyno.plan.inventory import load_inventory

    boxes = () if inventory is None else load_inventory(inventory)
    found = _compared(paths, sides, names, values, limit, boxes)
    from netdyno.cli.report import check_folder, deliver, look
    from netdyno.reports.comparisons import render

    if boxes:
        _say_unmatched(found)
    check_folder(output)
    deliver(render(found, form, look(colour=output is None)), output)
    code = PASSED if found.verdict is None else CODES[found.verdict]
    return MISSED if code and strict else code


def _say_unmatched(found: Comparison) -> None:
    """What of an inventory no side is found in, and which sides it does not have."""
    from netdyno.reports.model.efficiency import boxes_of

    boxes = boxes_of(found)
    named = {box.name for box in boxes if box is not None}
    unused = [box.name for box in found.inventory if box.name not in named]
    missing = [name for name, box in zip(found.names, boxes, strict=True) if box is None]
    for words, names_ in (("no side is", unused), ("the inventory has no", missing)):
        if names_:
            click.echo(f"note: {words} {', '.join(names_)}", err=True)


def _sides(given: Sequence[str]) -> tuple[list[Path], tuple[tuple[int, ...], ...]]:
    """The runs, and of each side the numbers of its own."""
    groups: list[list[Path]] = [[]]
    for one in given:
        if one == _SIDE:
            groups.append([])
        else:
            groups[-1] += _runs_at(Path(one))
    if len(groups) == 1:
        groups = [[one] for one in groups[0]]
    if len(groups) < 2 or not all(groups):
        raise click.UsageError(
            "a comparison needs two runs, or runs on both sides of `--`: `netdyno list` shows which there are"
        )
    paths = [one for group in groups for one in group]
    for place, path in enumerate(paths):
        if path.resolve() in [one.resolve() for one in paths[:place]]:
            raise click.UsageError(f"`{path}` is given twice: each run counts once")
    sides, at = [], 0
    for group in groups:
        sides.append(tuple(range(at, at + len(group))))
        at += len(group)
    return paths, tuple(sides)


def _runs_at(path: Path) -> list[Path]:
    """The run there, or those of a folder of runs by their start: names have the minute and then a chance."""
    from netdyno.store import list_runs
    from netdyno.store.schema import FILE

    return [path] if (path / FILE).exists() else [one.folder for one in list_runs(path)] or [path]


def _compared(
    paths: Sequence[Path],
    sides: tuple[tuple[int, ...], ...],
    names: Sequence[str],
    values: tuple[str, ...],
    limit: Fraction | None,
    inventory: tuple[Box, ...],
) -> Comparison:
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports.model.compared import Comparison
    from netdyno.reports.model.from_store import view
    from netdyno.reports.model.run_set import RunSet
    from netdyno.reports.model.sides import short_names
    from netdyno.store import open_run

    if names and len(names) != len(sides):
        raise click.UsageError(f"--name: {len(names)} are given, for {len(sides)} sides")
    if len(set(names)) < len(names):
        raise click.UsageError("--name: two sides have one name")
    shown: list[Any] = []
    for path in paths:
        with open_run(path, REASONS) as stored:
            shown.append(view(stored))
    runs = RunSet(tuple(shown), sides, values)
    known = {name for run in shown for case in run.cases if case.result for name in case.result.kinds}
    for name in values:
        if name not in known:
            raise click.UsageError(f"--value: no case has a `{name}`; {suggestion(name, known, 'values')}")
    return Comparison(runs, tuple(names) or short_names(runs), limit, inventory)
