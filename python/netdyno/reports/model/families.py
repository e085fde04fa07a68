"""The headline numbers of each family of methods: a matrix of rates, goals of a search, services, a soak.

A family is a function from a run to `Shown`; FAMILIES says which method belongs to which. A method that is
not listed has a row for each case and a column for each value that stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import linear_regression
from typing import TypeAlias

from netdyno.errors import counted
from netdyno.reports.model import grid, soaked, together
from netdyno.reports.model.grid import is_bound
from netdyno.reports.model.shown import Number, Record, records
from netdyno.reports.model.table import CONTRADICTED, Table, small_table
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Value
from netdyno.values.kind import Role, ValueKind
from netdyno.values.load import SERVICE_SETTING
from netdyno.values.number import Claim
from netdyno.verdict.reasons import MemberFull
from netdyno.verdict.watched import plain

FEW = 12
"""Cases up to which each has a row of its own; more are a matrix, where they are rates."""
MOST_FAMILIES = 3
"""Numbers in large type of port groups."""
FULL = Fraction(99, 100)
"""Of a line's rate from which a case that the line limited has filled it; less is one member of a LAG."""
PLAIN = ("modifier", "none")
"""The axis of modifiers, and its value without one."""
LETTERS = {
    "line": "L",
    "device": "D",
    "link": "K",
    "licence": "C",
    "tester": "T",
    "receiver": "R",
    "fixture": "F",
    "none": "",
    "inconclusive": "?",
    "invalid": "!",
    "failed": "!",
}
"""Limits in the cells of a matrix."""


LOAD = ValueKind("load", "fps", "the load that a soak held")


@dataclass(frozen=True)
class Shown:
    """What a family shows of a run."""

    numbers: tuple[Number, ...]
    grid: Table
    events: Table = field(default_factory=Table)
    """What happened over time, one row each."""
    caveats: tuple[str, ...] = ()
    passed: bool | None = None
    """Whether an acceptance test was passed; None: it is none, or the answer is unknown."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """`FAIL` or `PASS` and why, one for each distinct outcome."""


MARKED = f"{CONTRADICTED.strip()}: later trials lost frames at that load or below"
"""What the mark behind a number means."""


def of_run(run: RunView) -> Shown:
    """The headline numbers of a run by its method's family; a mark in its table is explained below it."""
    shown = _of_run(run)
    if not any(cell.endswith(CONTRADICTED) for row in shown.grid.texts for cell in row):
        return shown
    captions = (*filter(None, (shown.grid.caption,)), MARKED)
    return replace(shown, grid=replace(shown.grid, captions=("; ".join(captions),)))


def _of_run(run: RunView) -> Shown:
    measured = [case for case in run.cases if case.result is not None]
    if not measured:
        return Shown((), Table())
    for method in run.methods:
        if method in FAMILIES and len(run.methods) == 1:
            return FAMILIES[method](run)
    if is_matrix(run):
        return _matrix(run)
    return _values(run) if len(run.places) == 1 and run.repeats == 1 else _cases(run)


def is_matrix(run: RunView) -> bool:
    """Whether a run is shown as a heat map: many cases of one rate, in several combinations of settings."""
    one_rate = run.rated and len(run.headline_names) == 1 and len(_judged(run)) == 1
    return one_rate and len(run.places) > FEW and len(run.combinations) > 1


def is_full(case: CaseView) -> bool:
    """Whether what stands for a case is the rate of the whole line."""
    value = case.headline
    if value is None or case.doubt(value) is not None:
        return False
    share = case.share_of_line(value)
    return share is not None and share >= FULL and case.limit() == "line"


def fills_member(case: CaseView) -> bool:
    """Whether one flow fills the member of a LAG that it uses, and so no more of the line."""
    return case.limit() == "line" and any(
        plain(one.reason).code == MemberFull.code for one in case.verdicts.values()
    )


