"""Why a limit was named, in a sentence a case; what is said of several cases alike is said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from netdyno.errors import counted
from netdyno.reports.model import grid
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.verdict.proof_reasons import ByDirection, EachDirection
from netdyno.verdict.reasons import find_part_unsent, names_a_stream

FULL_LINE = 99
"""Per cent of an enforced line from which the table itself says why the line was the limit."""
NAMED = 4
"""Cases named one by one; of more the first, and how many others there are."""


@dataclass(frozen=True)
class NamedLimit:
    """A limit and why it was named. cases: those it was named of, in the order of the run.

    named: what these are called, each with the number of a case; all repeats of a case are named once.
    """

    cases: tuple[CaseView, ...]
    named: tuple[tuple[str, int], ...]
    limit: str
    sentence: str

    @property
    def names(self) -> str:
        """The cases by name."""
        return name_cases([name for name, _ in self.named])


def name_cases(names: Sequence[str]) -> str:
    """The names of a few cases; of more the first, and how many others there are."""
    return ", ".join(names) if len(names) <= NAMED else f"{names[0]} and {len(names) - 1} others"


def remarks(run: RunView) -> tuple[str, ...]:
    """What methods remarked on what they found, after the names of the cases."""
    return _of_cases(run, lambda case: map(str, case.result.notes) if case.result else ())


def errors(run: RunView) -> tuple[str, ...]:
    """Why cases have no result, after their names."""
    return _of_cases(run, lambda case: (str(case.error),) if case.error else ())


def _of_cases(run: RunView, said: Callable[[CaseView], Iterable[str]]) -> tuple[str, ...]:
    found: dict[str, list[CaseView]] = {}
    for case in run.cases:
        for sentence in said(case):
            found.setdefault(sentence, []).append(case)
    return tuple(
        f"{name_cases([name for name, _ in _merge_repeats(cases, run.repeats)])}: {sentence}"
        for sentence, cases in found.items()
    )


def of_run(run: RunView) -> tuple[NamedLimit, ...]:
    """The reasons of a run, in the order of its cases, without those that its tables say: a full line."""
    found: dict[tuple[str, str], list[CaseView]] = {}
    for case in run.cases:
        of_one = of_case(case)
        share = grid.cell(case).share_of_line
        full = share is not None and share * 100 >= FULL_LINE
        if of_one is not None and not (of_one[0] == "line" and full):
            found.setdefault(of_one, []).append(case)
    return tuple(
        NamedLimit(tuple(cases), tuple(_merge_repeats(cases, run.repeats)), limit, sentence)
        for (limit, sentence), cases in found.items()
    )


def _merge_repeats(cases: Sequence[CaseView], repeats: int) -> Iterator[tuple[str, int]]:
    places: dict[str, list[CaseView]] = {}
    for case in cases:
        places.setdefault(case.place, []).append(case)
    for place, alike in places.items():
        if len(alike) == repeats:
            yield place, alike[0].number
        else:
            yield from ((case.name, case.number) for case in alike)


def of_case(case: CaseView) -> tuple[str, str] | None:
    """The limit on what stands for the case and why it was named; None where nothing was judged.

    Of several streams of which the same limit was named that speaks which the tester sent the least of, else
    the one that the verdict on all names first; of two, both.
    """
    scope = case.headline.scope if case.headline else ALL
    verdict = case.verdict(scope)
    if verdict is None:
        return None
    streams = [name for name in case.streams if name in case.verdicts]
    verdicts = {name: case.verdicts[name] for name in streams}
    alike = {name: one.reason for name, one in verdicts.items() if one.limit == verdict.limit}
    if scope != ALL or len(streams) < 2 or not alike:
        return verdict.limit, str(verdict.reason)
    if len(alike) == len(streams) and len(set(alike.values())) == 1:
        reason = next(iter(alike.values()))
        return verdict.limit, str(reason if names_a_stream(reason) else EachDirection(reason))
    named = [name for name, _ in verdict.reason.reasons] if isinstance(verdict.reason, ByDirection) else []
    least = max(alike, key=lambda one: find_part_unsent(one, alike[one]))
    has_unsent = find_part_unsent(least, alike[least])[0] > 0
    name = least if has_unsent else next((one for one in named if one in alike), least)
    reason = alike[name]
    others = {other: one for other, one in verdicts.items() if other != name}
    if len(others) == 1:
        ((other, one),) = others.items()
        return verdict.limit, f"{name}: {reason}; {other}: {one.reason}"
    also = [other for other in others if other in alike]
    like = "likewise" if all(alike[other] == reason for other in also) else "likewise, with other numbers"
    also_of = f"{also[0] if len(also) == 1 else counted(len(also), 'other stream')} {like}" if also else ""
    return verdict.limit, "; ".join(part for part in (f"{name}: {reason}", also_of) if part)
