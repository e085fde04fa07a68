"""What a case has of its streams in the page: values, counts, latency. Those that are alike stand together,
and each of them is packed, for who opens it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import jinja2

from netdyno.reports.formats.html_pack import Pack
from netdyno.reports.model import alike, answer, grid
from netdyno.reports.model.loss import loss
from netdyno.reports.model.table import CONTRADICTED
from netdyno.reports.model.view import ALL, CaseView, TrialView
from netdyno.stats.histogram import percentiles_together
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.outcome import StreamResult

PERCENTILES = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000), Fraction(9999, 10000))
COUNTED = (
    *("intended", "offered", "received", "lost", "duplicates", "out_of_order", "corrupted", "elsewhere"),
    "beyond_window",
)
MOST_NOTES = 2
"""Different notes on streams that are alike which are printed; of more the first one."""


def rows(case: CaseView, trials: Sequence[TrialView]) -> dict[str, Any]:
    """The rows of a case, streams that are alike in one."""
    found = [
        _value(case, scope, members)
        for (_, scope), members in alike.group_values(case, _worth_listing(case)).items()
    ]
    return _rows(found, [(trial, kind, of) for trial in trials for kind, of in _streams(case, trial).items()])


def fold(case: CaseView, trials: Sequence[TrialView], templates: jinja2.Environment, pack: Pack) -> Any:
    """Packs the rows of each stream: their name there, and how many. None where each stands in the page."""
    if not alike.kinds(case):
        return None
    values = [_value(case, value.scope, [value]) for value in _worth_listing(case)]
    each = _rows(values, [(trial, one.name, [one]) for trial in trials for one in trial.result.streams])
    macros: Any = templates.get_template("streams.html.j2").module
    parts = (macros.values(case, each), macros.counts(each), macros.latencies(case, each))
    key = f"case-{case.number}-each"
    pack.fold(key, "".join(map(str, parts)).strip())
    return {
        "key": key,
        "rows": sum(len(each[name]) for name in ("found", "counts", "latencies")),
        "further": 0,
    }


def stream_names(case: CaseView) -> str:
    """What streams the case has: `branch-core, 205 streams; core-branch, 205 streams`."""
    names = [alike.name_kind(kind, len(of)) for kind, of in alike.group(case, case.streams, str).items()]
    return ("; " if alike.kinds(case) else ", ").join(names)


def _streams(case: CaseView, trial: TrialView) -> dict[str, list[StreamResult]]:
    return alike.group(case, trial.result.streams, lambda stream: stream.name)


def _rows(
    found: list[dict[str, Any]], streams: Iterable[tuple[TrialView, str, list[StreamResult]]]
) -> dict[str, Any]:
    every = list(streams)
    return {
        "found": found,
        "counts": [_counted(*one) for one in every],
        # So seldom that a column of zeros would only be in the way.
        "beyond_window": any(one.beyond_window for _, _, of in every for one in of),
        "latencies": [row for one in every if (row := _latency(*one)) is not None],
        "percentiles": [f"{printed.exact(share * 100)} %" for share in PERCENTILES],
    }


def _worth_listing(case: CaseView) -> list[Value]:
    """Every value; with a single stream not again for all streams together."""
    values = case.result.values if case.result else ()
    of_streams = {value.name for value in values if value.scope != ALL}
    single = len(case.streams) == 1
    return [value for value in values if not (single and value.scope == ALL and value.name in of_streams)]


def _value(case: CaseView, scope: str, members: Sequence[Value]) -> dict[str, Any]:
    """One value; of streams that are alike from the least to the most of them."""
    ends = alike.ends(members)
    beside = [grid.beside(case, value) for value in ends]
    notes = [note for note in dict.fromkeys(_note(case, value) for value in members) if note]
    further = len(notes) - MOST_NOTES
    unknown = sum(value.number is None for value in members) if len(members) > 1 else 0
    shown = grid.span(*(marked(case, value) for value in ends))
    return {
        "name": members[0].kind.display_name,
        "meaning": members[0].kind.meaning,
        "scope": "all" if scope == ALL else alike.name_kind(scope, len(members)),
        "number": f"{shown}; no number of {unknown:,}" if 0 < unknown < len(members) else shown,
        "l1": grid.span(*(l1 or "" for l1, _ in beside)),
        "share": grid.span(*(share or "" for _, share in beside)),
        "limits": Counter(limit for value in members if (limit := case.limit_of(value))),
        "note": f"{notes[0]} (and {further + 1:,} other notes)" if further > 0 else "; ".join(notes),
    }


def _note(case: CaseView, value: Value) -> str:
    load = value.as_searched
    searched = "" if load is None else f"as searched {printed.rate(load, 'pps', 'at least', 1)}"
    said = (searched, value.note, case.doubt_stated(value))
    return "; ".join(str(one) for one in said if one)


def marked(case: CaseView, value: Value) -> str:
    """A value with its bounds, and with the sign and the mark that it has on the first screen."""
    stands_for_case = case.result is not None and value.name in case.result.headlines
    if stands_for_case and value.number is not None and grid.is_bound(case, value):
        return answer.text(case, value)
    text = grid.number(value)
    return text + CONTRADICTED if case.doubt(value) and text != "n/a" else text


def _counted(trial: TrialView, name: str, streams: Sequence[StreamResult]) -> dict[str, Any]:
    sums = {count: sum(getattr(one, count) for one in streams) for count in COUNTED}
    lost = loss(sums["lost"], sums["offered"])
    if len(streams) > 1 and sums["lost"]:
        shares = sorted(Fraction(one.lost, one.offered) for one in streams if one.offered)
        lost += f" ({grid.span(*(printed.loss(end) for end in (shares[0], shares[-1])))})"
    counted = SimpleNamespace(**sums)
    return {"trial": trial, "name": alike.name_kind(name, len(streams)), "counted": counted, "loss": lost}


def _latency(trial: TrialView, name: str, streams: Sequence[StreamResult]) -> dict[str, Any] | None:
    timed = [one.latency for one in streams if one.latency is not None and one.latency.count]
    if not timed:
        return None
    frames = sum(one.count for one in timed)
    return {
        "trial": trial,
        "name": alike.name_kind(name, len(streams)),
        "frames": frames,
        "least": printed.latency(min(one.min_ns for one in timed)),
        "mean": printed.latency(Fraction(sum(one.sum_ns for one in timed), frames)),
        "percentiles": [
            "n/a" if p is None else printed.latency(p) for p in percentiles_together(timed, PERCENTILES)
        ],
        "most": printed.latency(max(one.max_ns for one in timed)),
    }