def text(case: CaseView, value: Value | None, more: int = 0) -> str:
    """A headline number without its bounds; `>=` where it is only known from below. more: digits."""
    if value is None:
        return "n/a"
    mark = CONTRADICTED if case.doubt(value) else ""
    if value.number is None:
        as_text = grid.number(value)
        return as_text if as_text == "n/a" else as_text + mark
    if value.only_below is not None:
        return grid.number(value) + mark
    least = is_bound(case, value)
    if least:
        value = replace(value, number=value.lasting)
    assert value.number is not None
    bare = value if value.unit in ("ratio", "share") else replace(value, low=None, high=None)
    sign = ">= " if least or value.is_count_at_least else ""
    # A load that passed below one that did not is never printed as a higher one.
    is_found = value.searched and value.high is not None
    claim: Claim = "at least" if least or is_found else "about"
    if (more or is_found) and value.unit == "fps":
        # Cut to three digits it could lie below its own lower bound, which is printed whole beside it.
        return f"{sign}{printed.rate(value.number, 'pps', claim, more or 1)}{mark}"
    return f"{sign}{grid.number(bare, claim)}{mark}"


def format_beside(case: CaseView, value: Value) -> str:
    """What stands beside a rate: `98.5 % of line, 9.85 Gbit/s`."""
    l1, share = grid.beside(case, value)
    parts = [f"{share} of line" if share else "", l1 or ""]
    return ", ".join(part for part in parts if part)


def bounds(value: Value) -> str:
    """`14.60 to 14.72 Mpps`; empty where a value has no two bounds."""
    if value.is_refuted or value.low is None or value.high is None:
        return ""
    if value.unit not in ("fps", "ns", "frames"):
        return ""
    if value.unit == "fps":
        return " to ".join(dict.fromkeys(printed.frames_a_second(end) for end in (value.low, value.high)))
    low, high = (
        grid.number(replace(value, number=one, low=None, high=None)) for one in (value.low, value.high)
    )
    return grid.span(low, high)


def short(case: CaseView) -> str:
    """The number of a case with its share of the line, in one phrase."""
    value = case.headline
    if value is None:
        return ""
    rate = format_beside(case, value)
    return f"{text(case, value)}{f' ({rate})' if rate else ''}"


def span_of(cases: Sequence[CaseView]) -> str:
    """From the least to the most of what stands for cases: `11.41 to 20.26 Mpps`; empty: not comparable."""
    found = [(value.number, case) for case in cases if (value := case.headline) and value.number is not None]
    kinds = {(case.headline.name, case.headline.unit) for _, case in found if case.headline}
    if not found or len(kinds) != 1 or len(found) < len(cases):
        return ""
    ends = [pick(found, key=lambda one: one[0])[1] for pick in (min, max)]
    least, most = (text(case, case.headline).removesuffix(CONTRADICTED) for case in ends)
    if least.startswith(">= ") and most.startswith(">= "):
        return f">= {grid.span(least.removeprefix('>= '), most.removeprefix('>= '))}"
    return grid.span(least, most)


def _judged(run: RunView) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for case in run.cases if case.result for name in case.result.headlines))


def _capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _extremes(run: RunView) -> tuple[Number, ...]:
    """The lowest and the highest of what stands for the cases, by share of line where one is enforced."""
    found = [(value, case) for case in run.cases if (value := case.headline) and value.number is not None]
    if not found or len({(value.name, value.unit) for value, _ in found}) > 1:
        return ()

    def rank(one: tuple[Value, CaseView]) -> Fraction:
        share = one[1].share_of_line(one[0]) if run.shares else None
        return share if share is not None else one[0].number or Fraction(0)

    numbers = []
    for word, (value, case) in (("Lowest", min(found, key=rank)), ("Highest", max(found, key=rank))):
        l1, share = grid.beside(case, value)
        cells = [text(case, value), l1 or "", run.name_apart(case)]
        big = grid.cell(case).share_alone if run.shares and share else cells.pop(0)
        beside = ", ".join(part for part in cells if part)
        numbers.append(Number(f"{word} {value.name}", big, beside, case.limit()))
    return tuple(numbers) if rank(min(found, key=rank)) != rank(max(found, key=rank)) else tuple(numbers[:1])


