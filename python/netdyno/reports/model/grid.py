"""The article's tables as plain rows of text: one table a combination of settings, one row a profile.

Terminal, Markdown and HTML print the same cells. Directions stand beside each other, each with the
headline of its case over all its streams; every other value is in the details of the case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.reports.model import goals, unfinished
from netdyno.reports.model.standing import Repeats, gather
from netdyno.reports.model.table import CONTRADICTED
from netdyno.reports.model.view import CaseView, RunView, once_a_case
from netdyno.stats.intervals import Summary, summarize
from netdyno.values import number as printed
from netdyno.values.finding import Result, Value
from netdyno.values.kind import RATES
from netdyno.values.number import Claim
from netdyno.values.verdict import OWN_LIMITS

DIRECTIONS = {"uni": "Unidirectional", "uni-reverse": "Reverse", "bidir": "Bidirectional"}
"""In the order of the columns."""

ABOUT_SIZES = "Frame sizes count the FCS"
ABOUT_RATES = "L1 counts preamble and gap, 20 B a frame; frame sizes count the FCS"


ABOUT_CONTRADICTED = (
    "*: the throughput as searched, or what was measured at it or follows from it; later trials of the case"
    " lost frames at that load or below; the statement of compliance says which."
)


def direction_title(direction: str) -> str:
    """`Unidirectional`; a direction without a title of its own is its own title."""
    return DIRECTIONS.get(direction, direction)


@dataclass(frozen=True)
class Cell:
    """One case in a table."""

    case: CaseView
    """Of repeats the first."""
    number: str
    """What stands for the case, with its unit; of repeats their mean, its interval, and how many they are."""
    l1_bps: str
    """Of a rate, else empty."""
    share: str
    """Percent of line; empty where nothing enforces the line rate, and of what is no rate."""
    share_of_line: Fraction | None
    limit: str
    sign: str = ""
    """`>= ` of a rate that is a lower bound."""
    mark: str = ""
    """Behind a number that later trials contradict."""

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """The columns of its direction: number, L1, share of the line, limit."""
        return self.number, self.l1_bps, self.share, self.limit

    @property
    def share_alone(self) -> str:
        """The share with the sign and the mark of its rate, where the rate does not stand beside it."""
        return f"{self.sign}{self.share}{self.mark}" if self.share_of_line is not None else self.share


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


def directions(run: RunView) -> tuple[str, ...]:
    """The directions of a run in the order of the columns."""
    known = tuple(d for d in DIRECTIONS if d in run.directions)
    return known + tuple(d for d in run.directions if d not in DIRECTIONS)


def together(run: RunView) -> str:
    """What the columns add up, a sentence for those of a run that have several streams; empty: nothing."""
    most = max((case.senders for case in run.cases), default=0)
    return f"Rates are those of all {most} sending ports together." if most > 2 else ""


def what(run: RunView) -> str:
    """What the numbers of the tables are, for their headings."""
    return "pps" if run.rated else ", ".join(run.headline_names)


def about(run: RunView) -> str:
    """How its rates and sizes are counted."""
    return ABOUT_RATES if run.rated else ABOUT_SIZES


def matrix(run: RunView) -> Iterator[tuple[str, str, Sequence[Sequence[CaseView]]]]:
    """The profiles and directions that it has, each with the repeats of every combination of settings."""
    for profile in run.profiles:
        for direction in directions(run):
            places = [run.at(combination, profile, direction) for combination in run.combinations]
            if any(places):
                yield profile, direction, places


def traffic(run: RunView) -> dict[str, CaseView]:
    """Each profile with the first case that sent its frames."""
    found: dict[str, CaseView] = {}
    for case in run.cases:
        if case.sizes:
            found.setdefault(case.profile, case)
    return found


def tables(run: RunView) -> tuple[Table, ...]:
    """The tables of a run."""
    columns = directions(run)
    found = []
    for combination in run.combinations:
        rows = []
        for profile in run.profiles:
            places = [run.at(combination, profile, direction) for direction in columns]
            if any(places):
                rows.append(Row(profile, tuple(place(cases) if cases else None for cases in places)))
        found.append(Table(" / ".join(combination), columns, tuple(rows)))
    return tuple(found)


def is_bound(case: CaseView, value: Value) -> bool:
    """Whether a rate is only known from below: something other than the device ended it."""
    return is_bound_by(case.limit_of(value), value)


def is_bound_by(limit: str, value: Value) -> bool:
    """Whether a rate with that limit is only known from below."""
    open_above = value.low is not None and value.low == value.lasting and value.high is None
    return value.unit in RATES and (
        limit in ("link", *OWN_LIMITS, "fixture", "none") or (limit == "inconclusive" and open_above)
    )


@once_a_case
def cell(case: CaseView) -> Cell:
    """A case as a table prints it. A case without a result says why in place of its limit."""
    return _cell(case, None)


def _cell(case: CaseView, least: bool | None) -> Cell:
    """least: whether its rate is a lower bound; None: as its limit says."""
    value = case.headline
    unknown = "n/a" if case.line_enforced else ""
    if value is None or value.number is None:
        return Cell(case, "n/a", "n/a", unknown, None, case.limit())
    least = is_bound(case, value) if least is None else least
    least = least and value.only_below is None
    if least:
        value = replace(value, number=value.lasting)
    assert value.number is not None
    claim: Claim = "at least" if least else "about"
    sign, mark = ">= " if least else "", CONTRADICTED if case.doubt(value) else ""
    if value.unit != "fps":
        text = f"{sign}{number(value, claim)}{mark}"
        return Cell(case, text, "", "", None, case.limit(value.scope), sign, mark)
    l1, share = beside(case, value, claim)
    if value.only_below is not None:
        rate = number(value)
    elif value.searched:
        rate = printed.searched(value.number)
    else:
        rate = printed.rate(value.number, "pps", claim)
    return Cell(
        case=case,
        number=f"{sign}{rate}{mark}",
        l1_bps="n/a" if l1 is None else l1,
        share=unknown if share is None else share,
        share_of_line=case.share_of_line(value),
        limit=case.limit(value.scope),
        sign=sign,
        mark=mark,
    )


def beside(case: CaseView, value: Value, claim: Claim = "about") -> tuple[str | None, str | None]:
    """What stands beside a rate: its L1 bits a second and its share of the line; bounds as such."""
    sign, shown = "", value
    if value.only_below is not None:
        sign, claim, shown = "< ", "at most", replace(value, number=value.only_below)
    elif value.number is not None and is_bound(case, value):
        # The rate that it stands beside is the one that lasts.
        claim, shown = "at least", replace(value, number=value.lasting)
    if shown.number is None or value.unit != "fps":
        return None, None
    l1, share = case.l1_bps(shown.number), case.share_of_line(shown)
    return (
        None if l1 is None else sign + printed.rate(l1, "bit/s", claim),
        None
        if share is None
        else sign + printed.percent(share, claim=claim).removeprefix("< " if sign else ""),
    )


def place(cases: Sequence[CaseView]) -> Cell:
    """A place of the matrix as a table prints it: of repeats the mean."""
    if len(cases) == 1:
        return cell(cases[0])
    first, limit = cases[0], _limits(cases)
    values = [value for case in cases if (value := case.headline) is not None]
    repeats = gather(cases, [case.headline for case in cases])
    if not repeats.numbers or len({(value.name, value.unit, value.scope) for value in values}) > 1:
        return replace(cell(first), number="n/a", l1_bps="n/a", share="", share_of_line=None, limit=limit)
    found = summarize(repeats.numbers)
    # A mark on one of them is one on their mean.
    doubt = any(case.doubt(value) for case in cases if (value := case.headline) is not None)
    mean = replace(values[0], number=found.mean, contradicted=None)
    if mean.number:
        # The bounds are those of one of them.
        mean = replace(mean, low=None, high=None)
    # Lower bounds have a mean that is one, and scatter by what the device has no part in.
    least = repeats.bounds > 0 and not repeats.doubtful
    shown = _cell(replace(first, result=Result("", (mean,), (), headlines=(mean.name,))), least)
    mark = CONTRADICTED if doubt else ""
    # Where most repeats lost nothing, the mean of a few frames is not just below something.
    text = printed.share(found.mean) if shown.number.startswith("< ") else shown.number
    number = f"{text}{mark} {_spread(found, len(cases), repeats)}"
    return replace(shown, case=first, number=number, limit=limit, mark=mark)


def _spread(found: Summary, runs: int, repeats: Repeats) -> str:
    """`± 0.12 % (5)`: half the 95 % interval of the mean as a share of it, and how many they are.

    Numbers that are not all the device's own have no interval. The farther end counts: bounds are not even.
    """
    many = f"({found.n})" if found.n == runs else f"({found.n} of {runs})"
    interval = repeats.widened(found.mean_interval)
    if interval is None or not found.mean or not repeats.known:
        return many
    reach = max(interval.high - found.mean, found.mean - interval.low) / abs(found.mean)
    return f"± {printed.percent(reach, 2)} {many}"


def _limits(cases: Sequence[CaseView]) -> str:
    """The limit all repeats have, or how many have which: `device 4, tester 1`."""
    counts = Counter(cell(case).limit for case in cases)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{limit} {n}" for limit, n in counts.most_common())


def number(value: Value, claim: Claim = "about") -> str:
    """A value with its unit, and its bounds where there are any: `14.66 Mpps (14.60 to 14.72)`."""
    if value.number is None:
        # A time that had not ended when watching did took no less than was seen.
        if value.low is not None and value.high is not None:
            return span(quantity(value.low, value.unit), quantity(value.high, value.unit))
        if value.low is not None:
            return f">= {quantity(value.low, value.unit, 'at least')}"
        return "n/a" if value.high is None else f"<= {quantity(value.high, value.unit, 'at most')}"
    if value.only_below is not None:
        return f"< {quantity(value.only_below, value.unit, 'at most')}"
    if value.unit in ("ratio", "share") and not value.number and value.high is not None:
        return printed.at_most(value.high)
    if value.searched and value.unit == "fps":
        return _searched(value)
    text = quantity(value.number, value.unit, claim)
    if value.is_count_at_least:
        return f">= {text}"
    if value.low is not None and value.high is not None:
        low, high = quantity(value.low, value.unit), quantity(value.high, value.unit)
        if low == high:
            return text
        # A knee lies between its bounds, and the lower one is what stands for it.
        return span(low, high) if value.kind.role == "knee" else f"{text} ({span(low, high, text)})"
    return text


def _searched(value: Value) -> str:
    """The highest load that passed, cut, and the lowest that did not, rounded up, in digits that differ."""
    assert value.number is not None
    text = printed.searched(value.number)
    low = text if value.lasting is None else printed.searched(value.lasting)
    if value.high is None:
        return text if low == text else f"{text} (>= {low})"
    return f"{text} ({span(low, printed.searched(value.high, 'at most'), text)})"


def span(low: str, high: str, beside: str = "") -> str:
    """From one quantity to another, the unit once if it is the same: `14.60 to 14.72 Mpps`.

    beside: a quantity it stands behind; if that has the unit too, it is not said again.
    """
    if low == high:
        return low
    (number, _, unit), (_, _, upper) = low.partition(" "), high.partition(" ")
    if unit != upper:
        return f"{low} to {high}"
    return f"{number} to {high.partition(' ')[0] if beside.endswith(f' {unit}') else high}"


def quantity(number: Fraction, unit: str, claim: Claim = "about") -> str:
    if unit in printed.RATES:
        return printed.rate(number, printed.RATES[unit], claim)
    if unit == "ns":
        return printed.duration(number, claim)
    if unit in ("ratio", "share"):
        return printed.percent(number, 3, claim)
    if unit == "at":
        return printed.instant(number)
    return printed.with_unit(number, unit)


def caption(run: RunView) -> str:
    """What the numbers of the tables are, in one sentence."""
    about = {
        kind.display_name: kind.meaning
        for case in run.cases
        for kind in (case.result.kinds.values() if case.result else ())
    }
    if not run.headline_names:
        return "No case has a result that stands for it."
    marked = any(value.contradicted for case in run.cases if case.result for value in case.result.values)
    named = (f"{name[0].upper()}{name[1:]}: {about[name]}." for name in run.headline_names)
    return " ".join((*named, *((ABOUT_CONTRADICTED,) if marked else ())))


def summary(run: RunView) -> list[str]:
    """Sentences for a reader in a hurry: how many cases, how often each limit, the least and the most."""
    sentences = []
    devices = ", ".join(run.device_titles)
    tested = f"{run.done} of {len(run.cases)}" if run.done < len(run.cases) else f"{run.done}"
    plural = "" if len(run.cases) == 1 else "s"
    # Which method it was is known of cases that have a result.
    method = f", method {', '.join(run.methods)}" if run.methods else ""
    sentences.append(f"{tested} load test{plural} of {_article(devices) or 'a device'}{method}.")
    sentences += unfinished.sentences(run)
    if run.repeats > 1:
        sentences.append(
            f"Each of {len(run.places)} was made {run.repeats} times, all once and then all again: tables"
            " have the mean, its 95 % interval (Student's t) if the device decided all of them, and in"
            " brackets how many it is of; >= marks a mean of which some are lower bounds."
        )
    limits: dict[str, int] = {}
    for case in run.cases:
        limits[case.limit()] = limits.get(case.limit(), 0) + 1
    words = [f"{limit} {n}" for limit, n in sorted(limits.items(), key=lambda item: (-item[1], item[0]))]
    sentences.append(f"Limits, with their number of cases: {', '.join(words)}.")
    sentences += goals.sentences(run)
    sentences += _extremes(run)
    if run.resumed:
        sentences.append(f"A part of this run was resumed with other versions: {run.resumed}.")
    return sentences


def _extremes(run: RunView) -> list[str]:
    """The least and the most: as shares of line rate, or as they are where there is none that is enforced."""
    found = [(value, case) for case in run.cases if (value := case.headline) and value.number is not None]
    if run.shares:
        ranked = [(share, case) for value, case in found if (share := case.share_of_line(value)) is not None]
    else:
        ranked = [(value.number, case) for value, case in found if value.number is not None]
    if len(ranked) < 2 or len({(value.name, value.unit) for value, _ in found}) > 1:
        return []
    sentences = []
    for word, (_, case) in (
        ("Least", min(ranked, key=lambda found: found[0])),
        ("Most", max(ranked, key=lambda found: found[0])),
    ):
        text = cell(case)
        reached = f"{text.share_alone} of line rate ({text.number})" if run.shares else text.number
        sentences.append(f"{word}: {reached} with {case.name}; limit: {text.limit}.")
    if run.rated and not run.line_enforced:
        sentences.append("Nothing enforces the line rate that the plan declares, so no share of it is given.")
    return sentences


def _article(title: str) -> str:
    if not title:
        return ""
    return f"an {title}" if title[0].lower() in "aeiou" else f"a {title}"
