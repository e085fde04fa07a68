"""The criteria of an acceptance: what was asked, what was found and when, and whether it passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile

from netdyno.errors import counted
from netdyno.methods.parts.convergence import Converged, list_readings
from netdyno.methods.parts.procedure import clock, find_own_shortfall
from netdyno.methods.parts.rows import count_lost, is_clean
from netdyno.methods.reasons.convergence import (
    LoadNotSent,
    NoLoadSoHigh,
    NoPrefixMeasured,
    PrefixesLate,
    RoutesNotCounted,
    WatchUnread,
    WithinResolution,
)
from netdyno.values import number as printed
from netdyno.values.breaks import ADJACENCY, ANSWERS, PING, Break, is_asked, list_breaks
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Cell, columns
from netdyno.values.load import Trial
from netdyno.values.number import duration
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.situation import Situation
from netdyno.values.table_series import ROUTES, TABLE, name_routes
from netdyno.values.units import Load

CRITERIA = columns("criterion | asked | found | trial | at: at | clock | result | reason")


@dataclass(frozen=True)
class Made:
    """A trial as it came out. number: from 0."""

    number: int
    trial: Trial
    outcome: Outcome


@dataclass(frozen=True)
class Criterion:
    """What was asked of the device and what was found.

    made: the trial that shows it, and at_ns the instant in its traffic; None: there is none.
    """

    name: str
    asked: str
    found: str
    verdict: str
    made: Made | None = None
    at_ns: int | Fraction | None = None
    why: Reason | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Its row of the table."""
        trial, at, time = None, None, None
        if self.made is not None:
            trial = self.made.trial.name
        if self.made is not None and self.at_ns is not None:
            at, time = Fraction(self.at_ns), clock(self.made.outcome, int(self.at_ns))
        why = None if self.why is None else str(self.why)
        return (self.name, self.asked, self.found, trial, at, time, self.verdict, why)


def judge_table(situation: Situation, steps: Sequence[Made]) -> Iterator[Criterion]:
    """Whether the device had all announced routes, before the loads and while they lasted.

    A criterion for each IP version; none where the tester announces no routes.
    """
    announced: dict[int, int] = {}
    for one in situation.behind:
        for version, count in one.announced.items():
            # Two ports with one table are two ways to the same prefixes.
            announced[version] = max(announced.get(version, 0), count)
    # Both versions are of one question, and what was missed stands with the first one.
    every = (one for made in steps for one in made.outcome.series if one.source == ROUTES)
    unread = next((one.missed[0].reason for one in every if is_unread(one)), None)
    for version, count in sorted(announced.items()):
        name, asked = f"IPv{version} table", f">= {counted(count, 'route')}"
        own = [
            (made, one)
            for made in steps
            for one in made.outcome.series
            if (one.source, one.subject, one.name) == (ROUTES, TABLE, name_routes(version))
        ]
        readings = [(one.routes, made, one) for made, series in own for one in list_readings(series)]
        if not readings:
            missed = next((series.missed[0].reason for _, series in own if series.missed), None)
            yield Criterion(name, asked, "not counted", NOT_KNOWN, why=RoutesNotCounted(missed))
            continue
        least, made, reading = min(readings, key=lambda one: one[0])
        found = counted(least, "route")
        if least >= count and unread is not None:
            yield Criterion(
                name, asked, found, NOT_KNOWN, made, reading.answered_ns, RoutesNotCounted(unread)
            )
            continue
        verdict = PASS if least >= count else FAIL
        yield Criterion(name, asked, found, verdict, made, reading.answered_ns)


def is_unread(series: Series) -> bool:
    """Whether the last of a trial's questions for a series had no answer: what it was then is unknown."""
    last_ns = max(series.times_ns, default=-1)
    return any(one.at_ns > last_ns for one in series.missed)


_WATCHED = {ADJACENCY: "adjacencies", PING: "pings"}


def judge_watches(situation: Situation, trials: Sequence[Made]) -> Iterator[Criterion]:
    """Whether what is watched beside the traffic held in these trials: a criterion for each kind of watch."""
    for source in situation.watched:
        own = [(made, one) for made in trials for one in made.outcome.series if one.source == source]
        subjects = dict.fromkeys(series.subject for _, series in own)
        longest_ns = situation.answer_ns if source == ANSWERS else None
        every = [(made, one) for made, series in own for one in list_breaks(made.outcome, series, longest_ns)]
        broken = [(made, one) for made, one in every if not is_asked(one, made.outcome.happened)]
        if source == ANSWERS:
            yield _judge_answers(own, longest_ns, broken)
            continue
        name = _WATCHED[source]
        if not subjects:
            yield Criterion(name, "all kept", "", NOT_KNOWN, why=WatchUnread())
            continue
        asked = f"{len(subjects)} kept{' but for the cut' if len(every) > len(broken) else ''}"
        # A ping without an answer is a break.
        unread = next((one.missed[0].reason for _, one in own if source != PING and is_unread(one)), None)
        if unread is not None and not broken:
            yield Criterion(name, asked, "", NOT_KNOWN, why=unread)
            continue
        kept = _kept(trials, len(subjects), every, broken)
        # A tester that falls behind with its load may be late with what it watches by, too.
        short = [find_own_shortfall(made.outcome, made.trial.duration_ns) for made, _ in broken]
        sound = [one for one, why in zip(broken, short, strict=True) if why is None]
        if broken and not sound:
            yield Criterion(name, asked, kept, NOT_KNOWN, broken[0][0], why=short[0])
            continue
        yield _of_breaks(name, asked, kept, sound)