def _matrix(run: RunView) -> Shown:
    """A row for each profile and direction, a column for each combination, a letter for each limit."""
    rows: list[tuple[str, ...]] = []
    used: dict[str, str] = {}
    before = ""
    for profile, direction, places in grid.matrix(run):
        name = "" if profile == before else profile
        rows.append((name, direction, *(_cell(run, cases, used) for cases in places)))
        before = profile
    legend = ", ".join(f"{letter} {limit}" for letter, limit in used.items() if letter)
    caption = f"{', '.join(run.headline_names)}, {'% of line rate' if run.shares else 'pps'}; limit: {legend}"
    headings = ("", "", *(" / ".join(one) or ", ".join(run.device_titles) for one in run.combinations))
    return Shown(_extremes(run), small_table(headings, tuple(rows), caption, left=2))


def _cell(run: RunView, cases: Sequence[CaseView], used: dict[str, str]) -> str:
    """`98.5 D`. used: takes in what the letter says."""
    if not cases:
        return ""
    cell = grid.place(cases)
    share = cell.share_of_line if run.shares else None
    letter, meaning = LETTERS.get(cell.limit, "?"), cell.limit
    if letter == "L" and share is not None and share < FULL and fills_member(cell.case):
        letter, meaning = "L*", "the line of one LAG member"
    used[letter] = meaning
    return f"{cell.number if share is None else _digits(cell.share.removesuffix(' %'))} {letter}".strip()


def _digits(text: str) -> str:
    return "100" if text == "100.0" else text


def _cases(run: RunView) -> Shown:
    """A row for each case with every value that stands for it; `_values` has the other way round."""
    names = _judged(run)
    rated = [name for name in names if _unit(run, name) == "fps"]
    compared = any(_plain(case, run) is not None for case in run.cases)
    headings = ["case"]
    for name in names:
        headings.append(name)
        if name in rated[:1] and run.line_enforced:
            headings.append("of line")
        if name in rated[:1] and compared:
            headings.append("change")
    rows = []
    for cases in run.places.values():
        for case in cases if len(cases) < 2 else cases[:1]:
            row = [run.place_apart(case)]
            for name in names:
                value = case.value(name)
                if len(cases) > 1 and value is not None and name == names[0]:
                    row.append(grid.place(cases).number)
                else:
                    row.append(text(case, value))
                if name in rated[:1] and run.line_enforced:
                    share = None if value is None else grid.beside(case, value)[1]
                    row.append(share or "n/a")
                if name in rated[:1] and compared:
                    row.append(_change(case, _plain(case, run), name))
            rows.append((*row, grid.place(cases).limit))
    captions = ["bidir: both directions together"] if "bidir" in run.directions and rated else []
    changes = "change" in headings and any(row[headings.index("change")] for row in rows)
    captions += ["change: against the case without a modifier"] if changes else []
    caption = "; ".join(captions)
    numbers = _groups(run) or _costs(run, rated[0] if rated else "") or _extremes(run)
    return Shown(numbers, small_table((*headings, "limit"), tuple(rows), caption))


def _costs(run: RunView, name: str) -> tuple[Number, ...]:
    """The rate without a modifier, and what the dearest one costs; none where no case has one."""
    found = [
        (change, case, plain)
        for case in run.cases
        if (plain := _plain(case, run)) is not None and (change := _change(case, plain, name))
    ]
    if not found:
        return ()
    change, case, plain = min(found, key=lambda one: float(one[0].removesuffix(" %")))
    value, before = case.value(name), plain.value(name)
    assert value is not None
    assert before is not None
    beside = f"{text(case, value)}, {format_beside(case, value)}"
    return (
        Number(f"{_capital(name)}, no modifier", text(plain, before), format_beside(plain, before)),
        Number(f"Most cost: {run.name_apart(case)}", change, beside, case.limit()),
    )


def _groups(run: RunView) -> tuple[Number, ...]:
    """What port groups pass at once of what they pass alone, and which resource explains it."""
    return tuple(
        Number(
            f"Together{f', {family.label}' if family.label else ''}",
            "n/a" if family.ratio is None else printed.percent(family.ratio),
            f"of the {family.value} that the groups have alone; limit:"
            f" {family.resource[0].lower()}{family.resource[1:]}",
        )
        for family in together.families(run)[:MOST_FAMILIES]
    )


