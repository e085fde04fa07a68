"""Acceptance of a router: pass or fail, with the first criterion that failed, and convergence times."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.reports.model.answer import capital
from netdyno.reports.model.shown import Family, Number, Record, Shown, records
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS

WORDS = {PASS: "PASS", FAIL: "FAIL", NOT_KNOWN: "UNKNOWN"}
MOST_TIMES = 2
"""Convergence times in large type: beside the verdict there is room for two."""


def show(run: RunView) -> Shown:
    """Each criterion with what was asked, what was found and when."""
    rows: list[tuple[str, ...]] = []
    whys: dict[str, list[str]] = {FAIL: [], NOT_KNOWN: []}
    criteria = 0
    for case in run.cases:
        of = f"{run.name_apart(case)}: " if len(run.cases) > 1 else ""
        own = records(case, "Acceptance")
        if not own:
            whys[NOT_KNOWN].append(f"{of}not measured")
        criteria += len(own)
        rows += [_row(of, one) for one in own]
        for one in own:
            if one["result"] in whys:
                whys[str(one["result"])].append(f"{of}{_why(one)}")
    failed, unknown = whys[FAIL], whys[NOT_KNOWN]
    verdict = FAIL if failed else NOT_KNOWN if unknown else PASS
    met = sum(row[1] == WORDS[PASS] for row in rows)
    beside = (failed or unknown or [f"all {criteria} criteria"])[0]
    numbers = (
        Number("Acceptance", WORDS[verdict], beside, is_missed=bool(failed)),
        *_list_times(run),
    )
    outcomes = [(WORDS[word], why) for word, found in whys.items() for why in found]
    return Shown(
        numbers,
        small_table(("criterion", "result", "asked", "found", "at"), tuple(rows), left=4),
        passed={PASS: True, FAIL: False, NOT_KNOWN: None}[verdict],
        outcomes=tuple(outcomes or [(WORDS[PASS], f"{met} of {criteria} criteria met")]),
    )


def _row(of: str, one: Record) -> tuple[str, ...]:
    at, when = one["at"], str(one["trial"] or "")
    if isinstance(at, Fraction):
        when = f"{when}, {printed.duration(at)}" if at >= 0 else f"before {when}"
    return (
        f"{of}{one['criterion']}",
        WORDS.get(str(one["result"]), str(one["result"])),
        str(one["asked"] or ""),
        str(one["found"] or ""),
        when,
    )


def _why(one: Record) -> str:
    """`adjacencies kept: 2 of 3 kept, asked 3 adjacencies`."""
    found = one["reason"] if one["result"] == NOT_KNOWN and one["reason"] else one["found"]
    return f"{one['criterion']}: {found}, asked {one['asked']}" if found else f"{one['criterion']}: unknown"


def _list_times(run: RunView) -> list[Number]:
    """The longest convergence times of a run of one case, the longest first."""
    found: list[tuple[Fraction, Number]] = []
    if len(run.cases) != 1:
        return []
    for event, own in _by_event(run.cases[0]).items():
        last = [time for one in own if isinstance(time := one["last"], Fraction)]
        resolution = [time for one in own if isinstance(time := one["resolution"], Fraction)]
        prefixes = sum((one["prefixes"] for one in own if isinstance(one["prefixes"], Fraction)), Fraction(0))
        if len(last) < len(own) or not resolution:
            continue
        of = "1 prefix" if prefixes == 1 else f"last of {int(prefixes):,} prefixes"
        beside = f"{of}, +- {printed.duration(max(resolution))}"
        number = Number(capital(f"{event}, convergence"), printed.duration(max(last)), beside)
        found.append((max(last), number))
    found.sort(key=lambda one: one[0], reverse=True)
    return [number for _, number in found[:MOST_TIMES]]


def _by_event(case: CaseView) -> dict[str, Sequence[Record]]:
    found: dict[str, list[Record]] = {}
    for one in records(case, "Convergence"):
        found.setdefault(str(one["event"]), []).append(one)
    return dict(found)


FAMILY = Family("acceptance", show)
