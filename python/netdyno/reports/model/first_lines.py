"""Lines of the first screen that come of a table of each case: its classes of traffic, and its VLANs.

A class says what it lost as the load rose, and its latency; the VLANs of a way how many of them lost frames,
from which load on, and the extremes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from netdyno.errors import counted
from netdyno.reports.model import lag_members
from netdyno.reports.model.shown import Number, Record, number_in, records
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import classes, failures, vlans
from netdyno.values import number as printed
from netdyno.verdict.watch_reasons import TABLE
from netdyno.verdict.watched import ASKED, BROKE, COLUMNS

Rows: TypeAlias = Sequence[Record]

MOST_CLASSES, MOST_VLANS, MOST_WATCHES, MOST_TILES = 8, 6, 4, 6
"""Lines on the first screen, and numbers in large type."""

ANNOUNCED, FORMED, LEFT_OUT = "routes-announced", "lag-formed", "lag-members-left-out"
"""Codes of the notes on the table that a speaker of the tester announced, on a LAG of the tester, and on its
members that did not join."""

MOST_HELD = 4
"""Watches, and members of LAGs that died, that are named."""


def class_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`llq, voice: no loss up to 60%; p99 106 to 107 us`, a line for each case and class.

    name: what tells a case from the others of the run; it stands before its lines, if there are others.
    """

    def of_case(case: CaseView) -> Iterator[str]:
        for traffic, rows in _group_rows(case, classes.TABLE, classes.CLASS).items():
            yield f"{traffic}: {_losses(rows)}{_latencies(rows)}"

    return _lines(run, name, of_case, MOST_CLASSES)


def class_numbers(run: RunView) -> tuple[Number, ...]:
    """`voice, qos none`: what each class lost in each case, in large type; none without classes, or of too
    many."""
    values: dict[str, set[str]] = {}
    for case in run.cases:
        for axis, value in case.axes.items():
            values.setdefault(axis, set()).add(value)
    apart = [axis for axis, those in values.items() if len(those) > 1]
    found = [
        Number(
            ", ".join((traffic, *(f"{axis} {case.axes[axis]}" for axis in apart if axis in case.axes))),
            _worst(rows),
            f"{_losses(rows)}{_latencies(rows)}",
            is_missed=any(passed is False and f" of {traffic} " in goal for goal, passed, _ in case.goals),
        )
        for case in run.cases
        for traffic, rows in _group_rows(case, classes.TABLE, classes.CLASS).items()
    ]
    return tuple(found) if len(found) <= MOST_TILES else ()


def vlan_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`branch-core: 1 of 205 VLANs lost frames, 65.1 % at most; ...`, for each case and direction.

    name: as of `class_lines`.
    """

    def of_case(case: CaseView) -> Iterator[str]:
        for way, rows in _group_rows(case, vlans.TABLE, vlans.WAY).items():
            yield f"{way}: {_losing_vlans(rows)}"

    return _lines(run, name, of_case, MOST_VLANS)


def routing_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`east: 900,000 + 143,000 routes in 3 sessions, in the device after 17.2 s`, for each case and port.

    Of a LAG `east: LACP with 02:00:00:00:00:0b, 2 members collected and distributed; ...`.

    name: as of `class_lines`.
    """

    def of_case(case: CaseView) -> Iterator[str]:
        for note in case.notes:
            if note.code == ANNOUNCED:
                said = note.fields()
                both = [f"{said['routes']:,}", *([f"{six:,}"] if (six := said["routes_ipv6"]) else [])]
                held = f", in the device after {printed.duration(said['took_ns'])}" if said["held"] else ""
                sessions = counted(said["sessions"], "session")
                yield f"{said['port']}: {' + '.join(both)} routes in {sessions}{held}"
            elif note.code == FORMED:
                said = note.fields()
                every = said["members"] + _count_left_out(case, said["port"])
                carrying = f"{said['members']} of " if every > said["members"] else ""
                members = f"{carrying}{counted(every, 'member')} collected and distributed"
                shares = _shares(case, said["port"])
                yield f"{said['port']}: LACP with {said['partner']}, {members}{shares}"

    return _lines(run, name, of_case, MOST_WATCHES)