def _plain(case: CaseView, run: RunView) -> CaseView | None:
    """The case that differs from this one in having no modifier; None: there is none, or it is this one."""
    modifier, plain = PLAIN
    # Of repeats the table shows the mean, and one of them says nothing of the difference.
    if run.repeats > 1 or case.settings.get(modifier, plain) == plain:
        return None
    wanted = {**case.axes, modifier: plain}
    return next((one for one in run.cases if one.axes == wanted and one.repeat == case.repeat), None)


def _change(case: CaseView, plain: CaseView | None, name: str) -> str:
    """By how much a rate differs from that of the plain case: `-19.4 %`; empty where one is a bound."""
    values = [] if plain is None else [(one, one.value(name)) for one in (plain, case)]
    if plain is None or any(
        value is None or not value.number or is_bound(one, value) for one, value in values
    ):
        return ""
    before, after = (value.number for _, value in values if value is not None and value.number)
    return f"{float(round(100 * after / before - 100, 1)):+.1f} %".replace("+0.0", "0.0")


def _unit(run: RunView, name: str) -> str:
    found = (case.value(name) for case in run.cases)
    return next((value.unit for value in found if value is not None), "")


def _values(run: RunView) -> Shown:
    """A row for each value that stands for the only case."""
    case = next(case for case in run.cases if case.result is not None)
    values = [value for name in _judged(run) if (value := case.value(name)) is not None]
    texts = _apart(case, values)
    numbers = tuple(
        # What is below a load is in doubt for that alone: no mark beside it.
        Number(
            _capital(value.name),
            label.removesuffix(CONTRADICTED) if value.is_refuted else label,
            format_beside(case, value),
            case.limit_of(value),
        )
        for value, label in zip(values[:3], texts, strict=False)
    )
    rows = [
        (
            value.name,
            label,
            bounds(value),
            *(one or "" for one in reversed(grid.beside(case, value))),
            case.limit_of(value),
        )
        for value, label in zip(values, texts, strict=True)
    ]
    return Shown(numbers, small_table(("", "result", "between, pps", "of line", "L1", "limit"), tuple(rows)))


def _apart(case: CaseView, values: Sequence[Value]) -> list[str]:
    """The headline numbers, with four digits where unequal rates would print the same."""
    texts = [text(case, value) for value in values]
    numbers: dict[str, set[Fraction | None]] = {}
    for value, label in zip(values, texts, strict=True):
        numbers.setdefault(label, set()).add(value.number)
    return [
        text(case, value, more=1) if len(numbers[label]) > 1 and value.unit == "fps" else label
        for value, label in zip(values, texts, strict=True)
    ]


def _services(run: RunView) -> Shown:
    """Y.1564: pass or fail for each service, with the step that failed and by how much."""
    rows: list[tuple[str, ...]] = []
    whys: dict[str, dict[str, list[str]]] = {"FAIL": {}, "UNKNOWN": {}}
    for case in run.cases:
        if case.result is None:
            whys["UNKNOWN"].setdefault("not measured", []).append(run.name_apart(case))
        not_run = _steps_not_run(case)
        steps = [*records(case, "Service configuration"), *records(case, "Service performance")]
        for service in dict.fromkeys(str(step["service"]) for step in steps):
            own = [step for step in steps if step["service"] == service]
            bad = [step for step in own if step["result"] == FAIL]
            open_ = [step for step in own if step["result"] == NOT_KNOWN]
            left_out = not_run.get(service, [])
            verdict = "FAIL" if bad else "UNKNOWN" if open_ or left_out else "PASS"
            name = f"{run.name_apart(case)}: {service}" if len(run.cases) > 1 else service
            if bad or open_:
                what, by = _why((bad or open_)[0])
                whys[verdict].setdefault(what, []).append(f"{name}{by}")
            elif left_out:
                whys[verdict].setdefault("not run", []).append(f"{name} {', '.join(left_out)}")
            passed = sum(step["result"] == PASS for step in own)
            rows.append((name, verdict, f"{passed} of {len(own)}", *_performance(own)))
    failed, unknown = (sum(map(len, whys[word].values())) for word in ("FAIL", "UNKNOWN"))
    verdict = "FAIL" if failed else "UNKNOWN" if unknown else "PASS"
    outcomes = [
        (word, f"{what}, {'; '.join(by)}") for word, found in whys.items() for what, by in found.items()
    ]
    passes = len(rows) - failed - unknown
    numbers = (
        Number("Acceptance", verdict, f"{passes} of {counted(len(rows), 'service')} passed"),
        *(
            Number(_capital(row[0]), row[1], f"{row[2]} steps; {row[3]} at CIR, loss {row[4]}")
            for row in rows[:2]
        ),
    )
    headings = ("service", "result", _judged(run)[0], "at CIR: rate, L2", "loss", "mean delay")
    return Shown(
        numbers,
        small_table(headings, tuple(rows), left=2),
        caveats=tuple(soaked.caveats(run)),
        passed=None if unknown and not failed else not failed,
        outcomes=tuple(outcomes or [("PASS", "every step of every service")]),
    )


