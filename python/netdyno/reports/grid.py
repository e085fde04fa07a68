"""The article's tables as plain rows of text: one table a combination of settings, one row a profile.

Terminal, Markdown and HTML print the same cells. A matrix that does not fit this shape (other
directions, several cases in one place) is printed as `general`: one row a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports import quantity
from netdyno.reports.view import CaseView, RunView
from netdyno.trial import Value

DIRECTIONS = {"uni": "Unidirectional", "bidir": "Bidirectional"}


@dataclass(frozen=True)
class Cell:
    """One case in a table."""

    case: CaseView
    fps: str
    l1_bps: str
    share: str
    """Percent of line."""
    share_of_line: Fraction | None
    limit: str


@dataclass(frozen=True)
class Row:
    """One profile."""

    profile: str
    cells: tuple[Cell | None, ...]
    """One per direction of the table; None where the matrix has no such case."""


@dataclass(frozen=True)
class Table:
    """One combination of settings."""

    title: str
    directions: tuple[str, ...]
    rows: tuple[Row, ...]


def fits(run: RunView) -> bool:
    """Whether the run has the article's shape."""
    places = [(tuple(c.settings.values()), c.profile, c.direction) for c in run.cases]
    return bool(places) and len(set(places)) == len(places) and set(run.directions) <= set(DIRECTIONS)


def tables(run: RunView) -> tuple[Table, ...]:
    """The tables of a run that has the article's shape."""
    directions = tuple(d for d in DIRECTIONS if d in run.directions)
    found = []
    for combination in run.combinations:
        rows = []
        for profile in run.profiles:
            cases = [run.case(combination, profile, direction) for direction in directions]
            if any(case is not None for case in cases):
                rows.append(Row(profile, tuple(cell(case) if case else None for case in cases)))
        found.append(Table(" / ".join(combination), directions, tuple(rows)))
    return tuple(found)


def cell(case: CaseView) -> Cell:
    """A case as a table prints it. A case without a result says why in place of its limit."""
    value = case.headline
    if value is None or value.number is None:
        return Cell(case, "n/a", "n/a", "n/a", None, case.limit())
    l1, share = case.l1_bps(value.number), case.share_of_line(value)
    return Cell(
        case=case,
        fps=quantity.rate(value.number, "pps"),
        l1_bps="n/a" if l1 is None else quantity.rate(l1, "bps"),
        share="n/a" if share is None else quantity.percent(share),
        share_of_line=share,
        limit=case.limit(value.scope),
    )


GENERAL_COLUMNS = ("Case", "Value", "Of", "Number", "L1", "% of line", "Limit")


def general(run: RunView) -> list[tuple[str, ...]]:
    """One row a value, for any matrix and method; a case without a value has a row that says why."""
    rows: list[tuple[str, ...]] = []
    for case in run.cases:
        values = case.result.values if case.result else ()
        for value in values:
            share = case.share_of_line(value)
            l1 = case.l1_bps(value.number) if value.unit == "fps" and value.number is not None else None
            rows.append(
                (
                    case.name,
                    value.name,
                    "all" if value.scope == "sum" else value.scope,
                    number(value),
                    "" if l1 is None else quantity.rate(l1, "bps"),
                    "" if share is None else quantity.percent(share),
                    case.limit(value.scope),
                )
            )
        if not values:
            rows.append((case.name, "n/a", "", "", "", "", case.limit()))
    return rows


def number(value: Value) -> str:
    """A value with its unit, and its bounds where there are any: `14.66 Mpps (14.60 to 14.72 Mpps)`."""
    if value.number is None:
        return "n/a"
    text = _quantity(value.number, value.unit)
    if value.low is not None and value.high is not None:
        low, high = _quantity(value.low, value.unit), _quantity(value.high, value.unit)
        if low != high:
            same_unit = low.split()[-1] == high.split()[-1] == text.split()[-1]
            text += f" ({low.split()[0]} to {high.split()[0]})" if same_unit else f" ({low} to {high})"
    return text


def _quantity(number: Fraction, unit: str) -> str:
    if unit == "fps":
        return quantity.rate(number, "pps")
    if unit == "ns":
        return quantity.duration(number)
    if unit == "ratio":
        return quantity.percent(number, 3)
    return f"{quantity.exact(number)} {unit}".strip()


def caption(run: RunView) -> str:
    """What the numbers of the tables are, in one sentence."""
    about = {
        "ramp max Rx": "the highest rate received in any sample of a rising load; frames may be lost at it,"
        " so it is not a throughput",
        "throughput": "the highest load at which no frame was lost (RFC 1242, section 3.17)",
    }
    if not run.headline_names:
        return "No case has a result that stands for it."
    return " ".join(
        f"{name[0].upper()}{name[1:]}: {about.get(name, 'see the method')}." for name in run.headline_names
    )


def summary(run: RunView) -> list[str]:
    """What a reader in a hurry wants: how many cases, who was the limit how often, the least and the most."""
    sentences = []
    devices = ", ".join(run.device_titles)
    unfinished = len(run.cases) - run.done
    tested = f"{run.done} of {len(run.cases)}" if unfinished else f"{run.done}"
    plural = "" if len(run.cases) == 1 else "s"
    sentences.append(
        f"{tested} load test{plural} of {_article(devices) or 'a device'}, "
        f"method {', '.join(run.methods) or 'none'}."
    )
    limits: dict[str, int] = {}
    for case in run.cases:
        limits[case.limit()] = limits.get(case.limit(), 0) + 1
    words = [f"{limit} {n}" for limit, n in sorted(limits.items(), key=lambda item: (-item[1], item[0]))]
    sentences.append(f"Who was the limit, and in how many cases: {', '.join(words)}.")
    shares = [
        (share, case)
        for case in run.cases
        if (value := case.headline) and (share := case.share_of_line(value)) is not None
    ]
    if len(shares) > 1:
        for word, (_, case) in (
            ("Least", min(shares, key=lambda s: s[0])),
            ("Most", max(shares, key=lambda s: s[0])),
        ):
            text = cell(case)
            sentences.append(
                f"{word}: {text.share} of line rate ({text.fps}) with {case.name}; limit: {text.limit}."
            )
    return sentences


def _article(title: str) -> str:
    if not title:
        return ""
    return f"an {title}" if title[0].lower() in "aeiou" else f"a {title}"
