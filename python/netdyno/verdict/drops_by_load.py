"""Whether the share of lost frames depends on the load, from the loads of a case that were tried."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from netdyno.values.outcome import Outcome
from netdyno.verdict.evidence import Evidence

LESS = Fraction(9, 10)
"""Of a load: from here on another one is less."""
SHOWN = 10
"""Frames that a load had to lose at the share of another one before it shows anything of that share."""
_Loads: TypeAlias = dict[tuple[frozenset[str], Fraction], tuple[int, int]]
"""Frames sent and lost, by the streams that sent and their frames a second."""


def is_lost_by_load(evidence: Evidence) -> bool | None:
    """Whether half of the share or less was lost at less load, of each load that lost frames.

    False: at less load nearly the same share was lost, and no rate was kept. None: the case does not show it.
    """
    every = ((one.trial, one.planned_ns) for one in evidence.case_trials)
    tried = _sum_by_load(every if evidence.case_trials else evidence.timed_trials)
    judged = _sum_by_load(evidence.timed_trials)
    answers = set()
    for (streams, load), (sent, lost) in judged.items():
        if lost <= 0:
            continue
        lower = [
            _compare(load, sent, lost, *other)
            for other in ((rate, *frames) for (of, rate), frames in tried.items() if of == streams)
            if other[0] <= LESS * load
        ]
        answers.add(False if False in lower else True if True in lower else None)
    return False if False in answers else True if answers == {True} else None


def _compare(load: Fraction, sent: int, lost: int, less: Fraction, fewer: int, gone: int) -> bool | None:
    """The answer of one load below another. fewer, gone: frames sent and lost there."""
    if lost * fewer < SHOWN * sent or lost >= sent:
        return None
    share, below = Fraction(lost, sent), Fraction(max(gone, 0), fewer)
    if 2 * below <= share:
        return True
    # A limit passes the same rate at either load; a share lost for another reason, the same part of each.
    kept = less * (1 - below) / (load * (1 - share))
    return False if kept < (1 + less / load) / 2 else None


def _sum_by_load(trials: Iterable[tuple[Outcome, int | None]]) -> _Loads:
    found: _Loads = {}
    for trial, planned_ns in trials:
        sending = [stream for stream in trial.streams if stream.intended]
        if not planned_ns or not sending:
            continue
        load = Fraction(sum(stream.intended for stream in sending) * 10**9, planned_ns)
        key = frozenset(stream.name for stream in sending), load
        sent, lost = found.get(key, (0, 0))
        found[key] = (
            sent + sum(stream.offered for stream in sending),
            lost + sum(stream.lost for stream in sending),
        )
    return found