def _steps_not_run(case: CaseView) -> dict[str, list[str]]:
    """Steps that exceed the line, by service: nothing is known of them."""
    found: dict[str, list[str]] = {}
    for note in case.result.notes if case.result else ():
        if note.code == "step-not-run":
            fields = note.fields()
            found.setdefault(str(fields["service"]), []).append(str(fields["step"]))
    return found


def _performance(steps: Sequence[Record]) -> tuple[str, str, str]:
    """Rate, loss and delay of a service while all run at their committed rate, the worst of its streams."""
    own = [step for step in steps if "step" not in step]
    rates = [rate for step in own if isinstance(rate := step["IR, L2"], Fraction)]
    losses = [loss for step in own if isinstance(loss := step["FLR"], Fraction)]
    times = [mean for step in own if isinstance(mean := step["FTD mean"], Fraction)]
    return (
        printed.rate(min(rates), "bit/s") if rates else "n/a",
        printed.percent(max(losses), 3, trim=True) if losses else "n/a",
        printed.latency(max(times)) if times else "n/a",
    )


def _why(step: Record) -> tuple[str, str]:
    """What a step did not pass and by how much: `no policing`, ` passes 25.0 Mbit/s, allowed 20.2 Mbit/s`."""
    found, most = step["IR, L2"], step["IR at most, L2"]
    is_policing = step["step"] == "policing" and step["result"] == FAIL
    if is_policing and isinstance(found, Fraction) and isinstance(most, Fraction) and found > most:
        for more in range(9):
            passes, allowed = (printed.rate(rate, "bit/s", more=more) for rate in (found, most))
            if passes != allowed:
                break
        return "no policing", f" passes {passes}, allowed {allowed}"
    return str(step.get("step", "performance")), f" {step['reason']}"


def _soak(run: RunView) -> Shown:
    """Frames lost of those sent, loss events and the longest latency, by stream."""
    rows = []
    numbers: list[Number] = []
    happened = soaked.events(run)
    for case in run.cases:
        events = "n/a"
        for record in records(case, "Soak"):
            stream = str(record["stream"])
            loss = case.result.headline((stream,)) if case.result else None
            of = f"{run.name_apart(case)} / " if len(run.cases) > 1 else ""
            counts = [record["sent"], record["lost"], record["events"]]
            sent, lost, events = (
                printed.grouped(one) if isinstance(one, Fraction) else "n/a" for one in counts
            )
            latest = record["max"]
            rows.append(
                (
                    f"{of}{'all' if stream == ALL else stream}",
                    sent,
                    lost,
                    "n/a" if loss is None else grid.number(loss),
                    events,
                    printed.latency(latest) if isinstance(latest, Fraction) else "n/a",
                )
            )
        value = case.headline
        if value is not None and not numbers:
            numbers.append(Number(_capital(value.name), text(case, value), str(value.note), case.limit()))
            # The last row is of all streams together.
            numbers.append(Number("Loss events", events, soaked.beside(case)))
            numbers += _load(case)
    headings = ("stream", "sent", "lost", "loss, bound at 95 %", "events", "max latency")
    loads = [one for one in numbers if one.name == "Load"]
    caption = "".join(f"load of all streams: {one.text}, {one.beside}" for one in loads)
    return Shown(tuple(numbers), small_table(headings, tuple(rows), caption), happened)


_OF_COST: tuple[Role, ...] = ("cost", "frame time")


