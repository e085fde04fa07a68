"""Breaks of watches in the result of a case and in its verdicts. The numbers stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.values.breaks import WATCH_BREAKS, Break, is_asked, is_watch, list_breaks
from netdyno.values.finding import Cell, Column, Result, Table, Value
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.records import StoredCase, StoredVerdict
from netdyno.values.verdict import Verdict
from netdyno.verdict.watch_reasons import (
    TABLE,
    WatchBroke,
    WatchesBroke,
    WatchesHeld,
    WatchesLost,
    name_watch,
)

COLUMNS = (
    Column("watch"),
    Column("trial"),
    Column("state"),
    Column("last good", "at"),
    Column("first bad", "at"),
    Column("last bad", "at"),
    Column("good again", "at"),
    Column("lost"),
)
CAPTION = (
    "Times count from the begin of the trial's traffic. A break begins between `last good` and `first bad`,"
    " and ends between `last bad` and `good again`. Lost are pings, polls or answers."
)
HELD, BROKE, ASKED, STILL = "held", "broke", "cut", "still down"
"""States of a watch in a trial. cut: after a link was taken down on request; still down: since an earlier
trial."""
MOST = 3
"""Breaks that a sentence names."""
MOST_ROWS = 10_000
"""Rows of the table: the first breaks. The caption says where there were more."""


def plain(reason: Reason) -> Reason:
    """The reason of a number's limit, without what broke meanwhile."""
    return reason.reason if isinstance(reason, WatchesBroke) else reason


def without_breaks(case: StoredCase) -> StoredCase:
    """The case with the plain reasons of its verdicts."""
    return replace(case, verdicts=tuple(replace(one, reason=plain(one.reason)) for one in case.verdicts))


def with_breaks_of(case: StoredCase, verdicts: Sequence[StoredVerdict]) -> tuple[StoredVerdict, ...]:
    """New verdicts on a case, with what broke as its old ones have it."""
    old = {(one.value, one.scope): one.reason for one in case.verdicts}
    found = []
    for one in verdicts:
        was = old.get((one.value, one.scope))
        reason = replace(was, reason=one.reason) if isinstance(was, WatchesBroke) else one.reason
        found.append(replace(one, reason=reason))
    return tuple(found)


def breaks_in(trials: Mapping[int, Outcome], longest_ns: int | None) -> tuple[WatchBroke, ...]:
    """The breaks in these trials, by their numbers from 0. longest_ns: of a command line's answer.

    A watch that a trial left broken and that the next one found so broke once; one that went down since a
    link was taken down on request did not break.
    """
    found: list[WatchBroke] = []
    open_: dict[str, bool] = {}
    for number, outcome in sorted(trials.items()):
        left: dict[str, bool] = {}
        for series in filter(is_watch, outcome.series):
            for one in list_breaks(outcome, series, longest_ns):
                made = _reason(one, number + 1)
                is_continued = made.good_ns is None and made.watch in open_
                asked = open_[made.watch] if is_continued else is_asked(one, outcome.happened)
                found.append(replace(made, is_continued=is_continued, is_asked=asked))
                if made.back_ns is None:
                    left[made.watch] = asked
        open_ = left
    return tuple(found)


def breaks_of(found: Sequence[WatchBroke], trials: Sequence[int]) -> tuple[WatchBroke, ...]:
    """Those of some trials, numbers from 0, but for what was asked for. A continued one counts if none of its
    watch began there."""
    own = [one for one in found if one.trial - 1 in trials and not one.is_asked]
    begun = {one.watch for one in own if not one.is_continued}
    return tuple(one for one in own if not (one.is_continued and one.watch in begun))


def with_watches(result: Result, trials: Mapping[int, Outcome], longest_ns: int | None) -> Result:
    """The result with a note, a table and the number of breaks of its watches, in all trials of the case."""
    watches = dict.fromkeys(
        name_watch(one.source, one.subject)
        for outcome in trials.values()
        for one in outcome.series
        if is_watch(one)
    )
    if not watches:
        return result
    every = breaks_in(trials, longest_ns)
    found = tuple(one for one in every if not (one.is_continued or one.is_asked))
    down = {one.watch for one in every}
    broken = dict.fromkeys(one.watch for one in found)
    note: Reason = WatchesHeld(len(watches))
    if found:
        note = WatchesLost(len(watches), len(broken), found[:MOST], max(len(found) - MOST, 0))
    rows = [*(_row(one) for one in every), *(_held(watch) for watch in watches if watch not in down)]
    value = Value(WATCH_BREAKS, "sum", Fraction(len(found)))
    cut = f" The first {MOST_ROWS} of {len(rows)} rows." if len(rows) > MOST_ROWS else ""
    return replace(
        result,
        values=(*result.values, value),
        notes=(*result.notes, note),
        tables=(*result.tables, Table(TABLE, COLUMNS, tuple(rows[:MOST_ROWS]), CAPTION + cut)),
    )


def with_breaks(verdict: Verdict, breaks: Sequence[WatchBroke]) -> Verdict:
    """The verdict with what broke in the trials that it is about; its limit stays."""
    if not breaks:
        return verdict
    first, more = tuple(breaks[:MOST]), max(len(breaks) - MOST, 0)
    return Verdict(verdict.limit, WatchesBroke(verdict.reason, first, more))


def _reason(found: Break, trial: int) -> WatchBroke:
    assert found.begin[1] is not None
    assert found.end[0] is not None
    return WatchBroke(
        found.source,
        found.subject,
        found.begin[0],
        found.begin[1],
        found.end[0],
        found.end[1],
        found.missed,
        found.is_at_least,
        trial,
        why=found.why,
    )


def _row(found: WatchBroke) -> tuple[Cell, ...]:
    times = (found.good_ns, found.bad_ns, found.still_bad_ns, found.back_ns)
    at = (None if one is None else Fraction(one) for one in times)
    state = STILL if found.is_continued else ASKED if found.is_asked else BROKE
    return (found.watch, Fraction(found.trial), state, *at, Fraction(found.missed))


def _held(watch: str) -> tuple[Cell, ...]:
    return (watch, None, HELD, None, None, None, None, Fraction(0))