def _count_left_out(case: CaseView, port: str) -> int:
    """Members of a LAG of the tester that did not join."""
    notes = (note.fields() for note in case.notes if note.code == LEFT_OUT)
    return sum(note["of"] - note["members"] for note in notes if note["port"] == port)


def _shares(case: CaseView, port: str) -> str:
    """`; out of the device 60 %, 40 %` of a LAG of the tester."""
    found = lag_members.count_own(case)
    ways = {"into": found.get((port, "in"), []), "out of": found.get((port, "out"), [])}
    shares = (
        f"; {way} the device {', '.join(printed.percent(Fraction(one, sum(frames))) for one in frames)}"
        for way, frames in ways.items()
        if sum(frames)
    )
    return "".join(shares)


def failure_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`east.e0 died 5 times by silence, left after 3.01 s (once), not left (4 times): no frame lost; no frame
    lost on return`, for each case and way to die.

    name: as of `class_lines`.
    """

    def of_case(case: CaseView) -> Iterator[str]:
        for way, rows in _group_rows(case, failures.TABLE, failures.BY).items():
            members = _name_first(list(dict.fromkeys(str(row[failures.MEMBER]) for row in rows)))
            left = "".join(f", {one}" for one in _left(rows))
            lost = _lost(rows, failures.LOST, failures.LASTED)
            back = _lost(rows, failures.LOST_BACK, failures.LASTED_BACK)
            yield f"{members} died {_times(rows)} by {way}{left}: {lost} lost; {back} lost on return"

    return _lines(run, name, of_case, MOST_WATCHES)


def _left(rows: Rows) -> Iterator[str]:
    """`left after 3.01 s (once)`, `not left (4 times)`: what the device did with members that died."""
    found: dict[str, list[Record]] = {}
    for row in rows:
        came = [number_in(row[one]) for one in (failures.CAME, failures.UNTIL)]
        if not any(came):
            way = "carried nothing"
        elif row[failures.LEFT] is not None:
            way = "left after"
        else:
            # Without a carrier no frame was lost, and in silence none came: or they came to the end.
            way = "not left" if came[1] else "left at once"
        found.setdefault(way, []).append(row)
    for way, those in sorted(found.items()):
        known = [number_in(row[failures.LEFT]) for row in those] if way == "left after" else []
        after = f" {_spread([printed.duration(one) for one in (min(known), max(known))])}" if known else ""
        yield f"{way}{after}{f' ({_times(those)})' if len(found) > 1 else ''}"


def _times(rows: Rows) -> str:
    return "once" if len(rows) == 1 else f"{len(rows)} times"


def _lost(rows: Rows, frames: str, lasted: str) -> str:
    """`0 to 8 frames in 8 ms at most`."""
    counts = sorted(number_in(row[frames]) for row in rows)
    if not counts[-1]:
        return "no frame"
    most = printed.duration(max(number_in(row[lasted]) for row in rows))
    return f"{_spread([printed.grouped(counts[0]), printed.grouped(counts[-1])])} frames in {most} at most"


def _spread(ends: Sequence[str]) -> str:
    """`3.01 s to 3.06 s`, the least and the most; one of them if they are the same."""
    return " to ".join(dict.fromkeys(ends))


def watch_lines(run: RunView, name: Callable[[CaseView], str]) -> tuple[str, ...]:
    """`case, OSPF neighbour 192.0.2.1: broke twice, first by 1.20 s`, then those that held in all cases, and
    those that only a cut took down.

    name: as of `class_lines`.
    """
    watched = {case.name: _group_rows(case, TABLE, COLUMNS[0].name) for case in run.cases}
    broken = {watch for of in watched.values() for watch, rows in of.items() if _breaks(rows)}
    whole = dict.fromkeys(watch for of in watched.values() for watch in of if watch not in broken)
    cut = [watch for watch in whole if any(_is_cut(of.get(watch, ())) for of in watched.values())]
    held = [watch for watch in whole if watch not in cut]

    def of_case(case: CaseView) -> Iterator[str]:
        for watch, rows in watched[case.name].items():
            if found := _breaks(rows):
                times = "once" if len(found) == 1 else f"{len(found)} times, first"
                yield f"{watch}: broke {times} by {printed.duration(found[0])}"

    named = (("held", held), ("down only while a link was cut on request", cut))
    of_all = (f"{what}: {_name_first(those)}" for what, those in named if those)
    return (*_lines(run, name, of_case, MOST_WATCHES), *of_all)


def _name_first(watches: Sequence[str]) -> str:
    more = len(watches) - MOST_HELD
    return ", ".join(watches[:MOST_HELD]) + (f" and {more} more" if more > 0 else "")


def _is_cut(rows: Rows) -> bool:
    return any(row["state"] == ASKED for row in rows)


def _breaks(rows: Rows) -> list[Fraction]:
    """When a watch was found broken, ns from the begin of the trial's traffic."""
    return [number_in(row["first bad"]) for row in rows if row["state"] == BROKE]