def _service_costs(run: RunView) -> Shown:
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
    return Shown(tuple(numbers or _extremes(run)), small_table(headings, tuple(rows), "; ".join(captions)))


_RULES = re.compile("acl-([0-9]+)")
"""Access lists that are looked at rule by rule."""


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


LINE_OF = 3
"""Access lists through which a line is drawn."""


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


def _load(case: CaseView) -> Iterator[Number]:
    """The load that a soak held, of all its streams together, with its share of the line."""
    for record in records(case, "Soak")[-1:]:
        if isinstance(offered := record["offered"], Fraction):
            load = Value(LOAD, str(record["stream"]), offered)
            yield Number("Load", printed.rate(offered, "pps"), format_beside(case, load))


def _sweep(run: RunView) -> Shown:
    """The loss-free load, and how latency rises from the lowest load to the highest."""
    rows: list[tuple[str, ...]] = []
    numbers: list[Number] = []
    shares: list[tuple[Fraction, CaseView]] = []
    for case in run.cases:
        free = case.headline
        means = _means(case)
        ends = (means[0], means[-1]) if means else ()
        cells = [f"{printed.latency(mean)} at {printed.share(load)}" for load, mean in ends]
        knee = _knee(means)
        share = _asked_share(case, free)
        if share is not None:
            shares.append((share, case))
        rows.append(
            (
                run.place_apart(case),
                text(case, free),
                "n/a" if share is None else printed.share(share),
                *(cells or ("n/a", "n/a")),
                knee or "never",
                case.limit(),
            )
        )
        if ends and len(numbers) < 2:
            first, last = (printed.latency(mean) for _, mean in ends)
            loads = f"at {printed.share(ends[0][0])} to {printed.share(ends[1][0])} of line rate"
            rises = f"; doubles at {knee}" if knee else ""
            span = first if first == last else f"{first} to {last}"
            numbers.append(Number(f"Mean latency, {run.name_apart(case)}", span, f"{loads}{rises}"))
    at = ("mean latency, lowest load", "mean latency, highest load", "latency doubles at")
    headings = ("case", _judged(run)[0], "of line", *at, "limit")
    caption = "loads: % of the line of each sending port"
    lowest = _extremes(run)[:1] if not shares else (_lowest_load(run, *min(shares, key=lambda one: one[0])),)
    return Shown((*lowest, *numbers), small_table(headings, tuple(rows), caption, answer=at))


def _asked_share(case: CaseView, free: Value | None) -> Fraction | None:
    """The loss-free load as the loads of a sweep are given, of a sending port's line; None: not known."""
    situation = case.situation
    if free is None or not free.load or free.only_below is not None or situation is None:
        return None
    if not case.line_enforced or case.doubt(free) is not None:
        return None
    return free.load / situation.share(free.scope) / situation.line_fps


def _lowest_load(run: RunView, share: Fraction, case: CaseView) -> Number:
    value = case.headline
    assert value is not None
    l1 = grid.beside(case, value)[0] or ""
    beside = ", ".join(filter(None, (text(case, value), l1, run.name_apart(case))))
    return Number(f"Lowest {value.name}", printed.share(share), beside, case.limit())


def _means(case: CaseView) -> list[tuple[Fraction, Fraction]]:
    """Loads and mean latencies over all streams, the lowest load first."""
    found: dict[Fraction, list[Fraction]] = {}
    for record in records(case, "Latency against load"):
        load, mean = record["load"], record["mean"]
        if isinstance(load, Fraction) and isinstance(mean, Fraction):
            found.setdefault(load, []).append(mean)
    return sorted((load, sum(means, Fraction(0)) / len(means)) for load, means in found.items())


def _knee(means: Sequence[tuple[Fraction, Fraction]]) -> str:
    """The lowest load at which the mean latency is twice that at the lowest of all; empty: it never is."""
    load = next((load for load, mean in means if mean > 2 * means[0][1]), None)
    return "" if load is None else printed.share(load)


FAMILIES: Mapping[str, Callable[[RunView], Shown]] = {
    "soak": _soak,
    "sweep": _sweep,
    "y1564": _services,
    "service-cost": _service_costs,
}
"""By the method's name. A method that is not here is shown by its cases and values."""
