"""Breaks of watches in the result of a case and in its verdicts. The numbers stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.breaks import ADJACENCY, PING, WATCH_BREAKS, Break, find_breaks, is_watch
from netdyno.values.finding import Cell, Column, Result, Table, Value
from netdyno.values.number import fixed
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.records import StoredCase, StoredVerdict
from netdyno.values.verdict import Verdict
from netdyno.verdict.saying import VerdictReason

TABLE = "Watches"
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
HELD, BROKE = "held", "broke"
MOST = 3
"""Breaks that a sentence names."""
MOST_ROWS = 200
"""Rows of the table: the first breaks."""


@dataclass(frozen=True)
class WatchBroke(Reason):
    """A break of a watch in a trial; times in ns from the begin of its traffic.

    good_ns, bad_ns: it was last there, and first found lost. still_bad_ns, back_ns: it was last found lost,
    and there again; None: not before the trial, or not in it. missed: pings, polls or answers. trial: from 1.
    """

    code: ClassVar[str] = "watch-broke"
    source: str
    subject: str
    good_ns: int | None
    bad_ns: int
    still_bad_ns: int
    back_ns: int | None
    missed: int
    is_at_least: bool
    trial: int
    is_continued: bool = False
    """Whether it began in an earlier trial, and is no break of its own."""

    @property
    def watch(self) -> str:
        """`ping to 192.0.2.1`, `OSPF neighbour 192.0.2.1`."""
        return name_watch(self.source, self.subject)

    def __str__(self) -> str:
        lost = f"by {_seconds(self.bad_ns)}, before its first reading"
        if self.good_ns is not None:
            lost = f"between {_seconds(self.good_ns)} and {_seconds(self.bad_ns)}"
        trial = f" of trial {self.trial}" if self.trial > 1 else ""
        back = "not back"
        if self.back_ns is not None:
            back = f"back between {_seconds(self.still_bad_ns)} and {_seconds(self.back_ns)}"
        noun = {PING: "ping", ADJACENCY: "poll"}.get(self.source, "answer")
        least = "at least " if self.is_at_least else ""
        return f"{self.watch} was lost {lost}{trial} ({least}{counted(self.missed, noun)}, {back})"


@dataclass(frozen=True)
class WatchesHeld(Reason):
    """Every watch of the case held in all trials."""

    code: ClassVar[str] = "watches-held"
    watches: int

    def __str__(self) -> str:
        return "The watch held." if self.watches == 1 else f"All {self.watches} watches held."


@dataclass(frozen=True)
class WatchesLost(Reason):
    """Some watches of the case broke. breaks: the first ones. more: further breaks."""

    code: ClassVar[str] = "watches-lost"
    watches: int
    broken: int
    breaks: tuple[WatchBroke, ...]
    more: int

    def __str__(self) -> str:
        noun = "watch" if self.watches == 1 else "watches"
        return f"{self.broken} of {self.watches} {noun} broke. {_listed(self)}."


@dataclass(frozen=True)
class WatchesBroke(VerdictReason):
    """A verdict on a number during which watches broke. reason: of the number, which stays what it is.

    breaks: the first ones in the trials that the number rests on. more: further ones.
    """

    code: ClassVar[str] = "watches-broke"
    reason: Reason
    breaks: tuple[WatchBroke, ...]
    more: int

    def say(self, where: str = "") -> str:
        said = self.reason.say(where) if isinstance(self.reason, VerdictReason) else str(self.reason)
        count = len(self.breaks) + self.more
        times = "once" if count == 1 else f"{count} times"
        return f"{said.removesuffix('.')}. Meanwhile watches broke {times}. {_listed(self)}"


REASONS: Codes = declared(globals())


def name_watch(source: str, subject: str) -> str:
    """What a series watches: `ping to 192.0.2.1`; an adjacency's own name says it."""
    return subject if source == ADJACENCY else f"{source} to {subject}" if source == PING else source


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

    A watch that a trial left broken and that the next one found so broke once.
    """
    found: list[WatchBroke] = []
    open_: set[str] = set()
    for number, outcome in sorted(trials.items()):
        left: set[str] = set()
        for series in filter(is_watch, outcome.series):
            for one in find_breaks(series, longest_ns):
                made = _reason(one, number + 1)
                found.append(replace(made, is_continued=made.good_ns is None and made.watch in open_))
                if made.back_ns is None:
                    left.add(made.watch)
        open_ = left
    return tuple(found)


def breaks_of(found: Sequence[WatchBroke], trials: Sequence[int]) -> tuple[WatchBroke, ...]:
    """Those of some trials, numbers from 0. A continued one counts if none of its watch began there."""
    own = [one for one in found if one.trial - 1 in trials]
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
    found = tuple(one for one in every if not one.is_continued)
    broken = dict.fromkeys(one.watch for one in found)
    note: Reason = WatchesHeld(len(watches))
    if found:
        note = WatchesLost(len(watches), len(broken), found[:MOST], max(len(found) - MOST, 0))
    rows = [*(_row(one) for one in every), *(_held(watch) for watch in watches if watch not in broken)]
    value = Value(WATCH_BREAKS, "sum", Fraction(len(found)))
    return replace(
        result,
        values=(*result.values, value),
        notes=(*result.notes, note),
        tables=(*result.tables, Table(TABLE, COLUMNS, tuple(rows[:MOST_ROWS]), CAPTION)),
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
    )


def _row(found: WatchBroke) -> tuple[Cell, ...]:
    times = (found.good_ns, found.bad_ns, found.still_bad_ns, found.back_ns)
    at = (None if one is None else Fraction(one) for one in times)
    return (found.watch, Fraction(found.trial), BROKE, *at, Fraction(found.missed))


def _held(watch: str) -> tuple[Cell, ...]:
    return (watch, None, HELD, None, None, None, None, Fraction(0))


def _listed(found: WatchesLost | WatchesBroke) -> str:
    """A sentence for each of the first breaks, the last one without its full stop."""
    sentences = [f"{text[0].upper()}{text[1:]}" for text in map(str, found.breaks)]
    if found.more:
        sentences.append(f"{found.more} more in the table `{TABLE}`")
    return ". ".join(sentences)


def _seconds(ns: int) -> str:
    """A time of the traffic, to 10 ms: `12.34 s`."""
    return f"{fixed(Fraction(ns, 10**9), 2)} s"