def _kept(
    trials: Sequence[Made],
    count: int,
    every: Sequence[tuple[Made, Break]],
    broken: Sequence[tuple[Made, Break]],
) -> str:
    """How many of so many watches held throughout; of several trials, up to which one all of them did.

    every: all breaks, those too that the device was asked for.
    """
    lost = {one.subject for _, one in broken}
    down = {one.subject for _, one in every} - lost
    kept = f"{count - len(lost) - len(down)} kept{f', {len(down)} down by the cut alone' if down else ''}"
    bad = {made.number for made, _ in broken}
    whole = [made.trial.name for made in takewhile(lambda made: made.number not in bad, trials)]
    return f"{kept}, all up to {whole[-1]}" if bad and whole else kept


def _of_breaks(name: str, asked: str, found: str, broken: Sequence[tuple[Made, Break]]) -> Criterion:
    """With the instant by which the first of them broke."""
    if not broken:
        return Criterion(name, asked, found, PASS)
    # Of the first trial with breaks the earliest one.
    made, first = min(broken, key=lambda one: (one[0].number, one[1].begin[1] or 0))
    return Criterion(
        name, asked, f"{found}; first lost: {first.subject}", FAIL, made, first.begin[1], first.why
    )


def _judge_answers(
    own: Sequence[tuple[Made, Series]], longest_ns: int | None, broken: Sequence[tuple[Made, Break]]
) -> Criterion:
    """Whether each question to the command line was answered within its limit."""
    name = "CLI answers"
    asked = "each" if longest_ns is None else f"within {duration(longest_ns)}"
    took = [
        (ns, made, at_ns) for made, one in own for ns, at_ns in zip(one.values, one.times_ns, strict=True)
    ]
    missed = sum(len(one.missed) for _, one in own)
    if not took and not missed:
        return Criterion(name, asked, "", NOT_KNOWN, why=WatchUnread())
    longest = max(took, key=lambda one: one[0], default=None)
    found = [] if longest is None else [f"longest {duration(longest[0])}"]
    found += [f"{counted(missed, 'question')} without an answer"] if missed else []
    if broken:
        made, first = broken[0]
        return Criterion(name, asked, ", ".join(found), FAIL, made, first.begin[1])
    assert longest is not None  # A missed answer is a break.
    return Criterion(name, asked, found[0], PASS, longest[1], longest[2])


def judge_loss(situation: Situation, asked: Load, steps: Sequence[Made]) -> Criterion:
    """Whether no frame was lost up to a load, by the loads that were held up to it."""
    name, limit, wanted = "loss-free load", f">= {asked}", situation.fps(asked.amount)
    by_load = sorted(steps, key=lambda made: _fps(made, situation))
    clean = list(takewhile(_is_clean, by_load))
    highest = clean[-1].trial.name if clean else "none"
    if clean and _fps(clean[-1], situation) >= wanted:
        return Criterion(name, limit, highest, PASS)
    worst = by_load[len(clean)] if len(clean) < len(by_load) else None
    if worst is None or _fps(worst, situation) > wanted:
        return Criterion(name, limit, highest, NOT_KNOWN, why=NoLoadSoHigh())
    short = find_own_shortfall(worst.outcome, worst.trial.duration_ns)
    if short is not None:
        return Criterion(name, limit, highest, NOT_KNOWN, worst, why=LoadNotSent(short))
    streams = (*worst.outcome.streams, *worst.outcome.beside)
    lost, sent = count_lost(streams), sum(one.offered for one in streams)
    found = f"{printed.count(lost)} of {counted(sent, 'frame')} lost at {worst.trial.name}"
    dates = [one.first_loss_ns for one in streams if one.first_loss_ns is not None]
    return Criterion(name, limit, found, FAIL, worst, min(dates, default=None))


def _is_clean(made: Made) -> bool:
    """Whether the tester sent all of a load, and all of it came back once."""
    is_whole = find_own_shortfall(made.outcome, made.trial.duration_ns) is None
    is_lost_beside = any(one.missing for one in made.outcome.beside)
    return is_whole and is_clean(made.outcome.streams) and not is_lost_beside


def _fps(made: Made, situation: Situation) -> Fraction:
    return max(map(situation.fps, made.trial.rates))


def judge_convergence(
    found: Converged | None, limit_ns: int, made: Made, event_ns: int, why: Reason | None
) -> Criterion:
    """Whether all prefixes converged within a limit. found: of all streams; None: nothing was measured."""
    name, asked = made.trial.name, f"converged in {duration(limit_ns)}"
    if found is None or not found.prefixes:
        return Criterion(name, asked, "", NOT_KNOWN, made, why=why or NoPrefixMeasured())
    if found.last_ns is None:
        after_ns = made.trial.duration_ns - event_ns
        late = PrefixesLate(found.late, found.prefixes, after_ns, found.late_named)
        text = f"{printed.count(found.prefixes - found.late)} of {printed.count(found.prefixes)} prefixes"
        return Criterion(name, asked, text, FAIL, made, made.trial.duration_ns, late)
    text = f"{duration(found.last_ns)} +- {duration(found.resolution_ns)}"
    at_ns = event_ns + found.last_ns
    if found.last_ns <= limit_ns and not found.last_ns + found.resolution_ns > limit_ns:
        return Criterion(name, asked, text, PASS, made, at_ns)
    if found.last_ns - found.resolution_ns > limit_ns and not found.lost_before:
        return Criterion(name, asked, text, FAIL, made, at_ns)
    unsure = WithinResolution(found.resolution_ns)
    return Criterion(name, asked, text, NOT_KNOWN, made, at_ns, why or unsure)