def _lines(
    run: RunView, name: Callable[[CaseView], str], of_case: Callable[[CaseView], Iterator[str]], most: int
) -> tuple[str, ...]:
    """The lines of all cases, the first `most`, then how many more there are."""
    found = [
        f"{name(case)}, {line}" if len(run.cases) > 1 else line
        for case in run.cases
        for line in of_case(case)
    ]
    more = len(found) - most
    return (*found[:most], f"{more} more lines in the report") if more > 1 else tuple(found)


def _group_rows(case: CaseView, table: str, by: str) -> dict[str, list[Record]]:
    """The rows of a table by the text in their column `by`; none if the case has no such table."""
    found: dict[str, list[Record]] = {}
    for row in records(case, table):
        found.setdefault(str(row[by]), []).append(row)
    return found


def _worst(rows: Rows) -> str:
    most = max((number_in(row[classes.LOSS]) for row in rows), default=Fraction(0))
    return f"{printed.loss(most)} lost" if most else "no loss"


def _losses(rows: Rows) -> str:
    """What a class lost: at which load first, and at most."""
    by_load = sorted(rows, key=lambda row: number_in(row[classes.LOAD]))
    lossy = [row for row in by_load if number_in(row[classes.LOSS])]
    if not lossy:
        return "no loss" if len(rows) == 1 else f"no loss up to {by_load[-1]['trial']}"
    most = max(lossy, key=lambda row: number_in(row[classes.LOSS]))
    share = printed.loss(number_in(most[classes.LOSS]))
    if len(rows) == 1:
        return f"{share} lost"
    return f"loses from {lossy[0]['trial']} on, up to {share} at {most['trial']}"


def _latencies(rows: Rows) -> str:
    """The 99th percentiles of a class, the least and the highest."""
    found = sorted(number_in(row[classes.HIGH]) for row in rows if row[classes.HIGH] is not None)
    if not found:
        return ""
    low, most = (printed.latency(one) for one in (found[0], found[-1]))
    # Of too few frames it is not known, and may be higher.
    sign = ">= " if len(found) < len(rows) else ""
    return f"; p99 {sign}{low}" if low == most else f"; p99 {low} to {sign}{most}"


def _losing_vlans(rows: Rows) -> str:
    lossy = [row for row in rows if number_in(row[vlans.WORST])]
    if not lossy:
        return f"no loss on {counted(len(rows), 'VLAN')}"
    lossy.sort(key=lambda row: number_in(row[vlans.FREE]))
    first = lossy[0]
    shares = [number_in(row[vlans.WORST]) for row in lossy]
    low, high = printed.percent(min(shares)), printed.percent(max(shares))
    span = high if low == high else f"{low} to {high}"
    at, own = str(first[vlans.FREE_AT]), printed.rate(number_in(first[vlans.FREE]), "pps")
    # The trials of a search have names that say nothing of their loads.
    known = f"loss-free up to {at if at.endswith('%') else own}" if at else "never loss-free"
    alike = sum(row[vlans.FREE] == first[vlans.FREE] for row in lossy)
    others = f" and {alike - 1} more" if alike > 1 else ""
    named = f"first {first[vlans.VLAN]}{others}, {known}"
    return f"{len(lossy)} of {len(rows)} VLANs lost frames, {span} at most; {named}"
