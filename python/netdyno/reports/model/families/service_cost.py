"""What services cost: rate, cost and time of a frame of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import linear_regression
from typing import TypeAlias

from netdyno.reports.model.answer import extremes, text
from netdyno.reports.model.shown import Family, Number, Shown
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.kind import Role
from netdyno.values.load import SERVICE_SETTING

_OF_COST: tuple[Role, ...] = ("cost", "frame time")


def show(run: RunView) -> Shown:
    """Rate, cost with its interval and time of a frame of each service; a cost where it is the device's."""
    rows = []
    costs: list[tuple[Fraction, CaseView, str]] = []
    times: list[tuple[Fraction, CaseView, str]] = []
    for case in run.cases:
        cost, time = (None if case.result is None else case.result.of_role(role, ALL) for role in _OF_COST)
        shown, interval = cost_of(case) or ("", "")
        if shown and cost is not None and cost.number is not None:
            costs.append((cost.number, case, shown))
        if time is not None and time.number is not None:
            times.append((time.number, case, time_of(time)))
        rows.append((case.place, text(case, case.headline), shown, interval, time_of(time), case.limit()))
    numbers = [
        Number(f"{word} cost", shown, case.place, case.limit()) for word, (_, case, shown) in _ends(costs)
    ]
    numbers += [
        # What a core works is the device's, whoever ended the searches.
        Number(f"{word} time of a service", f"{printed_ns} ns", f"a frame more, {case.place}", "")
        for word, (_, case, printed_ns) in _ends(times)
    ]
    headings = ("service", "rate", "cost", "95 %", "ns a frame", "limit")
    captions = ["cost: of the rate without the service, found in turns with it", *_slopes(run)]
    return Shown(tuple(numbers or extremes(run)), small_table(headings, tuple(rows), "; ".join(captions)))


_RULES = re.compile("acl-([0-9]+)")
"""Access lists that are looked at rule by rule."""

LINE_OF = 3
"""Access lists through which a line is drawn."""


def _slopes(run: RunView) -> Iterator[str]:
    """What a further rule of an access list costs, by one line through all of them, for each profile."""
    found: dict[str, list[tuple[int, float]]] = {}
    for case in run.cases:
        time = None if case.result is None else case.result.of_role("frame time", ALL)
        rules = _RULES.fullmatch(case.axes.get(SERVICE_SETTING, ""))
        if rules and time is not None and time.number is not None:
            found.setdefault(case.profile, []).append((int(rules[1]), float(time.number)))
    for profile, points in found.items():
        if len({rules for rules, _ in points}) >= LINE_OF:
            slope, _ = linear_regression(*zip(*points, strict=True))
            yield f"a further rule of an access list: {slope:+.1f} ns a frame ({profile})"


_End: TypeAlias = tuple[Fraction, CaseView, str]


def _ends(found: Sequence[_End]) -> Iterator[tuple[str, _End]]:
    """The lowest and the highest of some numbers; of one, that alone."""
    picks = (("Lowest", min), ("Highest", max)) if len(found) > 1 else (("The", max),)
    for word, pick in picks if found else ():
        yield word, pick(found, key=lambda one: one[0])


def cost_of(case: CaseView) -> tuple[str, str] | None:
    """What its service costs, `24.3 %`, and the interval, `23.1 to 25.5 %`; where none is shown, how large
    one would have been. None: another than the device was the limit, so nothing is known of the service."""
    cost = None if case.result is None else case.result.of_role("cost", ALL)
    if cost is None or cost.number is None or cost.low is None or case.limit() != "device":
        return None
    alone = None if case.result is None else case.result.of_role("baseline", ALL)
    if cost.high is not None and (alone is None or case.limit_of(alone) != "device"):
        # What the router does alone is not known to be its own.
        return None
    if cost.high is None:
        return f">= {printed.percent(cost.number, 1)}", ""
    if cost.low <= 0 <= cost.high:
        return "none shown", f"{printed.percent((cost.high - cost.low) / 2, 1)} would be"
    low, high = (printed.percent(one, 1).removesuffix(" %") for one in (cost.low, cost.high))
    return printed.percent(cost.number, 1), f"{low} to {high} %"


def time_of(time: Value | None) -> str:
    """`+782 +-40`; empty: not measured."""
    if time is None or time.number is None or time.low is None:
        return ""
    reach = max(time.number - time.low, (time.high or time.number) - time.number)
    return f"{float(time.number):+.0f} +-{float(reach):.0f}"


FAMILY = Family("service-cost", show)
