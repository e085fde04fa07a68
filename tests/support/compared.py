"""Runs of one case or several, made by hand, for the tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from kinds import kind
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Value
from netdyno.values.verdict import Verdict
from report_sample import SMALL, write
from words import said

Sample = tuple[RunView, CaseView]
"""A run, and the case of it that others are made of."""


def sample(folder: Path) -> Sample:
    """A run from the store, and its case that has a value of its own."""
    with write(folder, SMALL) as run:
        shown = view(run)
    return shown, shown.cases[2]


def run_of(
    sample: Sample,
    *rates: Fraction | int,
    limit: str = "device",
    bracket: int = 0,
    settings: Mapping[str, str] | None = None,
    cases: Mapping[str, Sequence[Fraction | int]] | None = None,
    name: str = "throughput",
) -> RunView:
    """A run whose only case found these rates, a repeat each; each may be lower or higher by `bracket`.

    cases: the rates of several cases instead, by their profile. name: of the value.
    """
    run, first = sample
    assert first.result is not None
    found: list[CaseView] = []
    for profile, own in (cases or {first.profile: rates}).items():
        for place, rate in enumerate(own):
            ends = (Fraction(rate - bracket), Fraction(rate + bracket)) if bracket else (None, None)
            value = Value(kind(name), "sum", Fraction(rate), *ends)
            found.append(
                replace(
                    first,
                    number=len(found),
                    repeat=place + 1,
                    profile=profile,
                    settings=first.settings if settings is None else settings,
                    result=replace(first.result, values=(value,), headlines=(name,), rests={}),
                    verdicts={"sum": Verdict(limit, said("why"))},  # type: ignore[arg-type]
                )
            )
    return replace(run, cases=tuple(found))


def compare(*runs: RunView, limit: str | None = None) -> Comparison:
    """Each run a side."""
    names = tuple("ABCDEFGH"[: len(runs)])
    return Comparison(RunSet(runs), names, None if limit is None else Fraction(limit))
