"""What services cost: rate, cost and time of a frame of each, and the device's share of its core."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from netdyno.reports.model.answer import extremes, text
from netdyno.reports.model.core_share import core_share
from netdyno.reports.model.shown import Family, Number, Shown, records
from netdyno.reports.model.table import Table, small_table, table_of_cases
from netdyno.reports.model.view import CaseView, RunView
from netdyno.stats.line import fit_line
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Value, columns
from netdyno.values.kind import Role
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING

HEADINGS = ("rate", "without", "cost", "95 %", "ns a frame", "ns a new flow", "device CPU", "lost", "limit")
KEPT = (0, 2, 3, 6, 4, 8, 5, 1, 7)
"""Their places, in the order in which a narrow screen keeps them."""

COLUMNS = columns(
    "rate: fps | rate without: fps | cost: share | cost from: share | cost to: share | no cost because",
    "a frame: ns | a frame from: ns | a frame to: ns | a new flow: ns | a new flow from: ns",
    "a new flow to: ns | lost: share | device CPU: share | limit",
)

NONE_SHOWN, UNKNOWN, NO_TIME = "none shown", "unknown", "n/a"
BUSY = "busy"
"""Others used the core on which a frame was timed."""
LOSS: Role = "loss at the rate"
_TIMES: tuple[Role, ...] = ("frame time", "new frame time")

_UNIT = re.compile(" .?pps")

_RULES = re.compile("acl-([0-9]+)")
"""Access lists that are looked at rule by rule."""


@dataclass(frozen=True)
class Cost:
    """What a service costs, of the rate without it; without a number the reason in a word."""

    value: Value | None = None
    why: str = ""

    @property
    def text(self) -> str:
        """`24.3 %`; `>= 46.0 %`; `line`: that ended the searches; `-` of no service."""
        if self.value is None or self.value.number is None:
            return self.why
        if self.value.high is None:
            return f">= {printed.percent(self.value.number, 1, 'at least')}"
        return NONE_SHOWN if self.would is not None else printed.percent(self.value.number, 1)

    @property
    def interval(self) -> str:
        """`23.1 to 25.5`, per cent."""
        if self.value is None or self.value.low is None or self.value.high is None:
            return ""
        ends = (printed.percent(one, 1).removesuffix(" %") for one in (self.value.low, self.value.high))
        return " to ".join(ends)

    @property
    def would(self) -> Fraction | None:
        """Where no difference is shown, how large one would have been; None: one is shown, or unknown."""
        value = self.value
        if value is None or value.low is None or value.high is None or not value.low <= 0 <= value.high:
            return None
        return (value.high - value.low) / 2


def cost_of(case: CaseView) -> Cost:
    """What the service of a case costs; unknown where another than the device was the limit."""
    if case.settings.get(SERVICE_SETTING, NO_SERVICE) == NO_SERVICE:
        return Cost(why="-")
    cost, alone = case.of_role("cost"), case.of_role("baseline")
    if cost is None or alone is None:
        return Cost()
    if case.limit() != "device":
        return Cost(why="no limit" if case.limit() == "none" else case.limit())
    is_least = cost.number is not None and cost.high is None
    if case.limit_of(alone) != "device" and not is_least:
        # What the device does alone is not known to be its own.
        return Cost(why=case.limit_of(alone))
    return Cost(why=UNKNOWN) if cost.number is None or cost.low is None else Cost(cost)


def time_of(time: Value | None) -> str:
    """`+782 +-40`; `busy`: others used the core; `n/a`: its note says why; empty: it was not asked for."""
    if time is None or time.number is None or time.low is None:
        note = None if time is None else time.note
        return "" if note is None else BUSY if note.code == "core-too-busy" else NO_TIME
    reach = max(time.number - time.low, (time.high or time.number) - time.number)
    return f"{float(time.number):+,.0f} +-{float(reach):,.0f}"


def show(run: RunView) -> Shown:
    """A row for each service with all that is known of its cost; below it what the columns mean."""
    others = [name for name in run.varied_axes if name != SERVICE_SETTING]
    names = (SERVICE_SETTING, *others, *(["repeat"] if run.repeats > 1 else []))
    unit, rates = _rates(run.cases)
    headings = [f"{one} ({unit})" if unit and one in HEADINGS[:2] else one for one in HEADINGS]
    times = [[time_of(case.of_role(role)) for role in _TIMES] for case in run.cases]
    is_timed = any(one not in ("", NO_TIME) for both in times for one in both)
    rows: list[tuple[str, ...]] = []
    for case, of_rate, of_times in zip(run.cases, rates, times, strict=True):
        service, cost, cpu = case.settings.get(SERVICE_SETTING, NO_SERVICE), cost_of(case), core_share(case)
        axes = {**case.axes, "repeat": str(case.repeat)}
        known, new = of_times if is_timed else ("", "")
        rows.append(
            (
                service,
                *(axes.get(name, "") for name in names[1:]),
                *(*of_rate, cost.text, cost.interval, known, new),
                *("" if cpu is None else printed.percent(cpu.share, 0), _lost(case), case.limit()),
            )
        )
    answer = tuple(headings[place] for place in KEPT)
    grid = small_table((*names, *headings), tuple(rows), left=len(names), answer=answer)
    return Shown(
        tuple(_numbers(run)) or extremes(run), replace(grid, captions=tuple(_captions(run)), is_whole=True)
    )


def _rates(cases: Sequence[CaseView]) -> tuple[str, list[tuple[str, str]]]:
    """The rates with a service and without, and their unit where all have the same one."""
    found = []
    for case in cases:
        alone = case.of_role("baseline")
        found.append((text(case, case.headline), "" if alone is None else text(case, alone)))
    units = {match[0] for both in found for one in both if (match := _UNIT.search(one))}
    if len(units) != 1:
        return "", found
    unit = units.pop()
    return unit.strip(), [(having.replace(unit, ""), alone.replace(unit, "")) for having, alone in found]


def _lost(case: CaseView) -> str:
    """What was lost at the rate; empty: nothing."""
    lost = case.of_role(LOSS)
    return "" if lost is None or not lost.number else printed.percent(lost.number, 2)


_End: TypeAlias = tuple[Fraction, CaseView, str]


def _numbers(run: RunView) -> Iterator[Number]:
    """The lowest and the highest cost, and the longest time."""
    costs: list[_End] = []
    times: list[_End] = []
    for case in run.cases:
        cost, time = cost_of(case), case.of_role("frame time")
        if cost.value is not None and cost.value.number is not None and cost.value.high is not None:
            costs.append((cost.value.number, case, cost.text))
        if time is not None and time.number is not None:
            times.append((time.number, case, time_of(time)))
    for word, (_, case, shown) in _ends(costs):
        yield Number(f"{word} cost", shown, run.name_apart(case), case.limit())
    if times:
        # What a core works is the device's, whoever ended the searches.
        _, case, shown = max(times, key=lambda one: one[0])
        number, _, reach = shown.partition(" ")
        yield Number(
            "Longest time of a service", f"{number} ns", f"a frame more, {reach}, {run.name_apart(case)}"
        )


def _ends(found: Sequence[_End]) -> Iterator[tuple[str, _End]]:
    """The lowest and the highest of some numbers; of one, that alone."""
    picks = (
        (("Lowest", min), ("Highest", max)) if len({shown for _, _, shown in found}) > 1 else (("The", max),)
    )
    for word, pick in picks if found else ():
        yield word, pick(found, key=lambda one: one[0])


def _captions(run: RunView) -> Iterator[str]:
    """What the columns mean, and why cells are empty: a sentence each."""
    found = [(case, cost_of(case)) for case in run.cases]
    pairs = {len(rows) for case in run.cases if (rows := records(case, "Pairs"))}
    of = f"{pairs.pop()} pairs" if len(pairs) == 1 else "all pairs"
    times = [time for case in run.cases for role in _TIMES if (time := case.of_role(role)) is not None]
    reach = "; +-: that of a time" if any(time.number is not None for time in times) else ""
    yield f"cost: of the rate without the service, by {of} of searches; 95 %: its interval{reach}."
    whose = dict.fromkeys(one.why for _, one in found if one.why not in ("", "-", UNKNOWN))
    if whose:
        ended = " or ".join(f"`{one}`" for one in whose)
        yield f"Cost {ended}: the limit was not the device's, so what the service costs is unknown."
    if any(one.why == UNKNOWN for _, one in found):
        yield f"Cost `{UNKNOWN}`: the searches do not show one; the table of pairs has each."
    if any(one.value is not None and one.value.high is None for _, one in found):
        yield "Cost >=: the device alone does more than was found, so the service costs more."
    same = [
        f"{run.name_apart(case)} ({printed.percent(one.would, 1)} would)"
        for case, one in found
        if one.would is not None
    ]
    if same:
        yield f"No difference shown: {', '.join(same)}."
    if any(time_of(time) == BUSY for time in times):
        yield f"`{BUSY}`: others used the tester's core while frames were timed."
    yield from dict.fromkeys(f"ns a frame: {time.note}." for time in times if time_of(time) == NO_TIME)
    lost = [(value.number, case) for case in run.cases if (value := case.of_role(LOSS)) and value.number]
    if lost:
        share, case = max(lost, key=lambda one: one[0])
        yield f"Lost at these rates: at most {printed.percent(share, 2)} ({run.name_apart(case)})."
    yield from _slopes(run)
    sources = dict.fromkeys(cpu.source for case in run.cases if (cpu := core_share(case)) is not None)
    if sources:
        yield f"device CPU: {', '.join(sources)}, at that rate."


def _slopes(run: RunView) -> Iterator[str]:
    """What a further rule of an access list costs, by one line through all of them, for each size and way."""
    found: dict[tuple[str, ...], list[tuple[int, Value]]] = {}
    for case in run.cases:
        time, rules = case.of_role("frame time"), _RULES.fullmatch(case.axes.get(SERVICE_SETTING, ""))
        if rules and time is not None and time.number is not None:
            others = (case.axes.get(name, "") for name in run.varied_axes if name != SERVICE_SETTING)
            where = (*others, "" if case.repeat is None else f"repeat {case.repeat}")
            found.setdefault(where, []).append((int(rules[1]), time))
    slopes = []
    for where, points in found.items():
        line = fit_line([(rules, time.number or Fraction(0)) for rules, time in points])
        if line is None:
            continue
        off = [
            str(rules)
            for rules, time in points
            if time.low is not None and time.high is not None
            if not float(time.low) <= line.at(rules) <= float(time.high)
        ]
        fits = f"no one line fits: {', '.join(off)} lie off it" if off else "one line fits"
        named = ", ".join(filter(None, (" / ".join(filter(None, where)), fits)))
        slopes.append(f"{line.slope:+.1f} +-{line.reach:.1f} ({named})")
    if slopes:
        yield f"A further rule of an access list, ns a frame: {'; '.join(slopes)}."


def tables(run: RunView) -> Iterator[Table]:
    """All that is known of each cost, exact."""
    rows = []
    for case in run.cases:
        if case.result is None:
            continue
        cost, cpu, alone, lost = (
            cost_of(case),
            core_share(case),
            case.of_role("baseline"),
            case.of_role(LOSS),
        )
        value = cost.value
        row: list[Cell] = [
            None if case.headline is None else case.headline.number,
            None if alone is None else alone.number,
            *((None, None, None) if value is None else (value.number, value.low, value.high)),
            "" if cost.why == "-" else cost.why,
        ]
        for role in _TIMES:
            time = case.of_role(role)
            row += (None, None, None) if time is None else (time.number, time.low, time.high)
        row += [None if lost is None else lost.number, None if cpu is None else cpu.share, case.limit()]
        rows.append((case, tuple(row)))
    caption = "Cost: of the rate without the service. A frame, a new flow: how much longer a core works."
    table = table_of_cases(run, "Costs of services", caption, COLUMNS, rows)
    yield table.without_empty_columns()


FAMILY = Family("service-cost", show, tables)
