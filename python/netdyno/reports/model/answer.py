"""What stands for a case, in one phrase: its number with its bounds, its share of the line, its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.reports.model import grid
from netdyno.reports.model.grid import is_bound_by
from netdyno.reports.model.shown import Number
from netdyno.reports.model.table import CONTRADICTED
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.number import Claim
from netdyno.verdict.reasons import MemberFull
from netdyno.verdict.watched import plain

FULL = Fraction(99, 100)
"""Of a line's rate from which a case that the line limited has filled it; less is one member of a LAG."""


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
    return text_by(case.limit_of(value), value, is_doubted=case.doubt(value) is not None, more=more)


def text_by(limit: str, value: Value, *, is_doubted: bool, more: int = 0) -> str:
    """A headline number with that limit, `>= 147 kpps`. is_doubted: later trials contradict it."""
    mark = CONTRADICTED if is_doubted else ""
    if value.number is None:
        as_text = grid.number(value)
        return as_text if as_text == "n/a" else as_text + mark
    if value.only_below is not None:
        return grid.number(value) + mark
    least = is_bound_by(limit, value)
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


def judged(run: RunView) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for case in run.cases if case.result for name in case.result.headlines))


def capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def extremes(run: RunView) -> tuple[Number, ...]:
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
        numbers.append(Number(f"{word} {value.kind.display_name}", big, beside, case.limit()))
    return tuple(numbers) if rank(min(found, key=rank)) != rank(max(found, key=rank)) else tuple(numbers[:1])
